// LangChain's `createAgent` behind op `session`: a `SqliteSaver` as checkpointer, middleware for approvals, limits and summaries; hand-overs by
// `createSwarm` over `createReactAgent`, as its README recommends.

import { AIMessage, createAgent, HumanMessage, humanInTheLoopMiddleware, modelCallLimitMiddleware, summarizationMiddleware, tool } from 'langchain';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { makeInvalidToolCall } from '@langchain/core/output_parsers/openai_tools';
import { Command } from '@langchain/langgraph';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import { createHandoffTool, createSwarm } from '@langchain/langgraph-swarm';
import { callOf, digest, imageOf, serveSessions } from '../shared/session.mjs';
import { UNLIMITED } from '../shared/testee.mjs';

const ANY_ARGUMENTS = { type: 'object', properties: {}, additionalProperties: true };

/** A chat model that answers as `answer` says; without retries, which wait longer and longer. */
class ScriptedModel extends BaseChatModel {
  constructor(answer) {
    super({ maxRetries: 0 });
    this.answer = answer;
  }

  _llmType() { return 'scripted'; }

  bindTools() { return this; }

  async _generate(messages) {
    const message = this.answer(messages);
    return { generations: [{ text: message.text, message }] };
  }
}

/** A turn as the integrations of providers write it: arguments that are no JSON object are an invalid call, opaque parts are blocks. */
function toMessage({ content, calls, opaque }) {
  const signatures = opaque.filter(({ kind }) => kind === 'signature').map(({ call, data }) => [call, data]);
  const blocks = opaque.filter(({ kind }) => kind !== 'signature').map(({ kind, text, signature, data, id, encrypted }) => ({
    thinking: { type: 'thinking', thinking: text, signature },
    redacted: { type: 'redacted_thinking', data },
    reasoning: { type: 'reasoning', id, encrypted_content: encrypted },
  }[kind]));
  const named = calls.map((call) => ({ ...call, name: call.handoff ? `transfer_to_${call.handoff}` : call.name }));
  const isValid = ({ args }) => typeof args === 'object' && args !== null && !Array.isArray(args);
  return new AIMessage({
    content: blocks.length ? [...blocks, ...(content ? [{ type: 'text', text: content }] : [])] : content,
    tool_calls: named.filter(isValid).map(({ id, name, args }) => ({ id, name, args, type: 'tool_call' })),
    invalid_tool_calls: named.filter((call) => !isValid(call))
      .map(({ id, name, arguments: text }) => makeInvalidToolCall({ id, function: { name, arguments: text } }, 'Arguments are no JSON object.')),
    additional_kwargs: signatures.length ? { signatures: Object.fromEntries(signatures) } : {},
  });
}

