// The model uses one id for calls of two tools. Both are sent with it, and no provider takes them. Exit code 1 if so.
import assert from 'node:assert/strict';
import { model, named, run, sent, stepCountIs, turns } from './scripted.mjs';

turns.push([['c1', 'a', '{}'], ['c1', 'b', '{}']]);
const tools = { a: named(async () => 'of a'), b: named(async () => 'of b') };
await run({ model, prompt: 'Go', tools, stopWhen: stepCountIs(5) });
console.log(JSON.stringify(sent.at(-1), undefined, 1));
const [first, second] = sent[1][1].content;
assert.notEqual(first.toolCallId, second.toolCallId);
