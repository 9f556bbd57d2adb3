// Two calls wait for approval, and the caller hands in one decision: an error. From then on the complete decisions are refused with the same words,
// since the first ones are kept in the checkpoint and read again: the thread can never be decided. Exit code 1 if so.
// Announced: no; the guide says that each action requires a decision of its own (https://docs.langchain.com/oss/javascript/langchain/human-in-the-loop),
// and nothing about a wrong list that stays. langchain-ai/langgraph#8837 is about answers that come again in Python.
import assert from 'node:assert/strict';
import { Command, createAgent, humanInTheLoopMiddleware, MemorySaver, sent, Talking, tool, turns } from './scripted.mjs';

turns.push({ content: '', tool_calls: [1, 2].map((n) => ({ id: `c${n}`, name: 'pay', args: { n }, type: 'tool_call' })) }, 'Done.');
const pay = tool(async ({ n }) => `paid ${n}`, { name: 'pay', description: 'Pays.', schema: { type: 'object', properties: { n: { type: 'number' } } } });
const middleware = [humanInTheLoopMiddleware({ interruptOn: { pay: true } })];
const agent = createAgent({ model: new Talking({}), tools: [pay], middleware, checkpointer: new MemorySaver() });
const thread = { configurable: { thread_id: '1' } };
await agent.invoke({ messages: [{ role: 'user', content: 'Pay both' }] }, thread);
const refusals = [];
for (const count of [1, 2, 2]) {
  const decisions = Array.from({ length: count }, () => ({ type: 'approve' }));
  await agent.invoke(new Command({ resume: { decisions } }), thread).catch((error) => refusals.push(`${count} of 2 decisions: ${error.message}`));
}
console.log(refusals.join('\n'));
await agent.invoke({ messages: [{ role: 'user', content: 'Who is paid?' }] }, thread);
console.log(JSON.stringify(sent.at(-1), undefined, 1));
assert.ok(refusals.length < 3, 'complete decisions are refused, now and ever; and a provider refuses what is sent when the user goes on: calls without answers');
