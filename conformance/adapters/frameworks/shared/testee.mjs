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
// `describe` turns a framework's list of messages into the protocol's. A request is described when the model gets it, and again when the
// run is over: what the model got is what counts, and a list that the framework changes afterwards is seen, too (AGENT-SHARED).
//
// A run is refused (`reject`) only if it ends with an exception before the model was asked. After that, an exception is `failure`, beside
// the requests that were made.

import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';

/** What stands for "no limit" where a framework wants a number. */
export const UNLIMITED = 1000;

/** Characters of requests that are written twice, since a reply holds 64 MiB and a million values; longer ones are not looked at again. */
const LONGEST_WRITTEN_TWICE = 2 * 1024 * 1024;

/** One request of op `tools`. */
export class Run {
  // The framework's own objects, and the JSON text of each as it was when the model got it.
  #requests = [];
  #written = [];
  #calls = [];
  #taken = new Map();

  constructor({ messages, model, tools, maxRecursionDepth }, describe) {
    this.messages = messages;
    this.limit = maxRecursionDepth ?? undefined;
    this.scripts = new Map(Object.entries(tools ?? {}));
    this.tools = [...this.scripts.keys()];
    this.turns = model.values();
    this.describe = describe;
  }

  /** The requests so far, each as JSON text. */
  get requests() {
    return this.#written;
  }

  /** How many rounds of calls the framework may run. */
  get rounds() {
    return this.limit ?? UNLIMITED;
  }

  /** Makes the reply `unsupported`: the adapter cannot put this request to the framework, or see what comes of it. */
  cannotTell(why) {
    this.unobservable ??= why;
  }

  /** Records the request that the framework handed to its model, and returns the scripted answer. */
  ask(request) {
    this.#requests.push(request);
    this.#written.push(this.write(request));
    const turn = this.turns.next().value ?? { error: 'script exhausted' };
    if (turn.error != null) throw new Error(turn.error);
    this.#calls = callsOf(turn);
    // Calls of its own for the framework, which may change them.
    return { content: turn.content ?? '', calls: callsOf(turn), opaque: structuredClone(turn.opaque ?? []) };
  }

  /** The scripted result of a call. Where the framework does not tell its tools the id, name and arguments find it. */
  result(name, args, callId) {
    const result = this.scripted(name, args, callId);
    const isFailure = typeof result?.error === 'string' && Object.keys(result).length === 1;
    if (isFailure) throw new Error(result.error);
    return structuredClone(result);
  }

  /** Found by the id of the call, or by its arguments. */
  scripted(name, args, callId) {
    const script = this.scripts.get(name);
    if (Array.isArray(script)) {
      const taken = this.#taken.get(name) ?? 0;
      this.#taken.set(name, taken + 1);
      return script.length === 0 ? '' : script[Math.min(taken, script.length - 1)];
    }
    if (script.byArgs) return (script.byArgs.find(([given]) => same(given, args)) ?? [null, ''])[1];
    const results = new Map(Object.entries(script.byId));
    const resultOf = (id) => (results.has(id) ? results.get(id) : '');
    if (results.has(callId) || this.#calls.some(({ id }) => id === callId)) return resultOf(callId);
    const calls = this.#calls.filter((call) => call.name === name);
    const exact = calls.filter((call) => same(call.args, args));
    const found = (exact.length ? exact : calls).map((call) => resultOf(call.id));
    if (!found.every((one) => same(one, found[0]))) {
      this.cannotTell(`the framework does not tell its tools which of the calls to ${JSON.stringify(name)} they answer`);
    }
    return found.length ? found[0] : '';
  }

  /** The JSON text of the reply's member. `refusal` is the exception that ended the run, if one did. */
  reply(refusal) {
    const failure = this.failure ?? refusal;
    const requests = `[${this.#written.join()}]`;
    const again = () => `[${this.#requests.map((request) => this.write(request)).join()}]`;
    const output = {
      requests,
      ...(requests.length <= LONGEST_WRITTEN_TWICE && { requestsAtEnd: again() }),
      messages: this.final == null ? 'null' : this.write(this.final),
      ...(this.given && { given: this.write(this.given) }),
      ...(failure != null && { failure: JSON.stringify(failure) }),
    };
    if (this.unobservable) return JSON.stringify({ unsupported: this.unobservable });
    if (failure && this.#requests.length === 0) return JSON.stringify({ reject: { kind: 'invalid-input', message: failure } });
    return `{"ok":{${Object.entries(output).map(([name, text]) => `"${name}":${text}`)}}}`;
  }

  /** The JSON text of a list of messages. Text is a copy that nobody changes, however deep a framework's objects are shared. */
  write(messages) {
    try {
      return JSON.stringify(this.describe(messages));
    } catch (error) {
      // Not to be thrown: it would be taken for the model's failure.
      console.error(error);
      this.cannotTell(`the adapter cannot write a list of messages: ${error}`);
      return 'null';
    }
  }
}

const callsOf = ({ tool_calls }) => (tool_calls ?? []).map(({ id, name, handoff, args, arguments: raw }) => {
  const text = raw ?? JSON.stringify(args ?? {});
  return { id, name, handoff, args: fromJson(text), arguments: text };
});

/**
 * Answers requests until stdin ends, several at once. `from` is the adapter's `import.meta.url`; `version` is for what is not an
 * installed package; `newRun` makes another kind of `Run` of a request, and `more` are more members of the hello: both are for what is
 * judged over the wire.
 */
export async function serve({ run, describe, from, package: name, version, label = name, url, newRun, ...more }) {
  const manifest = () => JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, from)));
  const implementation = { name: label, version: version ?? manifest().version, language: 'JavaScript', url };
  const hello = { protocol: 1, implementation, ops: ['tools'], profiles: ['universal'], concurrent: true, ...more };
  // Whatever a framework prints belongs to the log.
  const reply = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);

  async function answer(request) {
    const { op, input } = request;
    if (op === 'hello') return JSON.stringify({ ok: hello });
    if (!hello.ops.includes(op)) return JSON.stringify({ unsupported: 'unknown op' });
    const one = newRun ? newRun(request) : new Run(input, describe);
    let refusal;
    try {
      if (!one.unobservable) await run(one);
    } catch (error) {
      refusal = String(error?.message ?? error) || 'an error without a message';
      console.error(error);
    }
    return one.reply(refusal);
  }

  const pending = new Set();
  for await (const line of lines(process.stdin)) {
    const request = JSON.parse(line);
    const task = answer(request).then((text) => reply(`{"id":${request.id},${text.slice(1)}\n`)).finally(() => pending.delete(task));
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

/** Whether two values are equal once they are JSON: without prototypes, absent members and -0. */
export const same = (one, other) => isDeepStrictEqual(plain(one), plain(other));
const plain = (value) => fromJson(JSON.stringify(value) ?? 'null');

// Not `node:readline`, which also ends a line at U+2028 and U+2029.
async function* lines(chunks) {
  let parts = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end; (end = chunk.indexOf(10, start)) !== -1; start = end + 1) {
      const line = Buffer.concat([...parts, chunk.subarray(start, end)]).toString();
      if (line.trim()) yield line;
      parts = [];
    }
    parts.push(chunk.subarray(start));
  }
}
