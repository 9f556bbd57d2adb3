import type { TestContext } from "node:test";
import type { Options, Provider, Script } from "./provider.mjs";
export * from "./provider.mjs";
/** Starts a model provider for the test `t`; it ends with the test, which gets its verdict if it did not ask for it. */
export function threadspecProvider(t: TestContext, script: Script, options?: Options): Promise<Provider>;
