// The agent has no tools, and the model calls one. The run ends, and the call has no answer. Exit code 1 if so.
import assert from 'node:assert/strict';
import { AIMessage, createAgent, HumanMessage } from 'langchain';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';

const sent = [];
class Model extends BaseChatModel {
  _llmType() { return 'scripted'; }
  bindTools() { return this; }
  async _generate(messages) {
    const calls = sent.push(messages) === 1 ? [['c1', 'missing', '{}']] : [];
    const tool_calls = calls.map(([id, name, args]) => ({ id, name, args: JSON.parse(args), type: 'tool_call' }));
    return { generations: [{ text: '', message: new AIMessage({ content: calls.length ? '' : 'Done', tool_calls }) }] };
  }
}
await createAgent({ model: new Model({}), tools: [] }).invoke({ messages: [new HumanMessage('Go')] });
assert.equal(sent.length, 2, 'the model was not asked again');
