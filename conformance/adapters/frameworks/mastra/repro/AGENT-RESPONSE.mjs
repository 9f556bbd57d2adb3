// A call has an empty id. It is missing from the next request, and so is its answer. Exit code 1 if so.
import assert from 'node:assert/strict';
import { Agent, model, named, sent, turns } from './scripted.mjs';

turns.push([['', 'look', '{}']]);
const tools = { look: named('look', 'r') };
await new Agent({ id: 'agent', name: 'agent', instructions: '', model, tools }).generate('Go', { maxSteps: 5 });
console.log(JSON.stringify(sent.at(-1), undefined, 1));
assert(sent[1].some(({ role }) => role === 'assistant'), 'the response is gone');
