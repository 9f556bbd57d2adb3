// A session has an answer whose call was cut away. It is sent as it is, and no provider takes it. Exit code 1 if so.
import assert from 'node:assert/strict';
import { Agent, MemorySession, Runner, setTracingDisabled, Usage } from '@openai/agents';

const sent = [];
const model = {
  async getResponse({ input }) {
    sent.push(input);
    const done = { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'Done' }] };
    return { usage: new Usage(), output: [done] };
  },
};
setTracingDisabled(true);
const output = { type: 'text', text: 'seen' };
const session = new MemorySession({ initialItems: [{ type: 'function_call_result', callId: 'h1', name: 'look', status: 'completed', output }] });
await new Runner().run(new Agent({ name: 'agent', model }), 'Well?', { session });
console.log(sent.at(-1));
assert(sent[0].every(({ type }) => type !== 'function_call_result'), 'h1 has no call');
