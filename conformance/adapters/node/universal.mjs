// Op `tools` in profile `universal`, for a loop that executes calls one after the other.

import { plain } from './langchain.mjs';
import { Reject } from './protocol.mjs';

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Equal as JSON values. */
function equal(one, other) {
  if (Array.isArray(one)) return Array.isArray(other) && one.length === other.length && one.every((item, at) => equal(item, other[at]));
  if (!isObject(one)) return Object.is(one, other) || (one === 0 && other === 0);
  return isObject(other) && Object.keys(one).length === Object.keys(other).length
    && Object.keys(one).every((name) => Object.hasOwn(other, name) && equal(one[name], other[name]));
}

/** The result that a tool's script has for a call. */
function resultOf(script, { id, args }) {
  // A result may be null.
  if (Array.isArray(script)) return script.length > 0 ? script[0] : '';
  if (script.byId) return Object.hasOwn(script.byId, id) ? script.byId[id] : '';
  const [, result = ''] = script.byArgs.find(([known]) => equal(known, args ?? {})) ?? [];
  return result;
}

/** The input with results as lists, in the order in which the script's calls come. */
export function inCallOrder(input) {
  const scripts = new Map(Object.entries(input.tools ?? {}));
  const lists = new Map([...scripts.keys()].map((name) => [name, []]));
  for (const call of input.model.flatMap((turn) => turn.tool_calls ?? [])) {
    lists.get(call.name)?.push(resultOf(scripts.get(call.name), call));
  }
  // A tool may be called `__proto__`, which assignment to a plain object would lose.
  return { ...input, tools: Object.fromEntries(lists) };
}

/** The model, with a copy of each request in `copies`, made when it comes: what the list holds later is another matter. */
export function copying(model, copies) {
  return (messages) => {
    copies.push(structuredClone(messages.map(plain)));
    return model(messages);
  };
}

/** Refuses a list in which a call has no answer directly behind it, an answer no call, or a message one id for two calls. */
export function requirePaired(messages) {
  let open = [];
  const close = () => {
    if (open.length > 0) throw new Reject('invalid-input', `messages: the call ${JSON.stringify(open[0])} has no answer`);
  };
  for (const { type, tool_calls, tool_call_id } of messages) {
    if (type === 'tool') {
      if (!open.includes(tool_call_id)) throw new Reject('invalid-input', `messages: the answer to ${JSON.stringify(tool_call_id)} has no call`);
      open = open.filter((id) => id !== tool_call_id);
    } else if (type !== 'system') {
      close();
      open = (tool_calls ?? []).map(({ id }) => id);
      const twice = open.find((id, at) => open.indexOf(id) < at);
      if (twice !== undefined) throw new Reject('invalid-input', `messages: two calls have the id ${JSON.stringify(twice)}`);
    }
  }
  close();
}
