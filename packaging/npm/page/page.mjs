// The page "paste your request": what was pasted, typed or opened is judged by the module. `build.mjs` puts both into one file.

const [log, file, api, verdict, read, findings] = ["log", "file", "api", "verdict", "read", "findings"].map((id) => document.getElementById(id));
const EXAMPLE = {
  model: "gpt-4.1",
  messages: [
    { role: "user", content: "What is the weather in Paris?" },
    { role: "assistant", content: null, tool_calls: [{ id: "call_1", type: "function", function: { name: "weather", arguments: '{"city": "Paris"}' } }] },
    { role: "user", content: "Are you there?" },
  ],
};
// More findings than anybody reads make a page that no browser scrolls.
const SHOWN = 500;
// What was opened and is no text to edit.
let opened = null;

const packed = Uint8Array.from(atob(document.getElementById("wasm").textContent), (c) => c.charCodeAt(0));
const unpacked = new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip")));
const { judge } = await load(await unpacked.arrayBuffer());

const element = (name, text, className) => {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
};
const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

/** Puts the cursor where the finding is, and selects its line. */
function show(line) {
  const lines = log.value.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  log.focus();
  log.setSelectionRange(start, start + lines[line - 1].length);
  log.scrollTop = (log.scrollHeight / lines.length) * Math.max(0, line - 4);
}

function row(finding) {
  const { rule, level, place, text, advice } = finding;
  const item = element("li", "", level);
  const first = element("p", "");
  first.append(element("b", level), ` ${place.phrase}${place.phrase ? ": " : ""}${text}`);
  item.append(first);
  if (advice) item.append(element("p", `→ ${advice}`));
  const where = element("p", "", "faint");
  where.append(element("code", rule), place.path ? ` at ${place.path} ` : " ");
  if (place.line && !opened) {
    const button = element("button", `Show line ${place.line}`);
    button.type = "button";
    button.addEventListener("click", () => show(place.line));
    where.append(button);
  }
  item.append(where);
  return item;
}

function tell(sentence, className, details = "", rows = []) {
  verdict.textContent = sentence;
  verdict.className = className;
  read.textContent = details;
  findings.replaceChildren(...rows);
}

function run() {
  const text = opened ?? log.value;
  if (text.length === 0) return tell("", "");
  let answer;
  try {
    answer = judge(text, { api: api.value });
  } catch (error) {
    // A fault of ours is told as one; what was pasted can be recognized, or cannot.
    return tell(error instanceof RangeError ? `Nothing was judged: ${error.message}.` : `The page failed: ${error}`, "bad");
  }
  const numbers = ["error", "warning", "note"].map((level) => [answer.findings.filter((one) => one.level === level).length, level]);
  const found = numbers.filter(([number]) => number > 0).map(([number, level]) => count(number, level));
  const rows = answer.findings.slice(0, SHOWN).map(row);
  if (answer.findings.length > SHOWN) rows.push(element("li", `… and ${answer.findings.length - SHOWN} more: threadspec check FILE tells all.`));
  const details = [answer.read && `Read: ${answer.read}.`, ...answer.skipped.map((why) => `Skipped: ${why}.`)];
  const isBad = numbers[0][0] > 0;
  tell(found.length > 0 ? `${found.join(", ")}.` : "No finding.", isBad ? "bad" : "good", details.filter(Boolean).join(" "), rows);
}

let waiting;
log.addEventListener("input", () => {
  opened = null;
  file.value = "";
  clearTimeout(waiting);
  waiting = setTimeout(run, 150);
});
api.addEventListener("change", run);
document.getElementById("example").addEventListener("click", () => {
  opened = null;
  file.value = "";
  log.value = JSON.stringify(EXAMPLE, null, 2);
  run();
});
file.addEventListener("change", async () => {
  if (file.files.length === 0) return;
  const bytes = new Uint8Array(await file.files[0].arrayBuffer());
  opened = bytes;
  log.value = "";
  try {
    // What can be edited is shown.
    if (bytes.length < 1_000_000) [log.value, opened] = [new TextDecoder("utf-8", { fatal: true }).decode(bytes), null];
  } catch {
    // Not text: a database, or compressed.
  }
  run();
});
document.documentElement.dataset.ready = "";
run();
