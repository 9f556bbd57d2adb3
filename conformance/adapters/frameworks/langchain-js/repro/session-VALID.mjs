// An agent without tools, and a model that calls one all the same. The run ends at the call, and every later request has it without an answer,
// which every provider refuses: "An assistant message with 'tool_calls' must be followed by tool messages". Exit code 1 if so.
// Announced: that an agent without tools is a model node alone; not that its thread is lost by such a call.
import assert from 'node:assert/strict';
import { createAgent, MemorySaver, sent, Talking, turns } from './scripted.mjs';

turns.push({ content: '', tool_calls: [{ id: 'c1', name: 'translate', args: {}, type: 'tool_call' }] }, 'Hello.');
const agent = createAgent({ model: new Talking({}), tools: [], checkpointer: new MemorySaver() });
const thread = { configurable: { thread_id: '1' } };
await agent.invoke({ messages: [{ role: 'user', content: 'Translate that' }] }, thread);
await agent.invoke({ messages: [{ role: 'user', content: 'And?' }] }, thread);
console.log(JSON.stringify(sent.at(-1), undefined, 1));
assert.ok(sent.at(-1).some(({ tool_call_id }) => tool_call_id === 'c1'), 'a call without an answer is sent');
