// With a limit of calls, an id of round 1 comes again beside a new one. It is not answered in round 2. Exit code 1 if so.
import assert from 'node:assert/strict';
import { modelCallLimitMiddleware } from 'langchain';
import { createAgent, HumanMessage, look, Model, sent, turns } from './scripted.mjs';

turns.push([['c1', 'look', '{}']], [['c1', 'look', '{}'], ['c2', 'look', '{}']]);
const middleware = [modelCallLimitMiddleware({ runLimit: 9 })];
await createAgent({ model: new Model({}), tools: [look], middleware }).invoke({ messages: [new HumanMessage('Go')] });
const last = sent.at(-1);
console.log(last.map(({ type, content, tool_calls }) => [type, content, tool_calls?.length ?? '']));
assert.equal(last.filter(({ type }) => type === 'tool').length, 3);
