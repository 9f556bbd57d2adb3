// A hand-over in a swarm with a tool beside it. The tool is executed, but its answer is lost: the new agent's request has the call without
// one, which every provider refuses: "An assistant message with 'tool_calls' must be followed by tool messages". Exit code 1 if so.
// Announced: no; the package's README recommends `createReactAgent`, as here.
import assert from 'node:assert/strict';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { createHandoffTool, createSwarm } from '@langchain/langgraph-swarm';
import { MemorySaver, sent, Talking, tool, turns } from './scripted.mjs';

turns.push({ content: '', tool_calls: ['note', 'transfer_to_bob'].map((name) => ({ id: `c-${name}`, name, args: {}, type: 'tool_call' })) }, 'I am Bob.');
const noted = [];
const note = tool(async () => `note ${noted.push('a note')}`, { name: 'note', description: 'Notes.', schema: { type: 'object', properties: {} } });
const llm = new Talking({});
const agents = [
  createReactAgent({ llm, name: 'alice', prompt: 'You are Alice.', tools: [note, createHandoffTool({ agentName: 'bob' })] }),
  createReactAgent({ llm, name: 'bob', prompt: 'You are Bob.', tools: [createHandoffTool({ agentName: 'alice' })] }),
];
const swarm = createSwarm({ agents, defaultActiveAgent: 'alice' }).compile({ checkpointer: new MemorySaver() });
await swarm.invoke({ messages: [{ role: 'user', content: 'Note that, and give me Bob' }] }, { configurable: { thread_id: '1' } });
console.log('executed:', noted, JSON.stringify(sent.at(-1), undefined, 1));
const answered = sent.at(-1).filter(({ type }) => type === 'tool').map(({ tool_call_id }) => tool_call_id).sort();
assert.deepEqual(answered, ['c-note', 'c-transfer_to_bob'], 'a call without an answer is sent');
