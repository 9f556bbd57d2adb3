using System;
using System.Collections.Generic;
using System.Text;
using System.Text.Json;

/// <summary>
/// The adapter between threadspec and this implementation: one JSON object a line, from standard input to standard output.
/// Replace `Escape` with your own method, and add the operations that you have.
/// </summary>
static class Adapter
{
    static readonly Dictionary<string, Func<JsonElement, string?, object>> Operations =
        new Dictionary<string, Func<JsonElement, string?, object>> { ["escape"] = Escape };

    static object Escape(JsonElement input, string? profile)
    {
        string text = input.GetProperty("text").GetString() ?? throw new ArgumentException("`text` is not a string");
        var escaped = new StringBuilder();
        foreach (char c in text)
        {
            switch (c)
            {
                case '&': escaped.Append("&amp;"); break;
                case '<': escaped.Append("&lt;"); break;
                case '>': escaped.Append("&gt;"); break;
                case '"': escaped.Append("&quot;"); break;
                case '\'': escaped.Append("&apos;"); break;
                default: escaped.Append(c); break;
            }
        }
        return escaped.ToString();
    }

    public static object Answer(JsonElement request)
    {
        long id = request.GetProperty("id").GetInt64();
        string op = request.GetProperty("op").GetString()!;
        if (op == "hello")
        {
            var implementation = new { name = "my-agent", version = "0.1.0", language = "C#" };
            return new { id, ok = new { protocol = 1, implementation, ops = Operations.Keys, profiles = new[] { "literal" } } };
        }
        if (!Operations.TryGetValue(op, out var operation))
        {
            return new { id, unsupported = "not done yet" };
        }
        try
        {
            string? profile = request.TryGetProperty("profile", out JsonElement named) ? named.GetString() : null;
            return new { id, ok = operation(request.GetProperty("input"), profile) };
        }
        catch (Exception error)
        {
            // The kind is `invalid-event` for a wrong element of `events`. In `universal`, once the model was asked, the reply is `ok` with `failure`.
            return new { id, reject = new { kind = "invalid-input", message = error.Message } };
        }
    }
}
