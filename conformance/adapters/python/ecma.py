"""The two ECMAScript conversions that the specification names, over parsed JSON: String() and JSON.stringify()."""

import json
import math
import re
from decimal import Decimal

_ARRAY_INDEX = re.compile("0|[1-9][0-9]{0,9}")
_MAX_ARRAY_INDEX = 2**32 - 2
_SURROGATE = re.compile("[\ud800-\udfff]")


def to_string(value):
    """String(value). An object is `[object Object]` whatever its members are."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return ",".join("" if item is None else to_string(item) for item in value)
    if isinstance(value, dict):
        return "[object Object]"
    return _constant(value) or number_to_string(value)


def stringify(value):
    """JSON.stringify(value)."""
    if isinstance(value, str):
        return _quote(value)
    if isinstance(value, list):
        return "[" + ",".join(stringify(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(_quote(key) + ":" + stringify(value[key]) for key in _property_order(value)) + "}"
    return _constant(value) or (number_to_string(value) if math.isfinite(value) else "null")


def number_to_string(number):
    """Number::toString(number, 10)."""
    number = float(number)
    if number == 0:
        return "0"
    if number < 0:
        return "-" + number_to_string(-number)
    if math.isinf(number):
        return "Infinity"
    # repr gives the shortest digits that read back as the same double, as ECMAScript does; only the layout differs.
    _, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    digits = "".join(map(str, digits))
    point = len(digits) + exponent
    if len(digits) <= point <= 21:
        return digits.ljust(point, "0")
    if 0 < point <= 21:
        return digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    fraction = "." + digits[1:] if len(digits) > 1 else ""
    return f"{digits[0]}{fraction}e{point - 1:+d}"


def _constant(value):
    # By identity: in Python 1 == True.
    return "null" if value is None else "true" if value is True else "false" if value is False else None


def _quote(string):
    # Python escapes the same characters in the same way, except for lone surrogates.
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(string, ensure_ascii=False))


def _property_order(members):
    indices = sorted((key for key in members if _is_array_index(key)), key=int)
    return indices + [key for key in members if not _is_array_index(key)]


def _is_array_index(key):
    return _ARRAY_INDEX.fullmatch(key) is not None and int(key) <= _MAX_ARRAY_INDEX
