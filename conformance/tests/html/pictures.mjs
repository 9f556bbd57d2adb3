// The pictures of the README and the guides, of the real program: node pictures.mjs RUNS [DIR]
//
// RUNS is a folder that `conformance/adapters/frameworks/matrix --runs RUNS --pages` wrote; the pictures go to DIR, by default `conformance/pictures`. Each is
// made light and dark. THREADSPEC is the program, by default that of a debug build.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { lacking, launch, open } from "./browser.mjs";

const root = join(import.meta.dirname, "../../..");
const [runs, to = join(root, "conformance/pictures")] = process.argv.slice(2);
if (lacking || !runs) {
  console.error(lacking || "usage: node pictures.mjs RUNS [DIR]");
  process.exit(2);
}
const threadspec = resolve(process.env.THREADSPEC ?? join(root, "target/debug/threadspec"));
const folder = mkdtempSync(join(tmpdir(), "threadspec-pictures-"));

const COLOURS = { 1: "bold", 2: "faint", 31: "bad", 32: "good", 33: "warn", 36: "link" };

/** What a command prints, as a page that looks like a terminal. */
function terminal(name, said, command) {
  const escaped = (text) => text.replace(/[&<]/g, (one) => (one === "&" ? "&amp;" : "&lt;"));
  let open = 0;
  const body = said.split(/(\x1b\[[\d;]*m)/).map((part) => {
    const codes = /^\x1b\[([\d;]*)m$/.exec(part)?.[1].split(";");
    if (!codes) return escaped(part);
    const names = codes.map((code) => COLOURS[code]).filter(Boolean);
    // A colour within another one keeps it; what ends one ends all.
    const end = names.length ? "" : "</span>".repeat(open);
    open = names.length ? open + 1 : 0;
    return end + (names.length ? `<span class="${names.join(" ")}">` : "");
  });
  const page = join(folder, `${name}.html`);
  writeFileSync(page, `<!doctype html><meta charset="utf-8"><title>${name}</title><style>
    :root { --back: #f6f8fa; --front: #1b1f24; --bad: #b3261e; --good: #0f6b2f; --warn: #7a5200; --link: #0a58ca; --faint: #57606a }
    @media (prefers-color-scheme: dark) { :root { --back: #14181e; --front: #e4e8ee; --bad: #ff9d94; --good: #7ddc97; --warn: #f0c674; --link: #8ab8ff; --faint: #9aa5b1 } }
    body { margin: 0; background: var(--back) } pre { margin: 0; padding: 18px 22px; color: var(--front); font: 14px/1.5 "DejaVu Sans Mono", monospace; white-space: pre-wrap }
    .bold { font-weight: 700 } ${["bad", "good", "warn", "link", "faint"].map((one) => `.${one} { color: var(--${one}) }`).join(" ")}</style>
    <pre><span class="faint">$ </span>${escaped(command)}\n${body.join("")}${"</span>".repeat(open)}</pre>`);
  return page;
}

/** Runs `threadspec` as in a terminal that has colours. What is shown is a failure, so that anything else is no picture. */
function printed(...command) {
  const { stdout, stderr, status, error } = spawnSync(threadspec, command, { cwd: root, encoding: "utf8", env: { ...process.env, CLICOLOR_FORCE: "1", COLUMNS: "100", PATH: `${dirname(threadspec)}:${process.env.PATH}` } });
  if (error) throw error;
  if (status !== 1) throw new Error(`${command.join(" ")} ended with ${status}: ${stderr}`);
  return (stdout || stderr).trimEnd();
}

const failure = ["verify", "--filter", "messages/event-types-standard/tool-call-and-result", "--", "threadspec", "serve", "--bug", "tool-results-dropped"];
const provider = ["provider", "--script", "examples/provider/rules.json", "--", "python3", "conformance/tests/html/forgetful.py"];
const report = join(folder, "report.html");
execFileSync(threadspec, ["report", "--format", "html", "-o", report, join(runs, "crewai.json")]);

const pictures = {
  terminal: [terminal("terminal", printed(...failure), `threadspec ${failure.join(" ")}`), { width: 1000, height: 200 }, true],
  provider: [terminal("provider", printed(...provider), `threadspec ${provider.join(" ")}`), { width: 1000, height: 200 }, true],
  report: [report, { width: 1280, height: 860 }, false],
  matrix: [join(root, "target/made/conformance/adapters/frameworks/matrix.html"), { width: 1280, height: 860 }, false],
};
mkdirSync(to, { recursive: true });
const browser = await launch();
for (const [name, [file, viewport, whole]] of Object.entries(pictures)) {
  for (const colorScheme of ["light", "dark"]) {
    const { page, close } = await open(browser, file, { viewport, colorScheme });
    const height = whole ? await page.evaluate(() => document.documentElement.scrollHeight) : viewport.height;
    const client = await page.context().newCDPSession(page);
    const clip = { x: 0, y: 0, width: viewport.width, height, scale: 1 };
    const { data } = await client.send("Page.captureScreenshot", { format: "webp", quality: 82, clip, captureBeyondViewport: true });
    writeFileSync(join(to, `${name}-${colorScheme}.webp`), Buffer.from(data, "base64"));
    await close();
  }
}
await browser.close();
rmSync(folder, { recursive: true });
