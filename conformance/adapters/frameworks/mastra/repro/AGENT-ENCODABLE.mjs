// A tool returns a lone surrogate. It is sent as it is, and cannot be written as UTF-8. Exit code 1 if so.
import assert from 'node:assert/strict';
import { Agent, createTool, model, sent, turns, z } from './scripted.mjs';

turns.push([['c1', 'look', '{}']]);
const named = (id, result) => createTool({ id, description: id, inputSchema: z.looseObject({}), execute: async () => result });
const tools = { look: named('look', '\ud83d') };
await new Agent({ id: 'agent', name: 'agent', instructions: '', model, tools }).generate('Go', { maxSteps: 5 });
console.log(JSON.stringify(sent.at(-1), undefined, 1));
const result = sent[1].at(-1).content[0].output.value;
assert(!/[\ud800-\udfff]/u.test(result), JSON.stringify(result));
