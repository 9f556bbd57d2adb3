#!/usr/bin/env node
// Finds the program for this platform, and runs it in place of this script.
"use strict";
const { spawn } = require("node:child_process");

const platform = `${process.platform}-${process.arch}`;
const name = process.platform === "win32" ? "threadspec.exe" : "threadspec";
let program;
try {
  program = require.resolve(`@threadspec/${platform}/bin/${name}`);
} catch {
  console.error(`threadspec: there is no program for ${platform}, or npm left out optional dependencies; \`cargo install threadspec-conformance\` builds one`);
  process.exit(4);
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => {
  console.error(`threadspec: ${program}: ${error.message}`);
  process.exit(4);
});
// The terminal sends Ctrl-C to both processes. This one waits: the program prints its summary and sets the exit code.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => (signal ? process.kill(process.pid, signal) : process.exit(code)));
