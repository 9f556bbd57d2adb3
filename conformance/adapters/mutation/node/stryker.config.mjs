// The command judges each mutant: Stryker says by an environment variable which one is active.
export default {
  mutate: ['*.mjs', '!main.mjs', '!crosscheck.mjs', '!*test.mjs'],
  testRunner: 'command',
  commandRunner: { command: `"${process.env.JUDGE}" node main.mjs` },
  checkers: [],
  concurrency: Number(process.env.JOBS ?? 2),
  // The judge has its own time limits.
  timeoutMS: 300_000,
  // Survivors with their lines, and all of it as JSON.
  reporters: ['clear-text', 'json'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  jsonReporter: { fileName: process.env.REPORT },
  allowEmpty: false,
  disableTypeChecks: false,
};
