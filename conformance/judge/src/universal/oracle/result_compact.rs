//! AGENT-RESULT-COMPACT: characters from U+0080 up inside a structured result are not escaped.

use crate::universal::course::Course;
use crate::universal::finding::{Findings, at};
use crate::universal::script::CallOutcome;
use crate::universal::value::read_inside;
use threadspec_golden::clause;

pub(super) fn judge(course: &Course<'_>, findings: &mut Findings) {
    if !course.pairs_up() {
        return;
    }
    for round in &course.rounds {
        for asked in &round.calls {
            let CallOutcome::Result(result) = course.script.outcome(asked.call) else { continue };
            for answer in asked.answers.iter().filter(|_| !result.is_string()) {
                let text = answer.message.text();
                if let Some(escape) = needless_escape(text).filter(|_| read_inside(text).is_ok()) {
                    let place = at(round.turn + 1, answer.index);
                    findings.add(clause::AGENT_RESULT_COMPACT, format!("{place}: `{escape}` is escaped without need"));
                }
            }
        }
    }
}

/// The first escape in JSON text of a character from U+0080 up that could be there itself.
fn needless_escape(json: &str) -> Option<&str> {
    let mut at = 0;
    while let Some(offset) = json[at..].find('\\') {
        at += offset;
        let unit = |at: usize| {
            let digits = json.get(at..at + 6)?.strip_prefix("\\u")?;
            u32::from_str_radix(digits, 16).ok()
        };
        match (unit(at), unit(at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => return json.get(at..at + 12),
            (Some(0..=0x9f | 0x2028 | 0x2029 | 0xd800..=0xdfff), _) => at += 6,
            (Some(_), _) => return json.get(at..at + 6),
            (None, _) => at += 1 + json[at + 1..].chars().next().map_or(0, char::len_utf8),
        }
    }
    None
}
