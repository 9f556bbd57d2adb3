// node build.mjs OUT WASM PLATFORM=PROGRAM…
// Packs the npm package `threadspec`, and one package per platform (as node names it: linux-x64, darwin-arm64, …) with its program.
// WASM is `threadspec_web.wasm`: cargo build --manifest-path packaging/Cargo.toml -p threadspec-web --target wasm32-unknown-unknown --profile web
// `-` leaves it out, for machines that cannot build it.
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const platforms = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "win32-x64"];
const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, "../..");
const version = readFileSync(join(root, "Cargo.toml"), "utf8").match(/\[workspace\.package\]\nversion = "([^"]+)"/)[1];
const [out, wasm, ...programs] = process.argv.slice(2);
if (!wasm || programs.length === 0) throw new Error("usage: node build.mjs OUT WASM PLATFORM=PROGRAM…");
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
  description: "Says what is wrong with your agent's messages; the conformance suite of agent threads; a model provider for tests",
  keywords: ["agent", "conformance", "specification", "llm", "vitest"],
  bin: { threadspec: "bin/threadspec.cjs" },
  exports: Object.fromEntries(
    [["./check", "check"], ["./provider", "provider"], ["./node-test", "node-test"], ["./vitest", "vitest"]].map(([path, file]) => [
      path, { types: `./lib/${file}.d.mts`, default: `./lib/${file}.mjs` },
    ]),
  ),
  files: ["bin", "lib", "README.md"],
  engines: { node: ">=18" },
  peerDependencies: { vitest: ">=1" },
  peerDependenciesMeta: { vitest: { optional: true } },
  optionalDependencies: Object.fromEntries(platforms.map((platform) => [`@threadspec/${platform}`, version])),
}, (folder) => {
  for (const part of ["bin", "lib"]) cpSync(join(here, part), join(folder, part), { recursive: true });
  if (wasm !== "-") cpSync(wasm, join(folder, "lib", "threadspec.wasm"));
  cpSync(join(here, "README.md"), join(folder, "README.md"));
});
