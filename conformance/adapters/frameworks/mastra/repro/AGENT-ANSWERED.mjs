// The model uses one id for two calls. One of the calls, and one of the answers, is lost. Exit code 1 if so.
import assert from 'node:assert/strict';
import { Agent, model, named, sent, turns } from './scripted.mjs';

turns.push([['c1', 'look', '{}'], ['c1', 'look', '{}']]);
const tools = { look: named('look', 'r') };
await new Agent({ id: 'agent', name: 'agent', instructions: '', model, tools }).generate('Go', { maxSteps: 5 });
console.log(JSON.stringify(sent.at(-1), undefined, 1));
assert.equal(sent[1].filter(({ role }) => role === 'tool').flatMap(({ content }) => content).length, 2);
