// The adapter of op `session`: several runs on one thread, which the agent keeps by its own memory.
//
// The agent here is the class `Agent`, a loop whose memory is a list. Put yours in its place: the scripted model at its model interface, the
// scripted tools, and the memory that its documentation recommends (a checkpointer, a session, the list that a run hands back). Fix nothing
// between runs: what the memory holds is what the next run gets, and that is what is judged.
import { fileURLToPath } from "node:url";

// What the agent has, by itself or as its documentation tells its users to do. Cases that need anything else are unsupported, and do not count
// against it. Add one after the other: "error", "cancel", "kill", "limit", "resume", "approval", "edit", "compact", "handoff", "opaque", "raw",
// "image", "rewind", "branch", "steer". What a run has then is said in
// https://github.com/threadspec/threadspec/blob/main/conformance/REFERENCE.md#sessions.
const features = ["message"];

/** The agent that is tested: it asks the model, answers each call, and remembers. */
class Agent {
  constructor(system, ask, execute) {
    this.memory = system ? [{ type: "system", content: system }] : [];
    Object.assign(this, { ask, execute });
  }

  async run(message) {
    this.memory.push({ type: "human", content: message });
    for (;;) {
      const response = await this.ask(this.memory);
      this.memory.push(response);
      if (!response.tool_calls) return;
      for (const call of response.tool_calls) {
        this.memory.push({ type: "tool", tool_call_id: call.id, content: await this.answer(call) });
      }
    }
  }

  async answer(call) {
    try {
      const result = await this.execute(call);
      return typeof result === "string" ? result : JSON.stringify(result);
    } catch (error) {
      return `Error: ${error.message}`;
    }
  }
}

/** The model and the tools of a session, and what they saw in each run. */
class Script {
  runs = [];

  constructor(tools) {
    this.tools = tools;
  }

  begin(turns) {
    this.runs.push({ requests: [], executed: [] });
    this.turns = [...turns];
  }

  /** The model: keeps a copy of what it gets, before anybody changes it, and says what the script says next. */
  async ask(messages) {
    this.runs.at(-1).requests.push(structuredClone(messages));
    const { content = "", tool_calls: calls, error } = this.turns.shift() ?? { error: "script exhausted" };
    if (error !== undefined) throw new Error(error);
    return { type: "ai", content, ...(calls?.length && { tool_calls: calls }) };
  }

  /** A tool: keeps what it was called with, and gives the result of the call with this id. */
  async execute({ id, name, args }) {
    if (!Object.hasOwn(this.tools, name)) throw new Error(`there is no tool \`${name}\``);
    this.runs.at(-1).executed.push({ id, name, args });
    const { byId } = this.tools[name];
    const result = Object.hasOwn(byId, id) ? byId[id] : "";
    if (typeof result?.error === "string" && Object.keys(result).length === 1) throw new Error(result.error);
    return result;
  }
}

/** Plays all runs, also those behind one that failed, and reports each. */
async function play({ system, tools, runs }) {
  const script = new Script(tools ?? {});
  const agent = new Agent(system, script.ask.bind(script), script.execute.bind(script));
  for (const { message, model } of runs) {
    script.begin(model);
    try {
      await agent.run(message);
    } catch (error) {
      const report = script.runs.at(-1);
      // An agent that refuses a run does not ask its model.
      report[report.requests.length ? "failure" : "refused"] = String(error);
    }
  }
  return { runs: script.runs };
}

export async function answer({ id, op, input }) {
  if (op !== "hello") return { id, ok: await play(input) };
  const implementation = { name: "my-agent", version: "0.1.0", language: "JavaScript" };
  return { id, ok: { protocol: 1, implementation, ops: ["session"], profiles: ["universal"], session: features } };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  // Not `node:readline`, which also ends a line at U+2028 and U+2029; JSON may hold them as they are.
  let line = "";
  process.stdin.setEncoding("utf8");
  for await (const chunk of process.stdin) {
    const [end, ...begun] = chunk.split("\n");
    line += end;
    for (const next of begun) {
      process.stdout.write(JSON.stringify(await answer(JSON.parse(line))) + "\n");
      line = next;
    }
  }
}
