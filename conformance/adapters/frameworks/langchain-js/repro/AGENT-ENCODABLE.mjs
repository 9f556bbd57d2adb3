// A tool returns a lone surrogate. It is sent as it is, and cannot be written as UTF-8. Exit code 1 if so.
import assert from 'node:assert/strict';
import { AIMessage, createAgent, HumanMessage, tool } from 'langchain';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';

const sent = [];
class Model extends BaseChatModel {
  _llmType() { return 'scripted'; }
  bindTools() { return this; }
  async _generate(messages) {
    const calls = sent.push(messages) === 1 ? [['c1', 'look', '{}']] : [];
    const tool_calls = calls.map(([id, name, args]) => ({ id, name, args: JSON.parse(args), type: 'tool_call' }));
    return { generations: [{ text: '', message: new AIMessage({ content: calls.length ? '' : 'Done', tool_calls }) }] };
  }
}
const schema = { type: 'object', properties: {}, additionalProperties: true };
const look = tool(() => '\ud83d', { name: 'look', description: 'Looks.', schema });
await createAgent({ model: new Model({}), tools: [look] }).invoke({ messages: [new HumanMessage('Go')] });
const last = sent.at(-1);
console.log(last.map(({ type, content, tool_calls }) => [type, content, tool_calls?.length ?? '']));
const result = last.at(-1).content;
assert(!/[\ud800-\udfff]/u.test(result), JSON.stringify(result));
