"""The programs over the wire: those of `client.json`, a real client on each API and mode, and published ones as they are, by their recipes."""

import json
import lzma
import shlex
import tomllib
from dataclasses import dataclass, field

from .adapters import HERE, ROOT, Adapter, OfSessions, made
from .recordings import added, compressed

WIRE, PROGRAMS = HERE.parent / "wire", HERE.parent / "programs"
RECIPES = ROOT / "conformance/cli/programs"
# What a recipe with one command speaks.
APIS = ("openai-chat", "openai-responses", "anthropic")
# Programs over the wire that are no framework: the official SDKs, with a loop of ours.
SDKS = ("anthropic-node", "anthropic-python", "google-genai-node", "google-genai-python", "openai-node", "openai-python")


@dataclass
class Client(Adapter):
    """A program on one API, plain or streaming."""

    api: str = ""
    stream: bool = False
    program: str = ""
    op = "tools"

    @property
    def mode(self):
        return f"{self.api}:stream" if self.stream else self.api

    @property
    def root(self):
        """The folder of all such programs."""
        return WIRE

    @property
    def command(self):
        return self.start(self.folder / self.program)

    def again(self, case):
        """The command that repeats a case."""
        return f"conformance/adapters/wire/run --filter {case} {self.folder.name}"

    @property
    def known_failures(self):
        """Where `run` makes the file of a framework. Those of the SDKs are written by hand, since the loop around them is ours."""
        path = WIRE / f"known-failures/{self.id}.toml"
        return path if self.folder.name in SDKS else made(path)

    @property
    def all_notes(self):
        return [HERE / self.folder.name / self.notes.name, self.notes]

    @property
    def recording(self):
        """Of all modes of the folder: they are nearly the same, and so need the space of one."""
        return self.root / f"recordings/{self.folder.name}.jsonl.xz"

    @property
    def transcript(self):
        return recorded(self.recording).get(self.mode)


class SessionClient(OfSessions, Client):
    """A program that plays sessions on one API, without streams."""

    op = "session"

    @property
    def known_failures(self):
        return made(WIRE / f"known-failures/sessions/{self.id}.toml")

    @property
    def recording(self):
        return WIRE / f"recordings/sessions/{self.folder.name}.jsonl.xz"


@dataclass
class RecipeClient(Client):
    """A published program as it is, which its recipe starts."""

    recipe: dict = field(default_factory=dict)

    @property
    def root(self):
        return PROGRAMS

    @property
    def testee(self):
        return ["--program", self.folder.name]

    def again(self, case):
        return shlex.join(["threadspec", "verify", "--provider", self.mode, *self.testee, "--filter", case])

    @property
    def known_failures(self):
        return made(PROGRAMS / f"known-failures/{self.id}.toml")

    @property
    def all_notes(self):
        return [self.notes]


def manifests():
    """Each folder of a program, and what its `client.json` says."""
    return [(path.parent, json.loads(path.read_text())) for path in sorted(WIRE.glob("*/client.json"))]


def clients():
    """All programs, on each API that they speak, plain and streaming."""
    found = []
    for folder, manifest in manifests():
        for api, program in manifest["programs"].items():
            # Some ask for streams whatever they are told.
            for stream in [True] if manifest.get("onlyStreams") else [False, True]:
                id = f"{folder.name}.{api}{'.stream' if stream else ''}"
                found.append(Client(id, folder, manifest["runtime"], [], api, stream, program))
    return found


def recipe_clients():
    """All programs with a recipe, on each API that it has, plain and streaming as they can."""
    found = []
    for path in sorted(RECIPES.glob("*.toml")):
        recipe = tomllib.loads(path.read_text())
        for api in recipe.get("api", APIS):
            for stream in [stream for stream, mode in ((False, "plain"), (True, "stream")) if mode not in recipe.get("cannot", {})]:
                id = f"{path.stem}.{api}{'.stream' if stream else ''}"
                found.append(RecipeClient(id, PROGRAMS / path.stem, "", [], api, stream, recipe=recipe))
    return found


def session_clients():
    """All programs that play sessions, on each API that they speak."""
    return [
        SessionClient(f"{folder.name}.{api}", folder, manifest["runtime"], [], api, False, program)
        for folder, manifest in manifests()
        for api, program in manifest.get("sessions", {}).items()
    ]


def recorded(path):
    """The transcripts of a recording, by the mode that they were made in; as bytes, since together they are long."""
    transcripts = {}
    if path.exists():
        for line in lzma.decompress(path.read_bytes()).splitlines(keepends=True):
            if line.startswith(b'{"transcript":'):
                mode = json.loads(line)["options"]["provider"]
                transcripts[mode] = []
            transcripts[mode].append(line)
    return {mode: b"".join(lines) for mode, lines in transcripts.items()}


def record(client, transcript, is_part=False):
    """Keeps what was said in one mode, beside what was said in the others. New cases are added to what is there, which keeps its day."""
    client.recording.parent.mkdir(parents=True, exist_ok=True)
    kept = recorded(client.recording)
    if is_part and client.mode in kept:
        transcript = added(kept[client.mode].decode(), transcript.decode()).encode()
    transcripts = {**kept, client.mode: transcript}
    client.recording.write_bytes(compressed(b"".join(transcripts[mode] for mode in sorted(transcripts))))
