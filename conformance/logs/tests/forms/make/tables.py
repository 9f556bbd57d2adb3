"""The faults of each form: clean file, name, the rule that is broken, and what is done to the file.

Rules: `answered` (a call without a result), `orphan` (a result without a call), `repeated` (a second result), `prefix` (an earlier message
that a later request has otherwise), `lost` (a call of an answer that no later request has), `arguments` (arguments that are not JSON), or the
id of a rule. A result that gets another id leaves its call without one, so that two are broken: the planted one is the first. It is found where it was planted, or where `told` says: that of a call which is gone at its result.
"""

from planting import at

FIRST, SECOND, THIRD, OTHER = (f"call_weather_{number}" for number in (1, 2, 3, 9))
CLEAR, OFFLINE, RAIN = "18 °C, clear", "station offline", "4 °C, rain"


def growing(clean, second, third, ids="call_weather_", up=1, call_up=1):
    """A log of requests, each with the history so far; `second` and `third` are where those of the first conversation stand."""
    return [
        (clean, "unanswered", "answered", ("drop", at(CLEAR, 0, **second), up), ("drop", at(CLEAR, 0, **third), up)),
        (clean, "orphan", "orphan answered", ("replace", at(f"{ids}3", 2, **third), f"{ids}9")),
        (clean, "repeated-result", "repeated", ("repeat", at(RAIN, 1, **third), up)),
        (clean, "changed-result", "prefix", ("replace", at(CLEAR, 0, **third), "19 °C, clear")),
        (clean, "changed-question", "prefix", ("replace", at("in Paris and in Oslo", 0, **third), "in Oslo and in Paris")),
        (
            clean,
            "lost-call",
            "lost",
            *(step for scope in (second, third) for step in (("drop", at(f"{ids}2", 1, **scope), call_up), ("drop", at(OFFLINE, 1, **scope), up))),
        ),
    ]


def refused(*lines, left=None):
    """Takes the answers away, but for what is `left` of them: no server gives one to a request that it refuses."""
    return [("put", line, "/response", left) for line in lines]


def batch(clean, second, third):
    """Requests of a batch stand alone, so that nothing between them is planted."""
    return [
        *growing(clean, second, third)[:3],
        (clean, "call-gone", "orphan", *(("drop", at(FIRST, 1, **scope)) for scope in (second, third))),
    ]


def lines(second=2, third=3):
    return {"second": {"line": second}, "third": {"line": third}}


def below(pattern, second=1, third=2):
    return {"second": {"under": pattern.format(second)}, "third": {"under": pattern.format(third)}}


def history(clean, up=1, call_up=1):
    """One history, as it is when the conversation is over."""
    return [
        (clean, "unanswered", "answered", ("drop", at(CLEAR), up)),
        (clean, "orphan", "orphan answered", ("replace", at(THIRD, 2), OTHER)),
        (clean, "repeated-result", "repeated", ("repeat", at(RAIN), up)),
        (clean, "call-gone", "orphan", ("drop", at(FIRST), call_up)),
    ]


def session(clean, start, calls, results):
    """A session of a program in lines: that of the first two calls, and those of the first and of the third result."""
    first, third = results
    return [
        (clean, "unanswered", "answered", ("drop_line", first)),
        (clean, "orphan", "orphan answered", ("replace", at(f"{start}_files_3", line=third), f"{start}_files_9")),
        (clean, "repeated-result", "repeated", ("repeat_line", third)),
        (clean, "call-gone", "orphan", ("drop", at(f"{start}_files_1", line=calls)), ("told", {"line": first})),
    ]


def run_state(items, call_id, before):
    """A state has its own items, and those that it began with."""
    return [
        ("clean.json", "unanswered", "answered", ("put", 1, f"/{items}/3"), ("told", {})),
        ("clean.json", "orphan", "orphan answered", ("put", 1, f"/{items}/7/{call_id}", OTHER), ("told", {})),
        ("clean-history.json", "history-unanswered", "answered", ("put", 1, f"/{before}/4"), ("told", {})),
        ("clean-history.json", "history-call-gone", "orphan", ("put", 1, f"/{before}/2"), ("told", {})),
    ]


