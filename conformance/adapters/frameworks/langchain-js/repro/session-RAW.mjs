// The model's arguments are cut off in the middle. The integrations of providers make an invalid call of them, which the agent overlooks: the
// run ends as if nothing had been called, and the model never hears of it. Where the integration sends the call back, as ChatOpenAI does by
// `additional_kwargs`, it has no answer: "An assistant message with 'tool_calls' must be followed by tool messages". Exit code 1 if so.
// Announced: `invalid_tool_calls` are documented for messages, not what an agent does with them.
import assert from 'node:assert/strict';
import { makeInvalidToolCall } from '@langchain/core/output_parsers/openai_tools';
import { AIMessage, BaseChatModel, createAgent, MemorySaver, sent, tool } from './scripted.mjs';

class Model extends BaseChatModel {
  _llmType() { return 'scripted'; }
  bindTools() { return this; }
  async _generate(messages) {
    sent.push(messages.map(({ type, content, invalid_tool_calls, tool_call_id }) => ({ type, content, invalid_tool_calls, tool_call_id })));
    const call = { id: 'c1', type: 'function', function: { name: 'pay', arguments: '{"to": "sam' } };
    const cut = { content: '', invalid_tool_calls: [makeInvalidToolCall(call, 'Unterminated string')], additional_kwargs: { tool_calls: [call] } };
    return { generations: [{ text: '', message: new AIMessage(sent.length > 1 ? 'Done.' : cut) }] };
  }
}
const pay = tool(async () => 'paid', { name: 'pay', description: 'Pays.', schema: { type: 'object', properties: { to: { type: 'string' } } } });
const agent = createAgent({ model: new Model({}), tools: [pay], checkpointer: new MemorySaver() });
const thread = { configurable: { thread_id: '1' } };
await agent.invoke({ messages: [{ role: 'user', content: 'Pay Sam' }] }, thread);
console.log('requests in the first run:', sent.length);
await agent.invoke({ messages: [{ role: 'user', content: 'And?' }] }, thread);
console.log(JSON.stringify(sent.at(-1), undefined, 1));
assert.ok(sent.at(-1).some(({ tool_call_id }) => tool_call_id === 'c1'), 'nobody answers the call');
