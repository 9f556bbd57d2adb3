// The model uses one id for calls of two tools. One of the two is lost. Exit code 1 if so.
import assert from 'node:assert/strict';
import { Agent, model, named, sent, turns } from './scripted.mjs';

turns.push([['c1', 'a', '{}'], ['c1', 'b', '{}']]);
const tools = { a: named('a', 'of a'), b: named('b', 'of b') };
await new Agent({ id: 'agent', name: 'agent', instructions: '', model, tools }).generate('Go', { maxSteps: 5 });
console.log(JSON.stringify(sent.at(-1), undefined, 1));
assert.equal(sent[1].filter(({ role }) => role === 'tool').flatMap(({ content }) => content).length, 2);
