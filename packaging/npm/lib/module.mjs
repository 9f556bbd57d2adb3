// The module in WebAssembly, given its bytes: what `check.mjs` exports, and the page for browsers uses. It imports nothing.

export async function load(bytes) {
  const { instance: { exports: wasm } } = await WebAssembly.instantiate(bytes, {});

  /** What was found, and what was read: `{findings, read, skipped}`, `read` in words, `skipped` the reasons. */
  function judge(log, { api = "" } = {}) {
    const isText = typeof log === "string" || log instanceof Uint8Array;
    // JSON knows no `undefined`; an empty text has nothing to judge either.
    const text = isText ? log : (JSON.stringify(log) ?? "");
    const [name, data] = [api, text].map((part) => (typeof part === "string" ? new TextEncoder().encode(part) : part));
    const start = wasm.input(name.length + data.length);
    // The memory may have grown, and has moved then.
    const memory = new Uint8Array(wasm.memory.buffer, start);
    memory.set(name);
    memory.set(data, name.length);
    const length = wasm.check(name.length);
    const answer = JSON.parse(new TextDecoder().decode(new Uint8Array(wasm.memory.buffer, wasm.output(), length)));
    if (answer.error !== undefined) throw new RangeError(answer.error);
    if (!isText) {
      // What is no text has no lines.
      for (const { place } of answer.findings) {
        delete place.line;
        place.phrase = place.phrase.replace(/ \(line \d+\)/, "").replace(/\(line \d+, /, "(");
      }
    }
    return answer;
  }

  const check = (log, options) => judge(log, options).findings;

  function format({ rule, level, place, text, advice }) {
    const where = place.phrase ? `${place.phrase}: ` : "";
    const at = place.path ? ` at ${place.path}` : "";
    const line = `${level} ${where}${text} (${rule}${at})${advice ? `\n  → ${advice}` : ""}`;
    // What stands in messages never colours a terminal.
    return line.replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
  }

  function assertHistory(messages, { api, strict = false } = {}) {
    const faults = check(messages, { api }).filter(({ level }) => level === "error" || (strict && level === "warning"));
    if (faults.length === 0) return;
    const error = new Error([`${faults.length === 1 ? "1 fault" : `${faults.length} faults`} in the history:`, ...faults.map(format)].join("\n"));
    error.name = "AssertionError";
    throw error;
  }

  return { judge, check, format, assertHistory };
}
