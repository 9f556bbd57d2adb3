import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonObject;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.function.UnaryOperator;

/** The lines of the protocol, which both adapters speak. */
final class Lines {
    private static final Gson GSON = new GsonBuilder().serializeNulls().disableHtmlEscaping().create();

    private Lines() {}

    /** Answers requests until standard input ends. */
    static void serve(UnaryOperator<JsonObject> answer) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream replies = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            replies.print(GSON.toJson(answer.apply(GSON.fromJson(line, JsonObject.class))) + "\n");
            replies.flush();
        }
    }
}
