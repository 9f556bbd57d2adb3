// A tool returns an object with members `error` and `value`. The model is shown the value alone. Exit code 1 if so.
import assert from 'node:assert/strict';
import { Agent, model, named, sent, turns } from './scripted.mjs';

turns.push([['c1', 'look', '{}']]);
const tools = { look: named('look', { error: 'none', value: 1 }) };
await new Agent({ id: 'agent', name: 'agent', instructions: '', model, tools }).generate('Go', { maxSteps: 5 });
console.log(JSON.stringify(sent.at(-1), undefined, 1));
assert.match(JSON.stringify(sent[1].at(-1)), /none/);
