// The testee's side of protocol v1, for any implementation: copy this file, pass your functions to `serve`.

import { pipeline } from 'node:stream/promises';

/** Thrown by a handler that refuses its input. `kind` is `invalid-event` or `invalid-input`. */
export class Reject extends Error {
  constructor(kind, message) {
    super(message);
    this.kind = kind;
  }
}

/**
 * Answers requests until `input` ends.
 *
 * `handlers` maps an op to `(input, profile) => output`, plain or async. A handler refuses a
 * request by throwing `Reject`, or `RangeError` as the engine does for data nested too deeply; anything else that it
 * throws is a bug, and ends the process so that the runner can report a crash.
 */
export function serve({ implementation, profiles = ['literal'], handlers }, input = process.stdin, output = process.stdout) {
  const hello = { protocol: 1, implementation, ops: Object.keys(handlers), profiles };

  async function answer(request) {
    const { id, op, profile, input } = request;
    if (op === 'hello') return { id, ok: hello };
    if (!hello.ops.includes(op)) return { id, unsupported: `unknown op ${JSON.stringify(op)}` };
    if (!profiles.includes(profile ?? profiles[0])) return { id, unsupported: `unknown profile ${JSON.stringify(profile)}` };
    if (!isObject(input)) throw new Reject('invalid-input', 'input: expected an object');
    return { id, ok: await handlers[op](input, profile ?? profiles[0]) };
  }

  async function reply(request) {
    try {
      // Inside the `try`: an answer can be nested too deeply, or be too long, to be written.
      return JSON.stringify(await answer(request));
    } catch (error) {
      return JSON.stringify({ id: request.id, reject: refusal(error) });
    }
  }

  return pipeline(input, async function* (chunks) {
    for await (const line of lines(chunks)) {
      const request = parse(line);
      if (request) yield `${await reply(request)}\n`;
    }
  }, output);
}

function refusal(error) {
  if (error instanceof Reject) return { kind: error.kind, message: error.message };
  if (error instanceof RangeError) return { kind: 'invalid-input', message: `too deep or too long: ${error.message}` };
  throw error;
}

// Not `node:readline`, which also ends a line at CR, U+2028 and U+2029; JSON may contain the last two raw.
async function* lines(chunks) {
  let parts = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end; (end = chunk.indexOf('\n', start)) !== -1; start = end + 1) {
      yield Buffer.concat([...parts, chunk.subarray(start, end)]);
      parts = [];
    }
    parts.push(chunk.subarray(start));
  }
  yield Buffer.concat(parts);
}

function parse(line) {
  if (line.length === 0) return undefined;
  try {
    const request = JSON.parse(line.toString());
    if (isObject(request) && Number.isSafeInteger(request.id)) return request;
    console.error('ignored a line: not an object with an integer id');
  } catch (error) {
    console.error(`ignored a line: ${error.message}`);
  }
  return undefined;
}

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
