// A tool returns a lone surrogate. It is sent as it is, and cannot be written as UTF-8. Exit code 1 if so.
import assert from 'node:assert/strict';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';

const sent = [];
const model = {
  specificationVersion: 'v3', provider: 'scripted', modelId: 'scripted', supportedUrls: {},
  async doGenerate({ prompt }) {
    const calls = sent.push(prompt) === 1 ? [['c1', 'look', '{}']] : [];
    const content = calls.map(([toolCallId, toolName, input]) => ({ type: 'tool-call', toolCallId, toolName, input }));
    const finishReason = { unified: calls.length ? 'tool-calls' : 'stop' };
    const usage = { inputTokens: {}, outputTokens: {} };
    return { content: calls.length ? content : [{ type: 'text', text: 'Done' }], finishReason, usage, warnings: [] };
  },
  async doStream(options) {
    const { content, ...end } = await this.doGenerate(options);
    const parts = [{ type: 'stream-start', warnings: [] }, ...content.filter(({ type }) => type === 'tool-call'), { type: 'finish', ...end }];
    return { stream: ReadableStream.from(parts) };
  },
};
const run = process.argv[2] === 'stream' ? (options) => streamText(options).consumeStream() : generateText;
const named = (execute) => tool({ inputSchema: jsonSchema({ type: 'object' }), execute });
const tools = { look: named(async () => '\ud83d') };
await run({ model, prompt: 'Go', tools, stopWhen: stepCountIs(5) });
console.log(JSON.stringify(sent.at(-1), undefined, 1));
const result = sent[1][2].content[0].output.value;
assert(!/[\ud800-\udfff]/u.test(result), JSON.stringify(result));
