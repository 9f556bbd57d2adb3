// The model uses an id of the history again. The new call takes the place of the old one, and its answer stands elsewhere. Exit code 1 if so.
import assert from 'node:assert/strict';
import { Agent, Runner, setTracingDisabled, tool, Usage } from '@openai/agents';

const sent = [];
const model = {
  async getResponse({ input }) {
    const calls = [[['c1', 'look', '{"new":1}']]][sent.push(input) - 1] ?? [];
    const output = calls.map(([callId, name, args]) => ({ type: 'function_call', callId, name, arguments: args, status: 'completed' }));
    const done = { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'Done' }] };
    return { usage: new Usage(), output: calls.length ? output : [done] };
  },
};
const parameters = { type: 'object', properties: {}, required: [], additionalProperties: true };
const look = tool({ name: 'look', description: 'Looks.', parameters, strict: false, execute: async () => 'r' });
setTracingDisabled(true);
await new Runner().run(new Agent({ name: 'agent', model, tools: [look] }), [
  { type: 'function_call', callId: 'c1', name: 'look', arguments: '{}', status: 'completed' },
  { type: 'function_call_result', callId: 'c1', name: 'look', status: 'completed', output: { type: 'text', text: 'old' } },
  { role: 'user', content: 'Again' },
]);
console.log(sent.at(-1));
assert.deepEqual(sent[1].map(({ type, role }) => type ?? role).slice(0, 2), ['function_call', 'function_call_result']);
