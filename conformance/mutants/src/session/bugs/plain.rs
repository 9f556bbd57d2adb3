//! SESSION-VALID and SESSION-PREFIX: what goes wrong with plain threads.
//! SESSION-HANDOFF: threads that are handed over to another agent.

use crate::session::prelude::*;

const FROM_RUN_TO_RUN: &[Shows] = &[Always, ThirdRun, SecondSession, LongThread];

impl SessionGroup {
    /// Changes answers of earlier runs, given as the list and the place of one; what becomes of the list is up to the change.
    fn earlier_answers(self, name: &'static str, change: fn(&mut Vec<Value>, usize)) -> Vec<Planted> {
        self.request(name, move |run, shows| {
            let mut request = sound::request(run);
            if run.number == 0 {
                return request;
            }
            let end = request.iter().rposition(|message| is(message, "human")).unwrap_or_default();
            for index in (0..end).rev().filter(|&index| is(&request[index], "tool")).collect::<Vec<_>>() {
                if is_shown(run, &request, index, shows) {
                    change(&mut request, index);
                }
            }
            request
        })
    }
}

pub(super) fn all() -> Vec<Planted> {
    valid().into_iter().chain(prefix()).collect()
}

/// Returns whether it shows with an answer.
fn is_shown(run: &SessionRun, request: &[Value], answer: usize, shows: Shows) -> bool {
    let place = request[..answer].iter().rev().take_while(|message| is(message, "tool")).count();
    if shows == ThirdCall { place == 2 } else { shows.holds(run) }
}

fn valid() -> Vec<Planted> {
    const ANYWHERE: &[Shows] = &[Always, ThirdRun, ThirdCall, SecondSession, NewStart, LongThread];
    [
        VALID.when(ANYWHERE).earlier_answers("answers-of-earlier-runs-lost", |list, index| drop(list.remove(index))),
        VALID
            .when(ANYWHERE)
            .earlier_answers("answers-of-earlier-runs-doubled", |list, index| list.insert(index, list[index].clone())),
        VALID.when(&[Always, ThirdRun, ThirdCall]).earlier_answers(
            "answers-of-earlier-runs-without-an-id",
            |list, index| {
                list[index].as_object_mut().map(|members| members.remove("tool_call_id"));
            },
        ),
        VALID.when(&[Always, ThirdRun]).earlier_answers(
            "answers-of-earlier-runs-before-their-response",
            |list, index| {
                if !calls(&list[index - 1]).is_empty() {
                    list.swap(index - 1, index);
                }
            },
        ),
        VALID.when(&[Always, ThirdCall]).earlier_answers(
            "answers-of-earlier-runs-behind-the-next-message",
            |list, index| {
                let answer = list.remove(index);
                let message = list[index..].iter().position(|message| is(message, "human"));
                list.insert(message.map_or(list.len(), |message| index + message + 1), answer);
            },
        ),
        VALID.when(FROM_RUN_TO_RUN).later_runs("responses-of-earlier-runs-lost-but-for-their-answers", |_, request| {
            let end = request.iter().rposition(|message| is(message, "human")).unwrap_or_default();
            let mut index = 0;
            request.retain(|message| {
                index += 1;
                index > end || calls(message).is_empty()
            });
        }),
    ]
    .concat()
}

fn prefix() -> Vec<Planted> {
    [
        PREFIX.when(FROM_RUN_TO_RUN).later_runs("note-of-the-run-before-the-history", |run, request| {
            let system = request.len() - run.thread.list.len();
            request.insert(system, json!({"type": "human", "content": format!("[run {}]", run.number + 1)}));
        }),
        PREFIX.when(FROM_RUN_TO_RUN).later_runs("number-of-the-run-in-the-system-message", |run, request| {
            let number = run.number + 1;
            for message in request.iter_mut().filter(|message| is(message, "system")) {
                message["content"] =
                    format!("{} Run {number}.", message["content"].as_str().unwrap_or_default()).into();
            }
        }),
        PREFIX.when(&[Always, ThirdRun, LongThread]).later_runs("ids-renamed-by-the-run", |run, request| {
            let new = |id: &Value| json!(format!("r{}_{}", run.number, id.as_str().unwrap_or_default()));
            let end = own_message(run, request);
            for message in &mut request[..end] {
                calls_mut(message).for_each(|call| call["id"] = new(&call["id"]));
                let parts = message.get_mut("opaque").and_then(Value::as_array_mut).into_iter().flatten();
                parts.filter(|part| part["call"].is_string()).for_each(|part| part["call"] = new(&part["call"]));
                if is(message, "tool") {
                    message["tool_call_id"] = new(&message["tool_call_id"]);
                }
            }
        }),
        PREFIX.when(FROM_RUN_TO_RUN).later_runs("recap-before-the-last-message", |run, request| {
            let last = own_message(run, request);
            // In every later request it stands somewhere else.
            let recap = json!({"type": "human", "content": "The conversation so far is above."});
            request.insert(last, recap);
        }),
        PREFIX.when(FROM_RUN_TO_RUN).message("note-kept-before-each-message", |run, words, shows| {
            sound::message(run, words)?;
            if run.number > 0 && shows.holds(run) {
                let last = run.thread.list.len() - 1;
                run.thread.list.insert(last, json!({"type": "human", "content": "The user is back."}));
            }
            Ok(())
        }),
        PREFIX.when(&[Always, ThirdRun]).later_runs("system-message-last-in-later-runs", |_, request| {
            if request.first().is_some_and(|first| is(first, "system")) {
                request.rotate_left(1);
            }
        }),
    ]
    .concat()
}

