import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { assertPlayed, CASES, inputOf } from '../frameworks/shared/turns.mjs';
import { read } from './input.mjs';
import { Reject, serve } from './protocol.mjs';

const MAIN = fileURLToPath(new URL('main.mjs', import.meta.url));

/** Writes `lines` to the adapter, closes its input, and gives its exit code, its log and its replies by id. */
async function run(...lines) {
  const child = spawn(process.execPath, [MAIN]);
  const [out, log] = [child.stdout, child.stderr].map(async (stream) => Buffer.concat(await stream.toArray()).toString());
  child.stdin.end(lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
  const [code] = await once(child, 'close');
  const replies = (await out).split('\n').slice(0, -1).map((line) => JSON.parse(line));
  return { code, log: await log, replies: new Map(replies.map((reply) => [reply.id, reply])) };
}

async function ask(op, input, profile = 'literal') {
  const { code, replies } = await run({ id: 1, op, profile, input });
  assert.equal(code, 0);
  return replies.get(1);
}

const call = (toolCallId, extra) => ({ type: 'tool_call', toolName: 'add', toolCallId, args: { a: 1 }, iteration: 1, ...extra });
const result = (toolCallId, value) => ({ type: 'tool_result', toolCallId, result: value, iteration: 1 });

test('handshake, and 0 at the end of input', async () => {
  const { code, replies } = await run({ id: 0, op: 'hello', protocol: 1 });
  assert.equal(code, 0);
  const { protocol, ops, profiles } = replies.get(0).ok;
  assert.deepEqual({ protocol, ops, profiles }, {
    protocol: 1, ops: ['escape', 'serialize', 'messages', 'tools', 'loop'], profiles: ['literal', 'hardened', 'universal'],
  });
});

test('a bad line is logged and skipped', async () => {
  const { code, log, replies } = await run('{', 'null', '{"op":"escape"}', '', { id: 2, op: 'escape', input: { text: '' } });
  assert.equal(code, 0);
  assert.equal(log.match(/ignored a line/g).length, 3);
  assert.deepEqual([...replies.values()], [{ id: 2, ok: '' }]);
});

test('what is not known is unsupported', async () => {
  const { replies } = await run({ id: 1, op: '__proto__' }, { id: 2, op: { toString: 1 } }, { id: 3, op: 'escape', profile: 'x' });
  for (const id of [1, 2, 3]) assert.match(replies.get(id).unsupported, /^unknown/);
});

test('lines end at LF only, are read as UTF-8, and may be long', async () => {
  const text = '\u2028\u2029\u0085\r€😀'.repeat(200_000);
  const { replies } = await run(`{"id":1,"op":"escape","input":{"text":${JSON.stringify(text)}}}`);
  assert.ok(replies.get(1).ok === text);
});

test('a bug of a handler ends the process; a refusal does not', async () => {
  const implementation = { name: 'x', version: '1', language: 'JavaScript' };
  const request = () => [Buffer.from('{"id":1,"op":"f","input":{}}')];
  const drain = async (chunks) => { for await (const chunk of chunks) assert.match(String(chunk), /reject/); };
  await assert.rejects(serve({ implementation, handlers: { f() { throw new TypeError('bug'); } } }, request(), drain), /bug/);
  await serve({ implementation, handlers: { f() { throw new Reject('invalid-input', 'no'); } } }, request(), drain);
});

test('escape', async () => {
  assert.equal((await ask('escape', { text: `&<>"'&amp;\r\0\ud83d` })).ok, '&amp;&lt;&gt;&quot;&apos;&amp;amp;\r\uFFFD\uFFFD');
  assert.equal((await ask('escape', { text: '\t\r\n' }, 'hardened')).ok, '\t&#13;\n');
});

test('serialize', async () => {
  const input = { events: [call('c'), result('c', [1, [null, { toString: 1 }]]), result('d')], responsePrefix: '<' };
  assert.equal((await ask('serialize', input)).ok, `<thread>
  <event type="tool_input" id="0" name="add" iteration="1">{&quot;a&quot;:1}</event>
  <event type="tool_output" id="1" name="add" status="success" iteration="1">1,,[object Object]</event>
  <event type="tool_output" id="2" name="unknown" status="success" iteration="1">undefined</event>
</thread>
<`);
});

test('messages', async () => {
  const events = [call('c'), call('d'), result('d', 'D'), call('e', { iteration: 2 }), result('c', { c: 1 }), result('d', 'again')];
  const calls = (...ids) => ({ type: 'ai', content: '', tool_calls: ids.map((id) => ({ id, name: 'add', args: { a: 1 } })) });
  const tool = (id, content) => ({ type: 'tool', content, tool_call_id: id });
  assert.deepEqual((await ask('messages', { events })).ok, [
    calls('c'), calls('d'), tool('d', 'D'), calls('e'), tool('c', '{"c":1}'), tool('d', 'again'),
  ]);
  assert.deepEqual((await ask('messages', { events }, 'hardened')).ok, [
    calls('c', 'd'), tool('d', 'D'), tool('c', '{"c":1}'),
    calls('e'), tool('e', '[No result recorded]'),
    { type: 'human', content: '[Tool result]: again' },
  ]);
  assert.deepEqual((await ask('messages', { events: [], contextMode: 'xml', instructions: 'Be <brief>.' })).ok, [
    { type: 'system', content: 'Be <brief>.' }, { type: 'human', content: '<thread>\n</thread>' },
  ]);
});

test('an invalid event is refused with its index, field and reason', async () => {
  const { reject } = await ask('serialize', { events: [result('c', 'C'), call('d', { iteration: 1.5 })] });
  assert.equal(reject.kind, 'invalid-event');
  assert.equal(reject.message, 'events[1].iteration: expected an integer from 0 to 2^53-1, found 1.5');
});

test('what is nested too deeply is refused', async () => {
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  const events = `[{"type":"tool_result","toolCallId":"c","iteration":1,"result":${deep}}]`;
  const { replies } = await run(`{"id":1,"op":"serialize","input":{"events":${events}}}`);
  assert.equal(replies.get(1).reject.kind, 'invalid-input');
});

test('what is nested too deeply is refused before the model is asked', () => {
  const deep = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000));
  const model = (args) => [{ tool_calls: [{ id: '1', name: 'a', args }] }];
  assert.throws(() => read.tools({ messages: [], model: model({}), tools: { a: [deep] } }), RangeError);
  assert.throws(() => read.tools({ messages: [], model: model({ deep }), tools: {} }), RangeError);
});

