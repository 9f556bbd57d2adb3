// The OpenAI Agents SDK's `run` behind op `tools`.

import { Agent, MaxTurnsExceededError, MemorySession, Runner, setTracingDisabled, tool, Usage } from '@openai/agents';
import { fromJson, serve } from '../shared/testee.mjs';

const ANY_ARGUMENTS = { type: 'object', properties: {}, required: [], additionalProperties: true };

const scriptedModel = (run) => ({
  async getResponse({ input, tools }) {
    const { content, calls } = run.ask(input);
    const declared = tools.map(({ name }) => name);
    for (const { name } of calls) {
      // The SDK writes each name with letters, digits and `_`; a model calls no other.
      if (run.tools.includes(name) && !declared.includes(name)) run.cannotTell(`the framework declares the tool ${name} by another name`);
    }
    const items = calls.map(({ id, name, arguments: text }) => (
      { type: 'function_call', callId: id, name, arguments: text, status: 'completed' }));
    const text = content || !calls.length ? [assistant(content)] : [];
    return { usage: new Usage(), output: [...text, ...items] };
  },
});

async function run(run) {
  const tools = run.tools.map((name) => tool({
    name, description: 'A scripted tool.', parameters: ANY_ARGUMENTS, strict: false,
    execute: (args, context, details) => run.result(name, args, details.toolCall.callId),
  }));
  const agent = new Agent({ name: 'agent', model: scriptedModel(run), tools });
  run.given = run.messages.flatMap(toItems);
  if (run.messages.at(-1)?.tool_calls?.length) run.cannotTell('a run that stopped at its calls is continued from its RunState');
  const options = { maxTurns: run.rounds + 1 };
  let input = run.given;
  if (run.messages.length > 1 && run.messages.at(-1).type === 'human') {
    // A session is what the documentation recommends to continue a stored conversation.
    options.session = new MemorySession({ initialItems: run.given.slice(0, -1) });
    input = run.given.slice(-1);
  }
  try {
    const result = await new Runner().run(agent, input, options);
    run.final = options.session ? await options.session.getItems() : result.history;
  } catch (error) {
    // The SDK's own errors carry the state of the run.
    run.final = error.state?.history;
    if (!(error instanceof MaxTurnsExceededError)) throw error;
  }
}

const assistant = (text) => ({ type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text }] });

function toItems({ type, content, tool_calls = [], tool_call_id }) {
  const calls = tool_calls.map(({ id, name, args }) => (
    { type: 'function_call', callId: id, name, arguments: JSON.stringify(args ?? {}), status: 'completed' }));
  if (type === 'tool') {
    return [{ type: 'function_call_result', callId: tool_call_id, name: '', status: 'completed', output: { type: 'text', text: content } }];
  }
  if (type === 'ai') return [...(content || !calls.length ? [assistant(content)] : []), ...calls];
  return [{ role: type === 'human' ? 'user' : type, content }];
}

/** Calls belong to the text or the calls directly before them: a response is one message. */
function describe(items) {
  const messages = [];
  let previous;
  for (const { type = 'message', role, content, callId, name, arguments: args, output } of items) {
    if (type === 'function_call') {
      if (previous !== 'assistant') messages.push({ type: 'ai', content: '' });
      (messages.at(-1).tool_calls ??= []).push({ id: callId, name, args: fromJson(args) });
      previous = 'assistant';
    } else if (type === 'function_call_result') {
      messages.push({ type: 'tool', content: textOf(output), tool_call_id: callId });
      previous = 'tool';
    } else {
      messages.push({ type: { user: 'human', assistant: 'ai' }[role] ?? role, content: textOf(content) });
      previous = role;
    }
  }
  return messages;
}

const textOf = (content) => (typeof content === 'string'
  ? content
  : [content].flat().map((part) => part.text ?? JSON.stringify(part)).join(''));

setTracingDisabled(true);
await serve({
  run, describe, from: import.meta.url, package: '@openai/agents', label: 'OpenAI Agents SDK (JavaScript)',
  url: 'https://github.com/openai/openai-agents-js',
});
