// node index.mjs FOLDER COMMAND…
// Runs a command for which the wheels and npm packages in FOLDER are all that there is to install: pip and npm get an index on 127.0.0.1 that
// has nothing else, by name as users install it. What the command asks of any other host is refused, and fails it.
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { devNull, tmpdir } from "node:os";
import { join } from "node:path";

const [folder, command, ...rest] = process.argv.slice(2);
if (!command) throw new Error("usage: node index.mjs FOLDER COMMAND…");
const files = readdirSync(folder);
const wheels = files.filter((file) => file.endsWith(".whl"));
const tarballs = new Map(files.filter((file) => file.endsWith(".tgz")).map((file) => {
  const manifest = JSON.parse(execFileSync("tar", ["-xzOf", join(folder, file), "package/package.json"]));
  const integrity = `sha512-${createHash("sha512").update(readFileSync(join(folder, file))).digest("base64")}`;
  return [manifest.name, { file, integrity, manifest }];
}));
const elsewhere = new Set();

/** What a path holds, or undefined. */
function answer(path, origin) {
  const [, place, ...names] = path.split("/");
  const name = names.join("/");
  if (place === "files") return files.includes(name) ? ["application/octet-stream", readFileSync(join(folder, name))] : undefined;
  if (place === "simple") {
    // PEP 503. The name of a wheel begins with that of its project.
    const found = wheels.filter((file) => file.split("-")[0].replaceAll("_", "-").toLowerCase() === name.replace(/\/$/, ""));
    if (found.length === 0) return undefined;
    return ["text/html", `<!DOCTYPE html>${found.map((file) => `<a href="/files/${encodeURIComponent(file)}">${file}</a>`).join("\n")}`];
  }
  const found = place === "npm" ? tarballs.get(name) : undefined;
  if (!found) return undefined;
  const { manifest, integrity, file } = found;
  const versions = { [manifest.version]: { ...manifest, dist: { tarball: `${origin}/files/${file}`, integrity } } };
  return ["application/json", JSON.stringify({ name: manifest.name, "dist-tags": { latest: manifest.version }, versions })];
}

const server = createServer((request, response) => {
  const origin = `http://127.0.0.1:${server.address().port}`;
  // It is the proxy, too: whoever asks for another host gives a whole address.
  const url = new URL(request.url, origin);
  if (url.origin !== origin) {
    elsewhere.add(url.host);
    response.writeHead(403).end();
    return;
  }
  const found = answer(decodeURIComponent(url.pathname), origin);
  if (found) response.writeHead(200, { "content-type": found[0] }).end(found[1]);
  else response.writeHead(404, { "content-type": "application/json" }).end("{}");
});
server.on("connect", (request, socket) => {
  elsewhere.add(request.url);
  socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
});
server.listen(0, "127.0.0.1", () => {
  const origin = `http://127.0.0.1:${server.address().port}`;
  // Of its own: what an earlier run left there has the same name and version.
  const cache = mkdtempSync(join(tmpdir(), "threadspec-index-"));
  const proxies = Object.fromEntries(["http_proxy", "https_proxy", "all_proxy"].flatMap((name) => [[name, origin], [name.toUpperCase(), origin]]));
  const env = {
    ...process.env, ...proxies, no_proxy: "127.0.0.1,localhost", NO_PROXY: "127.0.0.1,localhost",
    PIP_INDEX_URL: `${origin}/simple/`, PIP_CONFIG_FILE: devNull, PIP_FIND_LINKS: "", PIP_NO_CACHE_DIR: "1", PIP_DISABLE_PIP_VERSION_CHECK: "1",
    npm_config_registry: `${origin}/npm/`, npm_config_cache: join(cache, "npm"), npm_config_update_notifier: "false",
    npm_config_audit: "false", npm_config_fund: "false", PIPX_HOME: join(cache, "pipx"),
  };
  const child = spawn(command, rest, { stdio: "inherit", env, shell: process.platform === "win32" });
  const end = (code, why) => {
    if (why) console.error(`index.mjs: ${why}`);
    rmSync(cache, { recursive: true, force: true });
    process.exit(code);
  };
  child.on("error", (error) => end(4, error.message));
  child.on("exit", (code) => (elsewhere.size ? end(4, `${command} asked for ${[...elsewhere].join(", ")}`) : end(code ?? 4)));
});
