// An argument is called `__proto__`. All arguments are gone, and the tool is not run. Exit code 1 if so.
import assert from 'node:assert/strict';
import { model, named, run, sent, stepCountIs, turns } from './scripted.mjs';

turns.push([['c1', 'look', '{"__proto__":1,"x":2}']]);
const tools = { look: named(async () => 'r') };
await run({ model, prompt: 'Go', tools, stopWhen: stepCountIs(5) });
console.log(JSON.stringify(sent.at(-1), undefined, 1));
assert.equal(sent[1][1].content[0].input.x, 2);
