//! States the laws of tool rounds and of the outer loop.

use super::{hold, same};
use crate::generate::ScriptPlan;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use threadspec::agent::{
    self, LoopOptions, LoopRun, ScriptedModel, ScriptedTools, ScriptedVerifier, StopReason, ToolOptions, Verifier,
};
use threadspec::surrogates::repair_surrogates;
use threadspec::{ContextMode, ContextOptions, Event, EventKind, Message, Profile, build_messages, oracle};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LoopInput {
    prompt: String,
    instructions: Option<String>,
    model: Vec<agent::Turn>,
    tools: Option<HashMap<String, Vec<Value>>>,
    verify: Option<Vec<agent::Verification>>,
    max_iterations: Option<u64>,
    max_tool_calls_per_iteration: Option<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolsInput {
    messages: Vec<Message>,
    model: Vec<agent::Turn>,
    tools: Option<HashMap<String, Vec<Value>>>,
    max_recursion_depth: Option<usize>,
}

fn read<T: DeserializeOwned>(input: &str) -> T {
    serde_json::from_str(&repair_surrogates(input)).unwrap_or_else(|error| panic!("{error}: {input}"))
}

/// Checks a script as an input of both operations, `loop` and `tools`.
///
/// # Panics
/// When [`run_loop`] or [`tools`] does.
pub fn agent(script: &ScriptPlan) {
    run_loop(&script.loop_input());
    tools(&script.tools_input());
}

/// Checks an input of the operation `loop`: events and requests fit together, and the context mode changes no event.
///
/// # Panics
/// When that does not hold, or the input cannot be read.
pub fn run_loop(input: &str) {
    let script: LoopInput = read(input);
    let outcome = |run: &LoopRun| (run.response.clone(), run.iterations, run.stop_reason);
    let [literal, hardened] = Profile::ALL.map(|profile| {
        let [standard, xml] = ContextMode::ALL.map(|mode| run_in(&script, profile, mode));
        same(&standard, &xml, &format!("a run in both context modes ({profile})"), &standard.events);
        thread_of_run(&script, &standard);
        standard
    });
    same(&outcome(&literal), &outcome(&hardened), "a run in both profiles", &literal.events);
}

fn run_in(script: &LoopInput, profile: Profile, mode: ContextMode) -> LoopRun {
    let options = LoopOptions {
        profile,
        mode,
        instructions: script.instructions.clone().unwrap_or_default(),
        max_iterations: script.max_iterations,
        max_tool_calls_per_iteration: script.max_tool_calls_per_iteration.unwrap_or(20),
    };
    let mut model = ScriptedModel::new(script.model.clone());
    let mut tools = ScriptedTools::new(script.tools.clone().unwrap_or_default());
    let mut verifier = script.verify.clone().map(ScriptedVerifier::new);
    let verifier = verifier.as_mut().map(|verifier| verifier as &mut dyn Verifier);
    let run = agent::run_loop(&script.prompt, &mut model, &mut tools, verifier, &options);

    let what = |what: &str| format!("{what} ({profile}, {mode})");
    let context = ContextOptions { profile, mode, instructions: &options.instructions };
    let first_requests: Vec<_> = (1..=run.iterations)
        .map(|iteration| {
            let before = run.events.iter().take_while(|event| event.iteration < iteration).count();
            build_messages(&run.events[..before], &context)
        })
        .collect();
    let requests = model.requests();
    // How many iterations may have begun so far. A request that continues an iteration can look like one that begins the next.
    let mut begun = BTreeSet::from([0]);
    for (number, request) in requests.iter().enumerate() {
        let goes_on = number > 0 && oracle::snapshots(&requests[number - 1..=number]).is_ok();
        let begins = begun.iter().filter(|&&begun| first_requests.get(begun) == Some(request)).map(|begun| begun + 1);
        begun = begins.chain(begun.iter().copied().filter(|_| goes_on)).collect();
        let fits = if begun.is_empty() { Err(format!("request {number}")) } else { Ok(()) };
        hold(fits, &what("each request begins an iteration or goes on with the one before it"), &run.events);
        if profile == Profile::Hardened {
            hold(oracle::provider_valid(request), &what("provider-valid"), &run.events);
        }
    }
    // With a limit of zero no iteration makes a request.
    let all = options.max_tool_calls_per_iteration == 0 || begun.contains(&first_requests.len());
    same(&all, &true, &what("each iteration begins with the thread so far"), &run.events);
    run
}

/// Checks what holds of the events of every run.
fn thread_of_run(script: &LoopInput, run: &LoopRun) {
    let events = &*run.events;
    same(&events.first(), &Some(&Event::user(0, &script.prompt)), "the prompt comes first", events);
    let in_order = events.is_sorted_by_key(|event| event.iteration);
    same(&in_order, &true, "iterations are counted", events);
    for (position, event) in events.iter().enumerate() {
        if let EventKind::ToolCall { tool_call_id: called, .. } = &event.kind {
            let answered = events.get(position + 1).is_some_and(|next| match &next.kind {
                EventKind::ToolResult { tool_call_id, result: Some(Value::String(_)) } => {
                    tool_call_id == called && next.iteration == event.iteration
                }
                _ => false,
            });
            same(&answered, &true, "each call is followed by its result", events);
        }
    }
    let end = events.last().map(|event| &event.kind);
    let ended_as = match end {
        Some(EventKind::Completion { .. }) => StopReason::Completed,
        Some(EventKind::Error { recoverable: false, .. }) => StopReason::MaxErrors,
        _ => StopReason::StopCondition,
    };
    same(&ended_as, &run.stop_reason, "the last event and the stop reason", events);
}

/// Checks an input of the operation `tools`: each request continues the one before it, and nothing is lost at the end.
///
/// # Panics
/// When that does not hold, or the input cannot be read.
pub fn tools(input: &str) {
    let script: ToolsInput = read(input);
    let [literal, hardened] = Profile::ALL.map(|profile| {
        let mut model = ScriptedModel::new(script.model.clone());
        let mut tools = ScriptedTools::new(script.tools.clone().unwrap_or_default());
        let options = ToolOptions { profile, max_recursion_depth: script.max_recursion_depth };
        let run = agent::run_tools(script.messages.clone(), &mut model, &mut tools, &options);
        (model.requests().to_vec(), run)
    });
    for (profile, (requests, run)) in [("literal", &literal), ("hardened", &hardened)] {
        assert_eq!(requests.first(), Some(&script.messages), "the first request ({profile}): {input}");
        if let Err(violation) = oracle::snapshots(requests) {
            panic!("snapshots ({profile}): {violation}: {input}");
        }
        let most = script.max_recursion_depth.map_or(usize::MAX, |depth| depth + 1);
        assert!(requests.len() <= most, "{} requests ({profile}): {input}", requests.len());
        let added = requests.last().and_then(|last| run.messages.strip_prefix(&**last));
        let ended_well = match (added, &run.failure) {
            (Some([]), Some(_)) => true,
            (Some([Message::Ai { tool_calls, .. }, cut @ ..]), None) => {
                cut.len() == if profile == "hardened" { tool_calls.len() } else { 0 }
            }
            _ => false,
        };
        assert!(ended_well, "the messages at the end ({profile}): {input}");
    }
    assert_eq!(literal.0.len(), hardened.0.len(), "as many requests in both profiles: {input}");
    if oracle::provider_valid(&script.messages).is_ok() {
        for list in hardened.0.iter().chain([&hardened.1.messages]) {
            if let Err(violation) = oracle::provider_valid(list) {
                panic!("provider-valid: {violation}: {input}");
            }
        }
    }
}
