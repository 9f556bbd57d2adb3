"""Plants the faults: for each form a table of name, rule that is broken, and what is done to the clean file.

    faults.py                  writes `fault-*` and `expected.json` of every form
    faults.py --find FORM TEXT says where a text stands in the clean files of a form
"""

import json
import shutil
import sys
from pathlib import Path

from planting import Bytes, Json, Sqlite, Zip, at, leaves
from tables import TABLES

FORMS = Path(__file__).resolve().parent.parent


def opened(path):
    if path.suffix == ".sqlite":
        return Sqlite(path.read_bytes())
    if path.suffix == ".eval":
        return Zip(path, "samples/1_epoch_1.json")
    if path.suffix in (".json", ".jsonl", ".har", ".traj"):
        return Json(path.read_bytes(), path.suffix == ".jsonl")
    return Bytes(path.read_bytes())


def plant(form, rows):
    folder, expected = FORMS / form, {}
    for old in folder.glob("fault-*"):
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    for clean, name, rule, *steps in rows:
        if not (folder / clean).exists():
            print(form, "has no", clean)
            continue
        file = opened(folder / clean)
        told = {}
        for step, *arguments in steps:
            if step == "told":
                told = arguments[0]
            else:
                getattr(file, step)(*arguments)
        # A form of several files is a folder, of which the fault has a copy with one file changed.
        inside = Path(*Path(clean).parts[1:])
        target = folder / f"fault-{name}{''.join(Path(clean).suffixes) if inside == Path() else ''}"
        if inside != Path():
            shutil.copytree(folder / Path(clean).parts[0], target)
        (target / inside).write_bytes(file.bytes())
        expected[target.name] = {"rules": rule.split()} | ({"file": str(inside)} if inside != Path() else {}) | (told or file.where())
    (folder / "expected.json").write_text(json.dumps(expected, indent=1, sort_keys=True) + "\n")
    return len(expected)


def find(form, text):
    for path in sorted(path for path in (FORMS / form).rglob("*") if "clean" in str(path.relative_to(FORMS / form)) and path.is_file()):
        file = opened(path)
        if isinstance(file, Json):
            for number, value in enumerate(file.values):
                for where, leaf in leaves(value):
                    if text in leaf:
                        print(path.relative_to(FORMS / form), number + 1, "/".join(map(str, where)), repr(leaf[:60]))


if sys.argv[1:2] == ["--find"]:
    find(*sys.argv[2:])
else:
    for form, rows in TABLES.items():
        if (FORMS / form).is_dir() and (not sys.argv[1:] or form in sys.argv[1:]):
            print(form, plant(form, rows))
