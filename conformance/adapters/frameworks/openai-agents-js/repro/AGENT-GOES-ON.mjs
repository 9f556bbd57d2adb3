// The model uses one id again in its next response, as some servers do. The run ends with an exception. Exit code 1 if so.
import assert from 'node:assert/strict';
import { Agent, look, model, Runner, sent, setTracingDisabled, turns } from './scripted.mjs';

turns.push([['c1', 'look', '{}']], [['c1', 'look', '{"x":1}']]);
setTracingDisabled(true);
try {
  await new Runner().run(new Agent({ name: 'agent', model, tools: [look] }), 'Go');
} finally {
  assert.equal(sent.length, 3, 'the model was not asked again');
}
