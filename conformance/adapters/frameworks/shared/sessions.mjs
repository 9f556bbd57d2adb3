// For tests: plays the sessions of `sessions.json`, kills included, and says what a reply has that is not known to be in it.

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { same } from './testee.mjs';

export const SESSIONS = JSON.parse(readFileSync(new URL('sessions.json', import.meta.url))).sessions;

/** A session adapter, started anew where it ended itself. */
export class Process {
  constructor(command) {
    this.command = command;
    this.start();
  }

  start() {
    const [program, ...args] = this.command;
    this.child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'] });
    this.ended = new Promise((over) => this.child.on('close', (code, signal) => over(signal ?? code)));
    this.lines = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
  }

  async ask(request) {
    this.child.stdin.write(`${JSON.stringify(request)}\n`);
    return JSON.parse((await this.lines.next()).value);
  }

  async hello() {
    return (await this.ask({ id: 0, op: 'hello', protocol: 1 })).ok;
  }

  /** The reports of the runs. */
  async play(input) {
    const storage = mkdtempSync(join(tmpdir(), 'session-'));
    const request = { id: 1, op: 'session', profile: 'universal', input: { ...input, storage } };
    try {
      const runs = [];
      let reply = await this.ask(request);
      while (reply.cut) {
        runs.push(...reply.runs);
        await this.ended;
        this.start();
        reply = await this.ask({ ...request, from: runs.length });
      }
      return [...runs, ...reply.ok.runs];
    } finally {
      rmSync(storage, { recursive: true });
    }
  }

  /** The exit code, or the signal that ended it. */
  async end() {
    this.child.stdin.end();
    return this.ended;
  }
}

/** What the reports have otherwise than is known, in words; nothing if all is well. */
export function differences({ messages = {}, runs: known }, runs) {
  if (runs.length !== known.length) return [`${runs.length} runs`];
  return runs.flatMap((run, at) => {
    const told = {
      requests: run.requests,
      executed: run.executed.toSorted((one, other) => one.id.localeCompare(other.id)),
      pending: (run.pending ?? []).toSorted(),
      ends: 'failure' in run || 'refused' in run,
    };
    return Object.entries(known[at])
      .map(([name, value]) => [name, name === 'requests' ? value.map((request) => request.map((one) => messages[one])) : value])
      .filter(([name, value]) => !same(told[name], value))
      .map(([name, value]) => `run ${at + 1}: ${name} are ${JSON.stringify(told[name])}, not ${JSON.stringify(value)}`);
  });
}
