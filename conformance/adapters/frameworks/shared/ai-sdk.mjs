// What the adapters of Vercel's AI SDK share: a scripted model at its provider interface, and the conversion of its messages.

import { callOf, digest } from './session.mjs';

const USAGE = { inputTokens: { total: 0 }, outputTokens: { total: 0 } };

/** A model of the provider interface `specificationVersion`, which answers as the script of the run says. */
export function scriptedModel(run, specificationVersion) {
  const end = (calls) => ({ finishReason: { unified: calls.length ? 'tool-calls' : 'stop' }, usage: USAGE });
  return {
    specificationVersion,
    provider: 'scripted',
    modelId: 'scripted',
    supportedUrls: {},
    async doGenerate({ prompt }) {
      const turn = run.ask(prompt);
      return { content: partsOf(turn), ...end(turn.calls), warnings: [] };
    },
    async doStream({ prompt }) {
      const turn = run.ask(prompt);
      const parts = [{ type: 'stream-start', warnings: [] }, ...partsOf(turn).flatMap(streamed), { type: 'finish', ...end(turn.calls) }];
      return { stream: ReadableStream.from(parts) };
    },
  };
}

// Opaque parts are where the providers of Anthropic, OpenAI and Google put them.
function partsOf({ content, calls, opaque }) {
  const reasoning = opaque.filter(({ kind }) => kind !== 'signature').map(({ kind, text = '', signature, data, id, encrypted }) => ({
    type: 'reasoning',
    text,
    providerMetadata: {
      thinking: { anthropic: { signature } },
      redacted: { anthropic: { redactedData: data } },
      reasoning: { openai: { itemId: id, reasoningEncryptedContent: encrypted } },
    }[kind],
  }));
  const signatures = new Map(opaque.filter(({ kind }) => kind === 'signature').map(({ call, data }) => [call, data]));
  const toolCall = ({ id, name, arguments: input }) => ({
    type: 'tool-call', toolCallId: id, toolName: name, input,
    ...(signatures.has(id) && { providerMetadata: { google: { thoughtSignature: signatures.get(id) } } }),
  });
  return [...reasoning, ...(content ? [{ type: 'text', text: content }] : []), ...calls.map(toolCall)];
}

function streamed({ type, text, providerMetadata, ...part }, at) {
  if (type === 'tool-call') return [{ type, ...part, ...(providerMetadata && { providerMetadata }) }];
  const id = type === 'text' ? 't' : `r${at}`;
  const delta = text ? [{ type: `${type}-delta`, id, delta: text }] : [];
  return [{ type: `${type}-start`, id }, ...delta, { type: `${type}-end`, id, ...(providerMetadata && { providerMetadata }) }];
}

/** The protocol's messages as the AI SDK's. The results of one round are one message. */
export function toModelMessages(messages) {
  const names = new Map(messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id, name }) => [id, name])));
  const converted = [];
  for (const { type, content, tool_calls = [], tool_call_id } of messages) {
    if (type === 'system') converted.push({ role: 'system', content });
    if (type === 'human') converted.push({ role: 'user', content });
    if (type === 'ai') {
      const calls = tool_calls.map(({ id, name, args }) => ({ type: 'tool-call', toolCallId: id, toolName: name, input: args ?? {} }));
      converted.push({ role: 'assistant', content: calls.length ? [...(content ? [{ type: 'text', text: content }] : []), ...calls] : content });
    }
    if (type === 'tool') {
      const output = { type: 'text', value: content };
      const result = { type: 'tool-result', toolCallId: tool_call_id, toolName: names.get(tool_call_id) ?? 'unknown', output };
      if (converted.at(-1)?.role === 'tool') converted.at(-1).content.push(result);
      else converted.push({ role: 'tool', content: [result] });
    }
  }
  return converted;
}

/** A prompt or a list of messages of the AI SDK as the protocol's messages. */
export const describe = (messages) => messages.flatMap(({ role, content }) => {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  if (role === 'tool') return parts.filter(isResult).map(describeResult);
  const text = parts.map((part) => part.text ?? '').join('');
  if (role !== 'assistant') return [{ type: role === 'user' ? 'human' : 'system', content: text }];
  const calls = parts.filter((part) => part.type === 'tool-call');
  const tool_calls = calls.map(({ toolCallId: id, toolName: name, input: args }) => ({ id, name, args }));
  return [
    { type: 'ai', content: text, ...(calls.length && { tool_calls }) },
    ...parts.filter(isResult).map(describeResult),
  ];
});

/** The same as the provider of OpenAI writes it since its version 4: what failed is an object with the error. */
export const describeForOpenAI = (messages) => describe(messages.map(({ content, ...message }) => ({
  ...message,
  content: typeof content === 'string' ? content : content.map((part) => (
    part.output?.type.startsWith('error-') ? { ...part, output: { type: 'json', value: { error: part.output.value } } } : part)),
})));

/** The same for sessions: with opaque parts, arguments that are no object, and images. */
export const describeSession = (messages) => messages.flatMap(({ role, content }) => {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  if (role === 'tool') return parts.filter(isResult).map(describeOutput);
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  if (role !== 'assistant') {
    const images = parts.filter(isImage).map(digestOf);
    return [{ type: role === 'user' ? 'human' : 'system', content: text, ...(images.length && { images }) }];
  }
  const calls = parts.filter((part) => part.type === 'tool-call').map(({ toolCallId, toolName, input }) => callOf(toolCallId, toolName, input));
  const opaque = parts.flatMap(toOpaque);
  return [
    { type: 'ai', content: text, ...(calls.length && { tool_calls: calls }), ...(opaque.length && { opaque }) },
    ...parts.filter(isResult).map(describeOutput),
  ];
});

function toOpaque({ type, text, toolCallId, providerOptions }) {
  const { anthropic, openai, google } = providerOptions ?? {};
  if (type === 'tool-call') return google ? [{ kind: 'signature', call: toolCallId, data: google.thoughtSignature }] : [];
  if (type !== 'reasoning') return [];
  if (anthropic?.redactedData !== undefined) return [{ kind: 'redacted', data: anthropic.redactedData }];
  if (openai) return [{ kind: 'reasoning', id: openai.itemId, encrypted: openai.reasoningEncryptedContent }];
  return [{ kind: 'thinking', text, signature: anthropic?.signature }];
}

function describeOutput(result) {
  if (result.output.type !== 'content') return describeResult(result);
  const { toolCallId, output: { value } } = result;
  const images = value.filter(isImage).map(digestOf);
  const content = value.map((part) => part.text ?? '').join('');
  return { type: 'tool', content, tool_call_id: toolCallId, ...(images.length && { images }) };
}

// Its data is base64, bytes, or one of the two inside an object, by the version of the interface.
const isImage = ({ data, mediaType }) => data !== undefined && Boolean(mediaType?.startsWith('image/'));
function digestOf({ data }) {
  const inner = typeof data === 'object' && 'data' in data ? data.data : data;
  return digest(typeof inner === 'string' ? inner : Buffer.from(inner).toString('base64'));
}

const isResult = ({ type }) => type === 'tool-result';

// As the SDK's own providers write an output.
function describeResult({ toolCallId, output: { type, value, reason } }) {
  const denied = type === 'execution-denied' ? reason ?? 'Tool call execution denied.' : undefined;
  const content = denied ?? (type === 'text' || type === 'error-text' ? value : JSON.stringify(value));
  return { type: 'tool', content, tool_call_id: toolCallId };
}
