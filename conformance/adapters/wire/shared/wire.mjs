// What the JavaScript programs share that are judged over the wire: the protocol, and the scripted tools.
//
// A program is an async function of one `WireRun` that builds an agent for `run.endpoint` and lets it answer `run.messages`:
//
// - its tools, named `run.tools`, call `run.result(name, args, callId)`, which returns any JSON value or throws;
// - it sets `run.final` to what the agent hands back at the end, and `run.given` to the caller's own list, if `describe` is given, which turns
//   such a list into the protocol's messages;
// - an exception that leaves it means that the agent ended the run, and is the `failure` of the reply.
//
// What the model was asked is not reported: the provider has seen it.

import { Run, same, serve } from '../../frameworks/shared/testee.mjs';

export { fromJson, UNLIMITED } from '../../frameworks/shared/testee.mjs';
export const ANY_ARGUMENTS = { type: 'object', properties: {}, additionalProperties: true };
const DECLARABLE = /^[a-zA-Z0-9_-]{1,64}$/;

/** One request of op `tools` with an endpoint: `{api, baseUrl, apiKey, model, stream?, reasoning?}`. */
export class WireRun extends Run {
  #ran = new Set();

  constructor({ input, endpoint }, describe, reasons) {
    super({ ...input, model: [] }, describe);
    this.endpoint = endpoint;
    // Tools whose names every API takes are declared; another one is run all the same, if the model calls it.
    this.tools = this.tools.filter((name) => DECLARABLE.test(name));
    if (!endpoint) this.cannotTell('the program has a real client, and needs an `endpoint`: use `verify --provider`');
    if (endpoint?.reasoning && !reasons) this.cannotTell("the program does not switch the model's thinking on");
  }

  scripted(name, args, callId) {
    const script = this.scripts.get(name);
    if (Array.isArray(script) || script.byArgs) return super.scripted(name, args, callId);
    const results = new Map(Object.entries(script.byId));
    const id = results.has(callId) ? callId : this.#calledWith(name, args, results, new Map(Object.entries(script.args ?? {}))) ?? callId;
    const again = new Map(Object.entries(script.again ?? {}));
    const result = this.#ran.has(id) && again.has(id) ? again.get(id) : results.get(id);
    this.#ran.add(id);
    return result === undefined ? '' : result;
  }

  /** The id of the call with these arguments, for an agent that does not tell its tools the id. */
  #calledWith(name, args, results, calls) {
    const exact = [...results.keys()].filter((id) => calls.has(id) && same(calls.get(id), args));
    const found = exact.length ? exact : [...results.keys()];
    const open = found.filter((id) => !this.#ran.has(id));
    const ids = open.length ? open : found;
    if (!ids.every((id) => same(results.get(id), results.get(ids[0])))) {
      this.cannotTell(`the agent does not tell its tools which of the calls to ${JSON.stringify(name)} they answer`);
    }
    return ids[0];
  }

  reply(refusal) {
    const failure = this.failure ?? refusal;
    const output = {
      ...(this.describe && this.final != null && { messages: this.write(this.final) }),
      ...(this.describe && this.given != null && { given: this.write(this.given) }),
      ...(failure != null && { failure: JSON.stringify(failure) }),
    };
    if (this.unobservable) return JSON.stringify({ unsupported: this.unobservable });
    return `{"ok":{${Object.entries(output).map(([name, text]) => `"${name}":${text}`)}}}`;
  }
}

/** Answers requests until stdin ends, several at once. `apis` are those that the program speaks; `reasons`: it can switch thinking on. */
export const serveOverWire = ({ describe, reasons = false, ...others }) => serve({ ...others, newRun: (request) => new WireRun(request, describe, reasons) });
