// The fixture of node:test, as a project uses it: THREADSPEC=program node --test packaging/npm/test/
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { startProvider, threadspecProvider } from "threadspec/node-test";
import { run, script, withoutToolMessages } from "./agent.mjs";

test("an agent that goes right", async (t) => {
  const provider = await threadspecProvider(t, script);
  assert.equal(await run(provider), "Done");
  await provider.assertConformant();
  assert.equal((await provider.verdict()).exitCode, 0);
});

test("an agent that trims an answer is told so", async (t) => {
  const provider = await threadspecProvider(t, script);
  await assert.rejects(run(provider, withoutToolMessages), /must be followed by tool messages/);
  await assert.rejects(provider.assertConformant(), /AGENT-ANSWERED: .* has 0 answers directly behind it/);
  const { exitCode, text } = await provider.verdict();
  assert.equal(exitCode, 1);
  assert.ok(!text.includes(provider.key));
});

test("an agent that asks nothing is not conformant", async (t) => {
  const provider = await threadspecProvider(t, script);
  await assert.rejects(provider.assertConformant(), /no request for an answer came/);
});

test("two at once know nothing of each other", async (t) => {
  const [one, other] = await Promise.all(["one", "other"].map((content) => threadspecProvider(t, [{ content }])));
  assert.notEqual(one.key, other.key);
  assert.notEqual(one.url, other.url);
  assert.deepEqual(await Promise.all([run(other), run(one)]), ["other", "one"]);
  await assert.rejects(run({ openaiUrl: other.openaiUrl, key: one.key }), /Incorrect API key/);
  await Promise.all([one.assertConformant(), other.assertConformant()]);
});

test("a wrong script says where", async () => {
  await assert.rejects(startProvider([{ contents: "x" }]), /exit code 4: .*model\[0\]: `contents` is no member/s);
});

test("a test that forgets the verdict gets it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "threadspec-test-"));
  const file = join(folder, "forgets.test.mjs");
  const agent = pathToFileURL(join(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "agent.mjs"));
  writeFileSync(file, `
    import test from "node:test";
    import { threadspecProvider } from ${JSON.stringify(import.meta.resolve("threadspec/node-test"))};
    import { run, script, withoutToolMessages } from ${JSON.stringify(agent.href)};
    test("right", async (t) => { await run(await threadspecProvider(t, script)); });
    test("wrong", async (t) => { await run(await threadspecProvider(t, script), withoutToolMessages).catch(() => {}); });
  `);
  // As a program of its own, and not as a part of this run.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const said = await new Promise((resolve) => {
    execFile(process.execPath, ["--test-reporter=tap", file], { env }, (_, output) => resolve(output));
  });
  rmSync(folder, { recursive: true });
  assert.match(said, /^ok 1 - right$/m);
  assert.match(said, /^not ok 2 - wrong$/m);
  assert.match(said, /AGENT-ANSWERED/);
});