async function open(session) {
  let current;
  const model = new ScriptedModel((messages) => toMessage(current.ask(messages)));
  const summarizer = new ScriptedModel((messages) => new AIMessage(current.summarize(messages)));
  const checkpointer = SqliteSaver.fromConnString(`${session.storage}/threads.sqlite`);
  const toolsOf = (agent) => session.toolsOf(agent).map(({ name }) => tool(async (args, runtime) => {
    const result = await current.call(name, args, runtime.toolCallId ?? runtime.toolCall?.id, agent);
    const image = imageOf(result);
    const text = image?.text ? [{ type: 'text', text: image.text }] : [];
    return image ? [...text, { type: 'image', mimeType: image.mediaType, data: image.data }] : result;
  }, { name, description: 'A scripted tool.', schema: ANY_ARGUMENTS }));
  const names = Object.keys(session.agents);
  const gated = names.flatMap((name) => session.toolsOf(name)).filter(({ approval }) => approval).map(({ name }) => name);
  const uses = (member) => session.script.some((run) => run[member] !== undefined);
  const middleware = [
    ...(gated.length ? [humanInTheLoopMiddleware({ interruptOn: Object.fromEntries(gated.map((name) => [name, true])) })] : []),
    ...(uses('maxRecursionDepth') ? [modelCallLimitMiddleware({})] : []),
    ...(uses('compact') ? [summarizationMiddleware({ model: summarizer })] : []),
  ];
  if (names.length > 1 && middleware.length) session.cannotTell("the agents of a swarm take none of createAgent's middleware");
  const agent = names.length === 1
    ? createAgent({ model, tools: toolsOf('main'), systemPrompt: session.system, middleware, checkpointer })
    : createSwarm({ agents: names.map(reactAgent), defaultActiveAgent: 'main' }).compile({ checkpointer });

  function reactAgent(name) {
    const others = names.filter((other) => other !== name).map((agentName) => createHandoffTool({ agentName }));
    return createReactAgent({ llm: model, tools: [...toolsOf(name), ...others], name, prompt: session.agents[name].system });
  }

  /** The calls of the last response that the middleware asks about, in its order. */
  async function pending(config) {
    const { tasks, values } = await agent.graph?.getState(config) ?? { tasks: [] };
    if (!tasks.some(({ interrupts }) => interrupts.length)) return [];
    const response = values.messages.findLast((message) => AIMessage.isInstance(message));
    return response.tool_calls.filter(({ name }) => gated.includes(name));
  }

  function begin({ message, decisions }, asked) {
    if (message !== undefined) return { messages: [new HumanMessage(message)] };
    if (!decisions) return null;
    // In the order in which the middleware asked; where it does not ask any more, as the decisions come.
    const calls = asked.length ? asked.filter(({ id }) => id in decisions) : Object.keys(decisions).map((id) => session.calls.get(id));
    return new Command({ resume: { decisions: calls.map(({ id, name }) => toDecision(name, decisions[id])) } });
  }

  return async (run) => {
    current = run;
    const { keepMessages, tokens } = run.compact ?? {};
    const budget = (more) => (tokens === undefined ? { messages: keepMessages + more } : { tokens: tokens + more });
    const context = {
      ...(run.limit !== undefined && { runLimit: run.rounds + 1 }),
      ...(run.compact && { trigger: budget(1), keep: budget(0) }),
    };
    const thread = { configurable: { thread_id: 'thread' } };
    const config = { ...thread, context, recursionLimit: 5 * UNLIMITED, signal: run.signal };
    try {
      await agent.invoke(begin(run, await pending(thread)), config);
    } finally {
      run.pending = (await pending(thread)).map(({ id }) => id);
    }
  };
}

function toDecision(name, { approve, args, reason }) {
  if (!approve) return { type: 'reject', message: reason };
  return args ? { type: 'edit', editedAction: { name, args } } : { type: 'approve' };
}

const describe = (messages) => messages.map((message) => {
  const { type, content, tool_calls = [], invalid_tool_calls = [], tool_call_id, additional_kwargs: { signatures = {} } } = message;
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const calls = [...tool_calls, ...invalid_tool_calls].map(({ id, name, args }) => callOf(id, name, args));
  const opaque = [
    ...blocks.flatMap(toOpaque),
    ...calls.filter(({ id }) => signatures[id]).map(({ id }) => ({ kind: 'signature', call: id, data: signatures[id] })),
  ];
  const images = blocks.filter((block) => block.type === 'image').map(({ data }) => digest(data));
  return {
    type,
    content: blocks.map((block) => block.text ?? '').join(''),
    ...(calls.length && { tool_calls: calls }),
    ...(type === 'tool' && { tool_call_id }),
    ...(opaque.length && { opaque }),
    ...(images.length && { images }),
  };
});

function toOpaque({ type, thinking, signature, data, id, encrypted_content }) {
  if (type === 'thinking') return [{ kind: 'thinking', text: thinking, signature }];
  if (type === 'redacted_thinking') return [{ kind: 'redacted', data }];
  return type === 'reasoning' ? [{ kind: 'reasoning', id, encrypted: encrypted_content }] : [];
}

await serveSessions({
  open, describe, features: ['error', 'cancel', 'kill', 'limit', 'resume', 'approval', 'edit', 'compact', 'handoff', 'opaque', 'raw', 'image'],
  from: import.meta.url, package: 'langchain', label: 'LangChain createAgent (JavaScript)', url: 'https://github.com/langchain-ai/langchainjs',
});
