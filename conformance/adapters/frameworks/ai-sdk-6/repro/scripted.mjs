// The model of these reproductions, scripted, and what they share. `threadspec matrix repro` prints one of them as a single file.
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';

const sent = [];
const turns = [];
const model = {
  specificationVersion: 'v3', provider: 'scripted', modelId: 'scripted', supportedUrls: {},
  async doGenerate({ prompt }) {
    const calls = turns[sent.push(prompt) - 1] ?? [];
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
export { generateText, model, named, run, sent, stepCountIs, turns };
