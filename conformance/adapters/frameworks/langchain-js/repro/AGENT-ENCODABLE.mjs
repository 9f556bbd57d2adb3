// A tool returns a lone surrogate. It is sent as it is, and cannot be written as UTF-8. Exit code 1 if so.
import assert from 'node:assert/strict';
import { createAgent, HumanMessage, Model, schema, sent, tool, turns } from './scripted.mjs';

turns.push([['c1', 'look', '{}']]);
const look = tool(() => '\ud83d', { name: 'look', description: 'Looks.', schema });
await createAgent({ model: new Model({}), tools: [look] }).invoke({ messages: [new HumanMessage('Go')] });
const last = sent.at(-1);
console.log(last.map(({ type, content, tool_calls }) => [type, content, tool_calls?.length ?? '']));
const result = last.at(-1).content;
assert(!/[\ud800-\udfff]/u.test(result), JSON.stringify(result));
