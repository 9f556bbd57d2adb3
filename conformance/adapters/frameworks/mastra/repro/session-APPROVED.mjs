// Two calls of a tool that needs approval; the arguments of the first are cut off in the middle. The user is asked about the first, as if its
// arguments were `{}`, and about the second only when that is decided. Exit code 1 if so.
// Announced: no. Providers send such texts whenever a response ends early (finish reason "length").
import assert from 'node:assert/strict';
import { Agent, createTool, LibSQLStore, Mastra, z } from './scripted.mjs';

const model = {
  specificationVersion: 'v3', provider: 'scripted', modelId: 'scripted', supportedUrls: {},
  async doGenerate() {
    const content = [['c1', '{"to": "Ann", "eur": 1'], ['c2', '{"to": "Bob", "eur": 20}']]
      .map(([toolCallId, input]) => ({ type: 'tool-call', toolCallId, toolName: 'pay', input }));
    const usage = { inputTokens: { total: 0 }, outputTokens: { total: 0 } };
    return { content, finishReason: { unified: 'tool-calls' }, usage, warnings: [] };
  },
};
const inputSchema = z.object({ to: z.string().optional(), eur: z.number().optional() });
const pay = createTool({ id: 'pay', description: 'Pays.', inputSchema, requireApproval: true, execute: async () => 'paid' });
const agent = new Agent({ id: 'agent', name: 'agent', instructions: '', model, tools: { pay } });
new Mastra({ storage: new LibSQLStore({ id: 'storage', url: ':memory:' }), agents: { agent }, logger: false });
const { suspendPayload } = await agent.generate('Pay both');
console.log('asked about:', suspendPayload.toolCallId, suspendPayload.args);
assert.notEqual(suspendPayload.toolCallId, 'c1', 'a broken call waits for approval');
