import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;

/** Runs without a test framework: `java SessionsTest` fails with the first difference. */
public final class SessionsTest {
    private static final String CALL = "{\"id\":\"c1\",\"name\":\"look\",\"args\":{\"at\":\"the door\"}}";
    private static final String INPUT = "{\"storage\":\"not used by a list\",\"system\":\"Be brief.\",\"tools\":{\"look\":{\"byId\":{\"c1\":\"it is open\"}}},\"runs\":["
            + "{\"message\":\"Is it open?\",\"model\":[{\"tool_calls\":[" + CALL + "]},{\"content\":\"Yes.\"}]},"
            + "{\"message\":\"Fails\",\"model\":[{\"error\":\"overloaded\"}]},{\"message\":\"Thanks\",\"model\":[{\"content\":\"Bye.\"}]}]}";

    private static void check(Object actual, Object expected) {
        if (!actual.equals(expected)) {
            throw new AssertionError(actual + " instead of " + expected);
        }
    }

    private static JsonObject ok(String request) {
        return Sessions.answer(new Gson().fromJson(request, JsonObject.class)).getAsJsonObject("ok");
    }

    private static JsonArray messages(JsonObject run, int request) {
        return run.getAsJsonArray("requests").get(request).getAsJsonArray();
    }

    public static void main(String[] arguments) {
        JsonObject hello = ok("{\"id\":0,\"op\":\"hello\",\"protocol\":1}");
        check(hello.get("ops").toString() + hello.get("profiles") + hello.get("session"), "[\"session\"][\"universal\"][\"message\"]");

        JsonArray runs = ok("{\"id\":7,\"op\":\"session\",\"input\":" + INPUT + "}").getAsJsonArray("runs");
        JsonObject first = runs.get(0).getAsJsonObject();
        check(first.get("executed").toString(), "[" + CALL + "]");
        check(messages(first, 0).size(), 2);
        check(messages(first, 1).size(), 4);
        check(runs.get(1).getAsJsonObject().get("failure").getAsString(), "overloaded");
        StringBuilder texts = new StringBuilder();
        for (JsonElement message : messages(runs.get(2).getAsJsonObject(), 0)) {
            texts.append(message.getAsJsonObject().get("content").getAsString()).append('|');
        }
        check(texts.toString(), "Be brief.|Is it open?||it is open|Yes.|Fails|Thanks|");
        System.out.println("6 checks passed");
    }
}
