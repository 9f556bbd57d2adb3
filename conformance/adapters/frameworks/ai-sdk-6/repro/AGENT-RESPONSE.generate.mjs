// The model uses one id for calls of two tools. One of the calls is sent with the name of the other. Exit code 1 if so.
import assert from 'node:assert/strict';
import { generateText, model, named, sent, stepCountIs, turns } from './scripted.mjs';

turns.push([['c1', 'a', '{}'], ['c1', 'b', '{}']]);
const tools = { a: named(async () => 'of a'), b: named(async () => 'of b') };
await generateText({ model, prompt: 'Go', tools, stopWhen: stepCountIs(5) });
console.log(JSON.stringify(sent.at(-1), undefined, 1));
assert.deepEqual(sent[1][1].content.map(({ toolName }) => toolName), ['a', 'b']);
