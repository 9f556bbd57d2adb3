// A call waits for approval, and the user writes on instead of deciding. The next request has the call without an answer, which every
// provider refuses: "An assistant message with 'tool_calls' must be followed by tool messages". So has every later one.
// Announced: no; the guide to human-in-the-loop says how to resume, not what happens otherwise. Exit code 1 if so.
import assert from 'node:assert/strict';
import { AIMessage, BaseChatModel, createAgent, humanInTheLoopMiddleware, MemorySaver, sent, tool } from './scripted.mjs';

class Model extends BaseChatModel {
  _llmType() { return 'scripted'; }
  bindTools() { return this; }
  async _generate(messages) {
    sent.push(messages);
    const tool_calls = [{ id: 'c1', name: 'pay', args: {}, type: 'tool_call' }];
    return { generations: [{ text: '', message: new AIMessage(sent.length > 1 ? 'Never mind.' : { content: '', tool_calls }) }] };
  }
}
const pay = tool(async () => 'paid', { name: 'pay', description: 'Pays.', schema: { type: 'object', properties: {} } });
const middleware = [humanInTheLoopMiddleware({ interruptOn: { pay: true } })];
const agent = createAgent({ model: new Model({}), tools: [pay], middleware, checkpointer: new MemorySaver() });
const thread = { configurable: { thread_id: '1' } };
const paused = await agent.invoke({ messages: [{ role: 'user', content: 'Pay' }] }, thread);
console.log('waits for', paused.__interrupt__[0].value.actionRequests.map(({ name }) => name));
await agent.invoke({ messages: [{ role: 'user', content: 'What would that cost?' }] }, thread);
const request = sent.at(-1).map(({ type, content, tool_calls, tool_call_id }) => ({ type, content, tool_calls, tool_call_id }));
console.log(JSON.stringify(request, undefined, 1));
const answered = request.filter(({ type }) => type === 'tool').map(({ tool_call_id }) => tool_call_id);
assert.deepEqual(answered, ['c1'], 'a call without an answer is sent');
