// A call has the id `constructor`. The run ends, and its result is not sent. Exit code 1 if so.
import assert from 'node:assert/strict';
import { Agent, model, named, sent, turns } from './scripted.mjs';

turns.push([['constructor', 'look', '{}']]);
const tools = { look: named('look', 'r') };
try {
  await new Agent({ id: 'agent', name: 'agent', instructions: '', model, tools }).generate('Go', { maxSteps: 5 });
} finally {
  assert.equal(sent.length, 2, 'the model was not asked again');
}
