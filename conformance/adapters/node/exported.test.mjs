// The exported cases under node:test: `threadspec export --plain cases.jsonl`, then `CASES=cases.jsonl node --test exported.test.mjs`.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { handlers } from './handlers.mjs';
import { Reject } from './protocol.mjs';

const cases = readFileSync(process.env.CASES, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));

const given = ({ input, input_json }) => input ?? JSON.parse(input_json);

for (const { id, profile, op, after = [], ok, reject, message = [], ...request } of cases) {
  test(`${id}, ${profile}`, async () => {
    for (const before of after) await outcome(op, given(before), profile);
    const answer = await outcome(op, given(request), profile);
    assert.equal(answer.refused?.kind, reject);
    if (ok) assert.ok(ok.some((expected) => equal(expected, answer.output)), `${JSON.stringify(answer.output)} is not ${JSON.stringify(ok[0])}`);
    for (const part of message) {
      assert.ok(answer.refused.message.includes(part), `${JSON.stringify(answer.refused.message)} lacks ${JSON.stringify(part)}`);
    }
  });
}

async function outcome(op, input, profile) {
  try {
    return { output: await handlers[op](input, profile) };
  } catch (error) {
    if (error instanceof Reject) return { refused: error };
    if (error instanceof RangeError) return { refused: { kind: 'invalid-input', message: error.message } };
    throw error;
  }
}

function equal(expected, output) {
  try {
    // As JSON, which has no -0 and nothing undefined.
    assert.deepEqual(JSON.parse(JSON.stringify(output)), JSON.parse(JSON.stringify(expected)));
    return true;
  } catch {
    return false;
  }
}
