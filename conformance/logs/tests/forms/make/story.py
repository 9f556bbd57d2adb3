"""The two conversations that every fixture holds, and loops that have them with the SDKs of OpenAI and Anthropic.

In the first one the model makes two calls at once, of which one fails, then a third, then it answers: three requests. In the second the
user shows a picture, the model makes one call and answers, and the user says thanks: three requests as well. `story.json` is what the model
says, for `threadspec provider`.
"""

import json

SYSTEM = "You are a weather assistant. Answer in one sentence."
QUESTION = "What is the weather in Paris and in Oslo?"
PICTURE_QUESTION = "Which town is in this picture, and what is the weather there?"
THANKS = "Thank you!"
IMAGE_BASE64 = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
IMAGE_URL = "data:image/png;base64," + IMAGE_BASE64
PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "station": {"type": "string"}},
    "required": ["city"],
}
DESCRIPTION = "The weather of a city now."
CHAT_MODEL, RESPONSES_MODEL, ANTHROPIC_MODEL = "gpt-4.1", "gpt-4.1", "claude-sonnet-4-5"


def get_weather(city: str, station: str | None = None) -> str:
    """The weather of a city now."""
    if city == "Oslo" and not station:
        raise RuntimeError("station offline")
    return {"Paris": "18 °C, clear", "Oslo": "4 °C, rain", "Lyon": "21 °C, windy"}[city]


def result_of(name: str, arguments: dict) -> tuple[str, bool]:
    """What the tool says, and whether it is an error."""
    try:
        return get_weather(**arguments), False
    except RuntimeError as error:
        return f"Error: {error}", True


def openings():
    """The texts of the user of each conversation, and the picture that comes with the first."""
    return [([QUESTION], None), ([PICTURE_QUESTION, THANKS], IMAGE_URL)]


def chat(client, stream=False):
    """Both conversations over chat completions."""
    tools = [{"type": "function", "function": {"name": "get_weather", "description": DESCRIPTION, "parameters": PARAMETERS}}]
    for texts, image in openings():
        messages = [{"role": "system", "content": SYSTEM}]
        for index, text in enumerate(texts):
            content = [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": image}}] if image and not index else text
            messages.append({"role": "user", "content": content})
            while True:
                if stream:
                    with client.chat.completions.stream(model=CHAT_MODEL, messages=messages, tools=tools) as events:
                        for _ in events:
                            pass
                        answer = events.get_final_completion().choices[0].message
                else:
                    answer = client.chat.completions.create(model=CHAT_MODEL, messages=messages, tools=tools).choices[0].message
                message = {"role": "assistant", "content": answer.content}
                if answer.tool_calls:
                    message["tool_calls"] = [
                        {"id": call.id, "type": "function", "function": {"name": call.function.name, "arguments": call.function.arguments}}
                        for call in answer.tool_calls
                    ]
                messages.append(message)
                if not answer.tool_calls:
                    break
                for call in answer.tool_calls:
                    text, _ = result_of(call.function.name, json.loads(call.function.arguments))
                    messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
        yield messages


def responses(client, stream=False):
    """Both conversations over the Responses API, with the whole history in each request."""
    tools = [{"type": "function", "name": "get_weather", "description": DESCRIPTION, "parameters": PARAMETERS, "strict": False}]
    for texts, image in openings():
        items = []
        for index, text in enumerate(texts):
            content = [{"type": "input_text", "text": text}, {"type": "input_image", "image_url": image, "detail": "auto"}]
            items.append({"role": "user", "content": content if image and not index else text})
            while True:
                request = {"model": RESPONSES_MODEL, "instructions": SYSTEM, "input": items, "tools": tools, "store": False}
                if stream:
                    with client.responses.stream(**request) as events:
                        for _ in events:
                            pass
                        answer = events.get_final_response()
                else:
                    answer = client.responses.create(**request)
                calls = []
                for item in answer.output:
                    # The parsed forms of the stream helper carry members that are no part of the API.
                    value = item.model_dump(exclude_none=True, exclude={"parsed_arguments": True})
                    for part in value.get("content", []):
                        part.pop("parsed", None)
                    items.append(value)
                    if item.type == "function_call":
                        calls.append(item)
                if not calls:
                    break
                for call in calls:
                    text, _ = result_of(call.name, json.loads(call.arguments))
                    items.append({"type": "function_call_output", "call_id": call.call_id, "output": text})
        yield items


def anthropic(client, stream=False):
    """Both conversations over Anthropic's Messages."""
    tools = [{"name": "get_weather", "description": DESCRIPTION, "input_schema": PARAMETERS}]
    for texts, image in openings():
        messages = []
        for index, text in enumerate(texts):
            source = {"type": "base64", "media_type": "image/png", "data": IMAGE_BASE64}
            content = [{"type": "text", "text": text}, {"type": "image", "source": source}] if image and not index else text
            messages.append({"role": "user", "content": content})
            while True:
                request = {"model": ANTHROPIC_MODEL, "max_tokens": 500, "system": SYSTEM, "messages": messages, "tools": tools}
                if stream:
                    with client.messages.stream(**request) as events:
                        answer = events.get_final_message()
                else:
                    answer = client.messages.create(**request)
                blocks = []
                for block in answer.content:
                    keep = {"text": {"type", "text"}, "tool_use": {"type", "id", "name", "input"}}[block.type]
                    blocks.append(block.model_dump(include=keep))
                messages.append({"role": "assistant", "content": blocks})
                calls = [block for block in answer.content if block.type == "tool_use"]
                if not calls:
                    break
                results = []
                for call in calls:
                    text, failed = result_of(call.name, call.input)
                    results.append({"type": "tool_result", "tool_use_id": call.id, "content": text, **({"is_error": True} if failed else {})})
                messages.append({"role": "user", "content": results})
        yield messages
