"""A trajectory of SWE-agent 1 (`.traj`), built from its public schema: `history` of `sweagent/agent/agents.py` and `HistoryItem` of
`sweagent/types.py`. The program itself needs containers, and was not run. One call a step, as its parser wants."""

import json

from out import source, write

STEPS = [
    ("I look at the notes.", "cat notes.txt", "hello"),
    ("Now the other file.", "cat missing.txt", "cat: missing.txt: No such file or directory"),
    ("One of them is missing. How long are the notes?", "wc -c notes.txt", "6 notes.txt"),
    ("The notes say hello.", "submit", "hello"),
]
history = [
    {"role": "system", "content": "You are a helpful assistant that can interact with a computer to solve tasks.", "agent": "main", "message_type": "system_prompt"},
    {"role": "user", "content": [{"type": "text", "text": "What is in notes.txt and missing.txt?"}], "agent": "main", "message_type": "observation"},
]
trajectory = []
for number, (thought, action, observation) in enumerate(STEPS, 1):
    tool, arguments = ("submit", {}) if action == "submit" else ("bash", {"command": action})
    call = {"function": {"arguments": json.dumps(arguments), "name": tool}, "id": f"call_files_{number}", "type": "function"}
    trajectory.append({"action": action, "observation": observation, "response": thought, "thought": thought, "execution_time": 0.1, "state": {"working_dir": "/repo"}, "query": list(history), "extra_info": {}})
    history.append({"role": "assistant", "content": thought, "thought": thought, "action": action, "agent": "main", "tool_calls": [call], "message_type": "action"})
    text = {"type": "text", "text": f"OBSERVATION:\n{observation}"}
    history.append({"role": "tool", "content": [text], "agent": "main", "message_type": "observation", "tool_call_ids": [call["id"]]})
info = {"swe_agent_version": "1.1.0", "exit_status": "submitted", "submission": "hello", "model_stats": {"instance_cost": 0, "tokens_sent": 400, "tokens_received": 60, "api_calls": len(STEPS)}}
write("swe-agent", "clean.traj", {"trajectory": trajectory, "history": history, "info": info, "environment": "main"})
source("swe-agent", __doc__, versions={"sweagent (schema)": "1.1.0"})
