// The model of these reproductions, scripted, and what they share. `threadspec matrix repro` prints one of them as a single file.
import { AIMessage, createAgent, humanInTheLoopMiddleware, HumanMessage, tool } from 'langchain';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { Command, MemorySaver } from '@langchain/langgraph';

const sent = [];
const turns = [];
class Model extends BaseChatModel {
  _llmType() { return 'scripted'; }
  bindTools() { return this; }
  async _generate(messages) {
    const calls = turns[sent.push(messages) - 1] ?? [];
    const tool_calls = calls.map(([id, name, args]) => ({ id, name, args: JSON.parse(args), type: 'tool_call' }));
    return { generations: [{ text: '', message: new AIMessage({ content: calls.length ? '' : 'Done', tool_calls }) }] };
  }
}
class Talking extends BaseChatModel {
  _llmType() { return 'scripted'; }
  bindTools() { return this; }
  async _generate(messages) {
    const request = messages.map(({ type, content, tool_calls, tool_call_id }) => ({ type, content, tool_calls, tool_call_id }));
    return { generations: [{ text: '', message: new AIMessage(turns[sent.push(request) - 1] ?? turns.at(-1)) }] };
  }
}
const schema = { type: 'object', properties: {}, additionalProperties: true };
const look = tool(() => 'r', { name: 'look', description: 'Looks.', schema });
export { AIMessage, BaseChatModel, Command, createAgent, humanInTheLoopMiddleware, HumanMessage, look, MemorySaver, Model, schema, sent, Talking, tool, turns };
