// The history has a call without an answer. It is sent as it is, and no provider takes it. Exit code 1 if so.
import assert from 'node:assert/strict';
import { AIMessage, createAgent, HumanMessage, tool } from 'langchain';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';

const sent = [];
class Model extends BaseChatModel {
  _llmType() { return 'scripted'; }
  bindTools() { return this; }
  async _generate(messages) {
    const calls = sent.push(messages) === 1 ? [] : [];
    const tool_calls = calls.map(([id, name, args]) => ({ id, name, args: JSON.parse(args), type: 'tool_call' }));
    return { generations: [{ text: '', message: new AIMessage({ content: calls.length ? '' : 'Done', tool_calls }) }] };
  }
}
const schema = { type: 'object', properties: {}, additionalProperties: true };
const look = tool(() => 'r', { name: 'look', description: 'Looks.', schema });
await createAgent({ model: new Model({}), tools: [look] }).invoke({ messages: [
  new AIMessage({ content: '', tool_calls: [{ id: 'h1', name: 'look', args: {}, type: 'tool_call' }] }),
  new HumanMessage('Well?'),
] });
const last = sent.at(-1);
console.log(last.map(({ type, content, tool_calls }) => [type, content, tool_calls?.length ?? '']));
assert(sent[0].some(({ type }) => type === 'tool'), 'h1 has no answer');
