// The run is cut at the limit. What is handed back has a call without an answer, and no provider takes it. Exit code 1 if so.
import assert from 'node:assert/strict';
import { AIMessage, createAgent, HumanMessage, tool } from 'langchain';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';

const sent = [];
class Model extends BaseChatModel {
  _llmType() { return 'scripted'; }
  bindTools() { return this; }
  async _generate(messages) {
    const calls = [[`c${sent.push(messages)}`, 'look', '{}']];
    const tool_calls = calls.map(([id, name, args]) => ({ id, name, args: JSON.parse(args), type: 'tool_call' }));
    return { generations: [{ text: '', message: new AIMessage({ content: calls.length ? '' : 'Done', tool_calls }) }] };
  }
}
const schema = { type: 'object', properties: {}, additionalProperties: true };
const look = tool(() => 'r', { name: 'look', description: 'Looks.', schema });
const agent = createAgent({ model: new Model({}), tools: [look] });
let last;
const states = await agent.stream({ messages: [new HumanMessage('Go')] }, { recursionLimit: 3, streamMode: 'values' });
await assert.rejects(async () => { for await (const { messages } of states) last = messages; });
console.log(last.map(({ type, content, tool_calls }) => [type, content, tool_calls?.length ?? '']));
assert.equal(last.at(-1).type, 'tool', 'c2 has no answer');