/// Returns the place of the message with which a run began, or else of the last one of the user.
fn own_message(run: &SessionRun, request: &[Value]) -> usize {
    let is_own = |message: &Value| is(message, "human") && message["content"] == run.script()["message"];
    let last = || request.iter().rposition(|message| is(message, "human"));
    request.iter().rposition(is_own).or_else(last).unwrap_or_default()
}

const SOMEWHERE: &[Shows] = &[Always, ThirdRun, ThirdCall, SecondSession, LongThread];

/// Does something once a hand-over has been taken, given the place of its response.
fn on_hand_over(agent: &mut SessionAgent, shows: Shows, change: fn(&mut SessionRun, usize)) {
    agent.hand_over = Box::new(move |run, speaker| {
        run.thread.agent = Some(speaker.clone());
        run.thread.notes["over"] = json!(shows.holds(run));
    });
    agent.after_round = Box::new(move |run| {
        if run.thread.notes["over"].take() == true
            && let Some(response) = run.last_round()
        {
            change(run, response);
        }
    });
}

impl SessionGroup {
    /// Does something once a hand-over has been taken, given the place of its response.
    fn handed_over(self, name: &'static str, change: fn(&mut SessionRun, usize)) -> Vec<Planted> {
        self.plant(name, move |agent, shows| on_hand_over(agent, shows, change))
    }

    /// Changes the requests of an agent that is not the first.
    fn others(self, name: &'static str, change: fn(&mut SessionRun, &mut Vec<Value>)) -> Vec<Planted> {
        self.request(name, move |run, shows| {
            let mut request = sound::request(run);
            if sound::is_handed_over(run) && shows.holds(run) {
                change(run, &mut request);
            }
            request
        })
    }
}

pub(super) fn handovers() -> Vec<Planted> {
    [
        HANDOFF.when(SOMEWHERE).plant("hand-overs-left-open", |agent, shows| {
            agent.step = Box::new(move |run, asked| match sound::step(run, asked) {
                CallStep::HandOver(speaker) if shows.holds_for(run, &asked["call"]) => {
                    run.thread.agent = Some(speaker);
                    run.next_agent = None;
                    CallStep::Leave
                }
                step => step,
            });
            agent.mend = Box::new(|_| Vec::new());
        }),
        HANDOFF.when(&[Always, ThirdRun]).step("hand-overs-answered-twice", |run, asked, shows| {
            let step = sound::step(run, asked);
            if matches!(step, CallStep::HandOver(_)) && shows.holds(run) {
                place(&mut run.thread.list, answer(&asked["call"], "Transferred."));
            }
            step
        }),
        HANDOFF.when(SOMEWHERE).plant("siblings-of-hand-overs-left-open", |agent, shows| {
            agent.batches = Box::new(move |run, calls| {
                let is_over = run.last_round().is_some_and(|response| {
                    let made = list(&run.thread.list[response]["tool_calls"]);
                    made.iter().any(|call| call["name"].as_str().is_some_and(|name| name.starts_with("transfer_to_")))
                });
                let kept = calls.iter().filter(|call| !is_over || !shows.holds_for(run, call)).cloned();
                vec![kept.collect()]
            });
            agent.mend = Box::new(|_| Vec::new());
        }),
        HANDOFF.plant("second-hand-over-of-a-response-left-open", |agent, _| {
            agent.step = Box::new(|run, asked| match sound::step(run, asked) {
                CallStep::Tell(_) if asked["made"]["handoff"].is_string() => CallStep::Leave,
                step => step,
            });
            agent.mend = Box::new(|_| Vec::new());
        }),
        HANDOFF.when(SOMEWHERE).others("system-message-of-the-first-agent-stays", |run, request| {
            request.retain(|message| !is(message, "system"));
            request.splice(0..0, sound::system_of(&run.input));
        }),
        HANDOFF.when(&[Always, ThirdRun, LongThread]).others("system-messages-of-both-agents", |run, request| {
            request.splice(0..0, sound::system_of(&run.input));
        }),
        HANDOFF.others("system-messages-of-both-agents-joined", |run, request| {
            let first = run.input["system"].as_str().unwrap_or_default().to_owned();
            for message in request.iter_mut().filter(|message| is(message, "system")) {
                let own = message["content"].as_str().unwrap_or_default();
                message["content"] = format!("{first}\n\n{own}").into();
            }
        }),
        HANDOFF.when(&[Always, ThirdRun]).others("no-system-message-after-a-hand-over", |_, request| {
            request.retain(|message| !is(message, "system"))
        }),
        HANDOFF.when(SOMEWHERE).handed_over("words-of-the-user-not-handed-over", |run, _| {
            let last = run.last("human");
            last.map(|last| run.thread.list.remove(last));
        }),
        HANDOFF
            .when(&[Always, ThirdRun])
            .handed_over("only-the-round-handed-over", |run, response| drop(run.thread.list.drain(..response))),
        HANDOFF
            .when(&[Always, ThirdRun, ThirdCall])
            .handed_over("answers-handed-over-without-their-response", |run, response| {
                drop(run.thread.list.remove(response))
            }),
        HANDOFF.when(&[Always, ThirdRun]).plant("response-handed-over-without-its-answers", |agent, shows| {
            on_hand_over(agent, shows, |run, response| {
                let answers = answers_behind(&run.thread.list, response);
                run.thread.list.drain(answers);
            });
            agent.mend = Box::new(|_| Vec::new());
        }),
        HANDOFF.hand_over("system-message-of-the-agent-before-after-a-second-hand-over", |run, speaker, _| {
            run.thread.agent.get_or_insert_with(|| speaker.clone());
        }),
    ]
    .concat()
}
