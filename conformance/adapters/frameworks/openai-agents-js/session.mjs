// The OpenAI Agents SDK behind op `session`: a `MemorySession`, streamed runs, approvals on the `RunState`, hand-overs between agents.

import { Agent, handoff, MemorySession, Runner, setTracingDisabled, tool } from '@openai/agents';
import { z } from 'zod';
import { callOf, digest, imageOf, serveSessions } from '../shared/session.mjs';

// Validated, as a schema of zod is; JSON Schemas are not.
const ANY_ARGUMENTS = z.looseObject({});

/** A turn as items of the Responses API; parts that it has not are reasoning items, as in the SDK's adapter for other providers. */
function toItems({ content, calls, opaque }) {
  const reasoning = opaque.filter(({ kind }) => kind !== 'signature').map(({ kind, id, text, ...data }) => (
    { type: 'reasoning', id, content: text === undefined ? [] : [{ type: 'input_text', text }], providerData: { kind, ...data } }));
  const message = { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: content }] };
  const items = calls.map((call) => {
    const signature = opaque.find((part) => part.kind === 'signature' && part.call === call.id)?.data;
    const name = call.handoff ? `transfer_to_${call.handoff}` : call.name;
    return { type: 'function_call', callId: call.id, name, arguments: call.arguments, status: 'completed', ...(signature && { providerData: { signature } }) };
  });
  return [...reasoning, ...(content || !calls.length ? [message] : []), ...items];
}

async function open(session) {
  let current;
  const model = {
    async *getStreamedResponse({ systemInstructions, input }) {
      const output = toItems(current.ask({ system: systemInstructions, items: input }));
      const usage = { requests: 1, inputTokens: 0, outputTokens: 0, totalTokens: 0 };
      yield { type: 'response_done', response: { id: 'response', usage, output } };
    },
  };
  const toolsOf = (agent) => session.toolsOf(agent).map(({ name, approval }) => tool({
    name, description: 'A scripted tool.', parameters: ANY_ARGUMENTS, needsApproval: approval,
    execute: async (args, context, details) => {
      const result = await current.call(name, args, details.toolCall.callId, agent);
      const image = imageOf(result);
      const text = image?.text ? [{ type: 'text', text: image.text }] : [];
      return image ? [...text, { type: 'image', image: { data: image.data, mediaType: image.mediaType } }] : result;
    },
  }));
  const agents = Object.fromEntries(Object.entries(session.agents).map(([name, { system }]) => (
    [name, new Agent({ name, instructions: system, model, tools: toolsOf(name) })])));
  for (const agent of Object.values(agents)) agent.handoffs = Object.values(agents).filter((other) => other !== agent).map((other) => handoff(other));
  const memory = new MemorySession();
  const runner = new Runner();
  // Of the last run; one that waits for decisions is gone on with, whatever comes.
  let state;
  let isPaused = false;

  function begin({ message, decisions }) {
    if (message !== undefined && !isPaused) return message;
    // What the guide to approvals says for a user message that arrives while a run is paused.
    if (message !== undefined) state.addInput(message);
    for (const item of decisions ? state.getInterruptions() : []) {
      const { approve, reason } = decisions[item.rawItem.callId] ?? {};
      if (approve) state.approve(item);
      if (approve === false) state.reject(item, { message: reason });
    }
    return state;
  }

  return async (run) => {
    current = run;
    const options = { session: memory, stream: true, signal: run.signal, maxTurns: run.limit === undefined ? null : run.rounds + 1 };
    const result = await runner.run(agents.main, begin(run), options);
    state = result.state;
    try {
      await result.completed;
      if (result.error) throw result.error;
    } finally {
      run.pending = result.interruptions.map(({ rawItem }) => rawItem.callId);
      isPaused = run.pending.length > 0;
    }
    if (run.message !== undefined && isPaused && state.pendingInput.length) throw new Error('staged in RunState.pendingInput until the calls are decided');
  };
}

/** Opaque parts, a text and calls that follow one another are a response. */
function describe({ system, items }) {
  const messages = system ? [{ type: 'system', content: system }] : [];
  let previous;
  const response = (kinds) => {
    if (!kinds.includes(previous)) messages.push({ type: 'ai', content: '' });
    return messages.at(-1);
  };
  for (const item of items) {
    const { type = 'message', role, content, callId, name, arguments: args, output, providerData } = item;
    if (type === 'reasoning') {
      (response(['reasoning']).opaque ??= []).push(toOpaque(item));
      previous = type;
    } else if (type === 'function_call') {
      const message = response(['reasoning', 'assistant', 'function_call']);
      (message.tool_calls ??= []).push(callOf(callId, name, args));
      if (providerData?.signature) (message.opaque ??= []).push({ kind: 'signature', call: callId, data: providerData.signature });
      previous = type;
    } else if (type === 'function_call_result') {
      messages.push({ type: 'tool', ...contentOf(output), tool_call_id: callId });
      previous = type;
    } else if (role === 'assistant') {
      response(['reasoning']).content = contentOf(content).content;
      previous = role;
    } else {
      messages.push({ type: role === 'user' ? 'human' : role, ...contentOf(content) });
      previous = role;
    }
  }
  return messages;
}

const toOpaque = ({ id, content, providerData: { kind = 'reasoning', ...data } }) => (
  { kind, ...(id && { id }), ...(content.length && { text: content.map(({ text }) => text).join('') }), ...data });

function contentOf(content) {
  const parts = typeof content === 'string' ? [{ text: content }] : [content].flat();
  const images = parts.filter(({ image }) => image).map(({ image }) => digest(image.url ?? image.data ?? image));
  return { content: parts.map(({ text = '' }) => text).join(''), ...(images.length && { images }) };
}

setTracingDisabled(true);
await serveSessions({
  open, describe, features: ['error', 'cancel', 'limit', 'resume', 'approval', 'handoff', 'opaque', 'raw', 'image'], saves: 'run',
  from: import.meta.url, package: '@openai/agents', label: 'OpenAI Agents SDK (JavaScript)', url: 'https://github.com/openai/openai-agents-js',
});
