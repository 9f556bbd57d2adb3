// Two calls wait for approval; one is approved, the other denied. The approved call is never executed, and is gone from the next request,
// though the model said it and the user agreed. Exit code 1 if so.
// Announced: no; the guide to human-in-the-loop says that each decision belongs to its call. Mended in langchain 1.6.1 (#11437).
import assert from 'node:assert/strict';
import { Command, createAgent, humanInTheLoopMiddleware, MemorySaver, sent, Talking, tool, turns } from './scripted.mjs';

turns.push({ content: '', tool_calls: [1, 2].map((n) => ({ id: `c${n}`, name: 'pay', args: { n }, type: 'tool_call' })) }, 'Done.');
const paid = [];
const pay = tool(async ({ n }) => `paid ${paid.push(n)}`, { name: 'pay', description: 'Pays.', schema: { type: 'object', properties: { n: { type: 'number' } } } });
const middleware = [humanInTheLoopMiddleware({ interruptOn: { pay: true } })];
const agent = createAgent({ model: new Talking({}), tools: [pay], middleware, checkpointer: new MemorySaver() });
const thread = { configurable: { thread_id: '1' } };
await agent.invoke({ messages: [{ role: 'user', content: 'Pay both' }] }, thread);
await agent.invoke(new Command({ resume: { decisions: [{ type: 'approve' }, { type: 'reject', message: 'too much' }] } }), thread);
console.log('paid:', paid, JSON.stringify(sent.at(-1), undefined, 1));
assert.deepEqual(paid, [1], 'the approved call was not executed');
