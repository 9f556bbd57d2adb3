using System;
using System.IO;
using System.Text;
using System.Text.Json;
using System.Text.RegularExpressions;

/// <summary>The lines of the protocol, which both adapters speak.</summary>
static class Lines
{
    // Each escape of JSON; one that is half a surrogate pair is captured.
    static readonly Regex Escapes =
        new Regex(@"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)");

    /// <summary>Half a surrogate pair, which System.Text.Json refuses, is read as U+FFFD.</summary>
    public static JsonElement Read(string line)
    {
        string readable = Escapes.Replace(line, escape => escape.Groups[1].Success ? "\\ufffd" : escape.Value);
        using JsonDocument document = JsonDocument.Parse(readable, new JsonDocumentOptions { MaxDepth = 1_000_000 });
        return document.RootElement.Clone();
    }

    public static string Write(object? value) => JsonSerializer.Serialize(value);

    /// <summary>Answers requests until standard input ends.</summary>
    public static void Serve(Func<JsonElement, object> answer)
    {
        var utf8 = new UTF8Encoding(encoderShouldEmitUTF8Identifier: false);
        using var requests = new StreamReader(Console.OpenStandardInput(), utf8);
        using var replies = new StreamWriter(Console.OpenStandardOutput(), utf8) { NewLine = "\n", AutoFlush = true };
        while (requests.ReadLine() is string line)
        {
            replies.WriteLine(Write(answer(Read(line))));
        }
    }
}