def flat(clean, up=1, call_up=1, answers=1, **scope):
    """A log of requests in which no place is theirs alone: counted through the whole file, from its end. `answers` is 1 where the answers of the
    model stand in the same place, so that the ids of their calls count as well."""
    return [
        (clean, "unanswered", "answered", ("drop", at(CLEAR, 2, **scope), up), ("drop", at(CLEAR, 1, **scope), up)),
        (clean, "orphan", "orphan answered", ("replace", at(THIRD, answers + 2, **scope), OTHER)),
        (clean, "repeated-result", "repeated", ("repeat", at(RAIN, 1, **scope), up)),
        (clean, "changed-result", "prefix", ("replace", at(CLEAR, 2, **scope), "19 °C, clear")),
        (clean, "changed-question", "prefix", ("replace", at("in Paris and in Oslo", 3, **scope), "in Oslo and in Paris")),
        (
            clean,
            "lost-call",
            "lost",
            ("drop", at(SECOND, answers + 3, **scope), call_up),
            ("drop", at(OFFLINE, 2, **scope), up),
            ("drop", at(SECOND, answers + 1, **scope), call_up),
            ("drop", at(OFFLINE, 1, **scope), up),
        ),
    ]


def indexed(clean, second, third, results):
    """A log of requests with an attribute for each part of a message, which has no list to take an element from. `results` counts which of the
    places of an id in a request are the result's."""
    return [
        (clean, "orphan", "orphan answered", *(("replace", at(FIRST, nth, **scope), OTHER) for scope in (second, third) for nth in results)),
        (clean, "repeated-result", "repeated answered", *(("replace", at(SECOND, nth, **scope), FIRST) for scope in (second, third) for nth in results)),
        (clean, "changed-result", "prefix", ("replace", at(CLEAR, 0, **third), "19 °C, clear")),
        (clean, "changed-question", "prefix", ("replace", at("in Paris and in Oslo", 0, **third), "in Oslo and in Paris")),
        (clean, "lost-call", "lost", *(("replace", at(SECOND, 0, **scope), OTHER) for scope in (second, third))),
    ]


def flows(clean):
    """A file of bytes with the requests and answers in order; from its end, since what is replaced counts no more."""
    return [
        (clean, "orphan", "orphan answered", ("replace", at(FIRST, 5), OTHER), ("replace", at(FIRST, 3), OTHER)),
        (clean, "repeated-result", "repeated answered", ("replace", at(SECOND, 5), FIRST), ("replace", at(SECOND, 3), FIRST)),
        (clean, "changed-result", "prefix", ("replace", at(CLEAR, 2), "19 °C, clear")),
        (clean, "changed-question", "prefix", ("replace", at("in Paris and in Oslo", 3), "in Oslo and in Paris")),
        (clean, "lost-call", "lost", *(("replace", at(SECOND, nth), OTHER) for nth in (5, 4, 3, 2))),
    ]


def named(rows, **names):
    """The rows with the ids of the rules that these forms have."""
    return [(clean, name, " ".join(names.get(word, word) for word in rule.split()), *steps) for clean, name, rule, *steps in rows]


GEMINI = {"answered": "GEM-COUNT", "repeated": "GEM-COUNT"}
STRANDS = "clean/session_conversation-1/agents/agent_weather/messages"

