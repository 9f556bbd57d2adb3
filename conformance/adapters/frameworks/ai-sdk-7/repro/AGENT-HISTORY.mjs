// The history has an answer without a call. It is sent as it is, and no provider takes it. Exit code 1 if so.
import assert from 'node:assert/strict';
import { model, run, sent } from './scripted.mjs';

const output = { type: 'text', value: 'r' };
const orphan = { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'h1', toolName: 'look', output }] };
await run({ model, messages: [orphan, { role: 'user', content: 'Well?' }] });
console.log(JSON.stringify(sent.at(-1), undefined, 1));
assert(!sent[0].some(({ role }) => role === 'tool'), 'h1 is no call');
