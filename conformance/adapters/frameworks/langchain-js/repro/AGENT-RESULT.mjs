// A tool returns an empty array. The model is shown a message without content. Exit code 1 if so.
import assert from 'node:assert/strict';
import { createAgent, HumanMessage, Model, schema, sent, tool, turns } from './scripted.mjs';

turns.push([['c1', 'look', '{}']]);
const look = tool(() => [], { name: 'look', description: 'Looks.', schema });
await createAgent({ model: new Model({}), tools: [look] }).invoke({ messages: [new HumanMessage('Go')] });
const last = sent.at(-1);
console.log(last.map(({ type, content, tool_calls }) => [type, content, tool_calls?.length ?? '']));
assert.equal(last.at(-1).content, '[]');
