// The history has a call without an answer. It is sent as it is, and no provider takes it. Exit code 1 if so.
import assert from 'node:assert/strict';
import { Agent, Runner, setTracingDisabled, tool, Usage } from '@openai/agents';

const sent = [];
const model = {
  async getResponse({ input }) {
    const calls = [][sent.push(input) - 1] ?? [];
    const output = calls.map(([callId, name, args]) => ({ type: 'function_call', callId, name, arguments: args, status: 'completed' }));
    const done = { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'Done' }] };
    return { usage: new Usage(), output: calls.length ? output : [done] };
  },
};
const parameters = { type: 'object', properties: {}, required: [], additionalProperties: true };
const look = tool({ name: 'look', description: 'Looks.', parameters, strict: false, execute: async () => 'r' });
setTracingDisabled(true);
await new Runner().run(new Agent({ name: 'agent', model, tools: [look] }), [
  { type: 'function_call', callId: 'h1', name: 'look', arguments: '{}', status: 'completed' },
  { role: 'user', content: 'Well?' },
]);
console.log(sent.at(-1));
assert(sent[0].some(({ type }) => type === 'function_call_result'), 'h1 has no answer');
