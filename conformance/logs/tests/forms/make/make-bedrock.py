# /// script
# requires-python = ">=3.11"
# dependencies = ["boto3==1.44.5"]
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""Requests of boto3's Bedrock client (`converse`) at a recorder that answers in Converse's form, with the answers, a line for each."""

import base64
import itertools
import json

import boto3
import recorder
import story
from botocore.config import Config
from out import source, write

CALLS = itertools.count(1)


def call(**arguments):
    return {"toolUse": {"toolUseId": f"tooluse_weather_{next(CALLS)}", "name": "get_weather", "input": arguments}}


def blocks(messages):
    """What story.json says, in Converse's words."""
    last = messages[-1]["content"]
    answered = sum("toolResult" in block for message in messages for block in message["content"])
    if "toolResult" in last[0]:
        return {
            2: lambda: [{"text": "Oslo's main station is offline; I ask another one."}, call(city="Oslo", station="Blindern")],
            3: lambda: [{"text": "Paris has 18 °C and is clear; Oslo has 4 °C and rain."}],
            1: lambda: [{"text": "It is the old town of Lyon, where it is 21 °C and windy."}],
        }[answered]()
    if "Paris" in last[0]["text"]:
        return [{"text": "I look both up."}, call(city="Paris"), call(city="Oslo")]
    return [call(city="Lyon")] if "picture" in last[0]["text"] else [{"text": "You are welcome."}]


def answer(exchange):
    content = blocks(exchange.json["messages"])
    body = {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": "tool_use" if any("toolUse" in block for block in content) else "end_turn",
        "usage": {"inputTokens": 40, "outputTokens": 12, "totalTokens": 52},
        "metrics": {"latencyMs": 10},
    }
    exchange.answer = json.dumps(body).encode()


TOOLS = {"tools": [{"toolSpec": {"name": "get_weather", "description": story.DESCRIPTION, "inputSchema": {"json": story.PARAMETERS}}}]}
with recorder.recorder(answer) as (url, exchanges):
    client = boto3.client("bedrock-runtime", region_name="eu-west-1", endpoint_url=url, aws_access_key_id="id", aws_secret_access_key="key", config=Config(retries={"total_max_attempts": 1}))
    for texts, image in story.openings():
        messages = []
        for index, text in enumerate(texts):
            picture = [{"image": {"format": "png", "source": {"bytes": base64.b64decode(story.IMAGE_BASE64)}}}] if image and not index else []
            messages.append({"role": "user", "content": [{"text": text}, *picture]})
            while True:
                reply = client.converse(modelId="anthropic.claude-sonnet-4-5", system=[{"text": story.SYSTEM}], messages=messages, toolConfig=TOOLS)["output"]["message"]
                messages.append(reply)
                calls = [block["toolUse"] for block in reply["content"] if "toolUse" in block]
                if not calls:
                    break
                results = []
                for asked in calls:
                    said, failed = story.result_of(asked["name"], asked["input"])
                    results.append({"toolResult": {"toolUseId": asked["toolUseId"], "content": [{"text": said}], "status": "error" if failed else "success"}})
                messages.append({"role": "user", "content": results})
write("bedrock", "clean.jsonl", [{"request": exchange.json, "response": json.loads(exchange.answer)} for exchange in exchanges])
source("bedrock", __doc__, "boto3")
