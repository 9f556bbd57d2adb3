// The history has a call without an answer. It is sent as it is, and no provider takes it. Exit code 1 if so.
import assert from 'node:assert/strict';
import { AIMessage, createAgent, HumanMessage, look, Model, sent } from './scripted.mjs';

await createAgent({ model: new Model({}), tools: [look] }).invoke({ messages: [
  new AIMessage({ content: '', tool_calls: [{ id: 'h1', name: 'look', args: {}, type: 'tool_call' }] }),
  new HumanMessage('Well?'),
] });
const last = sent.at(-1);
console.log(last.map(({ type, content, tool_calls }) => [type, content, tool_calls?.length ?? '']));
assert(sent[0].some(({ type }) => type === 'tool'), 'h1 has no answer');
