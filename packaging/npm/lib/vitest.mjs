// For vitest: `import { test } from "threadspec/vitest"` has the fixture `threadspecProvider`.
import { test as base } from "vitest";
import { providersOfTest } from "./provider.mjs";

export { startProvider } from "./provider.mjs";

/** vitest's `test` with the fixture `threadspecProvider`, a function that starts a model provider with a script. */
export const test = base.extend({
  threadspecProvider: async ({ task }, use) => {
    const providers = providersOfTest();
    await use(providers.start);
    await providers.finish(task.result?.state === "fail");
  },
});
export const it = test;
