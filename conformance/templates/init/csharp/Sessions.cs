using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.Json;

/// <summary>
/// The adapter of op `session`: several runs on one thread, which the agent keeps by its own memory.
///
/// The agent here is the class Agent, a loop whose memory is a list. Put yours in its place: the scripted model at its model interface, the
/// scripted tools, and the memory that its documentation recommends (a checkpointer, a session, the list that a run hands back). Fix nothing
/// between runs: what the memory holds is what the next run gets, and that is what is judged.
/// </summary>
static class Sessions
{
    // What the agent has, by itself or as its documentation tells its users to do. Cases that need anything else are unsupported, and do not
    // count against it. Add one after the other: "error", "cancel", "kill", "limit", "resume", "approval", "edit", "compact", "handoff",
    // "opaque", "raw", "image", "rewind", "branch", "steer". What a run has then is said in
    // https://github.com/threadspec/threadspec/blob/main/conformance/REFERENCE.md#sessions.
    static readonly string[] Features = { "message" };

    /// <summary>The agent that is tested: it asks the model, answers each call, and remembers.</summary>
    sealed class Agent
    {
        readonly List<Dictionary<string, object>> memory = new List<Dictionary<string, object>>();
        readonly Script script;

        public Agent(string? system, Script script)
        {
            this.script = script;
            if (!string.IsNullOrEmpty(system))
            {
                memory.Add(new Dictionary<string, object> { ["type"] = "system", ["content"] = system });
            }
        }

        public void Run(string message)
        {
            memory.Add(new Dictionary<string, object> { ["type"] = "human", ["content"] = message });
            while (true)
            {
                Dictionary<string, object> response = script.Ask(memory);
                memory.Add(response);
                if (!response.TryGetValue("tool_calls", out object? calls))
                {
                    return;
                }
                foreach (JsonElement call in (JsonElement[])calls)
                {
                    memory.Add(new Dictionary<string, object>
                    {
                        ["type"] = "tool",
                        ["tool_call_id"] = call.GetProperty("id").GetString()!,
                        ["content"] = AnswerTo(call),
                    });
                }
            }
        }

        string AnswerTo(JsonElement call)
        {
            try
            {
                JsonElement result = script.Execute(call);
                return result.ValueKind == JsonValueKind.String ? result.GetString()! : result.GetRawText();
            }
            catch (Exception error)
            {
                return $"Error: {error.Message}";
            }
        }
    }

    /// <summary>The model and the tools of a session, and what they saw in each run.</summary>
    sealed class Script
    {
        static readonly JsonElement Exhausted = Lines.Read(@"{""error"":""script exhausted""}");
        static readonly JsonElement Empty = Lines.Read(@"""""");
        readonly JsonElement tools;
        Queue<JsonElement> turns = new Queue<JsonElement>();

        public readonly List<Report> Runs = new List<Report>();

        public Script(JsonElement tools) => this.tools = tools;

        public void Begin(JsonElement model)
        {
            Runs.Add(new Report());
            turns = new Queue<JsonElement>(model.EnumerateArray());
        }

        /// <summary>The model: keeps a copy of what it gets, before anybody changes it, and says what the script says next.</summary>
        public Dictionary<string, object> Ask(List<Dictionary<string, object>> messages)
        {
            Runs[^1].Requests.Add(Lines.Read(Lines.Write(messages)));
            JsonElement turn = turns.Count == 0 ? Exhausted : turns.Dequeue();
            if (Member(turn, "error") is JsonElement error)
            {
                throw new Exception(error.GetString());
            }
            var message = new Dictionary<string, object> { ["type"] = "ai", ["content"] = Member(turn, "content")?.GetString() ?? "" };
            if (Member(turn, "tool_calls") is JsonElement calls && calls.GetArrayLength() > 0)
            {
                message["tool_calls"] = calls.EnumerateArray().ToArray();
            }
            return message;
        }

        /// <summary>A tool: keeps what it was called with, and gives the result of the call with this id.</summary>
        public JsonElement Execute(JsonElement call)
        {
            string name = call.GetProperty("name").GetString()!;
            if (!tools.TryGetProperty(name, out JsonElement tool))
            {
                throw new Exception($"there is no tool `{name}`");
            }
            Runs[^1].Executed.Add(new { id = call.GetProperty("id"), name, args = call.GetProperty("args") });
            if (!tool.GetProperty("byId").TryGetProperty(call.GetProperty("id").GetString()!, out JsonElement result))
            {
                return Empty;
            }
            bool failed = result.ValueKind == JsonValueKind.Object && result.EnumerateObject().Count() == 1;
            if (failed && Member(result, "error") is JsonElement error && error.ValueKind == JsonValueKind.String)
            {
                throw new Exception(error.GetString());
            }
            return result;
        }
    }

    /// <summary>What happened in a run.</summary>
    sealed class Report
    {
        public readonly List<JsonElement> Requests = new List<JsonElement>();
        public readonly List<object> Executed = new List<object>();
        public string? Failure;

        public Dictionary<string, object> Write()
        {
            var written = new Dictionary<string, object> { ["requests"] = Requests, ["executed"] = Executed };
            if (Failure != null)
            {
                // An agent that refuses a run does not ask its model.
                written[Requests.Count == 0 ? "refused" : "failure"] = Failure;
            }
            return written;
        }
    }

    // `null` means absent, too.
    static JsonElement? Member(JsonElement of, string name) =>
        of.TryGetProperty(name, out JsonElement value) && value.ValueKind != JsonValueKind.Null ? value : (JsonElement?)null;

    /// <summary>Plays all runs, also those behind one that failed, and reports each.</summary>
    static object Play(JsonElement session)
    {
        var script = new Script(Member(session, "tools") ?? Lines.Read("{}"));
        var agent = new Agent(Member(session, "system")?.GetString(), script);
        foreach (JsonElement run in session.GetProperty("runs").EnumerateArray())
        {
            script.Begin(run.GetProperty("model"));
            try
            {
                agent.Run(run.GetProperty("message").GetString()!);
            }
            catch (Exception error)
            {
                script.Runs[^1].Failure = error.Message;
            }
        }
        return new { runs = script.Runs.Select(report => report.Write()) };
    }

    public static object Answer(JsonElement request)
    {
        long id = request.GetProperty("id").GetInt64();
        if (request.GetProperty("op").GetString() != "hello")
        {
            return new { id, ok = Play(request.GetProperty("input")) };
        }
        var implementation = new { name = "my-agent", version = "0.1.0", language = "C#" };
        var ops = new[] { "session" };
        return new { id, ok = new { protocol = 1, implementation, ops, profiles = new[] { "universal" }, session = Features } };
    }
}
