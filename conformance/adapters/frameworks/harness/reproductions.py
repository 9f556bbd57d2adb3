"""Reproductions as the one file that an issue at a framework needs: a scenario of `repro/`, with what it takes of the framework's scripted model.

All scenarios of a framework import from `repro/scripted.*`. What one of them needs of it is put in the place of that import: no line more.
"""

import re
import sys
from dataclasses import dataclass, field

CLOSES = re.compile(r"[\])}]|(except|else|elif|finally)\b")
PYTHON_IMPORT = re.compile(r"from (\S+) import (.+)|import (\S+)$")
JS_IMPORT = re.compile(r"import (?:(\w+),? )?(?:\{ (.*) \} )?(?:from )?'(.*)';$", re.DOTALL)
DEFINED = re.compile(r"^(?:async )?(?:class|def|function) (\w+)|^(?:const|let) (\w+) =|^(\w+) = ", re.MULTILINE)
DEFINITION = re.compile(r"@|class |(async )?def ")
SHARED = {".py": "scripted", ".mjs": "./scripted.mjs"}
# Texts, but for those with expressions in them; then names, but for members.
TEXT = re.compile(r"""(?<![fF])("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')""")
NAME = re.compile(r"(?<![\w\])]\.)\b[A-Za-z_$][\w$]*")


@dataclass
class Source:
    """A file as its header, its statements, and what it imports: names by module, the whole module and a default import by the names `*` and `=name`."""

    head: str
    # Those that must come before all imports.
    lead: list = field(default_factory=list)
    imports: dict = field(default_factory=dict)
    body: list = field(default_factory=list)


def scripted(path):
    """The scripted model that a scenario shares with the others of its framework."""
    return path.with_name(f"scripted{path.suffix}")


def printed(path):
    """A scenario as a file that stands alone."""
    own = parsed(path)
    if (shared_names := own.imports.pop(SHARED[path.suffix], None)) is None:
        return path.read_text()
    shared = parsed(scripted(path))
    kept = needed(shared, own, shared_names)
    imports = {module: [*names] for module, names in own.imports.items()}
    body = [*kept, *own.body]
    used = names_in(body) - {name_of(statement) for statement in body}
    for module, names in shared.imports.items():
        for name in names:
            if called(module, name) in used and name not in imports.get(module, []):
                imports.setdefault(module, []).append(name)
    return written(Source(own.head, own.lead, imports, body), path.suffix)


def needed(shared, own, names):
    """The statements of the shared file that a scenario needs, in their order."""
    wanted, kept = set(names), set()
    defined = [(statement, name) for statement in shared.body if (name := name_of(statement))]
    while more := {statement for statement, name in defined if name in wanted and statement not in kept}:
        kept |= more
        wanted |= names_in(more)
    # What a statement does without a name of its own is done for all.
    return [statement for statement in shared.body if statement in kept or not name_of(statement) and not statement.startswith("export ")]


def names_in(statements):
    return {name for statement in statements for name in NAME.findall(TEXT.sub("", statement))}


def name_of(statement):
    """The name that a statement defines; None if it only does something."""
    match = DEFINED.search(statement)
    return next(filter(None, match.groups())) if match and not any(line.startswith((" ", "\t")) for line in statement[: match.start()].split("\n")) else None


def called(module, name):
    """The name that an import gives."""
    if name == "*":
        return module.split(".")[0]
    return name.removeprefix("=").split(" as ")[-1]


def parsed(path):
    """A file in its parts. Statements begin at the first column, as formatters leave them."""
    lines, is_python = path.read_text().rstrip("\n").split("\n"), path.suffix == ".py"
    end = head_ends(lines, is_python)
    made, statements = Source("\n".join(lines[:end])), []
    for line in lines[end:]:
        goes_on = statements and (not line or line[0] in " \t" or CLOSES.match(line) or statements[-1][-1].startswith(("@", "#", "//")))
        statements[-1].append(line) if goes_on else statements.append([line]) if line else None
    statements = ["\n".join(lines).rstrip("\n") for lines in statements]
    for place, statement in enumerate(statements):
        if module := import_of(statement, is_python):
            for name, names in module:
                made.imports.setdefault(name, []).extend(names)
        else:
            made.body.append(statement)
            # An environment that is set before a framework is loaded.
            if any(import_of(later, is_python) for later in statements[place:]):
                made.lead.append(made.body.pop())
    return made


def head_ends(lines, is_python):
    """How many lines the comment at the beginning has that says what the file shows."""
    if is_python:
        return 1 + next(place for place, line in enumerate(lines) if line.endswith('"""') and (place or len(line) > 3))
    if lines[0].startswith("/*"):
        return 1 + next(place for place, line in enumerate(lines) if "*/" in line)
    return next(place for place, line in enumerate(lines) if not line.startswith("//"))


def import_of(statement, is_python):
    """What a statement imports: names by module; nothing if it is no import."""
    if is_python:
        if not (match := PYTHON_IMPORT.match(statement)):
            return []
        module, names, whole = match.groups()
        return [(whole, ["*"])] if whole else [(module, [name.strip() for name in names.strip("()").split(",") if name.strip()])]
    if not (match := JS_IMPORT.match(statement)):
        return []
    default, names, module = match.groups()
    return [(module, [*([f"={default}"] if default else []), *([name.strip() for name in names.split(",") if name.strip()] if names else [])])]


def written(source, suffix):
    """The text of a file, its imports first."""
    if suffix == ".py":
        return python(source)
    imports = [javascript_import(module, names) for module, names in source.imports.items()]
    return "\n".join([source.head, *imports, *source.lead, "", *source.body]) + "\n"


def javascript_import(module, names):
    default = [name.removeprefix("=") for name in names if name.startswith("=")]
    others = sorted((name for name in names if not name.startswith("=")), key=str.lower)
    listed = ", ".join([*default, *(["{ " + ", ".join(others) + " }"] if others else [])])
    return f"import {listed} from '{module}';" if listed else f"import '{module}';"


def python(source):
    """Imports of the standard library stand before those of the framework, definitions two lines apart."""
    imports = {True: [], False: []}
    for module, names in sorted(source.imports.items(), key=lambda found: ("*" not in found[1], found[0])):
        is_standard, parts = module.split(".")[0] in sys.stdlib_module_names, sorted(set(names) - {"*"})
        imports[is_standard] += [f"import {module}"] if "*" in names else []
        imports[is_standard] += [f"from {module} import {', '.join(parts)}"] if parts else []
    text = source.head
    was_definition = False
    for number, block in enumerate([imports[True], source.lead, imports[False], *([statement] for statement in source.body)]):
        is_definition = bool(DEFINITION.match("\n".join(block)))
        is_apart = is_definition or was_definition
        # Statements that define nothing stand beside each other.
        gap = "\n\n\n" if is_apart else "\n" if number > 3 else "\n\n"
        text += gap + "\n".join(block) if block else ""
        was_definition = is_definition if block else was_definition
    return text + "\n"
