//! Serving what is planted on stdin and stdout.

use crate::deeds::say;
use crate::planted::{Kind, Misbehaviour, OnSession, Planted, When};
use crate::threads::SessionAgent;
use crate::together::Together;
use std::io::{self, BufReader, Write};
use std::time::Instant;
use threadspec_judge::reference::Reference;
use threadspec_runner::{Served, Testee, serve, serve_together};

impl Planted {
    /// Answers protocol requests from stdin on stdout until they end, or until a script kills the process.
    ///
    /// # Errors
    ///
    /// When stdin or stdout fails.
    pub fn serve(&self) -> io::Result<Served> {
        match self.kind {
            Kind::Clash(_) => {
                let agent = Together::new(Some(self));
                let requests = BufReader::new(io::stdin());
                serve_together(agent.hello(), |requests| agent.answer(requests), requests, io::stdout().lock())?;
                Ok(Served::All)
            }
            Kind::Misbehaviour(how) => misbehave(how),
            Kind::SessionBug(OnSession(plant))
            | Kind::SessionLapse(OnSession(plant))
            | Kind::SessionReading(OnSession(plant)) => {
                let mut agent = SessionAgent::on_disk();
                plant(&mut agent);
                serve(&mut agent, io::stdin().lock(), io::stdout().lock())
            }
            _ => serve(&mut self.implementation(), io::stdin().lock(), io::stdout().lock()),
        }
    }
}

fn misbehave(how: Misbehaviour) -> io::Result<Served> {
    let mut replies = MisbehavingLines { how, number: 0, line: Vec::new(), last: Vec::new(), written: Instant::now() };
    let served = serve(&mut Reference, BufReader::new(io::stdin().lock()), &mut replies)?;
    if served == Served::All && how.when == When::End {
        tell_that_it_begins();
        (how.how)(&replies.last);
    }
    Ok(served)
}

/// Makes the file that the variable `DEED_BEGINS` names, so that a test need not guess when a deed is done.
fn tell_that_it_begins() {
    if let Some(path) = std::env::var_os("DEED_BEGINS") {
        let _ = std::fs::write(path, "");
    }
}

/// Stdout, with the deed in place of some of the lines.
struct MisbehavingLines {
    how: Misbehaviour,
    /// The number of the request that is answered; 0 is the hello.
    number: usize,
    line: Vec<u8>,
    last: Vec<u8>,
    /// When the last line was written.
    written: Instant,
}

impl Write for MisbehavingLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        let is_it = match self.how.when {
            When::Always => self.number > 0,
            When::Hello => self.number == 0,
            When::Request(number) => self.number == number,
            When::Every(number) => self.number > 0 && self.number.is_multiple_of(number),
            When::Pause(pause) => self.number > 0 && self.written.elapsed() >= pause,
            When::Text(text) => String::from_utf8_lossy(&line).contains(&format!("\"{text}\"")),
            When::End => false,
        };
        if is_it {
            tell_that_it_begins();
            (self.how.how)(&line);
        } else {
            say(&line);
        }
        self.number += 1;
        (self.last, self.written) = (line, Instant::now());
        Ok(())
    }
}