TABLES = {
    **{f"requests-{api}": growing("clean.jsonl", **lines()) for api in ("openai-chat", "openai-responses", "anthropic")},
    **{f"sse-{api}": growing("clean.jsonl", **lines()) for api in ("openai-chat", "openai-responses", "anthropic")},
    # Behind a first line that says what it is.
    **{f"transcript-{api}": growing("clean.jsonl", **lines(3, 4)) for api in ("openai-chat", "openai-responses", "anthropic")},
    **{f"har-{api}": growing("clean.har", **below("/log/entries/{}")) + [(clean, f"streamed-{name}", rule, *steps) for clean, name, rule, *steps in growing("clean-streamed.har", **below("/log/entries/{}"))[:2]] for api in ("openai-chat", "openai-responses", "anthropic")},
    **{f"messages-{api}": history("clean.json") for api in ("openai-chat", "openai-responses", "anthropic")},
    **{f"batch-{api}": batch("clean.jsonl", **lines()) for api in ("openai-chat", "openai-responses")},
    "batch-anthropic": batch("clean.json", **below("/requests/{}")),
    "otel-genai-spans": growing("clean.jsonl", **lines(), up=2),
    "otel-genai-messages": flat("clean.jsonl", up=2, call_up=2),
    "otel-genai-events": flat("clean.jsonl", up=4, call_up=2),
    "openinference": indexed("clean.json", **below("/resourceSpans/0/scopeSpans/0/spans/{}"), results=(4, 2)),
    "openllmetry": growing("clean.jsonl", **lines(), up=2),
    "openllmetry-indexed": indexed("clean.jsonl", **lines(), results=(2,)),
    "ai-sdk-spans": growing("clean.jsonl", **below("/resourceSpans/0/scopeSpans/0/spans/{}", 4, 5)),
    "langfuse-otlp": flat("clean.jsonl"),
    "langfuse-observations": growing("clean.jsonl", **lines()),
    "langfuse-trace": growing("clean.json", **below("/observations/{}", 2, 3)),
    "langsmith-runs": growing("clean.jsonl", **lines(3, 4)),
    "langsmith-batch": flat("clean.jsonl", answers=0, under="/post"),
    "braintrust": growing("clean.jsonl", **lines()),
    "litellm": growing("clean.jsonl", **lines()),
    "helicone": growing("clean.jsonl", **lines()),
    # The numbers of the ids are swapped here: the second call is `call_weather_1`.
    "gemini": [
        *(row for row in growing("clean.jsonl", **lines()) if row[1] != "lost-call"),
        (
            "clean.jsonl",
            "lost-call",
            "lost",
            *(step for line in (2, 3) for step in (("drop", at(FIRST, 1, line=line)), ("drop", at(OFFLINE, 1, line=line)))),
        ),
        ("clean.jsonl", "signature", "GEM-SIGNATURE", ("put", 2, "/request/contents/1/parts/1/thoughtSignature"), ("put", 3, "/request/contents/1/parts/1/thoughtSignature"), *refused(2, 3, left={"modelVersion": "gemini-3-pro"})),
        ("clean.jsonl", "name", "GEM-NAME", ("put", 6, "/request/tools/0/functionDeclarations/0/name", "get weather"), *refused(6)),
    ],
    "gemini-contents": [
        *(row for row in named(history("clean.json"), **GEMINI, orphan="GEM-COUNT") if row[1] != "orphan"),
        *(row for row in history("clean.json") if row[1] == "orphan"),
        ("clean.json", "call-first", "GEM-CALL-TURN", ("put", 1, "/0")),
        ("clean.json", "trailing-result", "GEM-COUNT", ("put", 1, "/3")),
    ],
    "bedrock": [
        *growing("clean.jsonl", **lines(), ids="tooluse_weather_", up=2),
        ("clean.jsonl", "no-tools", "BED-TOOLCONFIG", ("put", 6, "/request/toolConfig"), *refused(6)),
        ("clean.jsonl", "blank", "BED-BLANK", *(("put", line, "/request/messages/1/content/0/text", " ") for line in (2, 3)), *refused(2, 3)),
        ("clean.jsonl", "empty", "BED-BLANK", ("put", 4, "/request/messages/0/content", []), *refused(4)),
        ("clean.jsonl", "error-content", "BED-ERROR-CONTENT", *(("put", line, "/request/messages/2/content/1/toolResult/content", []) for line in (2, 3)), *refused(2, 3)),
        ("clean.jsonl", "assistant-first", "BED-ALTERNATE", ("put", 4, "/request/messages/0/role", "assistant"), *refused(4)),
        ("clean.jsonl", "user-again", "BED-ALTERNATE", ("repeat", at("Thank you!", line=6), 2), *refused(6)),
    ],
    "pydantic-ai": history("clean.json"),
    "langchain-dumpd": history("clean.json"),
    "langchain-messages": history("clean.json"),
    # A call and its result are one part here, so that a call is unanswered when its result is.
    "ai-sdk-ui": [
        ("clean.json", "unanswered", "answered", ("replace", at("output-available", 1), "input-available")),
        ("clean.json", "unanswered-error", "answered", ("replace", at("output-error", 1), "input-available")),
        ("clean.json", "repeated-id", "repeated", ("replace", at(SECOND), FIRST)),
        ("clean.json", "repeated-call", "repeated", ("repeat", at(THIRD))),
    ],
    "openai-agents-sqlite": [
        ("clean.sqlite", "unanswered", "answered", ("sql", "DELETE FROM agent_messages WHERE id = 5")),
        ("clean.sqlite", "orphan", "orphan answered", ("sql", "UPDATE agent_messages SET message_data = replace(message_data, 'weather_3', 'weather_9') WHERE id = 9")),
        ("clean.sqlite", "repeated-result", "repeated", ("sql", "INSERT INTO agent_messages (session_id, message_data) SELECT session_id, message_data FROM agent_messages WHERE id = 13")),
        ("clean.sqlite", "call-gone", "orphan", ("sql", "DELETE FROM agent_messages WHERE id = 3")),
    ],
    "langgraph-sqlite": [
        ("clean.sqlite", "unanswered", "answered orphan", ("swap", "checkpoints", "checkpoint", range(3, 8), FIRST, OTHER), ("swap", "writes", "value", [3], FIRST, OTHER)),
        ("clean.sqlite", "orphan", "orphan answered", ("swap", "checkpoints", "checkpoint", range(4, 8), FIRST, OTHER, -1), ("swap", "writes", "value", [8], FIRST, OTHER)),
        ("clean.sqlite", "repeated-result", "repeated answered", ("swap", "checkpoints", "checkpoint", range(4, 8), SECOND, FIRST, -1), ("swap", "writes", "value", [6], SECOND, FIRST)),
        ("clean.sqlite", "changed-result", "prefix", ("swap", "checkpoints", "checkpoint", [7], CLEAR, "19 °C, clear")),
    ],
    "strands": [
        (f"{STRANDS}/message_2.json", "unanswered", "answered", ("drop", at(CLEAR), 2)),
        (f"{STRANDS}/message_4.json", "orphan", "orphan answered", ("replace", at(THIRD), OTHER)),
        (f"{STRANDS}/message_4.json", "repeated-result", "repeated", ("repeat", at(RAIN), 2)),
        (f"{STRANDS}/message_1.json", "call-gone", "orphan", ("drop", at(FIRST)), ("told", {"file": STRANDS.removeprefix("clean/") + "/message_2.json"})),
    ],
    "codex": [
        ("clean.jsonl", "unanswered", "answered", ("drop_line", 17)),
        ("clean.jsonl", "orphan", "orphan answered", ("replace", at("call_files_3", line=25), "call_files_9")),
        ("clean.jsonl", "repeated-result", "repeated", ("repeat_line", 18)),
        ("clean.jsonl", "call-gone", "orphan", ("drop_line", 12), ("told", {"line": 16})),
        ("clean.jsonl", "arguments", "arguments", ("cut", at("notes.txt", line=12))),
    ],
    "claude-code": [
        ("clean.jsonl", "unanswered", "answered", ("drop_line", 28)),
        ("clean.jsonl", "orphan", "orphan answered", ("replace", at("toolu_files_3", line=39), "toolu_files_9")),
        ("clean.jsonl", "repeated-result", "repeated", ("repeat_line", 39)),
        ("clean.jsonl", "call-gone", "orphan", ("drop_line", 23), ("told", {"line": 27})),
    ],
    # A call and its result are one part; its row in the database is told by the event that made it, too.
    "opencode": [
        ("clean.json", "unanswered", "answered", ("put", 1, "/messages/1/parts/2/state", {"status": "running", "input": {"command": "cat notes.txt"}})),
        ("clean.json", "unanswered-error", "answered", ("put", 1, "/messages/1/parts/3/state/error")),
        ("clean.json", "repeated-id", "repeated", ("put", 1, "/messages/1/parts/3/callID", "call_files_1")),
        ("clean.json", "repeated-call", "repeated", ("repeat", at("call_files_2"))),
        *(
            ("clean.sqlite", f"stored-{name}", rule, ("sql", f"UPDATE part SET data = {change}"))
            for name, rule, change in (
                ("unanswered", "answered", "json_remove(json_set(data, '$.state.status', 'running'), '$.state.output') WHERE data LIKE '%call_files_1%'"),
                ("unanswered-last", "answered", "json_remove(json_set(data, '$.state.status', 'running'), '$.state.output') WHERE data LIKE '%call_files_3%'"),
                ("repeated-id", "repeated", "json_set(data, '$.callID', 'call_files_1') WHERE data LIKE '%call_files_2%'"),
                ("object-result", "LOG-RESULT", "json_set(data, '$.state.output', '[object Object]') WHERE data LIKE '%call_files_3%'"),
            )
        ),
    ],
    **{f"mitmproxy-{api}": flows("clean.mitm") for api in ("openai-chat", "openai-responses", "anthropic")},
    "adk": history("clean.json"),
    "agno-json": [
        ("clean.json", "unanswered", "answered", ("put", 1, "/0/run_data/messages/3")),
        ("clean.json", "orphan", "orphan answered", ("put", 1, "/0/run_data/messages/6/tool_call_id", OTHER)),
        ("clean.json", "repeated-result", "repeated answered", ("put", 1, "/0/run_data/messages/4/tool_call_id", FIRST)),
        ("clean.json", "call-gone", "orphan", ("put", 1, "/0/run_data/messages/2/tool_calls/0"), ("told", {"path": "/0/run_data/messages/3"})),
    ],
    # A call stands in the blocks and once more in the form of OpenAI's.
    "llama-index": [
        ("clean.json", "unanswered", "answered", ("put", 1, "/store/session-1/2"), ("told", {})),
        ("clean.json", "orphan", "orphan answered", ("put", 1, "/store/session-1/5/additional_kwargs/tool_call_id", OTHER)),
        ("clean.json", "repeated-result", "repeated answered", ("put", 1, "/store/session-1/3/additional_kwargs/tool_call_id", FIRST)),
        ("clean.json", "call-gone", "orphan", ("put", 1, "/store/session-1/1/blocks/1"), ("put", 1, "/store/session-1/1/additional_kwargs/tool_calls/0")),
    ],
    "inspect": [
        ("clean.eval", "unanswered", "answered", ("put", 1, "/messages/3")),
        ("clean.eval", "orphan", "orphan answered", ("put", 1, "/messages/6/tool_call_id", OTHER)),
        ("clean.eval", "repeated-result", "repeated answered", ("put", 1, "/messages/4/tool_call_id", FIRST)),
        ("clean.eval", "call-gone", "orphan", ("put", 1, "/messages/2/tool_calls/0"), ("told", {"file": "samples/1_epoch_1.json", "path": "/messages/3"})),
    ],
    "mini-swe-agent": [
        ("clean.traj.json", "unanswered", "answered", ("drop", at("hello\n"))),
        ("clean.traj.json", "orphan", "orphan answered", ("replace", at("call_files_3", 4), "call_files_9")),
        ("clean.traj.json", "repeated-result", "repeated", ("repeat", at("No such file"))),
        ("clean.traj.json", "call-gone", "orphan", ("drop", at("call_files_1"))),
    ],
    "agno-sqlite": [
        ("clean.sqlite", name, rule, ("sql", f"UPDATE agno_runs SET run_data = {change} WHERE session_id = 'session-1'"))
        for name, rule, change in (
            ("unanswered", "answered", "json_remove(run_data, '$.messages[3]')"),
            ("orphan", "orphan answered", "json_set(run_data, '$.messages[6].tool_call_id', 'call_weather_9')"),
            ("repeated-result", "repeated answered", "json_set(run_data, '$.messages[4].tool_call_id', 'call_weather_1')"),
            ("call-gone", "orphan", "json_remove(run_data, '$.messages[2].tool_calls[0]')"),
        )
    ],
    # The requests of the steps stand in `query`, the history once more behind them.
    "swe-agent": [
        ("clean.traj", "unanswered", "answered", ("drop", at("OBSERVATION:\nhello", 0), 2)),
        ("clean.traj", "orphan", "orphan answered", ("replace", at("call_files_3", 2, under="/history"), "call_files_9"), ("replace", at("call_files_3", 2, under="/trajectory"), "call_files_9")),
        ("clean.traj", "repeated-result", "repeated", ("repeat", at("No such file", 1, under="/history"), 2)),
        ("clean.traj", "changed-result", "prefix", ("replace", at("OBSERVATION:\nhello", 1, under="/trajectory/3"), "OBSERVATION:\nhullo")),
    ],
    "pi": session("clean.jsonl", "call", calls=5, results=(6, 9)),
    "qwen-code": session("clean.jsonl", "call", calls=4, results=(7, 12)),
    "claude-stream-json": [
        *(row for row in session("clean.jsonl", "toolu", calls=3, results=(6, 9)) if row[1] != "call-gone"),
        ("clean.jsonl", "call-gone", "orphan", ("drop_line", 3), ("told", {"line": 5})),
    ],
    "gemini-stream-json": [
        *(row for row in session("clean.jsonl", "call", calls=10, results=(12, 22)) if row[1] != "call-gone"),
        ("clean.jsonl", "call-gone", "orphan", ("drop_line", 10), ("told", {"line": 11})),
    ],
    # A call and its result are one object here.
    "gemini-cli": [
        ("clean.jsonl", "unanswered", "answered", ("put", 7, "/toolCalls/0/result")),
        ("clean.jsonl", "unanswered-error", "answered", ("put", 7, "/toolCalls/1/result")),
        ("clean.jsonl", "unanswered-last", "answered", ("put", 12, "/toolCalls/0/result")),
        ("clean.jsonl", "repeated-call", "repeated", ("repeat", at("call_files_2", line=7))),
    ],
    # The state of a call has its result.
    "continue": [
        ("clean.json", "unanswered", "answered", ("put", 1, "/history/1/toolCallStates/0/status", "calling"), ("put", 1, "/history/1/toolCallStates/0/output")),
        ("clean.json", "orphan", "orphan answered", ("put", 1, "/history/2/toolCallStates/0/toolCallId", "toolu_files_9")),
        ("clean.json", "repeated-result", "repeated", ("repeat", at("errored"))),
        ("clean.json", "call-gone", "orphan", ("put", 1, "/history/1/message/toolCalls/0")),
    ],
    "kimi": [
        *session("clean.jsonl", "call", calls=7, results=(9, 15)),
        *((clean, f"wire-{name}", *row) for clean, name, *row in session("clean-wire.jsonl", "call", calls=5, results=(7, 14)) if name != "call-gone"),
        ("clean-wire.jsonl", "wire-call-gone", "orphan", ("drop_line", 5), ("told", {"line": 6})),
    ],
    # A call is many events here.
    "ag-ui": [
        ("clean.jsonl", "unanswered", "answered", ("drop_line", 26)),
        ("clean.jsonl", "orphan", "orphan answered", ("replace", at("call_weather_3", line=49), OTHER)),
        ("clean.jsonl", "repeated-result", "repeated", ("repeat_line", 49)),
        ("clean.jsonl", "call-gone", "orphan", *[("drop_line", 10)] * 8, ("told", {"line": 18})),
        *((clean, f"request-{name}", *row) for clean, name, *row in history("clean-request.json")),
    ],
    "openhands": [
        ("clean.jsonl", "unanswered", "answered", ("drop_line", 5)),
        ("clean.jsonl", "orphan", "orphan answered", ("replace", at("call_files_3", line=8), "call_files_9")),
        ("clean.jsonl", "repeated-result", "repeated", ("repeat_line", 8)),
        ("clean.jsonl", "call-gone", "orphan", ("drop_line", 3), ("told", {"line": 4})),
    ],
    "openai-agents-js": run_state("generatedItems", "rawItem/callId", "originalInput"),
    "openai-agents-state": run_state("generated_items", "raw_item/call_id", "original_input"),
    "autogen": [*history("clean.json"), *((clean, f"result-{name}", *row) for clean, name, *row in history("clean-result.json"))],
}
