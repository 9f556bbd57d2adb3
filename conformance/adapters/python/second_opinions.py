"""Every document that the corpus expects, read by three XML parsers that must agree on its events.

The parsers are expat (Python's own), libxml2 (through `xmllint`) and the strict reader of the Rust library, which is
given as the command to run: `second_opinions.py CORPUS COMMAND...`.
"""

import json
import pathlib
import subprocess
import sys
from xml.etree import ElementTree


def documents(corpus):
    """The documents that are expected in full, by case and number, without their response prefixes."""
    for file in sorted(corpus.glob("*/*.json")):
        # Integers may be longer than Python reads; none of them matters here.
        for case in json.loads(file.read_text("utf-8"), parse_int=float)["cases"]:
            for number, text in enumerate(texts(case["expect"]), 1):
                document, end, _prefix = text.partition("</thread>")
                if text.startswith("<thread>\n") and end:
                    yield f"{file.parent.name}/{file.stem}/{case['name']} ({number})", document + end


def texts(expected):
    """Every text that an expectation gives in full; the lines of the matcher `lines` are one."""
    if isinstance(expected, str):
        yield expected
    elif isinstance(expected, list):
        for element in expected:
            yield from texts(element)
    elif isinstance(expected, dict) and list(expected) == ["lines"]:
        yield "\n".join(map(str, expected["lines"]))
    elif isinstance(expected, dict) and "includes" not in expected:
        yield from texts(list(expected.values()))


def with_expat(document):
    """The events of a document: attributes and text of each."""
    thread = ElementTree.fromstring(document)
    return [[sorted(event.items()), event.text or ""] for event in thread]


def with_libxml2(document):
    """The same by libxml2, which writes canonical XML: that leaves nothing to interpretation."""
    run = subprocess.run(["xmllint", "--huge", "--c14n", "-"], input=document, capture_output=True)
    return run.stderr.decode() if run.returncode else with_expat(run.stdout)


def main():
    sys.setrecursionlimit(10_000)  # The corpus has inputs that are nested deeper than Python's JSON likes.
    corpus, command = pathlib.Path(sys.argv[1]), sys.argv[2:]
    expected = dict(documents(corpus))
    lines = "".join(json.dumps(document) + "\n" for document in expected.values())
    strict = subprocess.run(command, input=lines, capture_output=True, check=True, encoding="utf-8").stdout
    disagreements = 0
    # One line per document; `splitlines` would also split at characters that JSON leaves raw.
    for (case, document), line in zip(expected.items(), strict.removesuffix("\n").split("\n"), strict=True):
        document = document.encode("utf-8")
        events = json.loads(line)
        if isinstance(events, list):
            events = [[sorted(map(tuple, attributes)), text] for attributes, text in events]
        opinions = {"strict": events, "expat": with_expat(document), "libxml2": with_libxml2(document)}
        if not opinions["strict"] == opinions["expat"] == opinions["libxml2"]:
            disagreements += 1
            print(case, *(f"  {name}: {opinion}" for name, opinion in opinions.items()), sep="\n")
    print(f"documents: {len(expected)}, parsers: 3, disagreements: {disagreements}")
    return 1 if disagreements or not expected else 0


if __name__ == "__main__":
    sys.exit(main())
