// For tests: whether a testee plays the scripts of `turns.json` as they stand.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

export const CASES = JSON.parse(readFileSync(new URL('turns.json', import.meta.url))).cases;
const GIVEN = [{ type: 'human', content: 'Go' }];

export const inputOf = ({ model, tools = {} }) => ({ messages: GIVEN, model, tools });

/** Fails unless a testee's output is a run of the case. */
export function assertPlayed({ name, requests, says, answers = [] }, output) {
  const behind = output.messages.slice(GIVEN.length);
  assert.equal(output.requests.length, requests, name);
  assert.deepEqual(plain(behind.filter(({ type }) => type === 'ai').map(said)), plain(says.map(said)), name);
  const contents = behind.filter(({ type }) => type === 'tool').map(({ content }) => content);
  assert.equal(contents.length, answers.length, name);
  answers.forEach((answer, at) => assertAnswer(contents[at], answer, name));
}

const said = ({ content, tool_calls }) => [content, (tool_calls ?? []).map(({ id, name, args }) => [id, name, args])];
// Without -0, which JSON has and which equals 0.
const plain = (value) => JSON.parse(JSON.stringify(value));

function assertAnswer(content, answer, name) {
  if (typeof answer === 'string') assert.equal(content, answer, name);
  else if (typeof answer?.includes === 'string') assert.ok(content.includes(answer.includes), name);
  else assert.deepEqual(JSON.parse(content), answer, name);
}
