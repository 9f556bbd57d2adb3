// The adapter between threadspec and this implementation: one JSON object a line, from standard input to standard output.
// Replace `escape` with your own function, and add the operations that you have.
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
    // The kind is `invalid-event` for a wrong element of `events`. In `universal`, once the model was asked, the reply is `ok` with `failure`.
    return { id, reject: { kind: "invalid-input", message: String(error) } };
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  // Not `node:readline`, which also ends a line at U+2028 and U+2029; JSON may hold them as they are.
  let line = "";
  process.stdin.setEncoding("utf8");
  for await (const chunk of process.stdin) {
    const [end, ...begun] = chunk.split("\n");
    line += end;
    for (const next of begun) {
      process.stdout.write(JSON.stringify(answer(JSON.parse(line))) + "\n");
      line = next;
    }
  }
}
