// The user presses stop while a tool works, and writes on. The next request has calls without an answer, which every provider refuses:
// "An assistant message with 'tool_calls' must be followed by tool messages". It is the same after a kill, and for every later message.
// Announced: for `createReactAgent`, by an error before the request (INVALID_CHAT_HISTORY); not for `createAgent`. Exit code 1 if so.
import assert from 'node:assert/strict';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import { AIMessage, BaseChatModel, createAgent, sent, tool } from './scripted.mjs';

class Model extends BaseChatModel {
  _llmType() { return 'scripted'; }
  bindTools() { return this; }
  async _generate(messages) {
    sent.push(messages);
    const call = (id, name) => ({ id, name, args: {}, type: 'tool_call' });
    const message = sent.length > 1 ? new AIMessage('Hello again.') : new AIMessage({ content: '', tool_calls: [call('c1', 'look'), call('c2', 'pay')] });
    return { generations: [{ text: '', message }] };
  }
}
const stop = new AbortController();
const schema = { type: 'object', properties: {} };
const look = tool(async () => 'a result', { name: 'look', description: 'Looks.', schema });
const pay = tool(async () => {
  setTimeout(() => stop.abort(), 100);
  await new Promise((over) => { setTimeout(over, 1000); });
  return 'paid';
}, { name: 'pay', description: 'Pays.', schema });
const agent = createAgent({ model: new Model({}), tools: [look, pay], checkpointer: SqliteSaver.fromConnString(':memory:') });
const thread = { configurable: { thread_id: '1' } };
await agent.invoke({ messages: [{ role: 'user', content: 'Pay' }] }, { ...thread, signal: stop.signal }).catch((error) => console.log('stopped:', error.message));
await agent.invoke({ messages: [{ role: 'user', content: 'Are you there?' }] }, thread);
const request = sent.at(-1).map(({ type, content, tool_calls, tool_call_id }) => ({ type, content, tool_calls, tool_call_id }));
console.log(JSON.stringify(request, undefined, 1));
const answered = request.filter(({ type }) => type === 'tool').map(({ tool_call_id }) => tool_call_id);
assert.deepEqual(answered, ['c1', 'c2'], 'calls without an answer are sent');
