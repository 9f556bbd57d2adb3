//! AGENT-HISTORY: a given list with an unanswered call or an orphan is fixed or refused, never sent as it is.

use crate::universal::course::Course;
use crate::universal::finding::{Findings, at};
use crate::universal::halves::{arrived, arrived_inside};
use crate::universal::message::{AgentMessage, Speaker};
use crate::universal::valid;
use crate::universal::value::quote_text;
use threadspec_golden::clause;

pub(super) fn judge(course: &Course<'_>, findings: &mut Findings) {
    let (given, Some(request)) = (&course.script.given, course.record.requests.first()) else { return };
    if !valid::faults(given).iter().any(|fault| fault.pairing) {
        return;
    }
    for fault in valid::faults(request).into_iter().filter(|fault| fault.pairing) {
        findings.add(clause::AGENT_HISTORY, format!("{}: {}", at(0, fault.index), fault.what));
    }
    for role in [Speaker::System, Speaker::Human] {
        let texts = texts(given, role);
        let sent: Vec<&str> =
            request.iter().filter(|message| message.speaker == role).map(AgentMessage::text).collect();
        if let Some(lost) = lost(&texts, &sent, |text, sent| arrived(text, sent) || arrived_inside(text, sent)) {
            let who = if role == Speaker::System { "system" } else { "human" };
            findings.add(
                clause::AGENT_HISTORY,
                format!("request 1: the {who} message {} of the given list is lost", quote_text(lost)),
            );
        }
    }
    let said: Vec<&str> = texts(given, Speaker::Ai).into_iter().filter(|text| !text.trim().is_empty()).collect();
    let sent: Vec<&str> =
        request.iter().filter(|message| message.speaker == Speaker::Ai).map(AgentMessage::text).collect();
    if let Some(lost) = lost(&said, &sent, arrived_inside) {
        findings.add(
            clause::AGENT_HISTORY,
            format!("request 1: the assistant's text {} of the given list is lost", quote_text(lost)),
        );
    }
}

fn texts(list: &[AgentMessage], role: Speaker) -> Vec<&str> {
    list.iter().filter(|message| message.speaker == role).map(AgentMessage::text).collect()
}

/// The first text that is not among those sent, in order; several may be in one message.
fn lost<'a>(texts: &[&'a str], sent: &[&str], fits: impl Fn(&str, &str) -> bool) -> Option<&'a str> {
    let mut place = 0;
    for text in texts {
        let Some(found) = (place..sent.len()).find(|&index| fits(text, sent[index])) else { return Some(text) };
        // A text that is only a part of a message may be joined with the next one: look there again.
        place = if sent[found].len() > text.len() { found } else { found + 1 };
    }
    None
}
