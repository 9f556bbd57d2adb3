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

type Call = { id: string; name: string; args: unknown };
type Message =
  | { type: "system" | "human"; content: string }
  | { type: "ai"; content: string; tool_calls?: Call[] }
  | { type: "tool"; tool_call_id: string; content: string };
type Turn = { content?: string; tool_calls?: Call[]; error?: string };
type Tools = Record<string, { byId: Record<string, unknown> }>;
type Input = { storage: string; system?: string; tools?: Tools; runs: { message: string; model: Turn[] }[] };
type Report = { requests: Message[][]; executed: Call[]; failure?: string; refused?: string };
type Hello = { protocol: number; implementation: object; ops: string[]; profiles: string[]; session: string[] };
type Request = { id: number } & ({ op: "hello" } | { op: "session"; input: Input });
type Reply = { id: number; ok: Hello | { runs: Report[] } };

/** The agent that is tested: it asks the model, answers each call, and remembers. */
class Agent {
  private readonly memory: Message[] = [];

  constructor(
    system: string | undefined,
    private readonly ask: (messages: Message[]) => Promise<Message & { type: "ai" }>,
    private readonly execute: (call: Call) => Promise<unknown>,
  ) {
    if (system) this.memory.push({ type: "system", content: system });
  }

  async run(message: string): Promise<void> {
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

  private async answer(call: Call): Promise<string> {
    try {
      const result = await this.execute(call);
      return typeof result === "string" ? result : JSON.stringify(result);
    } catch (error) {
      return String(error);
    }
  }
}

/** The model and the tools of a session, and what they saw in each run. */
class Script {
  readonly runs: Report[] = [];
  private run: Report = { requests: [], executed: [] };
  private turns: Turn[] = [];

  constructor(private readonly tools: Tools) {}

  begin(turns: Turn[]): Report {
    this.run = { requests: [], executed: [] };
    this.runs.push(this.run);
    this.turns = [...turns];
    return this.run;
  }

  /** The model: keeps a copy of what it gets, before anybody changes it, and says what the script says next. */
  async ask(messages: Message[]): Promise<Message & { type: "ai" }> {
    this.run.requests.push(structuredClone(messages));
    const { content = "", tool_calls: calls, error } = this.turns.shift() ?? { error: "script exhausted" };
    if (error !== undefined) throw new Error(error);
    return { type: "ai", content, ...(calls?.length && { tool_calls: calls }) };
  }

  /** A tool: keeps what it was called with, and gives the result of the call with this id. */
  async execute({ id, name, args }: Call): Promise<unknown> {
    const tool = Object.hasOwn(this.tools, name) ? this.tools[name] : undefined;
    if (!tool) throw new Error(`there is no tool \`${name}\``);
    this.run.executed.push({ id, name, args });
    const result = Object.hasOwn(tool.byId, id) ? tool.byId[id] : "";
    if (isFailure(result)) throw new Error(result.error);
    return result;
  }
}

function isFailure(result: unknown): result is { error: string } {
  const isObject = typeof result === "object" && result !== null && Object.keys(result).length === 1;
  return isObject && "error" in result && typeof result.error === "string";
}

/** Plays all runs, also those behind one that failed, and reports each. */
async function play({ system, tools, runs }: Input): Promise<{ runs: Report[] }> {
  const script = new Script(tools ?? {});
  const agent = new Agent(system, (messages) => script.ask(messages), (call) => script.execute(call));
  for (const { message, model } of runs) {
    const report = script.begin(model);
    try {
      await agent.run(message);
    } catch (error) {
      // An agent that refuses a run does not ask its model.
      report[report.requests.length ? "failure" : "refused"] = String(error);
    }
  }
  return { runs: script.runs };
}

export async function answer(request: Request): Promise<Reply> {
  if (request.op === "session") return { id: request.id, ok: await play(request.input) };
  const implementation = { name: "my-agent", version: "0.1.0", language: "TypeScript" };
  return { id: request.id, ok: { protocol: 1, implementation, ops: ["session"], profiles: ["universal"], session: features } };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  // Not `node:readline`, which also ends a line at U+2028 and U+2029; JSON may hold them as they are.
  let line = "";
  process.stdin.setEncoding("utf8");
  for await (const chunk of process.stdin) {
    const [end, ...begun] = String(chunk).split("\n");
    line += end ?? "";
    for (const next of begun) {
      process.stdout.write(JSON.stringify(await answer(JSON.parse(line) as Request)) + "\n");
      line = next;
    }
  }
}
