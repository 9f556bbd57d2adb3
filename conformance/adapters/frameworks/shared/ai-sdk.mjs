// What the adapters of Vercel's AI SDK share: a scripted model at its provider interface, and the conversion of its messages.

const USAGE = { inputTokens: { total: 0 }, outputTokens: { total: 0 } };

/** A model of the provider interface `specificationVersion`, which answers as the script of the run says. */
export function scriptedModel(run, specificationVersion) {
  const toolCall = ({ id, name, arguments: input }) => ({ type: 'tool-call', toolCallId: id, toolName: name, input });
  const end = (calls) => ({ finishReason: { unified: calls.length ? 'tool-calls' : 'stop' }, usage: USAGE });
  return {
    specificationVersion,
    provider: 'scripted',
    modelId: 'scripted',
    supportedUrls: {},
    async doGenerate({ prompt }) {
      const { content, calls } = run.ask(prompt);
      const text = content ? [{ type: 'text', text: content }] : [];
      return { content: [...text, ...calls.map(toolCall)], ...end(calls), warnings: [] };
    },
    async doStream({ prompt }) {
      const { content, calls } = run.ask(prompt);
      const text = content
        ? [{ type: 'text-start', id: 't' }, { type: 'text-delta', id: 't', delta: content }, { type: 'text-end', id: 't' }]
        : [];
      const parts = [{ type: 'stream-start', warnings: [] }, ...text, ...calls.map(toolCall), { type: 'finish', ...end(calls) }];
      return { stream: ReadableStream.from(parts) };
    },
  };
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

const isResult = ({ type }) => type === 'tool-result';

// As the SDK's own providers write an output.
function describeResult({ toolCallId, output: { type, value, reason } }) {
  const content = type === 'text' || type === 'error-text' ? value : reason ?? JSON.stringify(value);
  return { type: 'tool', content, tool_call_id: toolCallId };
}
