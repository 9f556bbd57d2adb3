// Reading the inputs of the ops: each field is checked, and lone surrogates in text, ids and names become U+FFFD.
// A reader takes a value and its path in the input, and returns what it read or throws `Reject`.

import { Reject } from './protocol.mjs';

function refuse(path, expected, value) {
  const actual = value === undefined ? 'nothing'
    : typeof value === 'string' ? JSON.stringify(value.slice(0, 40))
      : Array.isArray(value) ? 'an array' : value instanceof Object ? 'an object' : String(value);
  throw new Reject(path.startsWith('events[') ? 'invalid-event' : 'invalid-input', `${path}: expected ${expected}, found ${actual}`);
}

const one = (expected, holds) => (value, path) => (holds(value) ? value : refuse(path, expected, value));

const object = one('an object', (value) => typeof value === 'object' && value !== null && !Array.isArray(value));
const array = one('an array', Array.isArray);
const flag = one('true or false', (value) => typeof value === 'boolean');
const count = one('an integer from 0 to 2^53-1', (value) => Number.isSafeInteger(value) && value >= 0);
const oneOf = (...names) => one(`one of ${names.join(', ')}`, (value) => names.includes(value));
const text = (value, path) => (typeof value === 'string' ? value.toWellFormed() : refuse(path, 'a string', value));
// Structured data stays as it is: `JSON.stringify` escapes the surrogates in it.
const any = (value) => (typeof value === 'string' ? value.toWellFormed() : value);

const optional = (read, absent) => (value, path) => (value === undefined || value === null ? absent : read(value, path));
const list = (read) => (value, path) => array(value, path).map((element, index) => read(element, `${path}[${index}]`));
const record = (fields) => (value, path = '') => {
  object(value, path);
  const prefix = path === '' ? '' : `${path}.`;
  return Object.fromEntries(Object.entries(fields).map(([name, read]) => [name, read(value[name], prefix + name)]));
};

const byType = (readers) => {
  const typed = record({ type: oneOf(...Object.keys(readers)) });
  return (value, path) => readers[typed(value, path).type](value, path);
};

const event = (fields) => record({ type: any, iteration: count, ...fields });

const events = list(byType({
  message: event({ role: oneOf('user', 'assistant', 'system'), content: text }),
  tool_call: event({ toolName: text, toolCallId: text, args: object }),
  tool_result: event({ toolCallId: text, result: any }),
  error: event({ error: text, recoverable: flag }),
  human_input_requested: event({ question: text }),
  human_input_received: event({ response: text }),
  completion: event({ result: text }),
  summary: event({ summary: text, summarizedIterations: list(count) }),
}));

// What no reply can hold is refused here, before a model is asked.
const written = (read) => (value, path) => {
  const found = read(value, path);
  JSON.stringify(found);
  return found;
};

const calls = optional(list(record({ id: text, name: text, args: optional(written(object), {}) })), []);

const message = (fields) => record({ type: any, content: text, ...fields });

const messages = list(byType({
  system: message(), human: message(), ai: message({ tool_calls: calls }), tool: message({ tool_call_id: text }),
}));

const model = list(record({ error: optional(text), content: optional(text, ''), tool_calls: calls }));

// A `Map`, because a tool may be called `__proto__`.
const tools = optional((value, path) => new Map(Object.entries(object(value, path))
  .map(([name, results]) => [name.toWellFormed(), list(written(any))(results, `${path}.${name}`)])), new Map());

const context = { contextMode: optional(oneOf('standard', 'xml')), instructions: optional(text) };

/** Per op, the reader of its input. */
export const read = {
  escape: record({ text }),
  serialize: record({ events, responsePrefix: optional(text) }),
  messages: record({ events, ...context }),
  tools: record({ messages, model, tools, maxRecursionDepth: optional(count) }),
  loop: record({
    prompt: text,
    ...context,
    model,
    tools,
    verify: optional(list(record({ complete: flag, reason: optional(text) }))),
    maxIterations: optional(count),
    maxToolCallsPerIteration: optional(count),
  }),
};
