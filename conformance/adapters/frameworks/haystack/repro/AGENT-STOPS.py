"""The model answers with an empty text. It is asked again. Exit code 1 if so."""

from scripted import Agent, ChatMessage, SENT, Tool, component


@component
class Scripted:
    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: list[Tool] | None = None):
        SENT.append(messages)
        return {"replies": [ChatMessage.from_assistant("" if len(SENT) == 1 else "Done")]}


look = Tool(name="look", description="Looks.", parameters={"type": "object", "properties": {}}, function=lambda: "r")
Agent(chat_generator=Scripted(), tools=[look]).run(messages=[ChatMessage.from_user("Go")])
assert len(SENT) == 1, f"{len(SENT)} requests"
