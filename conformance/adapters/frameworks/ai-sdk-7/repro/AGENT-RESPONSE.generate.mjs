// The model uses one id for calls of two tools. One of the calls is sent with the name of the other. Exit code 1 if so.
import assert from 'node:assert/strict';
import { generateText, jsonSchema, stepCountIs, tool } from 'ai';

const sent = [];
const model = {
  specificationVersion: 'v4', provider: 'scripted', modelId: 'scripted', supportedUrls: {},
  async doGenerate({ prompt }) {
    const calls = sent.push(prompt) === 1 ? [['c1', 'a', '{}'], ['c1', 'b', '{}']] : [];
    const content = calls.map(([toolCallId, toolName, input]) => ({ type: 'tool-call', toolCallId, toolName, input }));
    const finishReason = { unified: calls.length ? 'tool-calls' : 'stop' };
    const usage = { inputTokens: {}, outputTokens: {} };
    return { content: calls.length ? content : [{ type: 'text', text: 'Done' }], finishReason, usage, warnings: [] };
  },
};
const named = (execute) => tool({ inputSchema: jsonSchema({ type: 'object' }), execute });
const tools = { a: named(async () => 'of a'), b: named(async () => 'of b') };
await generateText({ model, prompt: 'Go', tools, stopWhen: stepCountIs(5) });
console.log(JSON.stringify(sent.at(-1), undefined, 1));
assert.deepEqual(sent[1][1].content.map(({ toolName }) => toolName), ['a', 'b']);
