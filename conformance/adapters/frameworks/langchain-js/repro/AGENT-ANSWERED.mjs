// With a limit of calls, an id of round 1 comes again beside a new one. It is not answered in round 2. Exit code 1 if so.
import assert from 'node:assert/strict';
import { AIMessage, createAgent, HumanMessage, modelCallLimitMiddleware, tool } from 'langchain';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';

const sent = [];
class Model extends BaseChatModel {
  _llmType() { return 'scripted'; }
  bindTools() { return this; }
  async _generate(messages) {
    const calls = [[['c1', 'look', '{}']], [['c1', 'look', '{}'], ['c2', 'look', '{}']]][sent.push(messages) - 1] ?? [];
    const tool_calls = calls.map(([id, name, args]) => ({ id, name, args: JSON.parse(args), type: 'tool_call' }));
    return { generations: [{ text: '', message: new AIMessage({ content: calls.length ? '' : 'Done', tool_calls }) }] };
  }
}
const schema = { type: 'object', properties: {}, additionalProperties: true };
const look = tool(() => 'r', { name: 'look', description: 'Looks.', schema });
const middleware = [modelCallLimitMiddleware({ runLimit: 9 })];
await createAgent({ model: new Model({}), tools: [look], middleware }).invoke({ messages: [new HumanMessage('Go')] });
const last = sent.at(-1);
console.log(last.map(({ type, content, tool_calls }) => [type, content, tool_calls?.length ?? '']));
assert.equal(last.filter(({ type }) => type === 'tool').length, 3);
