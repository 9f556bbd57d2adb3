//! SESSION-STEER: what the user says while a tool works.

use crate::session::prelude::*;
use crate::threads::sound::say;

const STEER: SessionGroup = breaking(&[clause::SESSION_STEER]);

/// Inserts the words before the messages behind the last response: so many of them.
fn insert(run: &mut SessionRun, words: &str, behind: usize) {
    let at = run.last_round().map_or(0, |response| response + behind);
    run.thread.list.insert(at, json!({"type": "human", "content": words}));
}

impl SessionGroup {
    /// Takes the user's words otherwise.
    fn steers(self, name: &'static str, take: fn(&mut SessionRun, &str)) -> Vec<Planted> {
        self.steer(name, move |run, words, shows| if shows.holds(run) { take(run, words) } else { say(run, words) })
    }

    /// Adds the words that were kept aside to a request.
    fn kept_aside(self, name: &'static str, is_once: bool) -> Vec<Planted> {
        self.plant(name, move |agent, _| {
            agent.steer = Box::new(|run, words| run.thread.notes = words.as_str().into());
            agent.request = Box::new(move |run| {
                let mut request = sound::request(run);
                if let Some(words) = run.thread.notes.as_str().map(str::to_owned) {
                    request.push(json!({"type": "human", "content": words}));
                    if is_once {
                        run.thread.notes = Value::Null;
                    }
                }
                request
            });
        })
    }
}

pub(super) fn all() -> Vec<Planted> {
    [
        STEER.when(&[Always, ThirdCall]).steers("words-during-a-call-lost", |_, _| {}),
        STEER.steers("words-during-a-call-before-its-answer", |run, words| insert(run, words, 1)),
        STEER.steer("words-during-parallel-calls-between-their-answers", |run, words, _| {
            if ThirdCall.holds(run) { insert(run, words, 2) } else { say(run, words) }
        }),
        STEER.steers("words-during-a-call-before-its-response", |run, words| insert(run, words, 0)),
        STEER.steers("words-during-a-call-said-twice", |run, words| (0..2).for_each(|_| say(run, words))),
        STEER.kept_aside("words-during-a-call-in-one-request-alone", true),
        STEER.kept_aside("words-during-a-call-behind-every-request", false),
        STEER.when(&[Always, NewStart]).plant("words-during-a-call-said-again-by-the-next-run", |agent, shows| {
            agent.steer = Box::new(|run, words| {
                say(run, words);
                run.thread.notes = words.as_str().into();
            });
            agent.message = Box::new(move |run, words| {
                if let Some(words) = run.thread.notes.as_str().filter(|_| shows.holds(run)).map(str::to_owned) {
                    say(run, &words);
                    run.thread.notes = Value::Null;
                }
                sound::message(run, words)
            });
        }),
        STEER.steers("words-during-a-call-in-its-result", |run, words| {
            if let Some(answer) = run.thread.list.last_mut() {
                answer["content"] = format!("{}\n\n{words}", text(&answer["content"])).into();
            }
        }),
        STEER.steers("words-during-a-call-that-fails-lost", |run, words| {
            if !run.thread.list.last().is_some_and(|answer| text(&answer["content"]).contains("address unknown")) {
                say(run, words);
            }
        }),
        STEER.steers("words-during-a-call-lost-if-they-were-said-before", |run, words| {
            if run.thread.list.iter().all(|message| message["content"] != words) {
                say(run, words);
            }
        }),
        STEER.steers("words-during-a-call-escaped", |run, words| {
            say(run, &words.replace('&', "&amp;").replace('<', "&lt;"))
        }),
        STEER.steers("words-during-a-call-in-place-of-the-message", |run, words| {
            if let Some(first) = run.thread.list.iter().rposition(|message| is(message, "human")) {
                run.thread.list[first]["content"] = words.into();
            }
        }),
        STEER.message("words-during-a-call-lost-with-a-run-that-is-cut", |run, words, _| {
            if BY_CANCEL.holds(run) {
                let first = run.thread.list.iter().position(|message| is(message, "human"));
                let mut at = 0;
                run.thread.list.retain(|message| {
                    at += 1;
                    !is(message, "human") || Some(at - 1) == first
                });
            }
            sound::message(run, words)
        }),
        STEER.request("words-during-a-call-gone-behind-four-rounds", |run, _| {
            let mut request = sound::request(run);
            let own = request.iter().rposition(|message| is(message, "human"));
            let is_far = |own: &usize| request[*own..].iter().filter(|message| !calls(message).is_empty()).count() > 4;
            if let Some(own) = own.filter(is_far).filter(|own| is(&request[own - 1], "tool")) {
                request.remove(own);
            }
            request
        }),
    ]
    .concat()
}
