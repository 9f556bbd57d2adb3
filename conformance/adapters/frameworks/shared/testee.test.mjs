// node --test: tests of `testee.mjs` over a loop of a few lines, and of the AI SDK's messages.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { describe, toModelMessages } from './ai-sdk.mjs';
import { Run } from './testee.mjs';
import { assertPlayed, CASES, inputOf } from './turns.mjs';

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
  if (process.argv.includes('refuses')) throw new Error('refused');
  for (;;) {
    const { content, calls } = run.ask(process.argv.includes('shared-list') ? messages : [...messages]);
    await setTimeout(5);
    messages.push({ type: 'ai', content, tool_calls: calls });
    if (!calls.length) return;
    for (const { id, name, args } of calls) {
      if (name === 'abort') throw new TypeError('aborted');
      if (name === 'change') messages[0] = Object.assign(messages[0], { content: 'changed' });
      let content;
      try { content = run.tools.includes(name) ? run.result(name, args, id) : 'unknown: ' + name; } catch (error) { content = 'failed: ' + error.message; }
      messages.push({ type: 'tool', content: typeof content === 'string' ? content : JSON.stringify(content), tool_call_id: id });
    }
  }
}
await serve({ run, describe: (list) => [...list], from: pathToFileURL(folder + '/adapter.mjs'), package: 'looper', url: 'https://example.org' });
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
const lengths = (requests) => requests.map((request) => request.length);

test('it says what it is', () => {
  const { ok } = exchange([{ id: 0, op: 'hello', protocol: 1 }]).get(0);
  assert.deepEqual([ok.ops, ok.profiles, ok.implementation.version], [['tools'], ['universal'], '1.2.3']);
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

test('a request is what the model got, whatever becomes of the list', () => {
  const [model, tools] = [[{ tool_calls: [call()] }, { content: 'Done' }], { a: ['r'] }];
  for (const [flags, atEnd] of [[[], [1, 3]], [['shared-list'], [4, 4]]]) {
    const { ok } = one(model, tools, ...flags);
    assert.deepEqual(lengths(ok.requests), [1, 3]);
    assert.deepEqual(lengths(ok.requestsAtEnd), atEnd);
  }
});

test('requests that are long are written once', () => {
  const run = new Run(script([{}]), (list) => list);
  run.ask([{ type: 'human', content: 'x'.repeat(2 * 1024 * 1024) }]);
  assert.deepEqual(Object.keys(JSON.parse(run.reply()).ok), ['requests', 'messages']);
});

test('a message that changes is seen at the end alone', () => {
  const { ok } = one([{ tool_calls: [call('c1', {}, 'change')] }, {}], { change: [''] });
  assert.deepEqual(ok.requests.map(([{ content }]) => content), ['Go', 'changed']);
  assert.deepEqual(ok.requestsAtEnd.map(([{ content }]) => content), ['changed', 'changed']);
});

test('a failing model is reported', () => {
  const { ok } = one([{ tool_calls: [call()] }, { error: 'down' }], { a: ['r'] });
  assert.equal(ok.failure, 'down');
  assert.equal(ok.messages.length, 3);
  assert.equal(one([]).ok.failure, 'script exhausted');
});

test('a refusal is one only before the first request', () => {
  const { ok } = one([{ tool_calls: [call('c1', {}, 'abort')] }]);
  assert.deepEqual([ok.failure, lengths(ok.requests)], ['aborted', [1]]);
  assert.equal(one([], {}, 'refuses').reject.message, 'refused');
});

test('a run that was asked for is never refused', () => {
  for (const requests of [0, 1, 2]) {
    for (const failure of [undefined, 'down']) {
      for (const refusal of [undefined, 'aborted']) {
        const run = new Run(script([{ tool_calls: [call()] }, {}]), (list) => list);
        for (let asked = 0; asked < requests; asked++) run.ask(run.messages);
        run.failure = failure;
        assert.equal('reject' in JSON.parse(run.reply(refusal)), requests === 0 && Boolean(failure ?? refusal));
      }
    }
  }
});

test('what cannot be described is unsupported, and no failing model', (context) => {
  context.mock.method(console, 'error', () => {});
  const run = new Run(script([{ content: 'Hi' }]), () => { throw new Error('what is this?'); });
  assert.equal(run.ask([]).content, 'Hi');
  assert.match(JSON.parse(run.reply()).unsupported, /what is this/);
});

test('each kind of turn and of result is played as it stands', () => {
  const replies = exchange(CASES.map((one, id) => ({ id, op: 'tools', input: inputOf(one) })));
  CASES.forEach((one, id) => {
    const { ok } = replies.get(id);
    assertPlayed(one, ok);
    assert.equal('failure' in ok, 'failure' in one, one.name);
    assert.ok((ok.failure ?? '').includes(one.failure ?? ''), one.name);
    assert.deepEqual(ok.requestsAtEnd, ok.requests, one.name);
  });
});

test('what a framework does to a result or to arguments stays its own', () => {
  const calls = [call('c1', { n: [1] }), call('c2', { n: [2] })];
  const run = new Run(script([{ tool_calls: calls }], { a: { byId: { c1: ['r'], c2: 2 } } }), (list) => list);
  run.ask([]).calls[0].args.n.push(2);
  run.result('a', { n: [1] }).push('more');
  assert.deepEqual([run.result('a', { n: [1] }), run.result('a', { n: [2] })], [['r'], 2]);
});

test('half a surrogate pair and U+2028 pass', () => {
  assert.equal(one([{ content: '\ud83d\u2028' }]).ok.messages.at(-1).content, '\ud83d\u2028');
});

function runOf(results, ...calls) {
  const run = new Run({ messages: [], model: [{ tool_calls: calls }], tools: { a: results } }, (list) => list);
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
