// Starts `threadspec provider`, and asks for its verdict.
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { existsSync, mkdtempSync, openSync, closeSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const require = createRequire(import.meta.url);
const { programPath } = require("../bin/program.cjs");

// Only a program that hangs takes so long to start, or to end.
const PATIENCE = 60_000;
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Starts a model provider on 127.0.0.1, in a process of its own. `script` is a list of turns, or a whole script with rules. */
export async function startProvider(script, { options = [] } = {}) {
  const key = `sk-threadspec-${Array.from({ length: 24 }, () => LETTERS[randomInt(LETTERS.length)]).join("")}`;
  const folder = mkdtempSync(join(tmpdir(), "threadspec-"));
  writeFileSync(join(folder, "script.json"), JSON.stringify(Array.isArray(script) ? { model: script } : script));
  // A file and no pipe: a long report never waits for a reader.
  const output = openSync(join(folder, "output"), "w");
  const files = ["--script", join(folder, "script.json"), "--ready-file", join(folder, "ready.json")];
  const child = spawn(programPath(), ["provider", ...files, "--key", key, "--end-with-stdin", ...options], { stdio: ["pipe", output, output] });
  closeSync(output);
  child.stdin.on("error", () => {});
  const provider = new Provider(child, folder, key);
  await provider.ready();
  return provider;
}

class Provider {
  #child;
  #folder;
  #ended;
  #verdict;

  constructor(child, folder, key) {
    this.key = key;
    this.#child = child;
    this.#folder = folder;
    this.#ended = new Promise((resolve) => {
      child.on("error", (error) => resolve({ code: 3, why: `${error.message}\n` }));
      child.on("exit", (code, signal) => resolve({ code: code ?? 128, why: signal ? `ended by ${signal}\n` : "" }));
    });
  }

  /** Waits until it listens. */
  async ready() {
    const file = join(this.#folder, "ready.json");
    let end;
    this.#ended.then((ended) => (end = ended));
    const until = Date.now() + PATIENCE;
    while (!existsSync(file)) {
      if (end || Date.now() > until) {
        const { exitCode, text } = await this.verdict();
        throw new Error(`threadspec provider ended with exit code ${exitCode}: ${text}`);
      }
      await sleep(2);
    }
    this.url = JSON.parse(readFileSync(file, "utf8")).url;
  }

  /** The base URL for OpenAI's SDK, for both of its APIs. */
  get openaiUrl() {
    return `${this.url}/v1`;
  }

  /** The base URL for Anthropic's SDK. */
  get anthropicUrl() {
    return this.url;
  }

  /** Whether its verdict was asked for. */
  get isJudged() {
    return this.#verdict !== undefined;
  }

  /** Ends the provider, and resolves to `{ conformant, exitCode, text }`. Further calls resolve to the same. */
  verdict() {
    this.#verdict ??= this.#end();
    return this.#verdict;
  }

  async #end() {
    // It ends when its standard input does; so it also ends with a test run that is killed.
    this.#child.stdin.end();
    const kill = setTimeout(() => this.#child.kill("SIGKILL"), PATIENCE);
    const { code, why } = await this.#ended;
    clearTimeout(kill);
    const text = why + readFileSync(join(this.#folder, "output"), "utf8");
    rmSync(this.#folder, { recursive: true, force: true });
    return { conformant: code === 0, exitCode: code, text };
  }

  /** Ends the provider, and throws with its findings if anything counts against the agent, or if it sent no request at all. */
  async assertConformant() {
    const { conformant, exitCode, text } = await this.verdict();
    if (!conformant) throw new Error(`threadspec provider: exit code ${exitCode}\n${text}`);
  }
}

/**
 * Follows the providers of one test: `start` starts one, `finish` ends them, and judges those whose verdict the test did not ask for,
 * unless it failed anyway.
 */
export function providersOfTest() {
  const providers = [];
  return {
    async start(script, options) {
      const provider = await startProvider(script, options);
      providers.push(provider);
      return provider;
    },
    async finish(failed) {
      const forgotten = providers.filter((provider) => !provider.isJudged);
      await Promise.all(forgotten.map((provider) => provider.verdict()));
      if (!failed) for (const provider of forgotten) await provider.assertConformant();
    },
  };
}
