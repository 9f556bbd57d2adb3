"""FRAMEWORKS.md: how each framework is judged, by the `about.toml` of its folder, and where the faults are in its source."""

import json
import tomllib

from .adapters import HERE

# The texts of a framework, each with its label. `read` is the version whose source was read, `ours` what the adapter cannot do.
LABELS = {"messages": "Messages", "requests": "Requests and end", "history": "Given history", "ours": "Our doing", "read": "Source read"}
OF_SESSIONS = {"thread": "Thread", "absent": "Not there"}
GIVEN = "A run receives the list of messages, and nothing repairs it."


def folders():
    """Returns the folders of the frameworks."""
    return sorted(path.parent for path in HERE.glob("*/about.toml"))


def about(folder):
    """Returns the texts about a framework."""
    return tomllib.loads((folder / "about.toml").read_text())


def page():
    yield "# How each framework is judged\n"
    yield "An accusation counts if a user meets it: its reproduction shows the fault on the framework alone, by the documented entry point."
    yield "Where there are several, it is the recommended one. A choice that the documentation names is a note in [the matrix](MATRIX.md), and no fault."
    for folder in folders():
        texts = about(folder)
        yield f"\n## {folder.name}\n"
        yield f"{json.loads((folder / 'framework.json').read_text())['name']}\n"
        texts.setdefault("history", GIVEN)
        yield from (f"- **{label}:** {texts[name]}" for name, label in LABELS.items() if name in texts)
        sessions = texts.get("sessions", {})
        yield from (f"- **{label}:** {sessions[name]}" for name, label in OF_SESSIONS.items() if name in sessions)
        if "faults" in texts:
            yield "\n| clause | place in the framework's source |\n|---|---|"
            yield from (f"| {clause} | {why} |" for clause, why in texts["faults"].items())
