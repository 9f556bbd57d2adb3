//! Explains, for `threadspec explain`, the effect on users of a clause of sessions or gateways.

use std::fmt::Write;
use threadspec_golden::{clause, provider_rules};
use threadspec_judge::corpus::Clause;
use threadspec_report::terminal::{STRONG, styled};

/// The effect of a breach on users, and the rules by which their provider refuses the thread.
type BreachSeen = (&'static str, &'static str, &'static [&'static str]);

const UNANSWERED: &[&str] = &["OAI-CHAT-ANSWERED", "OAI-RESP-ANSWERED", "ANT-ANSWERED"];
const ORPHANED: &[&str] = &["OAI-CHAT-ORPHAN", "OAI-RESP-ORPHAN", "ANT-ORPHAN"];

const OF_SESSIONS: &[BreachSeen] = &[
    (
        clause::SESSION_VALID,
        "The next message gets an error of the provider instead of an answer, and so does every message after it. The thread is dead, and only \
         a new one helps.",
        &["OAI-CHAT-ANSWERED", "OAI-CHAT-ORPHAN", "ANT-ANSWERED", "ANT-ORPHAN"],
    ),
    (
        clause::SESSION_CUT,
        "After a stop, a crash or a limit the thread is unusable: each message fails, or nothing happens, without advice.",
        UNANSWERED,
    ),
    (
        clause::SESSION_ANSWERED,
        "Somebody pressed stop while a tool worked, the tool threw, or the process was killed. The call has no answer, so the provider refuses \
         the thread from now on.",
        UNANSWERED,
    ),
    (
        clause::SESSION_KEPT,
        "A tool did its work before the stop, and the model does not know: it books the flight again, or reports that the booking failed. \
         The provider accepts this.",
        &[],
    ),
    (
        clause::SESSION_WHOLE,
        "Half of the model's last response is left after the stop: its text or a finished call is lost. A reasoning item without its call \
         is refused.",
        &["OAI-RESP-REASON-NEXT", "ANT-THINK-FIRST"],
    ),
    (
        clause::SESSION_ONCE,
        "The same payment is made twice, or a tool runs with arguments that nobody asked for. The provider accepts this.",
        &[],
    ),
    (
        clause::SESSION_SAID_ONCE,
        "The model misses a message, or reads it twice: it asks again, answers an old question, or mixes up results. A repeated call is \
         refused.",
        &["OAI-RESP-ITEM-UNIQUE", "ANT-ID-UNIQUE"],
    ),
    (
        clause::SESSION_PREFIX,
        "Each message is slow and costs as much as the whole thread: the provider's cache serves only a request that begins like the one before. \
         Nothing is refused.",
        &[],
    ),
    (
        clause::SESSION_APPROVED,
        "Somebody approved a call, and it does not run, runs twice or with other arguments; or it ran before anybody was asked. If its answer \
         is missing, the provider refuses the thread.",
        UNANSWERED,
    ),
    (
        clause::SESSION_DENIED,
        "Somebody refused a call, and the tool runs anyway; or the model never learns of the refusal, and asks again. If the call has no \
         answer, the provider refuses the thread.",
        UNANSWERED,
    ),
    (
        clause::SESSION_SIBLINGS,
        "One of several calls waited for a decision. The others never ran, ran twice, or lost their results. Without their answers the \
         provider refuses the thread.",
        UNANSWERED,
    ),
    (
        clause::SESSION_PENDING,
        "Somebody wrote a message instead of deciding. The message is lost, the provider refuses the thread, or the call runs much later, when \
         an old button is pressed.",
        UNANSWERED,
    ),
    (
        clause::SESSION_COMPACT,
        "The thread grew long and was trimmed between a call and its answer: from then on every request is refused, or the agent has forgotten \
         who it is and what it was doing.",
        &["OAI-CHAT-ORPHAN", "OAI-RESP-ORPHAN", "ANT-ORPHAN", "ANT-MESSAGES-NONEMPTY"],
    ),
    (
        clause::SESSION_COMPACT_WHOLE,
        "The thread was trimmed, and the model answers something that nobody asked: the question is gone, or half of a round of calls.",
        ORPHANED,
    ),
    (
        clause::SESSION_OPAQUE,
        "With thinking switched on, the thread dies in the middle of a turn: a thinking block was lost or changed on the way to the store and \
         back.",
        &["ANT-THINK-SAME", "ANT-THINK-SIGN", "ANT-THINK-FIRST", "OAI-RESP-REASON-NEXT"],
    ),
    (
        clause::SESSION_RAW,
        "The model wrote arguments that are cut off. The tool runs with none (it deletes everything instead of one thing), the run dies, or \
         the raw text goes back and is refused by strict servers.",
        &["OAI-CHAT-ARGS-JSON", "ANT-INPUT-OBJECT"],
    ),
    (
        clause::SESSION_HANDOFF,
        "The thread was handed to another agent, which does not know what the user wants, speaks as the old one, or never comes to speak: the \
         hand-over's call or one beside it has no answer, and the provider refuses the thread.",
        UNANSWERED,
    ),
    (
        clause::SESSION_IMAGE,
        "The model is asked about a picture that it was never shown, or that arrived as a hundred thousand letters of base64. The \
         provider accepts this.",
        &[],
    ),
    (
        clause::SESSION_REWIND,
        "The user edited a message, and the model still reads the old one, with the answers that it led to. Or the user goes back, and \
         what was there is gone or mixed with the edit.",
        &[],
    ),
    (
        clause::SESSION_STEER,
        "The user corrected the agent while a tool worked. The correction is lost, or it is between a call and its answer: the provider refuses \
         that thread from then on.",
        UNANSWERED,
    ),
];

