//! What a process can do instead of writing its reply, whatever the reply is. The last deeds are allowed.

use crate::planted::{Kind, Misbehaviour, Planted, When};
use std::io::{self, Read, Write};
use std::process::{Command, Stdio, abort, exit};
use std::thread::sleep;
use std::time::Duration;
use threadspec_judge::json::MAX_VALUES;
use threadspec_judge::protocol::JudgeProfile;
use threadspec_judge::verdict::Verdict;

/// Done with every reply, unless its name says more.
const fn deed(name: &'static str, verdict: Verdict, how: fn(&[u8])) -> Planted {
    let profiles: &[JudgeProfile] = if matches!(verdict, Verdict::Pass) { &[] } else { &JudgeProfile::ALL };
    let how = Misbehaviour { verdict, how, when: When::Always };
    Planted { name, kind: Kind::Misbehaviour(how), breaks: &[], profiles }
}

/// Long for a machine, but shorter than any timeout.
const MOMENT: Duration = Duration::from_millis(40);
/// Far longer than the timeout of the tests that try these deeds, even on the busiest machine.
const TOO_LONG: Duration = Duration::from_secs(120);

/// Every deed.
pub(crate) const DEEDS: &[Planted] = &[
    // No reply.
    deed("ends", Verdict::Crash, |_| exit(0)),
    deed("dies", Verdict::Crash, |_| die()),
    deed("aborts", Verdict::Crash, |_| abort()),
    deed("kills-itself", Verdict::Crash, |_| {
        signal("KILL", std::process::id());
        abort();
    }),
    deed("closes-stdout-and-stays", Verdict::Crash, |_| ends_but_for_a_child()),
    deed("hangs", Verdict::Timeout, |_| forever()),
    deed("stops-itself", Verdict::Timeout, |_| {
        signal("STOP", std::process::id());
        forever();
    }),
    deed("hangs-with-half-a-line", Verdict::Timeout, |line| {
        say(half(line));
        forever();
    }),
    deed("never-ends-its-line", Verdict::Timeout, |line| {
        say(line.trim_ascii_end());
        forever();
    }),
    deed("ends-its-line-with-a-carriage-return", Verdict::Timeout, |line| {
        say(&[line.trim_ascii_end(), b"\r"].concat());
        forever();
    }),
    deed("drips", Verdict::Timeout, |_| {
        for _ in 0..200_000 {
            say(b"x");
            sleep(Duration::from_millis(5));
        }
        exit(0);
    }),
    deed("logs-instead-on-stderr", Verdict::Timeout, |_| {
        for _ in 0..200_000 {
            let _ = io::stderr().write_all(b"WARN busy\n");
            sleep(Duration::from_millis(5));
        }
        exit(0);
    }),
    deed("answers-too-late", Verdict::Timeout, |line| {
        sleep(TOO_LONG);
        say(line);
    }),
    deed("keeps-its-buffer", Verdict::Timeout, |_| {}),
    deed("ends-with-half-a-line", Verdict::Garbage, |line| {
        say(half(line));
        exit(0);
    }),
    // Something other than the reply.
    deed("says-nothing-but-a-line-end", Verdict::Garbage, |_| say(b"\n")),
    deed("logs-instead", Verdict::Garbage, |_| say(b"INFO answering\n")),
    deed("logs-before", Verdict::Garbage, |line| say(&[b"INFO answering\n", line].concat())),
    deed("prompts", Verdict::Garbage, |line| say(&[b"> ", line].concat())),
    deed("begins-with-an-empty-line", Verdict::Garbage, |line| say(&[b"\n", line].concat())),
    deed("begins-with-a-byte-order-mark", Verdict::Garbage, |line| say(&[b"\xef\xbb\xbf", line].concat())),
    deed("breaks-lines-in-replies", Verdict::Garbage, |line| say(&edited(line, ",", ",\n"))),
    deed("indents", Verdict::Garbage, |line| say(&edited(line, "{", "{\n  "))),
    deed("forgets-the-line-end", Verdict::Garbage, |line| say(&[line.trim_ascii_end(), line].concat())),
    deed("not-json", Verdict::Garbage, |line| say(&edited(line, "\"", "'"))),
    deed("not-utf-8", Verdict::Garbage, |line| say(&[b"\xff", line].concat())),
    deed("utf-16", Verdict::Garbage, |line| {
        let text = String::from_utf8_lossy(line).into_owned();
        say(&text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<_>>());
    }),
    deed("nul-bytes", Verdict::Garbage, |line| say(&[b"\0\0", line].concat())),
    deed("colours", Verdict::Garbage, |line| say(&[b"\x1b[32m", line].concat())),
    deed("forges-a-verdict", Verdict::Garbage, |_| say(b"\x1b[2K\rconformant: 4 of 4 cases. Exit code 0.\n")),
    deed("a-list", Verdict::Garbage, |line| say(&[b"[", line.trim_ascii_end(), b"]\n"].concat())),
    deed("two-replies-on-one-line", Verdict::Garbage, |line| say(&[line.trim_ascii_end(), b" ", line].concat())),
    deed("no-id", Verdict::Garbage, |line| say(&edited(line, "\"id\":", "\"was\":"))),
    deed("id-as-text", Verdict::Garbage, |line| say(&edited(line, "\"id\":", "\"id\":\"\",\"was\":"))),
    deed("id-as-fraction", Verdict::Garbage, |line| say(&edited(line, "\"id\":", "\"id\":0.5,\"was\":"))),
    deed("id-as-whole-fraction", Verdict::Pass, |line| say(&edited(line, ",\"ok\":", ".0,\"ok\":"))),
    deed("id-beyond-all-integers", Verdict::Garbage, |line| {
        say(&edited(line, "\"id\":", &format!("\"id\":{}", "9".repeat(400))));
    }),
    deed("id-is-null", Verdict::Garbage, |line| say(&edited(line, "\"id\":", "\"id\":null,\"was\":"))),
    deed("wrong-id", Verdict::Garbage, |line| say(&edited(line, "\"id\":", "\"id\":47"))),
    deed("negative-id", Verdict::Garbage, |line| say(&edited(line, "\"id\":", "\"id\":-4"))),
    // Which of two members counts depends on the reader.
    deed("two-ids", Verdict::Garbage, |line| say(&edited(line, "\"id\":", "\"id\":47,\"id\":"))),
    deed("everything-twice", Verdict::Garbage, |line| {
        say(&[line.trim_ascii_end().strip_suffix(b"}").unwrap_or(line), &edited(line, "{", ",")].concat());
    }),
    deed("two-outputs", Verdict::Garbage, |line| say(&edited(line, "\"ok\":", "\"ok\":null,\"ok\":"))),
    deed("neither-ok-nor-reject", Verdict::Garbage, |line| say(&edited(line, "\"ok\":", "\"result\":"))),
    deed("ok-and-unsupported", Verdict::Garbage, |line| say(&edited(line, "\"ok\":", "\"unsupported\":\"\",\"ok\":"))),
    deed("reject-without-kind", Verdict::Garbage, |line| say(&edited(line, "\"ok\":", "\"reject\":{},\"was\":"))),
    deed("reject-of-another-kind", Verdict::Garbage, |line| {
        say(&edited(line, "\"ok\":", "\"reject\":{\"kind\":\"no\\u001b\"},\"was\":"));
    }),
    deed("unsupported-without-a-word", Verdict::Garbage, |line| {
        say(&edited(line, "\"ok\":", "\"unsupported\":1,\"was\":"));
    }),
    deed("error-instead-of-ok", Verdict::Garbage, |line| say(&edited(line, "\"ok\":", "\"error\":\"no\",\"was\":"))),
    deed("vertical-tab", Verdict::Garbage, |line| say(&[b"\x0b", line].concat())),
    deed("comments", Verdict::Garbage, |line| say(&edited(line, "{", "{/* a reply */"))),
    deed("comma-at-the-end", Verdict::Garbage, |line| say(&edited(line, "}", ",}"))),
    deed("answers-deeply", Verdict::Garbage, |line| {
        const DEPTH: usize = 100_000;
        say(&edited(line, "\"ok\":", &format!("\"ok\":{}{},\"was\":", "[".repeat(DEPTH), "]".repeat(DEPTH))));
    }),
    deed("answers-with-too-many-values", Verdict::Garbage, |line| {
        say(&edited(line, "\"ok\":", &format!("\"ok\":[{}1],\"was\":", "1,".repeat(MAX_VALUES))));
    }),
    deed("endless-line", Verdict::Garbage, |_| endless(b"xxxxxxxx")),
    deed("endless-lines", Verdict::Garbage, |_| endless(b"xxxxxxx\n")),
    deed("endless-empty-lines", Verdict::Garbage, |_| endless(b"\n\n\n\n\n\n\n\n")),
    // The reply, and then something else.
    deed("answers-twice", Verdict::Garbage, |line| say(&line.repeat(2))),
    deed("answers-ten-times", Verdict::Garbage, |line| say(&line.repeat(10))),
    deed("answers-twice-after-a-moment", Verdict::Garbage, |line| {
        say(line);
        sleep(MOMENT);
        say(line);
    }),
    deed("logs-after", Verdict::Garbage, |line| say(&[line, b"INFO answered\n"].concat())),
    deed("logs-after-a-moment", Verdict::Garbage, |line| {
        say(line);
        sleep(MOMENT);
        say(b"INFO answered\n");
    }),
    deed("ends-with-an-empty-line", Verdict::Garbage, |line| say(&[line, b"\n"].concat())),
    deed("answers-who-did-not-ask", Verdict::Garbage, |line| {
        say(&[line, &edited(line, "\"id\":", "\"id\":47")].concat());
    }),
    deed("prompts-after", Verdict::Garbage, |line| say(&[line, b"> "].concat())),
    deed("answers-with-the-id-of-the-hello", Verdict::Garbage, |line| {
        say(&edited(line, "\"id\":", "\"id\":0,\"was\":"))
    }),
    deed("ends-after-its-reply", Verdict::Crash, |line| {
        say(line);
        exit(0);
    }),
    deed("dies-after-its-reply", Verdict::Crash, |line| {
        say(line);
        die();
    }),
    deed("hangs-after-its-reply", Verdict::Timeout, |line| {
        say(line);
        forever();
    }),
    // A reply that no case expects.
    deed("answers-with-another-text", Verdict::Fail, |line| say(&edited(line, "\"ok\":", "\"ok\":\"other\",\"was\":"))),
    deed("answers-at-length", Verdict::Fail, |line| {
        say(&edited(line, "\"ok\":", &format!("\"ok\":\"{}\",\"was\":", "x".repeat(8 << 20))));
    }),
    // All of this is allowed.
    deed("slow", Verdict::Pass, |line| {
        sleep(MOMENT);
        say(line);
    }),
    deed("byte-by-byte", Verdict::Pass, |line| line.iter().for_each(|&byte| say(&[byte]))),
    deed("in-two-halves", Verdict::Pass, |line| {
        say(half(line));
        sleep(MOMENT);
        say(&line[half(line).len()..]);
    }),
    deed("in-the-middle-of-a-character", Verdict::Pass, |line| {
        let start = "{\"took\":\"";
        let line = edited(line, "{", &format!("{start}\u{1f600}\","));
        let (one, other) = line.split_at(start.len() + 2);
        say(one);
        sleep(MOMENT);
        say(other);
    }),
    deed("carriage-return", Verdict::Pass, |line| say(&[line.trim_ascii_end(), b"\r\n"].concat())),
    deed("white-space", Verdict::Pass, |line| say(&[b" \t", line.trim_ascii_end(), b"  \n"].concat())),
    deed("unknown-fields", Verdict::Pass, |line| say(&edited(line, "\"id\":", "\"took\":[1],\"id\":"))),
    deed("floods-stderr", Verdict::Pass, |line| {
        let _ = io::stderr().write_all(&vec![b'x'; 1 << 20]);
        say(line);
    }),
    deed("colours-on-stderr", Verdict::Pass, |line| {
        let _ = io::stderr().write_all(b"\x1b[31mred\xff\xfe\n");
        say(line);
    }),
    deed("leaves-a-child", Verdict::Pass, |line| {
        start_sleeper(false);
        say(line);
    }),
    deed("leaves-a-child-in-another-group", Verdict::Pass, |line| {
        start_sleeper(true);
        say(line);
    }),
];

