// node build.mjs OUT PLATFORM=PROGRAM…
// Packs the npm package `threadspec`, and one package per platform (as node names it: linux-x64, darwin-arm64, …) with its program.
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const platforms = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "win32-x64"];
const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, "../..");
const version = readFileSync(join(root, "Cargo.toml"), "utf8").match(/\[workspace\.package\]\nversion = "([^"]+)"/)[1];
const [out, ...programs] = process.argv.slice(2);
if (!out || programs.length === 0) throw new Error("usage: node build.mjs OUT PLATFORM=PROGRAM…");
const common = { version, license: "MIT OR Apache-2.0", repository: "github:threadspec/threadspec" };

function pack(name, manifest, fill) {
  const folder = mkdtempSync(join(tmpdir(), "threadspec-npm-"));
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name, ...common, ...manifest }, null, 2) + "\n");
  fill(folder);
  // On Windows npm is a script, which needs a shell.
  execFileSync("npm", ["pack", "--silent", "--pack-destination", resolve(out)], { cwd: folder, stdio: "inherit", shell: process.platform === "win32" });
  rmSync(folder, { recursive: true });
}

mkdirSync(out, { recursive: true });
for (const pair of programs) {
  const [platform, program] = pair.split("=");
  if (!platforms.includes(platform)) throw new Error(`unknown platform ${platform}; known: ${platforms.join(", ")}`);
  const [os, cpu] = platform.split("-");
  const file = os === "win32" ? "threadspec.exe" : "threadspec";
  pack(`@threadspec/${platform}`, { description: `The program threadspec for ${platform}`, os: [os], cpu: [cpu], files: ["bin"] }, (folder) => {
    cpSync(program, join(folder, "bin", file));
    chmodSync(join(folder, "bin", file), 0o755);
  });
}
pack("threadspec", {
  description: "The conformance suite of agent threads: runs its corpus against any implementation that speaks a one-page protocol",
  keywords: ["agent", "conformance", "specification", "llm"],
  bin: { threadspec: "bin/threadspec.cjs" },
  files: ["bin", "README.md"],
  engines: { node: ">=18" },
  optionalDependencies: Object.fromEntries(platforms.map((platform) => [`@threadspec/${platform}`, version])),
}, (folder) => {
  cpSync(join(here, "bin/threadspec.cjs"), join(folder, "bin/threadspec.cjs"));
  cpSync(join(root, "README.md"), join(folder, "README.md"));
});