/// Returns the effect on users of a breach of a clause, if it is one of sessions.
pub(crate) fn session_effect(clause: &Clause) -> Option<String> {
    let (_, seen, rules) = OF_SESSIONS.iter().find(|(id, ..)| *id == clause.id)?;
    let mut out = format!("{}\n  {seen}\n", styled(STRONG, "what users see"));
    for rule in provider_rules().iter().filter(|rule| rules.contains(&&*rule.id)) {
        let _ = writeln!(out, "  {} ({}): {}", rule.api, rule.id, example(&rule.answer.message));
    }
    out.push('\n');
    Some(out)
}

/// The words of an answer, with an example in each place that depends on the request.
fn example(message: &str) -> String {
    const EXAMPLES: &[(&str, &str)] = &[
        ("{ids}", "call_1"),
        ("{id}", "call_1"),
        ("{calls}", "3"),
        ("{index}", "4"),
        ("{first}", "3"),
        ("{block}", "messages.3.content.1"),
        ("{place}", "messages.3.content.0"),
        ("{path}", "messages[3].tool_calls[0].function.arguments"),
        ("{value}", "tool_use"),
    ];
    EXAMPLES.iter().fold(message.to_owned(), |message, (name, example)| message.replace(name, example))
}

// Explains, for `threadspec explain`, the effect on users of a clause of gateways.

/// For each clause what the users of an agent behind a gateway see, who see neither of its sides.
const OF_GATEWAYS: [(&str, &str); 25] = [
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
pub(crate) fn gateway_effect(clause: &Clause) -> Option<String> {
    let (_, seen) = OF_GATEWAYS.iter().find(|(id, _)| *id == clause.id)?;
    Some(format!("{}\n  {seen}\n\n", styled(STRONG, "what users see")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadspec_judge::corpus::embedded;

    #[test]
    fn each_clause_of_sessions_says_what_users_see() {
        let clauses = embedded().0.clauses.iter().filter(|clause| clause.id.starts_with("SESSION-"));
        let told: Vec<&str> = clauses
            .map(|clause| {
                let said = session_effect(clause).unwrap_or_else(|| panic!("nothing is said of {}", clause.id));
                assert!(!said.contains(['{', '}']), "{said}");
                clause.id.as_str()
            })
            .collect();
        assert_eq!(told.len(), OF_SESSIONS.len());
        for (clause, _, rules) in OF_SESSIONS {
            for rule in *rules {
                assert!(provider_rules().iter().any(|known| known.id == *rule), "{clause}: {rule}");
            }
        }
    }

    #[test]
    fn the_refusals_are_those_of_both_providers() {
        let clause = embedded().0.clause(clause::SESSION_ANSWERED).expect("a clause");
        let said = session_effect(clause).expect("a clause of sessions");
        for words in [
            "openai-chat (OAI-CHAT-ANSWERED): An assistant message with 'tool_calls' must be followed by tool messages",
            "anthropic (ANT-ANSWERED): messages.3: `tool_use` ids were found without `tool_result` blocks",
        ] {
            assert!(said.contains(words), "{said}");
        }
        assert_eq!(embedded().0.clause(clause::AGENT_VALID).and_then(session_effect), None);
    }

    #[test]
    fn each_clause_of_gateways_says_what_users_see() {
        let clauses = embedded().0.clauses.iter().filter(|clause| clause.id.starts_with("GATE-"));
        let told: Vec<&str> = clauses
            .map(|clause| {
                assert!(gateway_effect(clause).is_some(), "nothing is said of {}", clause.id);
                clause.id.as_str()
            })
            .collect();
        assert_eq!(told, OF_GATEWAYS.map(|(id, _)| id));
        assert_eq!(embedded().0.clause(clause::AGENT_VALID).and_then(gateway_effect), None);
    }
}
