// A session has an answer whose call was cut away. It is sent as it is, and no provider takes it. Exit code 1 if so.
import assert from 'node:assert/strict';
import { MemorySession } from '@openai/agents';
import { Agent, Runner, sent, setTracingDisabled, turns, Usage } from './scripted.mjs';

const model = {
  async getResponse({ input }) {
    const calls = turns[sent.push(input) - 1] ?? [];
    const output = calls.map(([callId, name, args]) => ({ type: 'function_call', callId, name, arguments: args, status: 'completed' }));
    const done = { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'Done' }] };
    return { usage: new Usage(), output: calls.length ? output : [done] };
  },
};
setTracingDisabled(true);
const output = { type: 'text', text: 'seen' };
const session = new MemorySession({ initialItems: [{ type: 'function_call_result', callId: 'h1', name: 'look', status: 'completed', output }] });
await new Runner().run(new Agent({ name: 'agent', model }), 'Well?', { session });
console.log(sent.at(-1));
assert(sent[0].every(({ type }) => type !== 'function_call_result'), 'h1 has no call');
