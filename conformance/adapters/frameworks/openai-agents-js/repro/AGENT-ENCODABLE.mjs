// A tool returns a lone surrogate. It is sent as it is, and cannot be written as UTF-8. Exit code 1 if so.
import assert from 'node:assert/strict';
import { Agent, model, parameters, Runner, sent, setTracingDisabled, tool, turns } from './scripted.mjs';

turns.push([['c1', 'look', '{}']]);
const look = tool({ name: 'look', description: 'Looks.', parameters, strict: false, execute: async () => '\ud83d' });
setTracingDisabled(true);
await new Runner().run(new Agent({ name: 'agent', model, tools: [look] }), 'Go');
console.log(sent.at(-1));
const result = sent[1].at(-1).output.text;
assert(!/[\ud800-\udfff]/u.test(result), JSON.stringify(result));
