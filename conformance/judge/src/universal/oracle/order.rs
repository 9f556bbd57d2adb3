//! AGENT-ORDER: answers are in call order.

use crate::universal::course::Course;
use crate::universal::finding::{Findings, at};
use threadspec::surrogates::without_marks;
use threadspec_golden::clause;

pub(super) fn judge(course: &Course<'_>, findings: &mut Findings) {
    if !course.pairs_up() {
        return;
    }
    for round in &course.rounds {
        let places = round.calls.iter().filter_map(|asked| Some((asked, asked.answers.first()?.index)));
        let places: Vec<_> = places.collect();
        if let Some([(before, _), (asked, place)]) = places.windows(2).find_map(|pair| match pair {
            [one, other] if one.1 > other.1 => Some([*one, *other]),
            _ => None,
        }) {
            let what = format!(
                "`{}` is answered before `{}`",
                without_marks(asked.call.id()),
                without_marks(before.call.id())
            );
            findings.add(clause::AGENT_ORDER, format!("{}: {what}, which was called first", at(round.turn + 1, place)));
        }
    }
}
