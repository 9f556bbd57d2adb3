// The fixture of vitest, as a project uses it.
import { afterAll, describe, expect } from "vitest";
import { test } from "threadspec/vitest";
import { run, script, withoutToolMessages } from "../agent.mjs";

describe.concurrent("the fixture", () => {
  const keys = new Set();
  for (const number of [1, 2, 3]) {
    test(`an agent that goes right, ${number}`, async ({ threadspecProvider }) => {
      const provider = await threadspecProvider(script);
      keys.add(provider.key);
      expect(await run(provider)).toBe("Done");
      await provider.assertConformant();
    });
  }
  afterAll(() => expect(keys.size).toBe(3));

  test("an agent that trims an answer is told so", async ({ threadspecProvider }) => {
    const provider = await threadspecProvider(script);
    await expect(run(provider, withoutToolMessages)).rejects.toThrow("must be followed by tool messages");
    await expect(provider.assertConformant()).rejects.toThrow(/AGENT-ANSWERED: .* has 0 answers directly behind it/);
  });

  // The verdict comes at the end, and fails the test.
  test.fails("a test that forgets the verdict gets it", async ({ threadspecProvider }) => {
    await run(await threadspecProvider(script), withoutToolMessages).catch(() => {});
  });
});
