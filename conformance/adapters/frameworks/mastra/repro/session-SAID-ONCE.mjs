// A call waits for approval, the user writes on, and then approves it. The request that carries out this late decision is made of what was
// before: the user's message and the answer to it are missing from it, and stand elsewhere afterwards. Exit code 1 if so.
// Announced: in part; the guide to human-in-the-loop says that tools "remain suspended until an explicit approval or decline".
import assert from 'node:assert/strict';
import { Memory } from '@mastra/memory';
import { Agent, createTool, LibSQLStore, Mastra, sent, talking, turns, z } from './scripted.mjs';

turns.push(['pay']);
const executed = [];
const named = (id, requireApproval) => createTool({
  id, description: id, inputSchema: z.object({}), requireApproval, execute: async () => `result ${executed.push(id)}`,
});
const storage = new LibSQLStore({ id: 'storage', url: ':memory:' });
const tools = { pay: named('pay', true) };
const agent = new Agent({ id: 'agent', name: 'agent', instructions: '', model: talking, tools, memory: new Memory({ storage }) });
new Mastra({ storage, agents: { agent }, logger: false });
const memory = { thread: 'thread', resource: 'user' };
const { runId } = await agent.generate('Pay', { memory });
await agent.generate('What would that cost?', { memory });
await agent.approveToolCallGenerate({ runId, toolCallId: 'c-pay', memory });
const said = (prompt) => prompt.map(({ role, content }) => [role, ...content].map((part) => part.text ?? part.toolCallId ?? part).join(' '));
console.log('executed:', executed, 'requests:', sent.map(said));
assert.ok(JSON.stringify(sent[2]).includes('What would that cost?'), 'the message of the user is missing');
