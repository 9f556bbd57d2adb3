// The history has an answer without a call. It is sent as it is, and no provider takes it. Exit code 1 if so.
import assert from 'node:assert/strict';
import { generateText, streamText } from 'ai';

const sent = [];
const model = {
  specificationVersion: 'v4', provider: 'scripted', modelId: 'scripted', supportedUrls: {},
  async doGenerate({ prompt }) {
    sent.push(prompt);
    const usage = { inputTokens: {}, outputTokens: {} };
    return { content: [{ type: 'text', text: 'Done' }], finishReason: { unified: 'stop' }, usage, warnings: [] };
  },
  async doStream(options) {
    const { content, ...end } = await this.doGenerate(options);
    const parts = [{ type: 'stream-start', warnings: [] }, ...content.filter(({ type }) => type === 'tool-call'), { type: 'finish', ...end }];
    return { stream: ReadableStream.from(parts) };
  },
};
const run = process.argv[2] === 'stream' ? (options) => streamText(options).consumeStream() : generateText;
const output = { type: 'text', value: 'r' };
const orphan = { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'h1', toolName: 'look', output }] };
await run({ model, messages: [orphan, { role: 'user', content: 'Well?' }] });
console.log(JSON.stringify(sent.at(-1), undefined, 1));
assert(!sent[0].some(({ role }) => role === 'tool'), 'h1 is no call');
