"""Plants one fault in a file of any form, and says where.

A place is a text that stands there: `at("Oslo", 2)` is its second occurrence in the file, `at("Oslo", line=3)` the first of line 3, `at("Oslo", 0)` all of them. JSON is searched
value by value, and so is JSON inside a string; other files byte by byte.
"""

import io
import json
import sqlite3
import struct
import zipfile
from dataclasses import dataclass


@dataclass(frozen=True)
class At:
    """The `nth` string of the file, or of one line, that has a text in it; with `nth` 0 every one."""

    text: str
    nth: int = 1
    line: int | None = None
    under: str = ""


def at(text, nth=1, line=None, under=""):
    """`under` is the beginning of a JSON pointer: only what stands below it is meant."""
    return At(text, nth, line, under)


def leaves(value, path=()):
    """Every string and every name of a member, with its path. A step "!" goes into the JSON of a string."""
    if isinstance(value, dict):
        for key, below in value.items():
            yield from leaves(below, (*path, key))
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from leaves(below, (*path, index))
    elif isinstance(value, str):
        inner = nested(value)
        if inner is None:
            yield path, value
        else:
            yield from leaves(inner, (*path, "!"))


def pointer(path):
    return "".join(f"/{step}" for step in path)


def nested(text):
    """The object or list whose JSON a text is."""
    if text[:1] in ("{", "["):
        try:
            return json.loads(text)
        except ValueError:
            pass
    return None


def changed(value, path, change):
    """The value with `change` made to what is at the path; `change` gives the new value, or `GONE`, or a list of `Twice`."""
    if not path:
        return change(value)
    step, rest = path[0], path[1:]
    if step == "!":
        compact = ": " not in value
        return json.dumps(changed(json.loads(value), rest, change), ensure_ascii=False, separators=(",", ":") if compact else None)
    below = changed(value[step], rest, change)
    copy = value.copy()
    if below is GONE:
        del copy[step]
    elif isinstance(below, Twice):
        copy.insert(step, below.value)
    else:
        copy[step] = below
    return copy


GONE = object()


@dataclass
class Twice:
    value: object


class Json:
    """A file of JSON values: JSON Lines, or one value."""

    def __init__(self, data: bytes, is_lines: bool):
        text = data.decode()
        self.lines = text.splitlines() if is_lines else [text]
        self.is_lines = is_lines
        self.values = [json.loads(line) for line in self.lines]
        self.touched = []

    def found(self, place: At):
        """Line (from 0) and path of each string that the place means."""
        hits = [
            (number, path)
            for number, value in enumerate(self.values)
            if place.line in (None, number + 1)
            for path, text in leaves(value)
            if place.text in text and (pointer(path) + "/").startswith(place.under + "/")
        ]
        if len(hits) < max(place.nth, 1):
            raise SystemExit(f"{place}: only {len(hits)} of it")
        return hits[::-1] if place.nth == 0 else [hits[place.nth - 1]]

    def change(self, number, path, change):
        self.values[number] = changed(self.values[number], path, change)
        text = json.dumps(self.values[number], ensure_ascii=False, indent=None if self.is_lines else 1)
        if not self.is_lines and "\n" not in self.lines[0].strip():
            text = json.dumps(self.values[number], ensure_ascii=False)
        self.lines[number] = text if self.is_lines else text + "\n"
        self.touched.append((number, path))

    def replace(self, place, new):
        for number, path in self.found(place):
            self.change(number, path, lambda text: text.replace(place.text, new))

    def element(self, path, up):
        """The path of the `up`-th list element around a path."""
        for length in range(len(path), 0, -1):
            if isinstance(path[length - 1], int):
                up -= 1
                if not up:
                    return path[:length]
        raise SystemExit(f"{path} has not so many lists around it")

    def drop(self, place, up=1):
        for number, path in self.found(place):
            self.change(number, self.element(path, up), lambda value: GONE)

    def repeat(self, place, up=1):
        for number, path in self.found(place):
            self.change(number, self.element(path, up), Twice)

    def cut(self, place):
        """Cuts the last character of the JSON text in which a place stands."""
        for number, path in self.found(place):
            inner = len(path) - path[::-1].index("!") - 1
            self.change(number, path[:inner], lambda text: text[:-1])

    def put(self, number, pointer, value=GONE):
        """Sets the value at a JSON pointer of a line, or takes it away."""
        steps = (int(step) if step.isdecimal() else step for step in pointer.split("/")[1:])
        self.change(number - 1, tuple(steps), lambda old: value)

    def drop_line(self, number):
        del self.lines[number - 1], self.values[number - 1]
        self.touched.append((number - 1, ()))

    def repeat_line(self, number):
        self.lines.insert(number - 1, self.lines[number - 1])
        self.values.insert(number - 1, self.values[number - 1])
        self.touched.append((number, ()))

    def where(self):
        """Line and JSON pointer of the first change."""
        number, path = min(self.touched, key=lambda touch: (touch[0], [(str(type(step)), step) for step in touch[1]]))
        place = {"line": number + 1} if self.is_lines else {}
        return place | ({"path": pointer(path)} if path else {})

    def bytes(self):
        return ("\n".join(self.lines) + "\n" if self.is_lines else self.lines[0]).encode()


