// The model of these reproductions, scripted, and what they share. `threadspec matrix repro` prints one of them as a single file.
import { Agent, Runner, setTracingDisabled, tool, Usage } from '@openai/agents';

const sent = [];
const turns = [];
const model = {
  async getResponse({ input }) {
    const calls = turns[sent.push(input) - 1] ?? [];
    const output = calls.map(([callId, name, args]) => ({ type: 'function_call', callId, name, arguments: args, status: 'completed' }));
    const done = { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'Done' }] };
    return { usage: new Usage(), output: calls.length ? output : [done] };
  },
};
const parameters = { type: 'object', properties: {}, required: [], additionalProperties: true };
const look = tool({ name: 'look', description: 'Looks.', parameters, strict: false, execute: async () => 'r' });
export { Agent, look, model, parameters, Runner, sent, setTracingDisabled, tool, turns, Usage };
