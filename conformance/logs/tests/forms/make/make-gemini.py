# /// script
# requires-python = ">=3.11"
# dependencies = ["google-genai==3.3.0"]
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""Google's Gen AI SDK sending to a recorder that answers as Gemini does: `generateContent` requests with `contents`, and the SDK's own dump of a chat."""

import base64
import itertools
import json

import recorder
import story
from google import genai
from google.genai import types
from out import source, write

CALLS, ANSWERS = itertools.count(1), itertools.count(1)


def call(**arguments):
    return {"functionCall": {"id": f"call_weather_{next(CALLS)}", "name": "get_weather", "args": arguments}, "thoughtSignature": "c2lnbmF0dXJl"}


def parts(contents):
    """What story.json says, in Gemini's words."""
    last = contents[-1]["parts"]
    answered = sum("functionResponse" in part for content in contents for part in content["parts"])
    if any("functionResponse" in part for part in last):
        return {
            2: lambda: [{"text": "Oslo's main station is offline; I ask another one."}, call(city="Oslo", station="Blindern")],
            3: lambda: [{"text": "Paris has 18 °C and is clear; Oslo has 4 °C and rain."}],
            1: lambda: [{"text": "It is the old town of Lyon, where it is 21 °C and windy."}],
        }[answered]()
    if "Paris" in last[0]["text"]:
        second = call(city="Oslo")
        del second["thoughtSignature"]  # Only the first of parallel calls has one.
        return [{"text": "I look both up."}, call(city="Paris"), second]
    return [call(city="Lyon")] if "picture" in last[0]["text"] else [{"text": "You are welcome."}]


def answer(exchange):
    body = {
        "candidates": [{"content": {"role": "model", "parts": parts(exchange.json["contents"])}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 40, "candidatesTokenCount": 12, "totalTokenCount": 52},
        "modelVersion": "gemini-3-pro",
        "responseId": f"response{next(ANSWERS)}",
    }
    exchange.answer = json.dumps(body).encode()


TOOL = types.Tool(function_declarations=[types.FunctionDeclaration(name="get_weather", description=story.DESCRIPTION, parameters_json_schema=story.PARAMETERS)])
CONFIG = types.GenerateContentConfig(system_instruction=story.SYSTEM, tools=[TOOL])
histories = []
with recorder.recorder(answer) as (url, exchanges):
    client = genai.Client(api_key="key", http_options=types.HttpOptions(base_url=url))
    for texts, image in story.openings():
        chat = client.chats.create(model="gemini-3-pro", config=CONFIG)
        for index, text in enumerate(texts):
            picture = [types.Part.from_bytes(data=base64.b64decode(story.IMAGE_BASE64), mime_type="image/png")] if image and not index else []
            reply = chat.send_message([types.Part.from_text(text=text), *picture])
            while reply.function_calls:
                results = []
                for asked in reply.function_calls:
                    said, failed = story.result_of(asked.name, asked.args)
                    results.append(types.Part(function_response=types.FunctionResponse(id=asked.id, name=asked.name, response={"error" if failed else "result": said})))
                reply = chat.send_message(results)
        histories.append([json.loads(content.model_dump_json(exclude_none=True)) for content in chat.get_history()])
write("gemini", "clean.jsonl", [{"request": exchange.json, "response": json.loads(exchange.answer)} for exchange in exchanges])
source("gemini", "Requests of Google's Gen AI SDK to `generateContent` at a recorder that answers in Gemini's form, with the answers, a line for each.", "google-genai")
write("gemini-contents", "clean.json", histories[0])
write("gemini-contents", "clean-picture.json", histories[1])
source("gemini-contents", "`contents` alone: the history of each chat (`chat.get_history()`), dumped by the SDK, which writes members in snake case.", "google-genai", script="make-gemini.py")
