// The user presses stop while a tool works, and writes again; the history is summarized before: the open calls stay, and have no answer, which
// every provider refuses: "An assistant message with 'tool_calls' must be followed by tool messages". Exit code 1 if so.
// Announced: as an error of the caller, INVALID_CHAT_HISTORY, to be mended by hand; not that a stop leaves it.
import assert from 'node:assert/strict';
import { summarizationMiddleware } from 'langchain';
import { AIMessage, BaseChatModel, createAgent, MemorySaver, sent, tool } from './scripted.mjs';

class Model extends BaseChatModel {
  _llmType() { return 'scripted'; }
  bindTools() { return this; }
  async _generate(messages) {
    if (messages.at(-1).text.includes('<messages>')) return { generations: [{ text: '', message: new AIMessage('A talk.') }] };
    sent.push(messages.map(({ type, content, tool_calls, tool_call_id }) => ({ type, content, tool_calls, tool_call_id })));
    const tool_calls = ['a', 'b', 'c'].map((where) => ({ id: `c-${where}`, name: 'look', args: { where }, type: 'tool_call' }));
    return { generations: [{ text: '', message: new AIMessage(sent.length > 1 ? 'Done.' : { content: 'I look.', tool_calls }) }] };
  }
}
const model = new Model({});
const stop = new AbortController();
const schema = { type: 'object', properties: { where: { type: 'string' } } };
const look = tool(async ({ where }) => {
  if (where === 'b') setTimeout(() => stop.abort(), 100);
  return where === 'b' ? new Promise(() => {}) : `${where} is fine`;
}, { name: 'look', description: 'Looks.', schema });
const middleware = [summarizationMiddleware({ model, trigger: { messages: 3 }, keep: { messages: 2 } })];
const agent = createAgent({ model, tools: [look], middleware, checkpointer: new MemorySaver() });
const thread = { configurable: { thread_id: '1' } };
await agent.invoke({ messages: [{ role: 'user', content: 'Look at a, b and c' }] }, { ...thread, signal: stop.signal }).catch(({ message }) => console.log(message));
await agent.invoke({ messages: [{ role: 'user', content: 'Skip b' }] }, thread);
console.log(JSON.stringify(sent.at(-1), undefined, 1));
assert.ok(sent.at(-1).some(({ type }) => type === 'tool'), 'calls without an answer are sent');
