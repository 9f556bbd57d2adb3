// node --test: tests of `session.mjs` over a thread of a few lines, and of each session adapter whose framework is installed, over `sessions.json`.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { callOf, digest, imageOf } from './session.mjs';
import { differences, Process, SESSIONS } from './sessions.mjs';

const FRAMEWORKS = fileURLToPath(new URL('..', import.meta.url));
// A list in a file, written after every message; calls without an answer are answered by the next run.
const ADAPTER = `
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { callOf, digest, imageOf, serveSessions } from '${new URL('session.mjs', import.meta.url)}';

const has = (flag) => process.argv.includes(flag);

async function open(session) {
  const file = session.storage + '/thread.json';
  let messages = existsSync(file) ? JSON.parse(readFileSync(file)) : [];
  let active = 'main';
  const add = (message) => { messages.push(message); writeFileSync(file, JSON.stringify(messages)); };
  const tool = (id, content, images) => add({ type: 'tool', content, tool_call_id: id, ...images });
  const waiting = () => messages.flatMap(({ tool_calls = [] }) => tool_calls).filter(({ id }) => !messages.some((one) => one.tool_call_id === id));
  const gated = (calls) => calls.filter(({ name }) => session.toolsOf(active).some((one) => one.approval && one.name === name));

  async function answer(run, { id, name, args }, decision) {
    if (decision?.approve === false) return tool(id, decision.reason ?? 'denied');
    let result;
    try {
      result = await run.call(name, decision?.args ?? args, has('no-ids') ? undefined : id, active);
    } catch (error) {
      if (error.message === 'cut') throw error;
      result = 'failed: ' + error.message;
    }
    if (run.signal.aborted && !has('waits')) return;
    const image = imageOf(result);
    return image ? tool(id, image.text ?? '', { images: [digest(image.data)] }) : tool(id, result);
  }

  async function go(run) {
    if (run.compact) { run.summarize(messages); messages = messages.slice(-run.compact.keepMessages); }
    if (run.decisions) await Promise.all(waiting().filter(({ id }) => run.decisions[id]).map((call) => answer(run, call, run.decisions[call.id])));
    else if (gated(waiting()).length && has('refuses')) throw new Error('decide first');
    for (const { id } of waiting()) tool(id, 'interrupted');
    if (run.message !== undefined) add({ type: 'human', content: run.message });
    for (let round = 0; round <= run.rounds; round += 1) {
      const turn = run.ask({ system: session.agents[active].system, messages });
      const calls = turn.calls.map(({ id, name, handoff, arguments: text }) => callOf(id, handoff ? 'to_' + handoff : name, text));
      add({ type: 'ai', content: turn.content, ...(calls.length && { tool_calls: calls }), ...(turn.opaque.length && { opaque: turn.opaque }) });
      const moves = turn.calls.filter(({ handoff }) => handoff);
      for (const { id, handoff } of moves) { tool(id, 'moved'); active = handoff; }
      for (const { id } of calls.filter(({ raw }) => raw !== undefined)) tool(id, 'no object');
      if (!calls.length) return;
      const asked = gated(calls);
      const done = [...asked.map(({ id }) => id), ...moves.map(({ id }) => id)];
      await Promise.all(calls.filter(({ id, raw }) => !done.includes(id) && raw === undefined).map((call) => answer(run, call)));
      if (asked.length) return;
    }
  }

  return async (run) => {
    const ends = new Promise((_, refuse) => run.signal.addEventListener('abort', () => refuse(new Error('aborted'))));
    try {
      await (has('waits') ? go(run) : Promise.race([go(run), ends]));
    } finally {
      run.pending = gated(waiting()).map(({ id }) => id);
    }
  };
}

const describe = ({ system, messages }) => [...(system ? [{ type: 'system', content: system }] : []), ...messages ?? []];
const features = ['error', 'cancel', 'kill', 'limit', 'resume', 'approval', 'edit', 'compact', 'handoff', 'opaque', 'raw', 'image'];
await serveSessions({
  open, describe: (request) => describe(Array.isArray(request) ? { messages: request } : request), features, saves: 'round',
  package: 'looper', version: '1.2.3', url: 'https://example.org',
});
`;

const adapter = (...flags) => new Process([process.execPath, '--input-type=module', '-e', ADAPTER, ...flags]);
const call = (id, name = 'look', args = {}) => ({ id, name, args });
const look = (byId) => ({ look: { byId } });

const play = (input, ...flags) => using(adapter(...flags), (testee) => testee.play(input));

async function using(testee, use) {
  try {
    return await use(testee);
  } finally {
    await testee.end();
  }
}

async function assertKnown(testee, features) {
  for (const session of SESSIONS.filter(({ needs }) => needs.every((feature) => features.includes(feature)))) {
    assert.deepEqual(differences(session, await testee.play(session.input)), [], session.name);
  }
}

test('the sessions with known reports', async () => {
  await using(adapter(), async (testee) => {
    const hello = await testee.hello();
    assert.deepEqual([hello.ops, hello.session.length, hello.saves, hello.systems], [['session'], 13, 'round', undefined]);
    await assertKnown(testee, hello.session);
  });
});

