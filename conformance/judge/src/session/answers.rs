//! Finds the calls of a response in a request, and the answers to them.

use super::judging::{Judging, RequestPlace};
use super::layout::{RequestLayout, sent_calls};
use super::naming::{AnswerFault, clause_of, image};
use super::script::CallKind;
use super::thread::{CallFate, JudgedThread};
use crate::universal::halves::{arrived, arrived_inside};
use crate::universal::oracle::of_answer;
use crate::universal::script::CallOutcome;
use crate::universal::value::{equal, quote_text, read_inside, text_became};
use serde_json::Value;
use threadspec::surrogates::without_marks;
use threadspec_golden::clause;

impl Judging<'_> {
    /// Judges which calls of a response are there, and as what.
    pub(super) fn judge_calls(
        &mut self,
        place: RequestPlace,
        index: usize,
        at: usize,
        layout: &RequestLayout<'_>,
        sent: &[Option<usize>],
    ) {
        let block = &layout.blocks[at];
        let place_of = place.at(Some(block.index));
        let is_own = self.thread.items[index].run == place.run;
        let changed = if is_own { clause::AGENT_RESPONSE } else { clause::SESSION_SAID_ONCE };
        for (number, &there) in sent.iter().enumerate() {
            let Some(call) = self.thread.call((index, number)) else { continue };
            let id = without_marks(&call.said.id).into_owned();
            let Some(there) = there else {
                if !call.is_gone {
                    self.gone(place, (index, number), &place_of);
                }
                continue;
            };
            let (now, is_raw) = (&block.message.calls[there], block.extras.raw.get(there) == Some(&true));
            match &call.said.kind {
                CallKind::Raw { .. } => {
                    if is_raw {
                        self.note(&format!(
                            "{place_of}: the arguments of `{id}`, which are no JSON object, are sent back raw: strict servers refuse \
                             that (OAI-CHAT-ARGS-JSON)"
                        ));
                    }
                }
                CallKind::Plain(args) if !self.thread.items[index].differs => {
                    let is_edited = equal(&call.args(), &now.args, self.abilities.exact_integers);
                    let what = if !arrived(&call.said.name, now.name()) {
                        let (name, now) = (quote_text(&call.said.name), quote_text(now.name()));
                        Some(format!("the call `{id}` of {name} names {now}"))
                    } else if !is_edited && !equal(args, &now.args, self.abilities.exact_integers) {
                        Some(format!("the arguments of `{id}`, {args}, became {}", now.args))
                    } else {
                        None
                    };
                    if let Some(what) = what {
                        self.thread.items[index].differs = true;
                        self.add(changed, format!("{place_of}: {what}"));
                    }
                }
                CallKind::HandOver(_) | CallKind::Plain(_) => {}
            }
        }
        let strange = (0..block.message.calls.len()).find(|at| !sent.contains(&Some(*at)));
        if let Some(strange) = strange.filter(|_| !self.thread.items[index].differs) {
            let id = without_marks(block.message.calls[strange].id()).into_owned();
            self.thread.items[index].differs = true;
            self.add(changed, format!("{place_of}: the response has no call `{id}`"));
        }
    }

    /// A call is left out of a response that is there.
    fn gone(&mut self, place: RequestPlace, (index, number): (usize, usize), place_of: &str) {
        if let Some(call) = self.thread.call_mut((index, number)) {
            call.is_gone = true;
        }
        let item = &self.thread.items[index];
        let (Some(response), Some(call)) = (item.response(), self.thread.call((index, number))) else { return };
        let id = without_marks(&call.said.id);
        let what = format!("{place_of}: the call `{id}` is left out of its response");
        let is_open_cut = response.is_open_cut();
        let returned = response.had_returned(call);
        let clause = if call.said.is_raw() && call.passed.is_none() && !is_open_cut {
            clause::SESSION_RAW
        } else if self.compacts(place.run) && call.decision.as_ref().is_some_and(|decided| decided.run == place.run) {
            // It waited when the thread was compacted.
            clause::SESSION_COMPACT
        } else if call.is_denied() || (returned || !is_open_cut) && call.is_approved() {
            clause_of(&self.thread, (index, number), place.run, AnswerFault::Pairing)
        } else if call.passed.is_some() || response.is_passed() {
            if !call.has_returned(place.run) {
                return;
            }
            clause::SESSION_PENDING
        } else if is_open_cut && !returned {
            return;
        } else if index < self.thread.compacted {
            clause::SESSION_COMPACT_WHOLE
        } else if is_open_cut {
            let what = format!("{what}, though it had returned");
            return self.add(clause::SESSION_WHOLE, what);
        } else {
            match clause_of(&self.thread, (index, number), place.run, AnswerFault::Pairing) {
                clause::SESSION_VALID => clause::SESSION_SAID_ONCE,
                clause::AGENT_ANSWERED => clause::AGENT_RESPONSE,
                clause => clause,
            }
        };
        self.add(clause, what);
    }

    /// Judges whether each call is answered once, and how.
    pub(super) fn judge_answers(
        &mut self,
        place: RequestPlace,
        index: usize,
        at: usize,
        layout: &RequestLayout<'_>,
        sent: &[Option<usize>],
    ) {
        let block = &layout.blocks[at];
        let mut answers: Vec<Vec<usize>> = vec![Vec::new(); sent.len()];
        for &answer in &block.answers {
            let message = &layout.request.messages[answer];
            let id = message.call_id.as_deref();
            let names = |number: &usize| {
                sent[*number].is_some_and(|there| id.is_some_and(|id| block.message.calls[there].id() == id))
            };
            // Of several calls with one id, each gets an answer before any gets a second one.
            let fewest = (0..sent.len()).filter(names).min_by_key(|number| answers[*number].len());
            match fewest {
                Some(number) => answers[number].push(answer),
                None => self.orphan(place, answer, layout),
            }
        }
        for (number, answers) in answers.iter().enumerate() {
            let Some(call) = self.thread.call((index, number)) else { continue };
            if sent[number].is_none() {
                continue;
            }
            let id = without_marks(&call.said.id).into_owned();
            let what = match &answers[..] {
                [answer] => {
                    self.judge_answer(place, (index, number), *answer, layout);
                    continue;
                }
                [] => format!("{}: the call `{id}` is not answered{}", place.at(Some(block.index)), Self::became(call)),
                [_, second, ..] => format!("{}: `{id}` is answered twice", place.at(Some(*second))),
            };
            if !call.is_reported {
                let clause = clause_of(&self.thread, (index, number), place.run, AnswerFault::Pairing);
                self.add_pairing(clause, what);
                if let Some(call) = self.thread.call_mut((index, number)) {
                    call.is_reported = true;
                }
            }
        }
    }

    /// Keeps what a request says of the calls of a response that others judge.
    pub(super) fn hear_answers(&mut self, place: RequestPlace, index: usize, at: usize, layout: &RequestLayout<'_>) {
        let block = &layout.blocks[at];
        let Some(response) = self.thread.items[index].response() else { return };
        let sent = sent_calls(&response.calls, block.message);
        for (number, there) in sent.into_iter().enumerate() {
            let Some(id) = there.map(|there| block.message.calls[there].id()) else { continue };
            let is_it = |answer: &&usize| layout.request.messages[**answer].call_id.as_deref() == Some(id);
            let content =
                block.answers.iter().find(is_it).map(|answer| layout.request.messages[*answer].content.clone());
            if let (Some(content), Some(call)) = (content, self.thread.call_mut((index, number))) {
                call.answer = Some((place.run, content));
            }
        }
    }

    /// Describes the fate of a call that is not answered, to be appended.
    fn became(call: &CallFate<'_>) -> &'static str {
        if call.is_denied() {
            ", which was denied"
        } else if call.is_approved() {
            ", which was approved"
        } else if call.is_pending || call.passed.is_some() {
            ", which was pending"
        } else if call.executions.iter().any(|(_, returned)| *returned) {
            ", which had returned"
        } else if call.executions.is_empty() {
            ", which was not executed"
        } else {
            ", which was cut"
        }
    }

    /// An answer that is behind no call.
    pub(super) fn orphan(&mut self, place: RequestPlace, answer: usize, layout: &RequestLayout<'_>) {
        let message = &layout.request.messages[answer];
        let id = message.call_id.as_deref().unwrap_or_default();
        let found = self.thread.calls().rev().find(|(at, call)| at.0 < layout.block_of.len() && call.said.id == id);
        let found = found.map(|(at, call)| (at, call.is_reported));
        let what = format!(
            "{}: it answers `{}`, which is no call of the message before",
            place.at(Some(answer)),
            without_marks(id)
        );
        match found {
            Some((at, false)) => {
                let clause = clause_of(&self.thread, at, place.run, AnswerFault::Pairing);
                self.add_pairing(clause, what);
                if let Some(call) = self.thread.call_mut(at) {
                    call.is_reported = true;
                }
            }
            None if self.strange.insert(id.to_owned()) => self.add_pairing(clause::SESSION_VALID, what),
            // It is what is missing elsewhere, or repeats what was named.
            Some((_, true)) | None => {}
        }
    }

    fn judge_answer(&mut self, place: RequestPlace, at: (usize, usize), answer: usize, layout: &RequestLayout<'_>) {
        let content = layout.request.messages[answer].content.clone();
        let Some(call) = self.thread.call(at) else { return };
        let is_told_before = matches!(&call.answer, Some((run, _)) if *run < place.run)
            || call.answer.is_some() && self.thread.items[at.0].run == place.run;
        let what = if call.is_reported {
            None
        } else if is_told_before {
            self.changed(at, content.as_deref(), layout)
        } else {
            self.first_answer(place, at, content.as_deref(), layout)
        };
        if let Some((clause, what)) = what {
            let clause = clause.unwrap_or_else(|| clause_of(&self.thread, at, place.run, AnswerFault::Content));
            self.add(clause, format!("{}: {what}", place.at(Some(answer))));
            if let Some(call) = self.thread.call_mut(at) {
                call.is_reported = true;
            }
        }
        if let Some(call) = self.thread.call_mut(at) {
            call.answer = Some((place.run, content));
        }
    }

    /// An answer that earlier requests had.
    fn changed(
        &self,
        at: (usize, usize),
        content: Option<&str>,
        layout: &RequestLayout<'_>,
    ) -> Option<(Option<&'static str>, String)> {
        let call = self.thread.call(at)?;
        let (_, before) = call.answer.as_ref()?;
        let (before, now) = (before.as_deref().unwrap_or_default(), content.unwrap_or_default());
        let is_same = arrived(before, now)
            || matches!((read_inside(before), read_inside(now)), (Ok(one), Ok(other)) if !one.is_string() && equal(&one, &other, true))
            || self.is_result(call, content);
        let is_shortened = at.0 < self.thread.compacted.max(self.thread.filtered)
            && !is_garbled(before, now)
            && !self.thread.is_result_of_another(at, now, layout.block_of.len());
        if is_same || is_shortened {
            return None;
        }
        let id = without_marks(&call.said.id);
        Some((None, format!("the answer to `{id}`: {}", text_became(before, Some(now)))))
    }

    fn is_result(&self, call: &CallFate<'_>, content: Option<&str>) -> bool {
        let CallOutcome::Result(result) = self.thread.outcome(call) else { return false };
        of_answer(result, content, self.thread.session.has_huge_numbers, self.abilities.exact_integers).is_empty()
    }

    /// The first answer to a call.
    fn first_answer(
        &mut self,
        place: RequestPlace,
        at: (usize, usize),
        content: Option<&str>,
        layout: &RequestLayout<'_>,
    ) -> Option<(Option<&'static str>, String)> {
        let call = self.thread.call(at)?;
        if image(&self.thread, at).is_some() {
            // SESSION-IMAGE says what it must hold.
            return None;
        }
        let (id, now) = (without_marks(&call.said.id).into_owned(), content.unwrap_or_default());
        // Compaction may shorten what it keeps.
        let may_be_shortened = (self.compacts(place.run) || at.0 < self.thread.compacted) && !now.trim().is_empty();
        let returned = call.has_returned(place.run);
        let may_be_told = call.said.is_hand_over()
            || self.thread.items[at.0].response().is_some_and(super::thread::ResponseFate::has_hand_over)
            || call.said.is_raw();
        let outcome = self.thread.outcome(call);
        let is_result = self.is_result(call, content);
        let is_nothing = matches!(outcome, CallOutcome::Result(Value::String(result)) if result.trim().is_empty());
        let of_another = |thread: &JudgedThread<'_>| thread.is_result_of_another(at, now, layout.block_of.len());
        let another =
            || Some((None, format!("`{id}` is answered with the result of another call: {}", quote_text(now))));
        if call.is_denied() {
            if is_result && !is_nothing {
                return Some((None, format!("`{id}`, which was denied, is answered with its result")));
            }
            let is_new = call.decision.as_ref().is_some_and(|decided| decided.run == place.run);
            let reason = call.denial_reason().filter(|_| is_new || !may_be_shortened).map(str::to_owned);
            if let Some(reason) = reason.filter(|reason| !is_named(reason, now)) {
                let what = format!(
                    "{}: the answer to `{id}` does not hold the reason {}: {}",
                    place.at(None),
                    quote_text(&reason),
                    quote_text(now)
                );
                self.add_reason(what);
            }
            return if of_another(&self.thread) { another() } else { None };
        }
        if returned && !call.is_denied() {
            let is_garbled = matches!(outcome, CallOutcome::Result(Value::String(result)) if is_garbled(result, now));
            if is_result || (may_be_told || may_be_shortened) && !is_garbled && !of_another(&self.thread) {
                return None;
            }
            let CallOutcome::Result(result) = outcome else {
                return if of_another(&self.thread) { another() } else { None };
            };
            let has_note = call.approved_args().is_some();
            let is_noted = match result {
                Value::String(text) => arrived_inside(text, now),
                other => now.contains(&other.to_string()),
            };
            if has_note && is_noted {
                return None;
            }
            let found = of_answer(result, content, self.thread.session.has_huge_numbers, self.abilities.exact_integers);
            let what = found.first().map(|difference| difference.what.clone()).unwrap_or_default();
            let had = if self.thread.items[at.0].run == place.run { "" } else { ", which had returned" };
            return Some((None, format!("`{id}`{had}: {what}")));
        }
        let is_invented = is_result && !is_nothing && (call.passed.is_some() || call.said.is_raw());
        if is_invented {
            return Some((None, format!("`{id}`, which was not executed, is answered with its result")));
        }
        if of_another(&self.thread) {
            return another();
        }
        let is_skipped = !is_result && self.is_skipped_for_raw(place, at);
        is_skipped.then(|| {
            let what =
                format!("`{id}`, beside a call whose arguments are no JSON object, is answered without being executed");
            (Some(clause::SESSION_RAW), what)
        })
    }

    /// Returns whether a call could have been executed, and was not, in a run that went on and whose response has raw arguments.
    fn is_skipped_for_raw(&self, place: RequestPlace, at: (usize, usize)) -> bool {
        let (item, Some(call)) = (&self.thread.items[at.0], self.thread.call(at)) else { return false };
        let is_due = item.run == place.run
            && item.response().is_some_and(|response| {
                response.has_raw() && !response.has_hand_over() && !response.waits() && !response.is_open_cut()
            });
        is_due
            && matches!(call.said.kind, CallKind::Plain(_))
            && call.executions.is_empty()
            && matches!(self.thread.outcome(call), CallOutcome::Result(_))
    }
}

/// Returns whether a text is another one with some characters changed. It is neither shortened then, nor told in other words.
pub(super) fn is_garbled(before: &str, now: &str) -> bool {
    let is_like = |(one, other): &(char, char)| {
        one.to_lowercase().eq(other.to_lowercase()) || !one.is_ascii() && matches!(other, '?' | '\u{fffd}')
    };
    let alike = before.chars().zip(now.chars()).filter(is_like).count();
    let length = before.chars().count();
    before != now && length == now.chars().count() && alike > 0 && alike * 2 >= length
}

/// Returns whether a text names a reason, as it is or escaped.
fn is_named(reason: &str, text: &str) -> bool {
    let json = Value::from(reason).to_string();
    arrived_inside(reason.trim(), text) || text.contains(&json[1..json.len() - 1])
}
