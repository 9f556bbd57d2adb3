"""What a type checker makes of the module; nothing runs it."""

from typing import Literal, Optional

import threadspec

findings: list[threadspec.Finding] = threadspec.check([{"role": "user", "content": "Hi"}], api="anthropic")
level: Literal["error", "warning", "note"] = findings[0].level
place: threadspec.Place = findings[0].place
line: Optional[int] = place.line
path: str = place.path
threadspec.check(b"{}")
threadspec.check("{}", api="openai-chat")
threadspec.assert_history({"messages": []}, strict=True)
threadspec.check([], api="openai")  # type: ignore[arg-type]
threadspec.check()  # type: ignore[call-arg]
