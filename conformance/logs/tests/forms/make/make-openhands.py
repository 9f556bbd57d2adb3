# /// script
# requires-python = ">=3.12"
# dependencies = ["openhands-sdk==1.58.2", "openhands-tools==1.58.2"]
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""The events that OpenHands' SDK keeps of a conversation with two prompts (`events/event-*.json`), a line for each instead of a file. The system prompt is cut."""

import json
import os

import programs
from openhands.sdk import LLM, Agent, Conversation, Tool
from openhands.tools.terminal import TerminalTool
from out import source, write

with programs.project() as (work, home):
    llm = LLM(model="openai/gpt-4.1", base_url=os.environ["OPENAI_BASE_URL"], api_key=os.environ["OPENAI_API_KEY"], usage_id="agent")
    conversation = Conversation(agent=Agent(llm=llm, tools=[Tool(name=TerminalTool.name)]), workspace=str(work), persistence_dir=str(home), visualizer=None)
    for text in ("What is in notes.txt and missing.txt?", "Thank you!"):
        conversation.send_message(text)
        conversation.run()
    conversation.close()
    events = sorted(home.rglob("event-*.json"))
    write("openhands", "clean.jsonl", [programs.shortened(json.loads(programs.without_machine(event.read_text(), work, home)), 400, 12) for event in events])
source("openhands", __doc__, "openhands-sdk", "openhands-tools")
