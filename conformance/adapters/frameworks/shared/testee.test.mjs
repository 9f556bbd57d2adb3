// node --test: tests of `testee.mjs` over a loop of a few lines, and of the AI SDK's messages.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { describe, toModelMessages } from './ai-sdk.mjs';
import { Run } from './testee.mjs';

const ADAPTER = `
import { mkdtempSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { pathToFileURL } from 'node:url';
import { setTimeout } from 'node:timers/promises';
import { serve } from '${new URL('testee.mjs', import.meta.url)}';

const folder = mkdtempSync(tmpdir() + '/testee-');
mkdirSync(folder + '/node_modules/looper', { recursive: true });
writeFileSync(folder + '/node_modules/looper/package.json', '{"version":"1.2.3"}');

async function run(run) {
  const messages = run.given = run.final = [...run.messages];
  console.log('a framework that prints');
  for (;;) {
    const { content, calls } = run.ask(process.argv.includes('shared-list') ? messages : [...messages]);
    await setTimeout(5);
    messages.push({ type: 'ai', content, tool_calls: calls });
    if (!calls.length) return;
    for (const { id, name, args } of calls) {
      if (name === 'abort') throw new TypeError('aborted');
      let content;
      try { content = run.result(name, args, id); } catch (error) { content = 'failed: ' + error.message; }
      messages.push({ type: 'tool', content, tool_call_id: id });
    }
  }
}
await serve({ run, describe: (list) => [...list], from: pathToFileURL(folder + '/adapter.mjs'), package: 'looper', url: 'https://example.org',
  snapshots: process.argv.includes('adapter-copies') ? 'adapter' : 'framework' });
`;

function exchange(requests, ...flags) {
  const input = requests.map((request) => `${JSON.stringify(request)}\n`).join('');
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '-e', ADAPTER, ...flags], { input, encoding: 'utf8' });
  assert.equal(status, 0);
  return new Map(stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line)).map((reply) => [reply.id, reply]));
}

const script = (model, tools = {}) => ({ messages: [{ type: 'human', content: 'Go' }], model, tools });
const one = (model, tools, ...flags) => exchange([{ id: 1, op: 'tools', input: script(model, tools) }], ...flags).get(1);
const call = (id = 'c1', args = {}, name = 'a') => ({ id, name, args });
const lengths = ({ ok }) => ok.requests.map((request) => request.length);

test('it says what it is', () => {
  const { ok } = exchange([{ id: 0, op: 'hello', protocol: 1 }]).get(0);
  assert.deepEqual([ok.ops, ok.profiles, ok.snapshots, ok.implementation.version], [['tools'], ['universal'], 'framework', '1.2.3']);
});

test('an op that it does not have is unsupported', () => {
  assert.ok('unsupported' in exchange([{ id: 3, op: 'serialize', input: {} }]).get(3));
});

test('several requests at once are kept apart', () => {
  const requests = [...Array(9).keys()].map((id) => ({ id, op: 'tools', input: script([{ tool_calls: [call()] }, { content: `${id}` }], { a: [`${id}`] }) }));
  for (const [id, { ok }] of exchange(requests)) {
    assert.deepEqual(ok.messages.map(({ content }) => content), ['Go', '', `${id}`, `${id}`]);
  }
});

test('a list that grows after it was sent is seen, unless the adapter copies', () => {
  const [model, tools] = [[{ tool_calls: [call()] }, { content: 'Done' }], { a: ['r'] }];
  assert.deepEqual(lengths(one(model, tools)), [1, 3]);
  assert.deepEqual(lengths(one(model, tools, 'shared-list')), [4, 4]);
  assert.deepEqual(lengths(one(model, tools, 'shared-list', 'adapter-copies')), [1, 3]);
});

test('a failing model is reported, an aborted run is a refusal', () => {
  const { ok } = one([{ tool_calls: [call()] }, { error: 'down' }], { a: ['r'] });
  assert.equal(ok.failure, 'down');
  assert.equal(ok.messages.length, 3);
  assert.equal(one([]).ok.failure, 'script exhausted');
  assert.equal(one([{ tool_calls: [call('c1', {}, 'abort')] }]).reject.message, 'aborted');
});

test('half a surrogate pair and U+2028 pass', () => {
  assert.equal(one([{ content: '\ud83d\u2028' }]).ok.messages.at(-1).content, '\ud83d\u2028');
});

function runOf(results, ...calls) {
  const run = new Run({ messages: [], model: [{ tool_calls: calls }], tools: { a: results } }, (list) => list, false);
  run.ask([]);
  return run;
}

test('results in order, by id, by arguments', () => {
  const listed = runOf(['x', 'y']);
  assert.deepEqual([1, 2, 3].map(() => listed.result('a', {})), ['x', 'y', 'y']);
  assert.equal(runOf([]).result('a', {}), '');
  const byId = runOf({ byId: { c1: null, c2: { error: 'no' } } }, call('c1'), call('c2'), call('c3'));
  assert.equal(byId.result('a', {}, 'c1'), null);
  assert.throws(() => byId.result('a', {}, 'c2'), { message: 'no' });
  assert.equal(byId.result('a', {}, 'c3'), '');
  assert.equal(byId.unobservable, undefined);
  const byArgs = runOf({ byArgs: [[{ x: 1 }, 'one'], [{ x: 2 }, 'two']] });
  assert.deepEqual([byArgs.result('a', { x: 2 }), byArgs.result('a', { x: 3 })], ['two', '']);
});

test('results by id where only the arguments are known', () => {
  const run = runOf({ byId: { c1: 1, c2: 2 } }, call('c1', { x: 1 }), call('c2', { x: true }));
  assert.deepEqual([run.result('a', { x: true }), run.result('a', { x: 1 }, 'renamed')], [2, 1]);
  assert.equal(run.unobservable, undefined);
  const alike = runOf({ byId: { c1: 1, c2: 2 } }, call('c1'), call('c2'));
  alike.result('a', {});
  assert.ok(alike.unobservable);
});

test("the AI SDK's messages there and back", () => {
  const messages = [
    { type: 'system', content: 'S' },
    { type: 'human', content: 'Go' },
    { type: 'ai', content: 'Hm', tool_calls: [call('c1', { x: 1 }), call('c2')] },
    { type: 'tool', content: 'one', tool_call_id: 'c1' },
    { type: 'tool', content: '', tool_call_id: 'c2' },
    { type: 'ai', content: '' },
  ];
  assert.deepEqual(describe(toModelMessages(messages)), messages);
});
