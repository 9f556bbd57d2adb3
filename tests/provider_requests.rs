//! No list of messages of the hardened profile, from the corpus or from the generators, breaks a rule of a model API.

use crate::is_thorough;
use proptest::strategy::ValueTree;
use serde_json::json;
use threadspec::oracle::{Api, provider_breaches};
use threadspec::{ContextMode, ContextOptions, Error, Event, Message, Profile, build_messages, wire};
use threadspec_campaign::generate::{GoldenThread, ScriptPlan, golden_inputs, samples};
use threadspec_judge::protocol::{Implementation, Op, Reply, Request};
use threadspec_judge::reference::Reference;

/// Checks the three forms of a list.
fn accepted(messages: &[Message]) {
    // The library writes no contents of Gemini.
    for api in Api::ALL.into_iter().filter(|api| *api != Api::Gemini) {
        let body: Result<String, Error> = match api {
            Api::OpenAiChat => wire::to_openai(messages).map(|messages| json!({"messages": messages}).to_string()),
            Api::OpenAiResponses => {
                wire::to_openai_responses(messages).map(|input| json!({"input": input}).to_string())
            }
            Api::Anthropic | Api::Gemini => wire::to_anthropic(messages).map(|request| request.to_string()),
        };
        match body {
            Ok(body) => assert_eq!(provider_breaches(api, &body), Ok(vec![]), "{api}: {messages:?}"),
            Err(error) => {
                let is_system = |message: &Message| matches!(message, Message::System { .. });
                let blank = |message: &Message| {
                    message.tool_calls().is_empty()
                        && message
                            .content()
                            .trim_matches(['\u{feff}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{1f}'])
                            .trim()
                            .is_empty()
                };
                let says_nothing = messages.iter().all(|message| is_system(message) || blank(message));
                assert!(says_nothing && (api == Api::Anthropic || messages.is_empty()), "{api}: {error}: {messages:?}");
            }
        }
    }
}

fn thread_accepted(events: &[Event]) {
    for (mode, instructions) in [(ContextMode::Standard, ""), (ContextMode::Xml, "Be brief.")] {
        accepted(&build_messages(events, &ContextOptions { profile: Profile::Hardened, mode, instructions }));
    }
}

/// The lists of messages in what the reference answers in the hardened profile.
fn lists(op: Op, input: String) -> Vec<Vec<Message>> {
    let request = Request::new(1, op, Profile::Hardened, input);
    let Reply::Ok(output) = Reference.answer(&request) else { return Vec::new() };
    let list = |list: &serde_json::Value| -> Vec<Message> { serde_json::from_value(list.clone()).expect("messages") };
    if op == Op::Messages {
        return vec![list(&output)];
    }
    let requests = output["requests"].as_array().into_iter().flatten();
    requests.chain(output.get("messages")).map(list).collect()
}

#[test]
fn of_the_corpus() {
    let mut seen = 0;
    for op in [Op::Messages, Op::Tools, Op::Loop] {
        for input in golden_inputs(op) {
            for list in lists(op, input) {
                // A run may begin with a list that is broken already, which no writer can fix.
                if threadspec::oracle::provider_valid(&list).is_ok() {
                    accepted(&list);
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 500, "{seen} lists");
}

#[test]
fn of_generated_threads() {
    for thread in samples::<GoldenThread>(17).take(if is_thorough() { 10_000 } else { 1_000 }) {
        thread_accepted(&thread.current().events());
    }
}

#[test]
fn of_generated_runs() {
    for script in samples::<ScriptPlan>(18).take(1000) {
        let script = script.current();
        for (op, input) in [(Op::Tools, script.tools_input()), (Op::Loop, script.loop_input())] {
            for list in lists(op, input) {
                accepted(&list);
            }
        }
    }
}
