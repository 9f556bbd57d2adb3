# /// script
# requires-python = ">=3.11"
# dependencies = ["pydantic-ai-slim[openai,ag-ui]==2.68.0"]
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""The AG-UI events that pydantic-ai's adapter streams to a front end, those of both runs of a conversation, a line for each; and the request of the second run."""

import asyncio
import json

import story
from ag_ui.core import RunAgentInput, UserMessage
from out import source, write
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.ui.ag_ui import AGUIAdapter

agent = Agent("openai-chat:gpt-4.1", system_prompt=story.SYSTEM)


@agent.tool_plain
def get_weather(city: str, station: str | None = None) -> str:
    """The weather of a city now."""
    try:
        return story.get_weather(city, station)
    except RuntimeError as error:
        raise ModelRetry(f"Error: {error}") from error


async def main():
    events, messages = [], []
    for number, text in enumerate((story.QUESTION, story.THANKS), 1):
        messages.append(UserMessage(id=f"user-{number}", role="user", content=text))
        request = RunAgentInput(thread_id="thread-1", run_id=f"run-{number}", state={}, messages=messages, tools=[], context=[], forwarded_props={})
        adapter = AGUIAdapter(agent=agent, run_input=request)
        kept = []
        async for chunk in adapter.encode_stream(adapter.run_stream(on_complete=kept.append)):
            events += [json.loads(line[5:]) for line in chunk.splitlines() if line.startswith("data:")]
        messages = AGUIAdapter.dump_messages(kept[0].all_messages())
    write("ag-ui", "clean.jsonl", events)
    write("ag-ui", "clean-request.json", request.model_dump(mode="json", by_alias=True, exclude_none=True))


asyncio.run(main())
source("ag-ui", __doc__, "pydantic-ai-slim", "ag-ui-protocol")
