// The model uses an id of the history again. The new call takes the place of the old one, and its answer stands elsewhere. Exit code 1 if so.
import assert from 'node:assert/strict';
import { Agent, look, model, Runner, sent, setTracingDisabled, turns } from './scripted.mjs';

turns.push([['c1', 'look', '{"new":1}']]);
setTracingDisabled(true);
await new Runner().run(new Agent({ name: 'agent', model, tools: [look] }), [
  { type: 'function_call', callId: 'c1', name: 'look', arguments: '{}', status: 'completed' },
  { type: 'function_call_result', callId: 'c1', name: 'look', status: 'completed', output: { type: 'text', text: 'old' } },
  { role: 'user', content: 'Again' },
]);
console.log(sent.at(-1));
assert.deepEqual(sent[1].map(({ type, role }) => type ?? role).slice(0, 2), ['function_call', 'function_call_result']);
