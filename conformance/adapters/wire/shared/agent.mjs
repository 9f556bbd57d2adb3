// The agent of the programs on plain SDKs: the loop that an application writes around its model client.

import { fromJson, serveOverWire } from './wire.mjs';

/** What the agent does not send, or does not go on with. */
export class Refused extends Error {}

/**
 * Serves the agent on one API. `model(endpoint, names)` is its client there, with
 *
 * - `items(message)`: a message of the protocol that is no answer, as a list of what the API has for it;
 * - `answers(pairs)`: the same for the answers to a response's calls, from ids and texts;
 * - `ask(items)`: the response to them, `{text, calls: [{id, name, arguments}], items, cutOff}`, or an exception; the arguments are as the
 *   API has them, `items` is what it wants to see again.
 */
export const serveAgent = (model, api, others) => serveOverWire({
  run: (run) => converse(run, model(run.endpoint, run.tools)), describe: (list) => list, apis: [api], reasons: true, ...others,
});

/** Asks the model and runs its calls until it answers without any. */
async function converse(run, model) {
  requirePairs(run.messages);
  run.given = run.messages;
  run.final = [...run.messages];
  let items = given(model, encodable(run.messages));
  for (let asked = 1; ; asked += 1) {
    const response = await model.ask(items);
    items = [...items, ...encodable(response.items)];
    const calls = response.cutOff ? [] : response.calls.map(({ id, name, arguments: args }) => ({ id, name, args: object(id, args) }));
    run.final.push({ type: 'ai', content: response.text, ...(calls.length && { tool_calls: calls }) });
    if (response.cutOff && response.calls.length) throw new Refused('the response was cut off in its calls');
    requireDistinct(calls.map(({ id }) => id));
    const isOver = run.limit !== undefined && asked > run.limit;
    const answers = calls.map((call) => [call.id, isOver ? '[not run: the limit is reached]' : answer(run, call)]);
    run.final.push(...answers.map(([id, text]) => ({ type: 'tool', content: text, tool_call_id: id })));
    if (isOver || !calls.length) return;
    items = [...items, ...model.answers(answers)];
  }
}

/** The given list as the API has it; answers that touch are answers to one response. */
function given(model, messages) {
  const items = [];
  let pairs = [];
  for (const message of [...messages, undefined]) {
    if (message?.type === 'tool') {
      pairs.push([message.tool_call_id, message.content]);
      continue;
    }
    if (pairs.length) items.push(...model.answers(pairs));
    pairs = [];
    if (message) items.push(...model.items(message));
  }
  return items;
}

function answer(run, { id, name, args }) {
  if (!run.scripts.has(name)) return encodable(`There is no tool ${JSON.stringify(name)}. (${name})`);
  try {
    const result = run.result(name, args, id);
    return typeof result === 'string' ? encodable(result) : JSON.stringify(result);
  } catch (error) {
    return encodable(`The tool failed: ${error.message}`);
  }
}

function object(id, args) {
  const value = typeof args === 'string' ? fromJson(args || '{}') : args;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Refused(`the arguments of the call ${id} are no JSON object`);
  return finite(value);
}

/** The value, if all its numbers can be written. */
function finite(value) {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Refused('a number is beyond the doubles');
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(finite);
  return value;
}

/** The value with U+FFFD for each half of a character, which no request can carry. */
function encodable(value) {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(encodable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name.toWellFormed(), encodable(member)]));
}

/** Refuses a list in which a call is not answered directly behind its message, or an answer has no call. */
function requirePairs(messages) {
  let open = [];
  for (const { type, tool_call_id: id, tool_calls: calls = [] } of [...messages, { type: 'human' }]) {
    if (type === 'tool') {
      if (!open.includes(id)) throw new Refused(`the answer to ${id} has no call`);
      open = open.filter((other) => other !== id);
    } else if (open.length) {
      throw new Refused(`the call ${open[0]} has no answer`);
    } else {
      open = calls.map((call) => call.id);
      requireDistinct(open);
    }
  }
}

function requireDistinct(ids) {
  if (new Set(ids).size < ids.length) throw new Refused(`two calls of one message have the same id: ${ids}`);
}
