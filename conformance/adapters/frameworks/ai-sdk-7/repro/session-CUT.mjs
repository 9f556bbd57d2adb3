// The user presses stop while a tool works, and writes on. This message and every later one are refused before the model is asked: "Tool
// result is missing for tool call c2." The chat is dead until somebody edits what is stored. The route is that of the guide to message
// persistence, with the abort signal forwarded as the guide to stopping streams says.
// Announced: only for subagents, whose guide names the option that helps (`ignoreIncompleteToolCalls`). Exit code 1 if so.
import assert from 'node:assert/strict';
import { convertToModelMessages, generateId, toUIMessageStream, validateUIMessages } from 'ai';
import { jsonSchema, sent, stepCountIs, streamText, tool } from './scripted.mjs';

const model = {
  specificationVersion: 'v4', provider: 'scripted', modelId: 'scripted', supportedUrls: {},
  async doStream({ prompt }) {
    const calls = sent.push(prompt) === 1 ? [['c1', 'look'], ['c2', 'pay']] : [];
    const parts = calls.map(([toolCallId, toolName]) => ({ type: 'tool-call', toolCallId, toolName, input: '{}' }));
    const usage = { inputTokens: { total: 0 }, outputTokens: { total: 0 } };
    const finish = { type: 'finish', finishReason: { unified: calls.length ? 'tool-calls' : 'stop' }, usage };
    return { stream: ReadableStream.from([{ type: 'stream-start', warnings: [] }, ...parts, finish]) };
  },
};
const stop = new AbortController();
const inputSchema = jsonSchema({ type: 'object' });
const tools = {
  look: tool({ inputSchema, execute: async () => 'a result' }),
  pay: tool({
    inputSchema,
    async execute() {
      setTimeout(() => stop.abort(), 100);
      await new Promise((over) => { setTimeout(over, 1000); });
      return 'paid';
    },
  }),
};
let stored = [];
async function post(text, abortSignal) {
  const messages = [...stored, { id: generateId(), role: 'user', parts: [{ type: 'text', text }] }];
  const result = streamText({
    model, tools, abortSignal, stopWhen: stepCountIs(5),
    messages: await convertToModelMessages(await validateUIMessages({ messages, tools })),
  });
  let failed;
  const onError = (error) => { failed ??= error; };
  const stream = toUIMessageStream({ stream: result.stream, originalMessages: messages, onError, onEnd: (end) => { stored = end.messages; } });
  for await (const chunk of stream) if (chunk.type === 'abort') console.log('stopped');
  return failed;
}
await post('Pay', stop.signal);
console.log('stored:', JSON.stringify(stored.at(-1).parts, undefined, 1));
const failures = [await post('Are you there?'), await post('Hello?')];
console.log('refused:', failures.map(({ message }) => message), 'requests:', sent.length);
assert.equal(sent.length, 3, 'the model is never asked again');
