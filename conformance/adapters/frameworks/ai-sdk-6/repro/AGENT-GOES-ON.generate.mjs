// A call has the id `__proto__`. The run ends, and the call has no answer. Exit code 1 if so.
import assert from 'node:assert/strict';
import { generateText, model, named, sent, stepCountIs, turns } from './scripted.mjs';

turns.push([['__proto__', 'look', '{}']]);
const tools = { look: named(async () => 'r') };
await generateText({ model, prompt: 'Go', tools, stopWhen: stepCountIs(5) });
console.log(JSON.stringify(sent.at(-1), undefined, 1));
assert.equal(sent.length, 2, 'the model was not asked again');
