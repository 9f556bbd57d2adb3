from typing import Any, Literal, Optional

_Place = tuple[str, Optional[str], Optional[int], Optional[int], Optional[int], Optional[str], Optional[str], str]
_Finding = tuple[str, Literal["error", "warning", "note"], _Place, str, str]

def check(log: bytes, api: Optional[str], has_lines: bool) -> list[_Finding]: ...
def json_text(value: Any) -> Optional[bytes]: ...
