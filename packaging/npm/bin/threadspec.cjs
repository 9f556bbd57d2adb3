#!/usr/bin/env node
// Runs the program for this platform in place of this script.
"use strict";
const { spawn } = require("node:child_process");
const { programPath } = require("./program.cjs");

let program;
try {
  program = programPath();
} catch (error) {
  console.error(`threadspec: ${error.message}`);
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
