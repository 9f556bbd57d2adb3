// `threadspec/check` in Node.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import test from "node:test";
import { assertHistory, check, format } from "threadspec/check";

const call = { id: "c1", type: "function", function: { name: "add", arguments: "{}" } };
const right = [
  { role: "user", content: "2 + 2? Grüße" },
  { role: "assistant", content: null, tool_calls: [call] },
  { role: "tool", tool_call_id: "c1", content: "4" },
  { role: "assistant", content: "4." },
];
const lost = [right[0], right[1], right[3], { role: "user", content: "And 3 + 3?" }];
const rules = (log, options) => check(log, options).map(({ rule }) => rule);

test("right messages have no finding", () => {
  assert.deepEqual(check(right), []);
  assertHistory(right, { strict: true });
});

test("a lost result is found with its place and what to do", () => {
  const finding = check(lost).find(({ rule }) => rule === "OAI-CHAT-ANSWERED");
  assert.equal(finding.level, "error");
  assert.equal(finding.place.element, "message 3");
  assert.match(finding.place.path, /^messages\[2\]/);
  assert.match(finding.advice, /^Put one result/);
  assert.equal(finding.place.line, undefined);
  assert.equal(finding.place.phrase, "request 1, message 3");
  assert.equal(check(JSON.stringify(lost))[0].place.line, 1);
  assert.throws(() => assertHistory(lost), { name: "AssertionError", message: /^1 fault in the history:\nerror request 1, message 3: .*\n {2}→ Put one result/ });
});

test("every form of argument is read", () => {
  const body = { model: "gpt-4.1", messages: lost };
  for (const log of [lost, body, [{ model: "gpt-4.1", messages: right }, body], JSON.stringify(body, null, 2), gzipSync(JSON.stringify(body))]) {
    assert.ok(rules(log).includes("OAI-CHAT-ANSWERED"));
  }
});

test("an open call is a note in a history and an error in a request", () => {
  assert.deepEqual(rules(right.slice(0, 2)), ["LOG-OPEN"]);
  assertHistory(right.slice(0, 2));
  assert.ok(rules(right.slice(0, 2), { api: "openai-chat" }).includes("OAI-CHAT-ANSWERED"));
  assert.throws(() => check(right, { api: "openai" }), /expected openai-chat/);
});

test("where nothing is judged nothing holds", () => {
  for (const nothing of ["", "no JSON", {}, [], { a: 1 }, undefined, 7]) assert.throws(() => check(nothing), RangeError);
});

test("control characters never reach a terminal, and half a character is a finding", () => {
  const red = [...lost, { role: "tool", tool_call_id: "\x1b[31mred", content: "x" }];
  assert.doesNotMatch(check(red).map(format).join("\n"), /\x1b/);
  assert.deepEqual(rules([{ role: "user", content: "cut \ud83d" }]), ["DS-UTF16"]);
});

test("a large log after a small one, and many of them", () => {
  const log = Array.from({ length: 2000 }, () => JSON.stringify({ model: "m", messages: right })).join("\n");
  for (let turn = 0; turn < 3; turn++) {
    assert.deepEqual(check(log), []);
    assert.ok(rules(lost).length > 0);
  }
});

// As the gate builds it, without optimization across crates. A third of it is the corpus, which is packed together with the rules.
test("it is small enough for a page", () => {
  const packed = gzipSync(readFileSync(new URL("./threadspec.wasm", import.meta.resolve("threadspec/check"))), { level: 9 });
  assert.ok(packed.length < 1_000_000, `${packed.length} bytes`);
});
