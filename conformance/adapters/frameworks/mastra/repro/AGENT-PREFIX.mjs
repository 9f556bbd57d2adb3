// The model uses one id again in its next response, as some servers do. The first answer becomes the second one. Exit code 1 if so.
import assert from 'node:assert/strict';
import { Agent, createTool, model, sent, turns, z } from './scripted.mjs';

turns.push([['c1', 'look', '{}']], [['c1', 'look', '{}']]);
let times = 0;
const execute = async () => `result ${times += 1}`;
const tools = { look: createTool({ id: 'look', description: 'Looks.', inputSchema: z.looseObject({}), execute }) };
await new Agent({ id: 'agent', name: 'agent', instructions: '', model, tools }).generate('Go', { maxSteps: 5 });
console.log(JSON.stringify(sent.at(-1), undefined, 1));
const results = sent[2].filter(({ role }) => role === 'tool').flatMap(({ content }) => content);
assert.equal(results[0].output.value, 'result 1');
