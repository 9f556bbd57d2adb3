import type { TestAPI } from "vitest";
import type { Options, Provider, Script } from "./provider.mjs";
export * from "./provider.mjs";
/** Starts a model provider; it ends with the test, which gets its verdict if it did not ask for it. */
export type StartProvider = (script: Script, options?: Options) => Promise<Provider>;
/** vitest's `test` with the fixture `threadspecProvider`. */
export const test: TestAPI<{ threadspecProvider: StartProvider }>;
export const it: typeof test;
