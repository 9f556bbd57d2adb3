using System;
using System.Linq;
using System.Text.Json;

/// <summary>Runs without a test framework: `threadspec-adapter test` fails with the first difference.</summary>
static class SessionsTest
{
    const string Call = @"{""id"":""c1"",""name"":""look"",""args"":{""at"":""the door""}}";
    const string Input =
        @"{""storage"":""not used by a list"",""system"":""Be brief."",""tools"":{""look"":{""byId"":{""c1"":""it is open""}}},""runs"":["
        + @"{""message"":""Is it open?"",""model"":[{""tool_calls"":[" + Call + @"]},{""content"":""Yes.""}]},"
        + @"{""message"":""Fails"",""model"":[{""error"":""overloaded""}]},{""message"":""Thanks"",""model"":[{""content"":""Bye.""}]}]}";

    static void Check(string actual, string expected)
    {
        if (actual != expected)
        {
            throw new Exception($"{actual} instead of {expected}");
        }
    }

    // Written and read again, as on the way to threadspec.
    static JsonElement Ok(string request) => Lines.Read(Lines.Write(Sessions.Answer(Lines.Read(request)))).GetProperty("ok");

    public static void Run()
    {
        JsonElement hello = Ok(@"{""id"":0,""op"":""hello"",""protocol"":1}");
        string said = string.Join(" ", new[] { "ops", "profiles", "session" }.Select(name => hello.GetProperty(name).GetRawText()));
        Check(said, @"[""session""] [""universal""] [""message""]");

        JsonElement[] runs = Ok(@"{""id"":7,""op"":""session"",""input"":" + Input + "}").GetProperty("runs").EnumerateArray().ToArray();
        Check(runs[0].GetProperty("executed").GetRawText(), $"[{Call}]");
        Check(string.Join(" ", runs[0].GetProperty("requests").EnumerateArray().Select(request => request.GetArrayLength())), "2 4");
        Check(runs[1].GetProperty("failure").GetString()!, "overloaded");
        var texts = runs[2].GetProperty("requests")[0].EnumerateArray().Select(message => message.GetProperty("content").GetString());
        Check(string.Join("|", texts), "Be brief.|Is it open?||it is open|Yes.|Fails|Thanks");
        Console.WriteLine("5 checks passed");
    }
}
