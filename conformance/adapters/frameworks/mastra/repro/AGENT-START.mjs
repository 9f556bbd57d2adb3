// The history has two rounds, one after the other. The model is shown one response with both calls, as if they had been made at once. Exit code 1 if so.
import assert from 'node:assert/strict';
import { Agent, model, sent } from './scripted.mjs';

const round = (toolCallId, input, value) => [
  { role: 'assistant', content: [{ type: 'tool-call', toolCallId, toolName: 'look', input }] },
  { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName: 'look', output: { type: 'text', value } }] },
];
const history = [{ role: 'user', content: 'Go' }, ...round('h0', { id: 1 }, 'see 2'), ...round('h1', { id: 2 }, 'found'), { role: 'user', content: 'On' }];
await new Agent({ id: 'agent', name: 'agent', instructions: '', model }).generate(history);
console.log(JSON.stringify(sent[0], undefined, 1));
assert.deepEqual(sent[0].map(({ role }) => role), history.map(({ role }) => role));
