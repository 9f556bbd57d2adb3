import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.util.Iterator;
import java.util.List;

/**
 * The adapter of op `session`: several runs on one thread, which the agent keeps by its own memory.
 *
 * The agent here is the class Agent, a loop whose memory is a list. Put yours in its place: the scripted model at its model interface, the
 * scripted tools, and the memory that its documentation recommends (a checkpointer, a session, the list that a run hands back). Fix nothing
 * between runs: what the memory holds is what the next run gets, and that is what is judged.
 */
public final class Sessions {
    private static final Gson GSON = new GsonBuilder().serializeNulls().disableHtmlEscaping().create();

    /**
     * What the agent has, by itself or as its documentation tells its users to do. Cases that need anything else are unsupported, and do not
     * count against it. Add one after the other: "error", "cancel", "kill", "limit", "resume", "approval", "edit", "compact", "handoff",
     * "opaque", "raw", "image", "rewind", "branch", "steer". What a run has then is said in
     * https://github.com/threadspec/threadspec/blob/main/conformance/REFERENCE.md#sessions.
     */
    private static final List<String> FEATURES = List.of("message");

    /** How a model, a tool or a run fails. */
    private static final class Failed extends Exception {
        Failed(String reason) {
            super(reason);
        }
    }

    /** The agent that is tested: it asks the model, answers each call, and remembers. */
    private static final class Agent {
        private final JsonArray memory = new JsonArray();
        private final Script script;

        Agent(JsonElement system, Script script) {
            this.script = script;
            if (system != null) {
                remember("system", system);
            }
        }

        void run(JsonElement message) throws Failed {
            remember("human", message);
            while (true) {
                JsonObject response = script.ask(memory);
                memory.add(response);
                if (!response.has("tool_calls")) {
                    return;
                }
                for (JsonElement one : response.getAsJsonArray("tool_calls")) {
                    JsonObject call = one.getAsJsonObject();
                    JsonObject answer = remember("tool", GSON.toJsonTree(answer(call)));
                    answer.add("tool_call_id", call.get("id"));
                }
            }
        }

        private JsonObject remember(String type, JsonElement content) {
            JsonObject message = new JsonObject();
            message.addProperty("type", type);
            message.add("content", content);
            memory.add(message);
            return message;
        }

        private String answer(JsonObject call) {
            try {
                JsonElement result = script.execute(call);
                return result.isJsonPrimitive() && result.getAsJsonPrimitive().isString() ? result.getAsString() : GSON.toJson(result);
            } catch (Failed failure) {
                return "Error: " + failure.getMessage();
            }
        }
    }

    /** The model and the tools of a session, and what they saw in each run. */
    private static final class Script {
        private final JsonObject tools;
        private JsonObject run;
        private Iterator<JsonElement> turns;

        Script(JsonObject tools) {
            this.tools = tools == null ? new JsonObject() : tools;
        }

        JsonObject begin(JsonArray model) {
            turns = model.iterator();
            run = new JsonObject();
            run.add("requests", new JsonArray());
            run.add("executed", new JsonArray());
            return run;
        }

        /** The model: keeps a copy of what it gets, before anybody changes it, and says what the script says next. */
        JsonObject ask(JsonArray messages) throws Failed {
            run.getAsJsonArray("requests").add(messages.deepCopy());
            if (!turns.hasNext()) {
                throw new Failed("script exhausted");
            }
            JsonObject turn = turns.next().getAsJsonObject();
            if (turn.has("error")) {
                throw new Failed(turn.get("error").getAsString());
            }
            JsonObject response = new JsonObject();
            response.addProperty("type", "ai");
            response.addProperty("content", turn.has("content") ? turn.get("content").getAsString() : "");
            if (turn.has("tool_calls") && !turn.getAsJsonArray("tool_calls").isEmpty()) {
                response.add("tool_calls", turn.get("tool_calls").deepCopy());
            }
            return response;
        }

        /** A tool: keeps what it was called with, and gives the result of the call with this id. */
        JsonElement execute(JsonObject call) throws Failed {
            String id = call.get("id").getAsString(), name = call.get("name").getAsString();
            if (!tools.has(name)) {
                throw new Failed("there is no tool `" + name + "`");
            }
            JsonObject executed = new JsonObject();
            List.of("id", "name", "args").forEach(member -> executed.add(member, call.get(member).deepCopy()));
            run.getAsJsonArray("executed").add(executed);
            JsonObject results = tools.getAsJsonObject(name).getAsJsonObject("byId");
            JsonElement result = results.has(id) ? results.get(id) : GSON.toJsonTree("");
            if (result.isJsonObject() && result.getAsJsonObject().size() == 1 && result.getAsJsonObject().has("error")) {
                throw new Failed(result.getAsJsonObject().get("error").getAsString());
            }
            return result;
        }
    }

    /** Plays all runs, also those behind one that failed, and reports each. */
    private static JsonObject play(JsonObject session) {
        Script script = new Script(session.getAsJsonObject("tools"));
        Agent agent = new Agent(session.get("system"), script);
        JsonArray reports = new JsonArray();
        for (JsonElement one : session.getAsJsonArray("runs")) {
            JsonObject run = one.getAsJsonObject();
            JsonObject report = script.begin(run.getAsJsonArray("model"));
            try {
                agent.run(run.get("message"));
            } catch (Failed failure) {
                // An agent that refuses a run does not ask its model.
                report.addProperty(report.getAsJsonArray("requests").isEmpty() ? "refused" : "failure", failure.getMessage());
            }
            reports.add(report);
        }
        JsonObject played = new JsonObject();
        played.add("runs", reports);
        return played;
    }

    static JsonObject answer(JsonObject request) {
        JsonObject reply = new JsonObject();
        reply.add("id", request.get("id"));
        reply.add("ok", request.get("op").getAsString().equals("session") ? play(request.getAsJsonObject("input")) : hello());
        return reply;
    }

    private static JsonObject hello() {
        JsonObject implementation = new JsonObject();
        implementation.addProperty("name", "my-agent");
        implementation.addProperty("version", "0.1.0");
        implementation.addProperty("language", "Java");
        JsonObject hello = new JsonObject();
        hello.addProperty("protocol", 1);
        hello.add("implementation", implementation);
        hello.add("ops", GSON.toJsonTree(List.of("session")));
        hello.add("profiles", GSON.toJsonTree(List.of("universal")));
        hello.add("session", GSON.toJsonTree(FEATURES));
        return hello;
    }

    public static void main(String[] arguments) throws IOException {
        Lines.serve(Sessions::answer);
    }
}
