//! The pipes to and from a testee. No full or empty pipe ever blocks the judge.
//!
//! Where the system can wait for several pipes at once, one thread serves both: waking another one for each request and each reply would
//! cost more than judging it.

#[cfg(unix)]
mod polled;
#[cfg(any(not(unix), test))]
mod threaded;

#[cfg(unix)]
pub(super) use polled::Pipes;
#[cfg(not(unix))]
pub(super) use threaded::Pipes;

/// The result of waiting for a testee.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// It has printed something.
    Bytes,
    /// Nothing in time, or a moment before.
    Nothing,
    /// Nobody will print anything any more.
    End,
}

/// A read from a pipe, as a length and its meaning.
type Read = (usize, Heard);

#[cfg(all(test, unix))]
mod tests {
    use super::{Heard, polled, threaded};
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    const LONG: Duration = Duration::from_secs(600);

    fn child(script: &str) -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a shell")
    }

    /// Forwards each method to the kind at hand.
    macro_rules! kinds {
        ($($name:ident: $kind:ident,)*) => { $(
            #[test]
            fn $name() {
                let open = |script: &str| {
                    let mut child = child(script);
                    let pipes = $kind::Pipes::new(child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
                    (child, pipes.expect("pipes"))
                };
                let mut buffer = vec![0; 1000];

                // Everything is written while nobody reads, and all of it comes back.
                let (mut child, mut pipes) = open("cat");
                let sent: Vec<u8> = (0..3_000_000_u32).map(|number| number.to_le_bytes()[0]).collect();
                pipes.write(&sent[..1_000_000]);
                pipes.write(&sent[1_000_000..]);
                pipes.close();
                let mut received = Vec::new();
                loop {
                    match pipes.read(&mut buffer, LONG) {
                        (length, Heard::Bytes) => received.extend_from_slice(&buffer[..length]),
                        (_, Heard::Nothing) => {}
                        (_, Heard::End) => break,
                    }
                }
                assert!(received == sent);
                assert_eq!(pipes.read(&mut buffer, LONG), (0, Heard::End));
                child.wait().expect("it ends");

                // Nobody reads, and nobody writes.
                let (mut child, mut pipes) = open("exec sleep 600");
                pipes.write(&sent);
                let begun = Instant::now();
                assert_eq!(pipes.read(&mut buffer, Duration::ZERO), (0, Heard::Nothing));
                assert_eq!(pipes.read(&mut buffer, Duration::from_millis(20)), (0, Heard::Nothing));
                assert!(begun.elapsed() < LONG / 4);
                child.kill().expect("a process");
                child.wait().expect("it ends");

                // What cannot be written is lost, and what was printed is not.
                let (mut child, mut pipes) = open("exec <&-; echo a");
                child.wait().expect("it ends");
                pipes.write(&sent);
                let mut heard = pipes.read(&mut buffer, LONG);
                while heard.1 == Heard::Nothing {
                    heard = pipes.read(&mut buffer, LONG);
                }
                assert_eq!((heard, &buffer[..2]), ((2, Heard::Bytes), &b"a\n"[..]));
            }
        )* };
    }

    kinds! {
        one_thread_serves_both_pipes: polled,
        each_pipe_has_a_thread: threaded,
    }
}
