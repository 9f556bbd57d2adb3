// The adapter between threadspec and this implementation: one JSON object a line, from standard input to standard output.
// Replace `escape` with your own function, and add the operations that you have.
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

type Input = Record<string, unknown>;
type Request = { id: number; op: string; input?: Input; profile?: string };
type Reply = { id: number } & (
  | { ok: unknown }
  | { reject: { kind: "invalid-event" | "invalid-input"; message: string } }
  | { unsupported: string }
);

const replacements: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };

export const operations = new Map<string, (input: Input, profile?: string) => unknown>([
  ["escape", ({ text }) => {
    if (typeof text !== "string") throw new TypeError("`text` is not a string");
    return text.replace(/[&<>"']/g, (character) => replacements[character] ?? character);
  }],
]);

export function answer({ id, op, input, profile }: Request): Reply {
  if (op === "hello") {
    const implementation = { name: "my-agent", version: "0.1.0", language: "TypeScript" };
    return { id, ok: { protocol: 1, implementation, ops: [...operations.keys()], profiles: ["literal"] } };
  }
  const operation = operations.get(op);
  if (!operation) return { id, unsupported: "not done yet" };
  try {
    return { id, ok: operation(input ?? {}, profile) };
  } catch (error) {
    return { id, reject: { kind: "invalid-input", message: String(error) } };
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    process.stdout.write(JSON.stringify(answer(JSON.parse(line) as Request)) + "\n");
  }
}
