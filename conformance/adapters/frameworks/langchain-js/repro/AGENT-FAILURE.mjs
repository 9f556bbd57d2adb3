// The agent has no tools, and the model calls one. The run ends, and the call has no answer. Exit code 1 if so.
import assert from 'node:assert/strict';
import { createAgent, HumanMessage, Model, sent, turns } from './scripted.mjs';

turns.push([['c1', 'missing', '{}']]);
await createAgent({ model: new Model({}), tools: [] }).invoke({ messages: [new HumanMessage('Go')] });
assert.equal(sent.length, 2, 'the model was not asked again');
