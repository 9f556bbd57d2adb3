// The model uses one id for two calls. One of the calls, and one of the answers, is lost. Exit code 1 if so.
import assert from 'node:assert/strict';
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';

const sent = [];
const model = {
  specificationVersion: 'v3', provider: 'scripted', modelId: 'scripted', supportedUrls: {},
  async doGenerate({ prompt }) {
    const calls = sent.push(prompt) === 1 ? [['c1', 'look', '{}'], ['c1', 'look', '{}']] : [];
    const content = calls.map(([toolCallId, toolName, input]) => ({ type: 'tool-call', toolCallId, toolName, input }));
    const finishReason = { unified: calls.length ? 'tool-calls' : 'stop' };
    const usage = { inputTokens: { total: 0 }, outputTokens: { total: 0 } };
    return { content: calls.length ? content : [{ type: 'text', text: 'Done' }], finishReason, usage, warnings: [] };
  },
};
const named = (id, result) => createTool({ id, description: id, inputSchema: z.looseObject({}), execute: async () => result });
const tools = { look: named('look', 'r') };
await new Agent({ id: 'agent', name: 'agent', instructions: '', model, tools }).generate('Go', { maxSteps: 5 });
console.log(JSON.stringify(sent.at(-1), undefined, 1));
assert.equal(sent[1].filter(({ role }) => role === 'tool').flatMap(({ content }) => content).length, 2);