test('tools', async () => {
  const calling = { content: 'hm', tool_calls: [{ id: '1', name: '__proto__' }, { id: '2', name: 'toString', args: { x: 1 } }] };
  const input = `{"messages":[{"type":"human","content":"go"}],"tools":{"__proto__":[{"error":"no\\ud83d"},["yes"]]},
    "model":${JSON.stringify([calling, calling, calling])},"maxRecursionDepth":2}`;
  const { requests, messages } = (await ask('tools', JSON.parse(input))).ok;
  const ai = {
    type: 'ai', content: 'hm', tool_calls: [{ id: '1', name: '__proto__', args: {} }, { id: '2', name: 'toString', args: { x: 1 } }],
  };
  const round = (content) => [
    ai, { type: 'tool', content, tool_call_id: '1' }, { type: 'tool', content: 'Tool not found: "toString"', tool_call_id: '2' },
  ];
  const all = [{ type: 'human', content: 'go' }, ...round('Tool error: no\uFFFD'), ...round('["yes"]'), ai];
  assert.deepEqual(messages, all);
  assert.deepEqual(requests, [all.slice(0, 1), all.slice(0, 4), all.slice(0, 7)]);
});

test('a result of profile universal may be null', async () => {
  const input = {
    messages: [{ type: 'human', content: 'go' }],
    model: [{ tool_calls: [{ id: 'c1', name: 't', args: {} }] }, { content: 'done' }],
  };
  for (const tools of [{ t: [null] }, { t: { byId: { c1: null } } }, { t: { byArgs: [[{}, null]] } }]) {
    const { ok } = await ask('tools', { ...input, tools }, 'universal');
    assert.equal(ok.messages[2].content, 'null', JSON.stringify(tools));
  }
});

test('loop', async () => {
  const input = {
    prompt: 'go',
    model: [
      { content: 'first', tool_calls: [{ id: '1', name: 'add', args: {} }] }, { content: 'one' },
      { error: 'overloaded' },
      { content: 'two' },
    ],
    tools: { add: [3] },
    verify: [{ complete: false, reason: 'short' }],
  };
  const message = (role, content, iteration) => ({ type: 'message', role, content, iteration });
  const used = [
    { type: 'tool_call', toolName: 'add', toolCallId: '1', args: {}, iteration: 1 },
    { type: 'tool_result', toolCallId: '1', result: '3', iteration: 1 },
    message('assistant', 'one', 1),
    message('user', 'Verification failed: short. Please try again.', 1),
    { type: 'error', error: 'overloaded', recoverable: true, iteration: 2 },
    message('assistant', 'two', 3),
    { type: 'completion', result: 'two', verified: true, iteration: 3 },
  ];
  const literal = (await ask('loop', input)).ok;
  assert.deepEqual(literal.events, [message('user', 'go', 0), ...used]);
  assert.deepEqual({ ...literal, events: 0, requests: literal.requests.map((request) => request.length) },
    { requests: [1, 3, 5, 6], events: 0, response: 'two', iterations: 3, stopReason: 'completed' });

  const xml = (await ask('loop', { ...input, contextMode: 'xml' })).ok;
  assert.deepEqual(xml.events, literal.events);
  assert.deepEqual(xml.requests.map((request) => request.length), [1, 3, 1, 1]);

  const hardened = (await ask('loop', input, 'hardened')).ok;
  assert.deepEqual(hardened.events, [message('user', 'go', 0), message('assistant', 'first', 1), ...used]);
});

test('each kind of turn and of result is played as it stands', async () => {
  const profileOf = ({ tools = {} }) => (Object.values(tools).every(Array.isArray) ? 'literal' : 'universal');
  const { replies } = await run(...CASES.map((one, id) => ({ id, op: 'tools', profile: profileOf(one), input: inputOf(one) })));
  CASES.forEach((one, id) => assertPlayed(one, replies.get(id).ok));
});
