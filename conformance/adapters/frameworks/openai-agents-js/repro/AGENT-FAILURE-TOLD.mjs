// A tool throws. The model is told that there was an error, not which. Exit code 1 if so.
import assert from 'node:assert/strict';
import { Agent, model, parameters, Runner, sent, setTracingDisabled, tool, turns } from './scripted.mjs';

turns.push([['c1', 'look', '{}']]);
const look = tool({ name: 'look', description: 'Looks.', parameters, strict: false, execute: async () => { throw new Error('no disk'); } });
setTracingDisabled(true);
await new Runner().run(new Agent({ name: 'agent', model, tools: [look] }), 'Go');
console.log(sent.at(-1));
assert.match(sent[1].at(-1).output.text, /no disk/);