test('a cut waits for every other call', async () => {
  for (const how of ['cancel', 'throw', 'kill']) {
    const calls = [call('a'), call('b'), call('c')];
    const input = { tools: look({}), runs: [{ message: 'Go', model: [{ tool_calls: calls }], cut: { during: 'a', how } }, { message: 'On', model: [{}] }] };
    const [first, second] = await play(input);
    assert.deepEqual(first.executed.map(({ returned }) => returned), [false, undefined, undefined], how);
    assert.equal(second.requests.length, 1, how);
  }
});

test('a kill ends the process at once', async () => {
  const storage = mkdtempSync(join(tmpdir(), 'session-'));
  const input = { storage, tools: look({}), runs: [{ message: 'Go', model: [{ tool_calls: [call('a')] }], cut: { during: 'a', how: 'kill' } }] };
  const testee = adapter();
  const reply = await testee.ask({ id: 7, op: 'session', input });
  assert.equal(await testee.end(), 'SIGKILL');
  assert.deepEqual(reply, { id: 7, cut: true, runs: [{ requests: [[{ type: 'human', content: 'Go' }]], executed: [{ ...call('a'), returned: false }] }] });
  rmSync(storage, { recursive: true });
});

test('a framework that waits for a cancelled call gets its result', async () => {
  const input = { tools: look({ b: 'rb' }), runs: [{ message: 'Go', model: [{ tool_calls: [call('b')] }, {}], cut: { during: 'b', how: 'cancel' } }] };
  const [waited] = await play(input, 'waits');
  assert.deepEqual([waited.requests[1].at(-1).content, waited.executed[0].returned], ['rb', false]);
  const [ended] = await play(input);
  assert.deepEqual([ended.requests.length, ended.failure], [1, 'aborted']);
});

test('a run refused before anything happened has no failure', async () => {
  const tools = { pay: { approval: true, byId: { b: 'rb' } } };
  const runs = [{ message: 'Go', model: [{ tool_calls: [call('b', 'pay')] }] }, { message: 'On', model: [{}] }, { decisions: { b: { approve: true } }, model: [{ error: 'down' }] }];
  const [, second, third] = await play({ tools, runs }, 'refuses');
  assert.deepEqual(second, { requests: [], executed: [], pending: ['b'], refused: 'decide first' });
  assert.deepEqual([third.failure, third.requests.length], ['down', 1]);
});

test('calls are found by name and arguments where their ids are not told', async () => {
  const runs = [{ message: 'Go', model: [{ tool_calls: [call('a', 'look', { n: 1 }), call('b', 'look', { n: 2 })] }, {}] }];
  const [{ executed, requests }] = await play({ tools: look({ a: 'ra', b: 'rb' }), runs }, 'no-ids');
  assert.deepEqual(executed.map(({ id }) => id), ['a', 'b']);
  assert.deepEqual(requests[1].filter(({ type }) => type === 'tool').map(({ content }) => content), ['ra', 'rb']);
});

test('summaries are no requests', async () => {
  const [, second] = await play({ runs: [{ message: 'Go', model: [{ content: 'One.' }] }, { message: 'On', compact: { keepMessages: 1, summary: 's' }, model: [{}] }] });
  assert.deepEqual([second.summaries.length, second.requests.length], [1, 1]);
});

test('a hand-over is known by its id, and the tools are those of the new agent', async () => {
  const agents = { b: { system: 'I am b.', tools: look({ x: 'of b' }) } };
  const runs = [{ message: 'Go', model: [{ tool_calls: [{ id: 'h', handoff: 'b' }] }, { tool_calls: [call('x')] }, {}] }];
  const [{ requests }] = await play({ system: 'I am main.', tools: look({ x: 'of main' }), agents, runs });
  assert.deepEqual(requests.map(([{ content }]) => content), ['I am main.', 'I am b.', 'I am b.']);
  assert.deepEqual([requests[1][2].tool_calls[0].name, requests[2].at(-1).content], ['to_b', 'of b']);
});

test('arguments that are no object, and images', async () => {
  const calls = [{ id: 'a', name: 'look', arguments: '[1]' }, { id: 'b', name: 'look', arguments: '' }];
  const [{ requests, executed }] = await play({ tools: look({ b: { image: 'AAEC', text: 'three bytes' } }), runs: [{ message: 'Go', model: [{ tool_calls: calls }, {}] }] });
  const [said, one, other] = requests[1].slice(1);
  assert.deepEqual(said.tool_calls.map(({ raw }) => raw), ['[1]', undefined]);
  assert.deepEqual([one.content, other.content, other.images], ['no object', 'three bytes', [digest('data:image/png;base64,AAEC')]]);
  assert.deepEqual(executed.map(({ id }) => id), ['b']);
  assert.deepEqual(callOf('a', 'look', '{"n": 1'), { id: 'a', name: 'look', args: {}, raw: '{"n": 1' });
  assert.equal(imageOf({ image: 'AAEC', more: 1 }), undefined);
});

for (const name of readdirSync(FRAMEWORKS)) {
  const [folder, own] = [FRAMEWORKS + name, `${FRAMEWORKS}${name}/node_modules/node/bin/node`];
  if (!existsSync(`${folder}/session.mjs`) || !existsSync(`${folder}/node_modules`)) continue;
  test(`${name} plays the sessions with known reports`, async () => {
    const testee = new Process([existsSync(own) ? own : process.execPath, `${folder}/session.mjs`]);
    await using(testee, async () => assertKnown(testee, (await testee.hello()).session));
  });
}
