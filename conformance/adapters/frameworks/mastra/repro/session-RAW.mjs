// The model's arguments are cut off in the middle, as at the limit of its tokens. The tool is executed all the same, with `{}`: what it is
// not told is a default. Exit code 1 if so.
// Announced: no. Providers send such texts whenever a response ends early (finish reason "length").
import assert from 'node:assert/strict';
import { Agent, createTool, sent, z } from './scripted.mjs';

const model = {
  specificationVersion: 'v3', provider: 'scripted', modelId: 'scripted', supportedUrls: {},
  async doGenerate({ prompt }) {
    const first = sent.push(prompt) === 1;
    const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'remove', input: '{"where": "name like \'te' };
    const usage = { inputTokens: { total: 0 }, outputTokens: { total: 0 } };
    const content = first ? [call] : [{ type: 'text', text: 'Done.' }];
    return { content, finishReason: { unified: first ? 'tool-calls' : 'stop' }, usage, warnings: [] };
  },
};
const removed = [];
const remove = createTool({
  id: 'remove', description: 'Removes rows.', inputSchema: z.object({ where: z.string().optional() }),
  execute: async (input) => `removed ${removed.push(input)}`,
});
await new Agent({ id: 'agent', name: 'agent', instructions: '', model, tools: { remove } }).generate('Remove the test rows', { maxSteps: 5 });
console.log('executed with', removed, JSON.stringify(sent.at(-1), undefined, 1));
assert.deepEqual(removed, [], 'the tool was executed');
