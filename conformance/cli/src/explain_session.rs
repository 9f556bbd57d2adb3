//! Explains, for `threadspec explain`, the effect on users of a clause of sessions, and the answer of their provider.

use std::fmt::Write;
use threadspec_golden::{clause, provider_rules};
use threadspec_judge::corpus::Clause;
use threadspec_report::terminal::{STRONG, styled};

/// The effect of a breach on users, and the rules by which their provider refuses the thread.
type BreachSeen = (&'static str, &'static str, &'static [&'static str]);

const UNANSWERED: &[&str] = &["OAI-CHAT-ANSWERED", "OAI-RESP-ANSWERED", "ANT-ANSWERED"];
const ORPHANED: &[&str] = &["OAI-CHAT-ORPHAN", "OAI-RESP-ORPHAN", "ANT-ORPHAN"];

const SEEN: &[BreachSeen] = &[
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
];

/// Returns the effect on users of a breach of a clause, if it is one of sessions.
pub(crate) fn seen_text(clause: &Clause) -> Option<String> {
    let (_, seen, rules) = SEEN.iter().find(|(id, ..)| *id == clause.id)?;
    let mut out = format!("{}\n  {seen}\n", styled(STRONG, "what users see"));
    for rule in provider_rules().iter().filter(|rule| rules.contains(&&*rule.id)) {
        let _ = writeln!(out, "  {} ({}): {}", rule.api, rule.id, example(&rule.answer.message));
    }
    out.push('\n');
    Some(out)
}

/// The words of an answer, with an example in each place that depends on the request.
fn example(message: &str) -> String {
    const EXAMPLES: [(&str, &str); 9] = [
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

#[cfg(test)]
mod tests {
    use super::*;
    use threadspec_judge::corpus::embedded;

    #[test]
    fn each_clause_of_sessions_says_what_users_see() {
        let clauses = embedded().0.clauses.iter().filter(|clause| clause.id.starts_with("SESSION-"));
        let told: Vec<&str> = clauses
            .map(|clause| {
                let said = seen_text(clause).unwrap_or_else(|| panic!("nothing is said of {}", clause.id));
                assert!(!said.contains(['{', '}']), "{said}");
                clause.id.as_str()
            })
            .collect();
        assert_eq!(told.len(), SEEN.len());
        for (clause, _, rules) in SEEN {
            for rule in *rules {
                assert!(provider_rules().iter().any(|known| known.id == *rule), "{clause}: {rule}");
            }
        }
    }

    #[test]
    fn the_refusals_are_those_of_both_providers() {
        let clause = embedded().0.clause(clause::SESSION_ANSWERED).expect("a clause");
        let said = seen_text(clause).expect("a clause of sessions");
        for words in [
            "openai-chat (OAI-CHAT-ANSWERED): An assistant message with 'tool_calls' must be followed by tool messages",
            "anthropic (ANT-ANSWERED): messages.3: `tool_use` ids were found without `tool_result` blocks",
        ] {
            assert!(said.contains(words), "{said}");
        }
        assert_eq!(embedded().0.clause(clause::AGENT_VALID).and_then(seen_text), None);
    }
}
