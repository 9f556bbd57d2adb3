"""A tool returns a lone surrogate. It is sent as it is, and cannot be written as UTF-8. Exit code 1 if so."""

from scripted import Agent, CALLS, SENT, Scripted, tool


@tool
def look():
    """Looks."""
    return "\ud83d"


CALLS.extend([{"toolUseId": "c1", "name": "look"}])
Agent(model=Scripted(), tools=[look], messages=[{"role": "user", "content": [{"text": "Go"}]}], callback_handler=None)()
assert "\ud83d" not in SENT[-1][-1]["content"][0]["toolResult"]["content"][0]["text"], ascii(SENT[-1][-1]["content"][0]["toolResult"]["content"][0]["text"])
