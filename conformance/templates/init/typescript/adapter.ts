// The adapter between threadspec and this implementation: one JSON object a line, from standard input to standard output.
// Replace `escape` with your own function, and add the operations that you have.
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
    // The kind is `invalid-event` for a wrong element of `events`. In `universal`, once the model was asked, the reply is `ok` with `failure`.
    return { id, reject: { kind: "invalid-input", message: String(error) } };
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  // Not `node:readline`, which also ends a line at U+2028 and U+2029; JSON may hold them as they are.
  let line = "";
  process.stdin.setEncoding("utf8");
  for await (const chunk of process.stdin) {
    const [end, ...begun] = String(chunk).split("\n");
    line += end ?? "";
    for (const next of begun) {
      process.stdout.write(JSON.stringify(answer(JSON.parse(line) as Request)) + "\n");
      line = next;
    }
  }
}
