"""The published gateways, by the `gateway.json` of each folder in `examples/gateways/`, and the commands that put them to the test."""

import fcntl
import hashlib
import json
import lzma
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
EXAMPLES = ROOT / "examples/gateways"
sys.path.insert(0, str(HERE.parent / "frameworks"))

from harness.adapters import made
from harness.recordings import added, compressed
from harness.setting_up import SETUP_LIMIT, NotReady, execute

SHORT = {"openai-chat": "chat", "openai-responses": "Responses", "anthropic": "Anthropic"}


@dataclass(frozen=True, eq=False)
class Gateway:
    """A gateway, with what its template says."""

    name: str
    manifest: dict

    @property
    def folder(self):
        return EXAMPLES / self.name

    @property
    def runtime(self):
        return self.manifest["runtime"]

    @property
    def called(self):
        return f"{self.manifest['title']} {self.manifest['version']}"

    @property
    def cases(self):
        """What is put to it: all cases, but for those that leave nothing to judge behind them."""
        return self.manifest.get("cases", ["gateway/*"])

    @property
    def environment(self):
        """Where it is installed: outside of what is committed."""
        return ROOT / "target/gateways" / self.name

    @property
    def recording(self):
        """What was said in all its pairs: they are much alike, and so need little more space than one."""
        return HERE / f"recordings/{self.name}.jsonl.xz"

    def install(self):
        """Returns the commands that install it, from the root of a checkout."""
        folder, own = f"examples/gateways/{self.name}", f"target/gateways/{self.name}"
        if self.runtime == "python":
            return [f"python3 -m venv {own}", f"{own}/bin/pip install --quiet --no-deps -r {folder}/requirements.txt"]
        return [f"mkdir -p {own}", f"cp {folder}/package.json {folder}/package-lock.json {own}/", f"npm ci --prefix {own} --no-audit --no-fund --loglevel=error"]


@dataclass(frozen=True, eq=False)
class Pair:
    """A gateway between a client of one API and a provider of another, plain or streaming: a cell of the table."""

    gateway: Gateway
    client: str
    provider: str
    stream: bool
    model: str
    config: str
    headers: tuple

    @property
    def mode(self):
        return f"{self.provider}:stream" if self.stream else self.provider

    @property
    def key(self):
        """As recordings name it."""
        return f"{self.client} > {self.mode}"

    @property
    def id(self):
        return f"{self.gateway.name}.{self.client}.{self.provider}{'.stream' if self.stream else ''}"

    @property
    def called(self):
        return f"{SHORT[self.client]} → {SHORT[self.provider]}"

    @property
    def reproductions(self):
        """Scripts by clause, as the adapters of frameworks have them. A pair has `table --show` instead."""
        return {}

    more_reproductions = reproductions

    @property
    def known_failures(self):
        """Where `run` makes the file of known failures."""
        return made(self.gateway.folder / f"known-failures/{self.client}.{self.provider}{'.stream' if self.stream else ''}.toml")

    def arguments(self):
        """What `verify` is told of the gateway, from the root of a checkout."""
        manifest, folder = self.gateway.manifest, f"examples/gateways/{self.gateway.name}"
        told = ["--provider", self.mode, "--client", self.client, "--through", manifest["through"]]
        told += ["--through-config", f"{folder}/{self.config}"] if self.config else []
        for header in self.headers:
            told += ["--through-header", header]
        told += ["--through-home"] if manifest.get("home") else []
        told += ["--through-key-env", manifest["keyEnv"]] if "keyEnv" in manifest else []
        # Without this option the client asks for the provider's own model.
        told += ["--through-model", self.model] if self.model != "{model}" else []
        told += ["--ready-timeout", str(manifest["readyTimeout"])] if "readyTimeout" in manifest else []
        return [*told, "--through-name", self.gateway.called]

    def command(self, *more):
        """Returns the line that a reader types, from the root of a checkout."""
        return shlex.join(["threadspec", "verify", *self.arguments(), *more])


def gateways():
    return [Gateway(path.parent.name, json.loads(path.read_text())) for path in sorted(EXAMPLES.glob("*/gateway.json"))]


def pairs():
    """Each pair of APIs that a gateway translates between, plain and streaming."""
    found = []
    for gateway in gateways():
        for pair in gateway.manifest["pairs"]:
            for stream in False, True:
                config = pair.get("config", gateway.manifest.get("config", ""))
                headers = pair.get("headers", gateway.manifest.get("headers", {}).get(pair["provider"], []))
                found.append(Pair(gateway, pair["client"], pair["provider"], stream, pair["model"], config, tuple(headers)))
    return found


def recorded(gateway):
    """The transcripts of a recording, by the keys of their pairs."""
    transcripts = {}
    if gateway.recording.exists():
        for line in lzma.decompress(gateway.recording.read_bytes()).splitlines(keepends=True):
            if line.startswith(b'{"transcript":'):
                options = json.loads(line)["options"]
                key = f"{options['through']['client']} > {options['provider']}"
                transcripts[key] = []
            transcripts[key].append(line)
    return {key: b"".join(lines) for key, lines in transcripts.items()}


def record(pair, transcript, is_part):
    """Keeps what was said in one pair, beside what was said in the others. New cases are added to what is there."""
    pair.gateway.recording.parent.mkdir(exist_ok=True)
    with open(pair.gateway.environment / ".recording", "w") as lock:
        # Pairs of one gateway may be run by several processes.
        fcntl.flock(lock, fcntl.LOCK_EX)
        transcripts = recorded(pair.gateway)
        transcripts[pair.key] = added(transcripts[pair.key].decode(), transcript.decode()).encode() if is_part else transcript
        pair.gateway.recording.write_bytes(compressed(b"".join(transcripts[key] for key in sorted(transcripts))))


def set_up(gateway, log):
    """Installs exactly what the folder pins, unless that was done already."""
    lock = gateway.folder / ("requirements.txt" if gateway.runtime == "python" else "package-lock.json")
    mark, wanted = gateway.environment / ".installed", hashlib.sha256(lock.read_bytes()).hexdigest()
    if mark.exists() and mark.read_text() == wanted:
        return
    for step in gateway.install():
        if (code := execute(shlex.split(step), SETUP_LIMIT, log, cwd=ROOT)) != 0:
            raise NotReady(f"setup: `{step}` {'ran out of time' if code is None else f'ended with {code}'}; see {log.name}")
    mark.write_text(wanted)
