# /// script
# requires-python = ">=3.11"
# dependencies = ["litellm==1.110.2"]
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""LiteLLM's standard logging payload, as a callback gets it (`kwargs["standard_logging_object"]`), a line for each call."""

import json
import os
import types

import litellm
import story
from litellm.integrations.custom_logger import CustomLogger
from out import source, write

payloads = []


class Logger(CustomLogger):
    def log_success_event(self, kwargs, response_obj, start_time, end_time):
        payloads.append(json.loads(json.dumps(kwargs["standard_logging_object"], default=str)))


litellm.callbacks = [Logger()]
create = lambda model, **request: litellm.completion("openai/" + model, api_base=os.environ["OPENAI_BASE_URL"], **request)
client = types.SimpleNamespace(chat=types.SimpleNamespace(completions=types.SimpleNamespace(create=create)))
for _ in story.chat(client):
    pass
from litellm.litellm_core_utils.thread_pool_executor import executor

executor.shutdown(wait=True)
payloads.sort(key=lambda payload: payload["startTime"])
for payload in payloads:
    # 30 KB of prices and switches in every line, the same each time.
    payload["model_map_information"] = {"model_map_key": payload["model_map_information"]["model_map_key"], "model_map_value": None}
write("litellm", "clean.jsonl", payloads)
source("litellm", __doc__ + " The price table in each line is left out.", "litellm", "openai")
