// A call has the id `__proto__`. The run ends, and the call has no answer. Exit code 1 if so.
import assert from 'node:assert/strict';
import { generateText, jsonSchema, stepCountIs, tool } from 'ai';

const sent = [];
const model = {
  specificationVersion: 'v3', provider: 'scripted', modelId: 'scripted', supportedUrls: {},
  async doGenerate({ prompt }) {
    const calls = sent.push(prompt) === 1 ? [['__proto__', 'look', '{}']] : [];
    const content = calls.map(([toolCallId, toolName, input]) => ({ type: 'tool-call', toolCallId, toolName, input }));
    const finishReason = { unified: calls.length ? 'tool-calls' : 'stop' };
    const usage = { inputTokens: {}, outputTokens: {} };
    return { content: calls.length ? content : [{ type: 'text', text: 'Done' }], finishReason, usage, warnings: [] };
  },
};
const named = (execute) => tool({ inputSchema: jsonSchema({ type: 'object' }), execute });
const tools = { look: named(async () => 'r') };
await generateText({ model, prompt: 'Go', tools, stopWhen: stepCountIs(5) });
console.log(JSON.stringify(sent.at(-1), undefined, 1));
assert.equal(sent.length, 2, 'the model was not asked again');
