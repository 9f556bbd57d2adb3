// For node:test: the provider ends with the test.
import { providersOfTest } from "./provider.mjs";

export { startProvider } from "./provider.mjs";

const ofTests = new WeakMap();

/** Starts a model provider for the test `t`. If the test does not ask for the verdict, it fails at its end unless the agent is conformant. */
export function threadspecProvider(t, script, options) {
  let providers = ofTests.get(t);
  if (!providers) {
    providers = providersOfTest();
    ofTests.set(t, providers);
    // Node tells a hook whether the test has failed since version 22.
    t.after(() => providers.finish(t.passed === false));
  }
  return providers.start(script, options);
}
