// The model calls a tool `toString`, which does not exist. The run ends, and the call has no answer. Exit code 1 if so.
import assert from 'node:assert/strict';
import { model, named, run, sent, stepCountIs, turns } from './scripted.mjs';

turns.push([['c1', 'toString', '{}']]);
const tools = { look: named(async () => 'r') };
await run({ model, prompt: 'Go', tools, stopWhen: stepCountIs(5) });
console.log(JSON.stringify(sent.at(-1), undefined, 1));
assert.equal(sent.length, 2, 'the model was not asked again');
