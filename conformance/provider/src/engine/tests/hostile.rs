//! Bodies that were made to hurt cost themselves only.

use super::*;
use std::time::Instant;
use threadspec_judge::json::on_deep_stack;

#[test]
fn a_deep_body_is_answered() {
    for depth in [1_000, 9_990, 20_000, 1_000_000] {
        let status = on_deep_stack(move || {
            let mut wire = Wire::of(Api::OpenAiChat, json!([{"content": "Done"}]));
            let deep = "[".repeat(depth) + &"]".repeat(depth);
            let text =
                format!(r#"{{"model":"gpt-4.1","messages":[{{"role":"user","content":"Go"}}],"metadata":{deep}}}"#);
            let (_, reaction) = wire.send("POST", "/v1/chat/completions", &[("x-api-key", KEY)], &text);
            let Reaction::Answer(answer) = reaction else { panic!("no answer: {reaction:?}") };
            let record = wire.over().record;
            assert_eq!(record.attempts.len(), 1);
            answer.status
        });
        assert_eq!(status.expect("a thread"), if depth < 10_000 { 200 } else { 400 }, "{depth}");
    }
}

#[test]
fn deep_arguments_come_and_go() {
    let status = on_deep_stack(|| {
        let deep = "[".repeat(3_000) + &"]".repeat(3_000);
        let turns = format!(
            r#"[{{"tool_calls": [{{"id": "a", "name": "look", "args": {{"deep": {deep}}}}}]}}, {{"content": "Done"}}]"#
        );
        for api in Api::ALL {
            let mut wire = Wire::of_plan(RunPlan::of_turns(api, WireTurn::read_all(&turns, "model").expect("turns")));
            let first = wire.ask(&body(api, false));
            assert_eq!(first.answer.status, 200);
            assert!(first.text().contains(&deep));
        }
    });
    status.expect("a thread");
}

#[test]
fn wrong_types_everywhere_are_refused_or_answered_but_never_fatal() {
    let odd = [
        json!(null),
        json!(1),
        json!("x"),
        json!([]),
        json!([1, null, []]),
        json!({}),
        json!({"type": 7, "role": []}),
        json!([{"role": "user", "content": {"a": 1}}]),
    ];
    for api in Api::ALL {
        for name in [
            "model",
            "messages",
            "input",
            "tools",
            "system",
            "instructions",
            "stream",
            "store",
            "conversation",
            "previous_response_id",
            "tool_choice",
            "thinking",
            "include",
            "stream_options",
            "max_tokens",
        ] {
            for value in &odd {
                let mut wire = Wire::of(api, json!([{"content": "Done"}]));
                let mut body = body(api, false);
                body[name] = value.clone();
                let (id, reaction) = wire.begin(&body);
                wire.end(id, true);
                assert!(
                    matches!(reaction, Reaction::Answer(answer) if matches!(answer.status, 200 | 400 | 404)),
                    "{api} {name} {value}"
                );
            }
        }
    }
}

/// Cost grows with the length of the thread, not with its square. It looks at a clock, so it is run by hand:
/// `cargo test --release -p threadspec-provider long_thread -- --ignored --nocapture`.
#[test]
#[ignore = "it measures the machine"]
fn a_long_thread_costs_what_its_length_costs() {
    let took = |api: Api, rounds: usize| {
        let mut body = body(api, false);
        for round in 0..rounds {
            let id = format!("call_{round}");
            body = next(api, body, "", &[(&id, "look", json!({}))], &[&"r".repeat(600)]);
            if api == Api::Anthropic {
                body["messages"][2 * round + 1]["content"].as_array_mut().expect("blocks").remove(0);
            }
        }
        let bytes = body.to_string().len();
        let best = (0..5).map(|_| {
            let mut wire = Wire::of(api, json!([{"content": "Done"}]));
            let start = Instant::now();
            let (_, reaction) = wire.begin(&body);
            let taken = start.elapsed();
            assert!(matches!(&reaction, Reaction::Answer(answer) if answer.status == 200), "{reaction:?}");
            taken
        });
        let best = best.min().expect("five");
        println!("{api}: {bytes} bytes in {best:?}");
        best
    };
    for api in Api::ALL {
        let (short, long) = (took(api, 120), took(api, 1_200));
        assert!(long < 30 * short, "{short:?} and {long:?}");
    }
}

/// How many requests of short runs are judged and answered in a second: `cargo test --release -p threadspec-provider short_runs -- --ignored
/// --nocapture`.
#[test]
#[ignore = "it measures the machine"]
fn short_runs_are_judged_fast() {
    const RUNS: u32 = 3_000;
    for api in Api::ALL {
        let turns =
            WireTurn::read_all(&json!([look(), look(), {"content": "Done"}]).to_string(), "model").expect("turns");
        let plan = RunPlan::of_turns(api, turns);
        let first = body(api, false);
        let second = next(api, first.clone(), "I look.", &looked(), &["r1", "r2"]);
        let again = looked().map(|(id, name, args)| (if id == "call_a" { "call_c" } else { "call_d" }, name, args));
        let third = next(api, second.clone(), "I look.", &again, &["r1", "r2"]);
        let mut wire = Wire::of_plan(plan.clone());
        let start = Instant::now();
        for _ in 0..RUNS {
            wire.engine.begin(wire.now, KEY, plan.clone());
            for body in [&first, &second, &third] {
                assert_eq!(wire.ask(body).answer.status, 200);
            }
            wire.engine.end(wire.now, KEY);
        }
        println!("{api}: {:.0} requests a second", f64::from(3 * RUNS) / start.elapsed().as_secs_f64());
    }
}
