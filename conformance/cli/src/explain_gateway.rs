//! Explains, for `threadspec explain`, the effect on users of a clause of gateways.

use threadspec_golden::clause;
use threadspec_judge::corpus::Clause;
use threadspec_report::terminal::{STRONG, styled};

/// For each clause what the users of an agent behind a gateway see, who see neither of its sides.
const SEEN: [(&str, &str); 25] = [
    (
        clause::GATE_FORWARD,
        "A conversation that works without the gateway fails behind it, or costs twice, because the gateway repeats or \
         adds requests.",
    ),
    (
        clause::GATE_MESSAGES,
        "The model misses a message, answers an old question, or reads something twice. The agent's log shows the right history.",
    ),
    (
        clause::GATE_CALLS,
        "The model sees another call than it made: it repeats it, or trusts a result that belongs to other arguments.",
    ),
    (
        clause::GATE_CALLS_EXACT,
        "An id of a database ends in other digits: the wrong record is read, or none is found. It happens with large ids alone.",
    ),
    (
        clause::GATE_IDS,
        "Results are exchanged between calls, a call is lost, or the provider refuses the request. It depends on the model behind the gateway, \
         since each gives ids of another form.",
    ),
    (
        clause::GATE_RESULT,
        "The model reads another text than the tool wrote: a price without its zero, `null` for nothing, JSON in other words. Tools that compare \
         texts fail.",
    ),
    (
        clause::GATE_TEXT,
        "Code loses its indentation, a prompt its signs, a text its letters; the model answers about the changed text.",
    ),
    (
        clause::GATE_INVENTED,
        "The model repeats a sentence that nobody wrote, such as a remark on an empty message, or stops because it takes such a sentence for an \
         order. An answer holds text that the model never sent.",
    ),
    (
        clause::GATE_MEDIA,
        "The model describes a picture that it was never shown, or the window is full of a hundred thousand letters of base64.",
    ),
    (
        clause::GATE_TOOLS,
        "The model calls a tool without required arguments, with values that do not exist, or by a name that no tool has.",
    ),
    (
        clause::GATE_TOOLS_FULL,
        "The model guesses what a tool is for, and invents members that the schema had closed out.",
    ),
    (
        clause::GATE_CHOICE,
        "An agent that demands a call gets a text, one that can run a single call gets three, an answer is longer or shorter than it was asked \
         for.",
    ),
    (
        clause::GATE_OPAQUE,
        "With thinking switched on, the second request of a turn is refused, or the model thinks everything over again, which costs.",
    ),
    (
        clause::GATE_VALID,
        "The provider refuses a request that was right when it was sent. The words of the error are about a request that the user never saw.",
    ),
    (
        clause::GATE_SAID,
        "One of three calls runs, arguments are `{}`, a text ends early. In the other mode, plain or streaming, it works.",
    ),
    (
        clause::GATE_STREAM,
        "The client's SDK throws in the middle of an answer, or joins parts of different answers. It depends on how the network cuts the \
         bytes.",
    ),
    (
        clause::GATE_CUT,
        "Half an answer looks like a whole one: half a file is written, a command runs with half of its arguments, and nobody tries again.",
    ),
    (
        clause::GATE_STOP,
        "An answer ends in the middle of a sentence, and the agent takes it for finished, since no limit is reported.",
    ),
    (clause::GATE_STOP_CALLS, "An agent that looks at the reason shows the text and never runs the calls."),
    (
        clause::GATE_STATUS,
        "A wrong key is tried again for minutes, a limit that passes ends the run, or everything is `500 Something went wrong`.",
    ),
    (
        clause::GATE_WORDS,
        "A client that shortens the history when it reads `maximum context length` does nothing, and the user reads that something went wrong.",
    ),
    (
        clause::GATE_WAIT,
        "Behind a limit all clients come back at once, again and again, and the limit holds for longer.",
    ),
    (clause::GATE_THINKING, "The model's thinking is not shown, so a long pause looks like a hang."),
    (
        clause::GATE_CACHE,
        "Each request is slow and costs as much as the whole conversation: the provider's cache serves only what begins like the one before.",
    ),
    (
        clause::GATE_INDEPENDENT,
        "Somebody else's failure ends a run, an answer comes out of another conversation, or it works again five seconds later.",
    ),
];

/// Returns the effect on users of a breach of a clause, if it is one of gateways.
pub(crate) fn seen_text(clause: &Clause) -> Option<String> {
    let (_, seen) = SEEN.iter().find(|(id, _)| *id == clause.id)?;
    Some(format!("{}\n  {seen}\n\n", styled(STRONG, "what users see")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadspec_judge::corpus::embedded;

    #[test]
    fn each_clause_of_gateways_says_what_users_see() {
        let clauses = embedded().0.clauses.iter().filter(|clause| clause.id.starts_with("GATE-"));
        let told: Vec<&str> = clauses
            .map(|clause| {
                assert!(seen_text(clause).is_some(), "nothing is said of {}", clause.id);
                clause.id.as_str()
            })
            .collect();
        assert_eq!(told, SEEN.map(|(id, _)| id));
        assert_eq!(embedded().0.clause(clause::AGENT_VALID).and_then(seen_text), None);
    }
}
