// The OpenAI Agents SDK's `Runner` on its own models, over the wire.

import { Agent, MaxTurnsExceededError, MemorySession, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, setTracingDisabled, tool } from '@openai/agents';
import OpenAI from 'openai';
import { serveOverWire } from '../shared/wire.mjs';

const ANY_ARGUMENTS = { type: 'object', properties: {}, required: [], additionalProperties: true };

async function run(run) {
  const { api, baseUrl: baseURL, apiKey, model: name, stream } = run.endpoint;
  const model = new (api === 'openai-chat' ? OpenAIChatCompletionsModel : OpenAIResponsesModel)(new OpenAI({ baseURL, apiKey }), name);
  const tools = run.tools.map((tool_name) => tool({
    name: tool_name, description: 'A scripted tool.', parameters: ANY_ARGUMENTS, strict: false,
    execute: (args, context, details) => run.result(tool_name, args, details.toolCall.callId),
  }));
  const agent = new Agent({ name: 'agent', model, tools });
  let input = run.messages.flatMap(toItems);
  if (run.messages.at(-1)?.tool_calls?.length) run.cannotTell('a run that stopped at its calls is continued from its RunState');
  const options = { maxTurns: run.rounds + 1, stream: Boolean(stream) };
  if (run.messages.length > 1 && run.messages.at(-1).type === 'human') {
    // A session is what the documentation recommends to continue a stored conversation.
    options.session = new MemorySession({ initialItems: input.slice(0, -1) });
    input = input.slice(-1);
  }
  try {
    const result = await new Runner().run(agent, input, options);
    await result.completed;
  } catch (error) {
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

setTracingDisabled(true);
await serveOverWire({
  run, apis: ['openai-chat', 'openai-responses'], from: import.meta.url, package: '@openai/agents', label: 'OpenAI Agents SDK (JavaScript)',
  url: 'https://github.com/openai/openai-agents-js',
});
