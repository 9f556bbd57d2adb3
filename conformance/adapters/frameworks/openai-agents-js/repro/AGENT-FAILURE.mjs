// The model calls a tool that does not exist. The run ends with an exception. Exit code 1 if so.
import assert from 'node:assert/strict';
import { Agent, look, model, Runner, sent, setTracingDisabled, turns } from './scripted.mjs';

turns.push([['c1', 'missing', '{}']]);
setTracingDisabled(true);
try {
  await new Runner().run(new Agent({ name: 'agent', model, tools: [look] }), 'Go');
} finally {
  assert.equal(sent.length, 2, 'the model was not asked again');
}
