// The model uses one id again in its next response, as some servers do. The run ends with an exception. Exit code 1 if so.
import assert from 'node:assert/strict';
import { Agent, Runner, setTracingDisabled, tool, Usage } from '@openai/agents';

const sent = [];
const model = {
  async getResponse({ input }) {
    const calls = [[['c1', 'look', '{}']], [['c1', 'look', '{"x":1}']]][sent.push(input) - 1] ?? [];
    const output = calls.map(([callId, name, args]) => ({ type: 'function_call', callId, name, arguments: args, status: 'completed' }));
    const done = { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'Done' }] };
    return { usage: new Usage(), output: calls.length ? output : [done] };
  },
};
const parameters = { type: 'object', properties: {}, required: [], additionalProperties: true };
const look = tool({ name: 'look', description: 'Looks.', parameters, strict: false, execute: async () => 'r' });
setTracingDisabled(true);
try {
  await new Runner().run(new Agent({ name: 'agent', model, tools: [look] }), 'Go');
} finally {
  assert.equal(sent.length, 3, 'the model was not asked again');
}
