// The last answer is the text that stood beside the calls. It is not among the messages that are handed back. Exit code 1 if so.
import assert from 'node:assert/strict';
import { Agent, createTool, sent, turns, z } from './scripted.mjs';

const model = {
  specificationVersion: 'v3', provider: 'scripted', modelId: 'scripted', supportedUrls: {},
  async doGenerate({ prompt }) {
    const calls = turns[sent.push(prompt) - 1] ?? [];
    const content = calls.map(([toolCallId, toolName, input]) => ({ type: 'tool-call', toolCallId, toolName, input }));
    const finishReason = { unified: calls.length ? 'tool-calls' : 'stop' };
    const usage = { inputTokens: { total: 0 }, outputTokens: { total: 0 } };
    return { content: [{ type: 'text', text: 'Done' }, ...content], finishReason, usage, warnings: [] };
  },
};
turns.push([['c1', 'look', '{}']]);
const tools = { look: createTool({ id: 'look', description: 'Looks.', inputSchema: z.looseObject({}), execute: async () => 'r' }) };
const result = await new Agent({ id: 'agent', name: 'agent', instructions: '', model, tools }).generate('Go', { maxSteps: 5 });
console.log(JSON.stringify(result.response.messages, undefined, 1));
assert.equal(result.response.messages.at(-1).role, 'assistant');
