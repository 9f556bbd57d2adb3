// The adapter between threadspec and this implementation: one JSON object a line, from standard input to standard output.
// Replace `escape` with your own function, and add the operations that you have.
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const replacements = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };

export const operations = {
  escape: ({ text }) => text.replace(/[&<>"']/g, (character) => replacements[character]),
};

export function answer({ id, op, input, profile }) {
  if (op === "hello") {
    const implementation = { name: "my-agent", version: "0.1.0", language: "JavaScript" };
    return { id, ok: { protocol: 1, implementation, ops: Object.keys(operations), profiles: ["literal"] } };
  }
  if (!Object.hasOwn(operations, op)) return { id, unsupported: "not done yet" };
  try {
    return { id, ok: operations[op](input, profile) };
  } catch (error) {
    return { id, reject: { kind: "invalid-input", message: String(error) } };
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    process.stdout.write(JSON.stringify(answer(JSON.parse(line))) + "\n");
  }
}
