// A tool returns a lone surrogate. It is sent as it is, and cannot be written as UTF-8. Exit code 1 if so.
import assert from 'node:assert/strict';
import { model, named, run, sent, stepCountIs, turns } from './scripted.mjs';

turns.push([['c1', 'look', '{}']]);
const tools = { look: named(async () => '\ud83d') };
await run({ model, prompt: 'Go', tools, stopWhen: stepCountIs(5) });
console.log(JSON.stringify(sent.at(-1), undefined, 1));
const result = sent[1][2].content[0].output.value;
assert(!/[\ud800-\udfff]/u.test(result), JSON.stringify(result));
