# /// script
# requires-python = ">=3.11"
# dependencies = ["autogen-agentchat==0.7.5", "autogen-ext[openai]==0.7.5"]
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""AutoGen's `save_state` of a team of one assistant, and the `TaskResult` of its last run, as JSON."""

import asyncio
import json

import story
from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import TextMessageTermination
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_ext.models.openai import OpenAIChatCompletionClient
from out import source, write

ABILITIES = {"vision": True, "function_calling": True, "json_output": True, "family": "gpt-41", "structured_output": True, "multiple_system_messages": True}


async def main():
    model = OpenAIChatCompletionClient(model=story.CHAT_MODEL, model_info=ABILITIES)
    agent = AssistantAgent("weather", model, tools=[story.get_weather], system_message=story.SYSTEM, max_tool_iterations=5)
    team = RoundRobinGroupChat([agent], termination_condition=TextMessageTermination("weather"))
    result = await team.run(task=story.QUESTION)
    write("autogen", "clean-result.json", json.loads(result.model_dump_json()))
    await team.run(task=story.THANKS)
    write("autogen", "clean.json", json.loads(json.dumps(await team.save_state())))


asyncio.run(main())
source("autogen", __doc__, "autogen-agentchat", "autogen-ext")
