import assert from "node:assert/strict";
import { test } from "node:test";
import { answer } from "./session.js";

const call = { id: "c1", name: "look", args: { at: "the door" } };
const input = {
  storage: "not used by a list",
  system: "Be brief.",
  tools: { look: { byId: { c1: "it is open" } } },
  runs: [
    { message: "Is it open?", model: [{ tool_calls: [call] }, { content: "Yes." }] },
    { message: "Fails", model: [{ error: "overloaded" }] },
    { message: "Thanks", model: [{ content: "Bye." }] },
  ],
};

test("hello names the features", async () => {
  const { ok } = await answer({ id: 0, op: "hello" });
  assert.ok("session" in ok && ok.session.includes("message"));
  assert.deepEqual([ok.ops, ok.profiles], [["session"], ["universal"]]);
});

test("each run is reported, and begins with the one before", async () => {
  const { ok } = await answer({ id: 7, op: "session", input });
  assert.ok("runs" in ok);
  const [first, failed, last] = ok.runs;
  assert.deepEqual(first?.executed, [call]);
  assert.deepEqual(first?.requests.map((request) => request.length), [2, 4]);
  assert.match(failed?.failure ?? "", /overloaded/);
  const texts = last?.requests[0]?.map((message) => message.content);
  assert.deepEqual(texts, ["Be brief.", "Is it open?", "", "it is open", "Yes.", "Fails", "Thanks"]);
});
