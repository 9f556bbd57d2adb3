// What all adapters of JavaScript frameworks share: the protocol, the scripted model's turns, the scripted tools.
//
// An adapter is an async function of one `Run` that lets the framework's own loop do the work:
//
// - its fake model, at the framework's own model interface, calls `run.ask(request)` with the framework's own request object
//   and gives back the turn `{content, calls: [{id, name, args, arguments}]}` that it returns (it throws where the script says so);
// - its tools, named `run.tools`, call `run.result(name, args, callId)`, which returns any JSON value or throws;
// - it sets `run.final` to what the framework hands back at the end, and `run.given` to the caller's own list;
// - an exception that leaves it means that the framework ended the run.
//
// `describe` turns a framework's list of messages into the protocol's. Requests are described when the run is over, so that a
// list that the framework changes after it was sent is seen, unless the adapter has to copy (`snapshots: 'adapter'`).

import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';

/** What stands for "no limit" where a framework wants a number. */
export const UNLIMITED = 1000;

/** One request of op `tools`. */
export class Run {
  #requests = [];
  #calls = [];
  #taken = new Map();
  #modelFailed = false;

  constructor({ messages, model, tools, maxRecursionDepth }, describe, copies) {
    this.messages = messages;
    this.limit = maxRecursionDepth ?? undefined;
    this.scripts = new Map(Object.entries(tools ?? {}));
    this.tools = [...this.scripts.keys()];
    this.turns = model.values();
    this.describe = describe;
    this.copies = copies;
  }

  /** How many rounds of calls the framework may run. */
  get rounds() {
    return this.limit ?? UNLIMITED;
  }

  get modelFailed() {
    return this.#modelFailed;
  }

  /** Makes the reply `unsupported`: the adapter cannot put this request to the framework, or see what comes of it. */
  cannotTell(why) {
    this.unobservable ??= why;
  }

  /** Records the request that the framework handed to its model, and returns the scripted answer. */
  ask(request) {
    this.#requests.push(this.copies ? this.describe(request) : request);
    const turn = this.turns.next().value ?? { error: 'script exhausted' };
    if (turn.error != null) {
      this.#modelFailed = true;
      throw new Error(turn.error);
    }
    const calls = (turn.tool_calls ?? []).map(({ id, name, args }) => ({ id, name, args: args ?? {}, arguments: JSON.stringify(args ?? {}) }));
    this.#calls = calls;
    return { content: turn.content ?? '', calls };
  }

  /** The scripted result of a call. Where the framework does not tell its tools the id, name and arguments find it. */
  result(name, args, callId) {
    const result = this.#scripted(name, args, callId);
    const isFailure = typeof result?.error === 'string' && Object.keys(result).length === 1;
    if (isFailure) throw new Error(result.error);
    return result;
  }

  #scripted(name, args, callId) {
    const script = this.scripts.get(name);
    if (Array.isArray(script)) {
      const taken = this.#taken.get(name) ?? 0;
      this.#taken.set(name, taken + 1);
      return script.length === 0 ? '' : script[Math.min(taken, script.length - 1)];
    }
    if (script.byArgs) return (script.byArgs.find(([given]) => isDeepStrictEqual(given, plain(args))) ?? [null, ''])[1];
    const results = new Map(Object.entries(script.byId));
    const resultOf = (id) => (results.has(id) ? results.get(id) : '');
    if (results.has(callId) || this.#calls.some(({ id }) => id === callId)) return resultOf(callId);
    const calls = this.#calls.filter((call) => call.name === name);
    const exact = calls.filter((call) => isDeepStrictEqual(call.args, plain(args)));
    const found = (exact.length ? exact : calls).map((call) => resultOf(call.id));
    if (!found.every((one) => isDeepStrictEqual(one, found[0]))) {
      this.cannotTell(`the framework does not tell its tools which of the calls to ${JSON.stringify(name)} they answer`);
    }
    return found.length ? found[0] : '';
  }

  output() {
    return {
      requests: this.copies ? this.#requests : this.#requests.map(this.describe),
      messages: this.final == null ? null : this.describe(this.final),
      ...(this.given && { given: this.describe(this.given) }),
      ...(this.failure && { failure: this.failure }),
    };
  }
}

/**
 * Answers requests until stdin ends, several at once. `from` is the adapter's `import.meta.url`; `version` is for what is not an
 * installed package.
 */
export async function serve({ run, describe, from, package: name, version, label = name, url, snapshots = 'framework' }) {
  const manifest = () => JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, from)));
  const implementation = { name: label, version: version ?? manifest().version, language: 'JavaScript', url };
  const hello = { protocol: 1, implementation, ops: ['tools'], profiles: ['universal'], snapshots, concurrent: true };
  // Whatever a framework prints belongs to the log.
  const reply = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);

  async function answer({ op, input }) {
    if (op === 'hello') return { ok: hello };
    if (op !== 'tools') return { unsupported: 'unknown op' };
    const one = new Run(input, describe, snapshots === 'adapter');
    let refusal;
    try {
      await run(one);
    } catch (error) {
      refusal = String(error?.message ?? error) || 'an error without a message';
      console.error(error);
    }
    if (one.unobservable) return { unsupported: one.unobservable };
    if (refusal && !one.modelFailed) return { reject: { kind: 'invalid-input', message: refusal } };
    one.failure ??= refusal;
    return { ok: one.output() };
  }

  const pending = new Set();
  for await (const line of lines(process.stdin)) {
    const request = JSON.parse(line);
    const task = answer(request).then((result) => reply(`${JSON.stringify({ id: request.id, ...result })}\n`)).finally(() => pending.delete(task));
    pending.add(task);
  }
  await Promise.all(pending);
}

/** Arguments that a framework keeps as text; what is not JSON stays a text, for the judge to see. */
export function fromJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A value without prototypes and absent members, to compare it. */
const plain = (value) => fromJson(JSON.stringify(value) ?? 'null');

// Not `node:readline`, which also ends a line at U+2028 and U+2029.
async function* lines(chunks) {
  let rest = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = Buffer.concat([rest, chunk]);
    for (let end; (end = rest.indexOf(10)) !== -1; rest = rest.subarray(end + 1)) {
      if (end > 0) yield rest.toString('utf8', 0, end);
    }
  }
}
