// A tool throws. The model is told that there was an error, not which. Exit code 1 if so.
import assert from 'node:assert/strict';
import { Agent, Runner, setTracingDisabled, tool, Usage } from '@openai/agents';

const sent = [];
const model = {
  async getResponse({ input }) {
    const calls = [[['c1', 'look', '{}']]][sent.push(input) - 1] ?? [];
    const output = calls.map(([callId, name, args]) => ({ type: 'function_call', callId, name, arguments: args, status: 'completed' }));
    const done = { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'Done' }] };
    return { usage: new Usage(), output: calls.length ? output : [done] };
  },
};
const parameters = { type: 'object', properties: {}, required: [], additionalProperties: true };
const look = tool({ name: 'look', description: 'Looks.', parameters, strict: false, execute: async () => { throw new Error('no disk'); } });
setTracingDisabled(true);
await new Runner().run(new Agent({ name: 'agent', model, tools: [look] }), 'Go');
console.log(sent.at(-1));
assert.match(sent[1].at(-1).output.text, /no disk/);
