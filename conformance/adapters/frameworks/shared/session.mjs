// What the session adapters of JavaScript frameworks share: several runs on one thread, scripted, with their cuts and decisions.
//
// An adapter is an async function `open(session)` that prepares the framework's own memory in `session.storage` and returns a function
// `play(run)`, which plays one run on the thread:
//
// - it begins the run as `run.message`, `run.decisions` or `run.resume` says, behind a compaction if there is `run.compact`;
// - its fake model calls `run.ask(request)`, and a summarizing model `run.summarize(request)`, which returns a text;
// - its tools, `session.toolsOf(agent)`, call `await run.call(name, args, callId, agent)`, which returns any JSON value or throws; here a run
//   is cut;
// - it hands `run.signal` to the framework, which is how a run is cancelled, and sets `run.pending` to the ids that wait for a decision;
// - an exception that leaves it means that the framework refused or ended the run; where the framework says so by a value, it is thrown.
//
// Between runs nothing is mended: what the framework's memory holds is what the next run gets.

import { createHash } from 'node:crypto';
import { writeSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { fromJson, Run, same, serve } from './testee.mjs';

/** What passes before a cut, once all other calls have returned. In small steps, so that a slow machine gives the framework its time, too. */
const QUIET = { steps: 10, milliseconds: 10 };
/** How long a cancelled call works on, if its framework waits for it. */
const PATIENCE = { steps: 50, milliseconds: 10 };

/** One request of op `session`. */
class Session {
  constructor({ id, input, from = 0 }, open, describe) {
    Object.assign(this, { id, from, describe, open, storage: input.storage, system: input.system });
    this.agents = { main: { system: input.system, tools: input.tools ?? {} }, ...input.agents };
    this.script = input.runs;
    this.calls = new Map(input.runs.flatMap(({ model }) => model.flatMap((turn) => turn.tool_calls ?? [])).map((call) => [call.id, call]));
    this.runs = [];
  }

  /** The tools of an agent, each with whether it needs approval. */
  toolsOf(agent = 'main') {
    return Object.entries(this.agents[agent].tools ?? {}).map(([name, { approval = false }]) => ({ name, approval }));
  }

  /** Makes the reply `unsupported`. */
  cannotTell(why) {
    this.unobservable ??= why;
  }

  async play() {
    const play = await this.open(this);
    for (const script of this.script.slice(this.from)) {
      const run = new SessionRun(this, script);
      this.runs.push(run);
      await run.play(play);
    }
  }

  /** The reply's members. An exception here is the adapter's own: it could not open the thread. */
  reply(failure) {
    if (failure) this.cannotTell(`the adapter could not open the thread: ${failure}`);
    const unobservable = this.unobservable ?? this.runs.find((run) => run.unobservable)?.unobservable;
    return unobservable ? JSON.stringify({ unsupported: unobservable }) : `{"ok":{"runs":${this.written()}}}`;
  }

  written() {
    return `[${this.runs.map((run) => run.report()).join()}]`;
  }

  /** Ends this process in the middle of a run, as a power failure does. */
  kill() {
    const line = Buffer.from(`{"id":${JSON.stringify(this.id)},"cut":true,"runs":${this.written()}}\n`);
    for (let done = 0; done < line.length;) done += writeSome(line, done);
    process.kill(process.pid, 'SIGKILL');
  }
}

function writeSome(line, from) {
  try {
    return writeSync(1, line, from);
  } catch (error) {
    if (error.code !== 'EAGAIN') throw error;
    return 0;
  }
}

/** One run of a session. */
class SessionRun extends Run {
  #session;
  #cut;
  #cutBegan = false;
  #executed = [];
  #summaries = [];
  #working = new Set();
  #controller = new AbortController();
  #failure;
  #report;

  constructor(session, { message, decisions, resume, compact, model, maxRecursionDepth, cut }) {
    super({ messages: [], model, maxRecursionDepth }, session.describe);
    Object.assign(this, { message, decisions, resume, compact, pending: [], signal: this.#controller.signal });
    this.#session = session;
    this.#cut = cut;
  }

  async play(play) {
    try {
      await play(this);
    } catch (error) {
      console.error(error);
      this.#failure = String(error?.message ?? error) || 'an error without a message';
    }
    this.ended = true;
    // What happens behind its end is no part of it.
    this.#report = this.#written();
  }

  /** Records what the framework handed to its summarizing model, as messages of the protocol, and returns the scripted summary. */
  summarize(request) {
    this.#summaries.push(this.write(request));
    return this.compact?.summary ?? 'A summary.';
  }

  /** Does a call of an agent: its scripted result, an exception, or the cut of the run. */
  async call(name, args, callId, agent = 'main') {
    const said = this.#said(name, args, callId);
    const entry = { id: said?.id ?? callId, name, args: structuredClone(args), returned: false };
    // A call that outlives its run is not a part of it any more.
    if (!this.ended) this.#executed.push(entry);
    if (this.#cut && this.#cut.during === entry.id && !this.#cutBegan) return this.#cutDuring(entry, agent);
    this.#working.add(entry);
    try {
      return this.#resultOf(entry, agent);
    } finally {
      entry.returned = !this.ended;
      this.#working.delete(entry);
    }
  }

  async #cutDuring(entry, agent) {
    this.#cutBegan = true;
    for (let seen; seen !== this.#executed.length || this.#working.size;) {
      seen = this.#executed.length;
      await wait(QUIET, () => this.#working.size || seen !== this.#executed.length);
    }
    if (this.#cut.how === 'kill') this.#session.kill();
    if (this.#cut.how === 'throw') throw new Error('cut');
    this.#controller.abort();
    // It had not returned before the cut, and is never said to have. A framework that waits for it may have its result.
    await wait(PATIENCE, () => this.ended);
    return this.ended ? new Promise(() => {}) : this.#resultOf(entry, agent);
  }

  #resultOf({ name, args, id }, agent) {
    this.scripts = new Map(Object.entries(this.#session.agents[agent].tools ?? {}));
    return this.result(name, args, id);
  }

  /** The call of the script that a framework executes: by its id, else by name and arguments. */
  #said(name, args, callId) {
    const { calls } = this.#session;
    if (calls.has(callId)) return calls.get(callId);
    const alike = [...calls.values()].filter((call) => call.name === name && same(call.args, args));
    return alike.find(({ id }) => !this.#executed.some((entry) => entry.id === id)) ?? alike[0];
  }

  /** The JSON text of this run's report, as it was at its end, or as it is now. */
  report() {
    return this.#report ?? this.#written();
  }

  #written() {
    const executed = this.#executed.map(({ returned, ...call }) => ({ ...call, ...(!returned && { returned }) }));
    const isRefusal = !this.requests.length && !executed.length && !this.#summaries.length;
    const members = {
      requests: `[${this.requests}]`,
      executed: JSON.stringify(executed),
      ...(this.pending.length && { pending: JSON.stringify(this.pending) }),
      ...(this.#summaries.length && { summaries: `[${this.#summaries}]` }),
      ...(this.#failure && { [isRefusal ? 'refused' : 'failure']: JSON.stringify(this.#failure) }),
    };
    return `{${Object.entries(members).map(([name, text]) => `"${name}":${text}`)}}`;
  }
}

/** Waits some steps, or until `isOver`. */
async function wait({ steps, milliseconds }, isOver) {
  for (let step = 0; step < steps && !isOver(); step += 1) await setTimeout(milliseconds);
}

/** The image of a scripted result `{image, text?}`: base64, its text, and its media type; undefined for any other result. */
export function imageOf(result) {
  if (typeof result?.image !== 'string' || Object.keys(result).some((name) => !['image', 'text'].includes(name))) return undefined;
  const kinds = { iVBOR: 'image/png', '/9j/': 'image/jpeg', R0lGO: 'image/gif', UklGR: 'image/webp' };
  const mediaType = Object.entries(kinds).find(([start]) => result.image.startsWith(start))?.[1] ?? 'image/png';
  return { data: result.image, text: result.text, mediaType };
}

/** SHA-256 of an image's bytes in hexadecimal, from base64 or a `data:` URL. */
export const digest = (base64) => createHash('sha256').update(Buffer.from(base64.replace(/^data:[^,]*,/, ''), 'base64')).digest('hex');

/** A call of a message in the protocol's form, from its arguments as the framework keeps them: a value, or a text, which may be no object. */
export function callOf(id, name, args) {
  const value = typeof args === 'string' ? fromJson(args || '{}') : args;
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? { id, name, args: value } : { id, name, args: {}, raw: typeof args === 'string' ? args : JSON.stringify(args) };
}

/** Answers requests of op `session`. `features`, `saves` and `systems` are those of the hello; the rest is for `serve`. */
export async function serveSessions({ open, describe, features, ...about }) {
  // A framework may leave promises behind when a run is cut; that is no reason to lose the others.
  process.on('unhandledRejection', (error) => console.error('unhandled:', error));
  const newRun = (request) => new Session(request, open, describe);
  await serve({ ...about, describe, ops: ['session'], session: ['message', ...features], newRun, run: (session) => session.play() });
}
