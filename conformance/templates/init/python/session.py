"""The adapter of op `session`: several runs on one thread, which the agent keeps by its own memory.

The agent here is the class `Agent`, a loop whose memory is a list. Put yours in its place: the scripted model at its model interface, the
scripted tools, and the memory that its documentation recommends (a checkpointer, a session, the list that a run hands back). Fix nothing between
runs: what the memory holds is what the next run gets, and that is what is judged.
"""

import copy
import json
import sys

# What the agent has, by itself or as its documentation tells its users to do. Cases that need anything else are unsupported, and do not count
# against it. Add one after the other: "error", "cancel", "kill", "limit", "resume", "approval", "edit", "compact", "handoff", "opaque", "raw",
# "image", "rewind", "branch", "steer". What a run has then is said in
# https://github.com/threadspec/threadspec/blob/main/conformance/REFERENCE.md#sessions.
FEATURES = ["message"]


class Agent:
    """The agent that is tested: it asks the model, answers each call, and remembers."""

    def __init__(self, system, ask, execute):
        self.memory = [{"type": "system", "content": system}] if system else []
        self.ask, self.execute = ask, execute

    def run(self, message):
        self.memory.append({"type": "human", "content": message})
        while True:
            response = self.ask(self.memory)
            self.memory.append(response)
            if "tool_calls" not in response:
                return
            for call in response["tool_calls"]:
                self.memory.append({"type": "tool", "tool_call_id": call["id"], "content": self.answer(call)})

    def answer(self, call):
        try:
            result = self.execute(call)
        except Exception as error:
            return f"Error: {error}"
        return result if isinstance(result, str) else json.dumps(result)


class Script:
    """The model and the tools of a session, and what they saw in each run."""

    def __init__(self, tools):
        self.tools, self.runs, self.turns = tools, [], iter([])

    def begin(self, turns):
        self.runs.append({"requests": [], "executed": []})
        self.turns = iter(turns)

    def ask(self, messages):
        """The model: keeps a copy of what it gets, before anybody changes it, and says what the script says next."""
        self.runs[-1]["requests"].append(copy.deepcopy(messages))
        turn = next(self.turns, {"error": "script exhausted"})
        if "error" in turn:
            raise RuntimeError(turn["error"])
        calls = {"tool_calls": turn["tool_calls"]} if turn.get("tool_calls") else {}
        return {"type": "ai", "content": turn.get("content", ""), **calls}

    def execute(self, call):
        """A tool: keeps what it was called with, and gives the result of the call with this id."""
        if call["name"] not in self.tools:
            raise LookupError(f"there is no tool `{call['name']}`")
        self.runs[-1]["executed"].append({"id": call["id"], "name": call["name"], "args": call["args"]})
        result = self.tools[call["name"]]["byId"].get(call["id"], "")
        if isinstance(result, dict) and list(result) == ["error"] and isinstance(result["error"], str):
            raise RuntimeError(result["error"])
        return result


def play(session):
    """Plays all runs, also those behind one that failed, and reports each."""
    script = Script(session.get("tools") or {})
    agent = Agent(session.get("system"), script.ask, script.execute)
    for run in session["runs"]:
        script.begin(run["model"])
        try:
            agent.run(run["message"])
        except Exception as error:
            report = script.runs[-1]
            # An agent that refuses a run does not ask its model.
            report["failure" if report["requests"] else "refused"] = repr(error)
    return {"runs": script.runs}


def answer(request):
    id, op = request["id"], request["op"]
    if op == "hello":
        implementation = {"name": "my-agent", "version": "0.1.0", "language": "Python"}
        hello = {"protocol": 1, "implementation": implementation, "ops": ["session"], "profiles": ["universal"]}
        return {"id": id, "ok": {**hello, "session": FEATURES}}
    return {"id": id, "ok": play(request["input"])}


def main():
    # Bytes, so that neither the locale nor the platform's line ends interfere.
    for line in sys.stdin.buffer:
        # ASCII, because a lone surrogate can only be written as an escape.
        sys.stdout.buffer.write(json.dumps(answer(json.loads(line))).encode("ascii") + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