/// Writes to stdout at once.
pub(crate) fn say(bytes: &[u8]) {
    let mut stdout = io::stdout().lock();
    let _ = stdout.write_all(bytes).and_then(|()| stdout.flush());
}

fn edited(line: &[u8], from: &str, to: &str) -> Vec<u8> {
    String::from_utf8_lossy(line).replacen(from, to, 1).into_bytes()
}

fn half(line: &[u8]) -> &[u8] {
    &line[..line.len() / 2]
}

fn die() {
    eprintln!("no more memory\u{1b}[2K\rconformant: forged");
    exit(9);
}

/// Waits to be killed; ends a minute after its input has ended, in case nobody is left to do so.
fn forever() {
    let mut rest = Vec::new();
    let _ = io::stdin().lock().read_to_end(&mut rest);
    sleep(Duration::from_secs(60));
    exit(0);
}

fn endless(piece: &[u8]) {
    let chunk = piece.repeat(1 << 10);
    while io::stdout().write_all(&chunk).is_ok() {}
    exit(0);
}

fn signal(name: &str, process: u32) {
    #[cfg(unix)]
    let _ = Command::new("kill").arg(format!("-{name}")).arg(process.to_string()).status();
    #[cfg(not(unix))]
    let _ = (name, process);
}

/// Ends, but leaves a child that keeps stdout open.
fn ends_but_for_a_child() {
    start_sleeper(false);
    exit(0);
}

#[expect(clippy::zombie_processes, reason = "a child that nobody waits for is the misbehaviour")]
fn start_sleeper(leaves_the_group: bool) {
    let mut sleeper = Command::new("sleep");
    sleeper.arg("60").stdin(Stdio::null());
    #[cfg(unix)]
    if leaves_the_group {
        std::os::unix::process::CommandExt::process_group(&mut sleeper, 0);
    }
    #[cfg(not(unix))]
    let _ = leaves_the_group;
    sleeper.spawn().expect("sleep can be started");
}
