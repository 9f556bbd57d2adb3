"""The model's arguments are cut off ('{"city": "Par'). The tool runs all the same, with no arguments at all, and the model sees its own call as `{}`. Exit code 1 if so.

The documentation does not announce it; the log has a warning ("failed to parse tool input json, defaulting to empty dict").
"""

import os

os.environ["OTEL_SDK_DISABLED"] = "true"

from scripted import Agent, Model, SENT, tool

RAN = []


class Scripted(Model):
    async def stream(self, messages, tool_specs=None, system_prompt=None, **options):
        SENT.append([{**message} for message in messages])
        yield {"messageStart": {"role": "assistant"}}
        if len(SENT) == 1:
            yield {"contentBlockStart": {"start": {"toolUse": {"toolUseId": "call_1", "name": "delete_files"}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": '{"folder": "/tmp/scra'}}}}
        else:
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": "Done"}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if len(SENT) == 1 else "end_turn"}}

    get_config = update_config = structured_output = None


@tool
def delete_files(folder: str = "/") -> str:
    """Deletes the files of a folder."""
    RAN.append(folder)
    return f"deleted all files of {folder}"


Agent(model=Scripted(), tools=[delete_files], callback_handler=None)("Delete the scratch files")
for message in SENT[-1]:
    print(message["role"], message["content"])
assert not RAN, f"the tool ran with {RAN}"
