import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.io.IOException;
import java.util.Map;
import java.util.function.Function;

/**
 * The adapter between threadspec and this implementation: one JSON object a line, from standard input to standard output.
 * Replace `escape` with your own method, and add the operations that you have.
 */
public final class Adapter {
    private static final Map<String, Function<JsonObject, JsonElement>> OPERATIONS = Map.of("escape", Adapter::escape);

    private static JsonElement escape(JsonObject input) {
        if (!(input.get("text") instanceof JsonPrimitive text) || !text.isString()) {
            throw new IllegalArgumentException("`text` is not a string");
        }
        StringBuilder escaped = new StringBuilder();
        for (char c : text.getAsString().toCharArray()) {
            switch (c) {
                case '&' -> escaped.append("&amp;");
                case '<' -> escaped.append("&lt;");
                case '>' -> escaped.append("&gt;");
                case '"' -> escaped.append("&quot;");
                case '\'' -> escaped.append("&apos;");
                default -> escaped.append(c);
            }
        }
        return new JsonPrimitive(escaped.toString());
    }

    static JsonObject answer(JsonObject request) {
        JsonObject reply = new JsonObject();
        reply.add("id", request.get("id"));
        String op = request.get("op").getAsString();
        if (op.equals("hello")) {
            reply.add("ok", hello());
        } else if (!OPERATIONS.containsKey(op)) {
            reply.addProperty("unsupported", "not done yet");
        } else {
            try {
                reply.add("ok", OPERATIONS.get(op).apply(request.getAsJsonObject("input")));
            } catch (RuntimeException error) {
                // The kind is `invalid-event` for a wrong element of `events`. In `universal`, once the model was asked, the reply is `ok` with `failure`.
                JsonObject reject = new JsonObject();
                reject.addProperty("kind", "invalid-input");
                reject.addProperty("message", error.toString());
                reply.add("reject", reject);
            }
        }
        return reply;
    }

    private static JsonObject hello() {
        JsonObject implementation = new JsonObject();
        implementation.addProperty("name", "my-agent");
        implementation.addProperty("version", "0.1.0");
        implementation.addProperty("language", "Java");
        JsonArray ops = new JsonArray();
        OPERATIONS.keySet().forEach(ops::add);
        JsonArray profiles = new JsonArray();
        profiles.add("literal");
        JsonObject hello = new JsonObject();
        hello.addProperty("protocol", 1);
        hello.add("implementation", implementation);
        hello.add("ops", ops);
        hello.add("profiles", profiles);
        return hello;
    }

    public static void main(String[] arguments) throws IOException {
        Lines.serve(Adapter::answer);
    }
}