class Bytes:
    """Any other file: texts are replaced by texts of the same length, so that lengths and offsets in it stay right."""

    def __init__(self, data):
        self.data, self.offset = data, None

    def replace(self, place, new):
        old, new = place.text.encode(), new.encode()
        if len(old) != len(new):
            raise SystemExit(f"{place}: {new!r} has another length")
        if place.nth == 0:
            self.offset = self.data.index(old)
            self.data = self.data.replace(old, new)
            return
        self.offset = -1
        for _ in range(place.nth):
            self.offset = self.data.index(old, self.offset + 1)
        self.data = self.data[: self.offset] + new + self.data[self.offset + len(old) :]

    def where(self):
        return {"offset": self.offset}

    def bytes(self):
        return self.data


class Zip:
    """A zip of JSON files, of which one is changed; the copy is packed with deflate. Its own packing may be zstd, which needs `zstandard`."""

    def __init__(self, path, member):
        self.member, self.files = member, {}
        data = path.read_bytes()
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                start = info.header_offset + 30 + sum(struct.unpack("<HH", data[info.header_offset + 26 : info.header_offset + 30]))
                packed = data[start : start + info.compress_size]
                self.files[info.filename] = self.unzstd(packed) if info.compress_type == 93 else archive.read(info)
        self.json = Json(self.files[member], False)

    @staticmethod
    def unzstd(packed):
        import zstandard

        return zstandard.ZstdDecompressor().decompressobj().decompress(packed)

    def __getattr__(self, step):
        return getattr(self.json, step)

    def where(self):
        return {"file": self.member} | self.json.where()

    def bytes(self):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in self.files.items():
                archive.writestr(zipfile.ZipInfo(name), self.json.bytes() if name == self.member else data, zipfile.ZIP_DEFLATED)
        return buffer.getvalue()


class Sqlite:
    """A database: statements, which must change something."""

    def __init__(self, data):
        self.database = sqlite3.connect(":memory:")
        self.database.deserialize(data)

    def sql(self, statement, *parameters):
        if self.database.execute(statement, parameters).rowcount < 1:
            raise SystemExit(f"{statement} changes nothing")
        self.database.commit()

    def swap(self, table, column, rows, old, new, which=0):
        """Replaces a text in blobs by one of the same length: the first (0) or the last (-1) in each row."""
        old, new = old.encode(), new.encode()
        assert len(old) == len(new)
        for row in rows:
            (blob,) = self.database.execute(f"SELECT {column} FROM {table} WHERE rowid = ?", (row,)).fetchone()
            offset = blob.index(old) if which == 0 else blob.rindex(old)
            blob = blob[:offset] + new + blob[offset + len(old) :]
            self.sql(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", blob, row)

    def where(self):
        return {}

    def bytes(self):
        return self.database.serialize()
