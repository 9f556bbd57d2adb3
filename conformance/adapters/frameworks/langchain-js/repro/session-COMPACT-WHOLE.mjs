// The history is summarized while the agent works on a question: the question is summarized, too, and the model goes on without knowing what
// was asked. Exit code 1 if so.
// Announced: no; the guide to short-term memory says that recent messages are kept. Known as langchain-ai/langchainjs#9272.
import assert from 'node:assert/strict';
import { summarizationMiddleware } from 'langchain';
import { AIMessage, BaseChatModel, createAgent, MemorySaver, sent, tool } from './scripted.mjs';

class Model extends BaseChatModel {
  _llmType() { return 'scripted'; }
  bindTools() { return this; }
  async _generate(messages) {
    if (messages.at(-1).text.includes('<messages>')) return { generations: [{ text: '', message: new AIMessage('The user asked for help.') }] };
    const turn = sent.push(messages.map(({ type, content, tool_calls, tool_call_id }) => ({ type, content, tool_calls, tool_call_id })));
    const call = { content: '', tool_calls: [{ id: `c${turn}`, name: 'look', args: {}, type: 'tool_call' }] };
    return { generations: [{ text: '', message: new AIMessage(turn > 3 ? 'Done.' : call) }] };
  }
}
const model = new Model({});
const look = tool(async () => 'a result', { name: 'look', description: 'Looks.', schema: { type: 'object', properties: {} } });
const middleware = [summarizationMiddleware({ model, trigger: { messages: 5 }, keep: { messages: 4 } })];
const agent = createAgent({ model, tools: [look], middleware, checkpointer: new MemorySaver() });
await agent.invoke({ messages: [{ role: 'user', content: 'How many tulips are on each table?' }] }, { configurable: { thread_id: '1' } });
console.log(JSON.stringify(sent.at(-1), undefined, 1));
assert.ok(JSON.stringify(sent.at(-1)).includes('tulips'), 'the question is gone');
