// The model uses one id twice. Both calls and both answers are sent with it, and no provider takes them. Exit code 1 if so.
import assert from 'node:assert/strict';
import { createAgent, HumanMessage, look, Model, sent, turns } from './scripted.mjs';

turns.push([['c1', 'look', '{}'], ['c1', 'look', '{}']]);
await createAgent({ model: new Model({}), tools: [look] }).invoke({ messages: [new HumanMessage('Go')] });
const last = sent.at(-1);
console.log(last.map(({ type, content, tool_calls }) => [type, content, tool_calls?.length ?? '']));
const ids = last.filter(({ type }) => type === 'tool').map(({ tool_call_id }) => tool_call_id);
assert.equal(new Set(ids).size, ids.length, `${ids}`);
