using System;

/// <summary>One program: the adapter, with the argument <c>sessions</c> that of op `session`, with <c>test</c> the tests of both.</summary>
static class Program
{
    static void Main(string[] arguments)
    {
        switch (arguments.Length == 0 ? "" : arguments[0])
        {
            case "sessions":
                Lines.Serve(Sessions.Answer);
                break;
            case "test":
                AdapterTest.Run();
                SessionsTest.Run();
                break;
            default:
                Lines.Serve(Adapter.Answer);
                break;
        }
    }
}
