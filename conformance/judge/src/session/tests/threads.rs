//! SESSION-SAID-ONCE, SESSION-PREFIX and SESSION-COMPACT, and what must hold inside each run.

use super::*;

fn plain() -> Value {
    script(&json!([
        {"message": "Go", "model": [turn("I look.", &["a", "b"]), {"content": "Seen."}]},
        {"message": "And?", "model": [{"content": "Done."}]},
        {"message": "Thanks", "model": [{"content": "Bye."}]},
    ]))
}

fn lists() -> [Vec<Value>; 4] {
    let first = vec![s("Be brief."), h("Go")];
    let second = [first.clone(), vec![a("I look.", &["a", "b"]), t("a", "r-a"), t("b", "r-b")]].concat();
    let third = [second.clone(), vec![a("Seen.", &[]), h("And?")]].concat();
    let fourth = [third.clone(), vec![a("Done.", &[]), h("Thanks")]].concat();
    [first, second, third, fourth]
}

/// The reports, with a change of the last list.
fn reports(change: impl FnOnce(&mut Vec<Value>)) -> Vec<Value> {
    let [first, second, third, mut fourth] = lists();
    change(&mut fourth);
    vec![run(&[&first, &second], &[ran("a"), ran("b")]), run(&[&third], &[]), run(&[&fourth], &[])]
}

#[test]
fn a_sound_session_holds_every_property() {
    let ruling = ruling_of(&plain(), &reports(|_| {}), Abilities::default());
    assert_eq!(found_in(&ruling), <[&str; 0]>::default());
    for property in Property::all().filter(|property| property.is_of_session()) {
        assert_eq!(ruling.holds(property), Holding::Yes, "{property}");
    }
}

#[test]
fn what_a_message_replaces_is_gone() {
    let says = |text: &str| vec![json!({"content": text})];
    let input = json!({"runs": [
        {"message": "Go", "model": says("Gone.")},
        {"message": "Left?", "model": says("Left.")},
        {"message": "Right?", "at": 2, "model": says("Right.")},
        {"message": "Sure?", "at": 3, "model": says("Sure.")},
        {"message": "Back?", "model": says("Back.")},
        {"message": "And left?", "at": 2, "model": says("As before.")},
    ]});
    let first = vec![h("Go")];
    let begin = [first.clone(), vec![a("Gone.", &[])]].concat();
    let to = |text: &str| [begin.clone(), vec![h(text)]].concat();
    let behind = [to("Sure?"), vec![a("Sure.", &[]), h("Back?")]].concat();
    let reports = |third: &[Value], last: &[Value]| {
        let lists = [&first, &to("Left?"), third, &to("Sure?"), last, &to("And left?")];
        lists.map(|list| run(&[list], &[])).to_vec()
    };
    assert_sound(&input, &reports(&to("Right?"), &behind));
    let kept = [to("Left?"), vec![h("Right?")]].concat();
    let found = [
        "SESSION-REWIND: run 3, request 1, message 3: a human message, \"Left?\" of run 2 is there, though the thread has left it",
    ];
    assert_found(&input, &reports(&kept, &behind), &found);
    let mut back = behind.clone();
    back.insert(3, a("Right.", &[]));
    let found = [
        "SESSION-REWIND: run 5, request 1, message 4: an ai message, \"Right.\" of run 3 is there, though the thread has left it",
    ];
    assert_found(&input, &reports(&to("Right?"), &back), &found);
    // Nobody was asked.
    let mut refused = reports(&to("Right?"), &behind);
    refused[2] = json!({"requests": [], "executed": [], "refused": "busy"});
    let found = ["SESSION-REWIND: run 3: the user message is refused: \"busy\""];
    assert_found(&input, &refused, &found);
}

#[test]
fn nothing_stands_twice() {
    let found = ["SESSION-SAID-ONCE: run 3, request 1, message 8: a human message, \"And?\" is there twice"];
    assert_found(&plain(), &reports(|list| list.insert(6, h("And?"))), &found);
    let found = ["SESSION-SAID-ONCE: run 3, request 1: the system message \"Be brief.\" is there twice"];
    assert_found(&plain(), &reports(|list| list.insert(0, s("Be brief."))), &found);
    let again = |list: &mut Vec<Value>| {
        let round = list[2..5].to_vec();
        list.splice(5..5, round);
    };
    let found = ruling_of(&plain(), &reports(again), Abilities::default());
    assert_eq!(found.findings().len(), 1);
    assert_eq!(found.findings()[0].clause, clause::SESSION_SAID_ONCE);
    let found = ["SESSION-VALID: run 3, request 1, message 5: `a` is answered twice"];
    assert_found(&plain(), &reports(|list| list.insert(4, t("a", "r-a"))), &found);
}

#[test]
fn nothing_is_missing_changed_or_moved() {
    let found = ["SESSION-SAID-ONCE: run 3, request 1: the response \"Seen.\" is missing, which run 1 received"];
    assert_found(&plain(), &reports(|list| drop(list.remove(5))), &found);
    let found = ["SESSION-SAID-ONCE: run 3, request 1: the user message \"And?\" of run 2 is missing"];
    assert_found(&plain(), &reports(|list| drop(list.remove(6))), &found);
    let found = [
        "SESSION-SAID-ONCE: run 3, request 1: the user message \"Go\" of run 1 is missing; a human message, \"No\" is in its place",
    ];
    assert_found(&plain(), &reports(|list| list[1] = h("No")), &found);
    let found = [
        "SESSION-SAID-ONCE: run 3, request 1: the response \"Seen.\" is missing, which run 1 received; an ai message, \"Gone.\" is in its place",
    ];
    assert_found(&plain(), &reports(|list| list[5] = a("Gone.", &[])), &found);
    let found = ["SESSION-SAID-ONCE: run 3, request 1, message 4: the answer to `a`: \"r-a\" became \"r-b\""];
    assert_found(&plain(), &reports(|list| list[3] = t("a", "r-b")), &found);
    let moved = ruling_of(&plain(), &reports(|list| list.swap(1, 6)), Abilities::default());
    assert!(moved.findings().iter().all(|found| found.clause == clause::SESSION_SAID_ONCE), "{moved:?}");
    assert!(!moved.findings().is_empty());
    let found = ["SESSION-SAID-ONCE: run 3, request 1: the system message \"Be brief.\" is missing"];
    assert_found(&plain(), &reports(|list| drop(list.remove(0))), &found);
    let changed = |list: &mut Vec<Value>| list[2]["tool_calls"][0]["args"] = json!({"n": "x"});
    let found =
        ["SESSION-SAID-ONCE: run 3, request 1, message 3: the arguments of `a`, {\"n\":\"a\"}, became {\"n\":\"x\"}"];
    assert_found(&plain(), &reports(changed), &found);
}

#[test]
fn answers_may_stand_in_any_order() {
    assert_sound(&plain(), &reports(|list| list.swap(3, 4)));
}

#[test]
fn the_prefix_stays() {
    let found = [
        "SESSION-PREFIX: run 3, request 1: message 2: expected a human message, \"Go\", found a human message, \"Today is Monday.\", as in request 1 of run 2",
    ];
    assert_found(&plain(), &reports(|list| list.insert(1, h("Today is Monday."))), &found);
    let last = |list: &mut Vec<Value>| {
        let system = list.remove(0);
        list.insert(4, system);
    };
    let found = ["SESSION-PREFIX: run 3, request 1: the system message is elsewhere than in run 2"];
    assert_found(&plain(), &reports(last), &found);
    let behind =
        ["SESSION-PREFIX: run 3, request 1, message 8: the response to the last request of run 2 should be here"];
    assert_found(&plain(), &reports(|list| list.insert(7, h("Today is Monday."))), &behind);
    let between = ["SESSION-PREFIX: run 3, request 1: nobody sent a human message, \"Today is Monday.\""];
    assert_found(&plain(), &reports(|list| list.insert(8, h("Today is Monday."))), &between);
    // A note behind it all is no change of what was sent.
    assert_sound(&plain(), &reports(|list| list.insert(9, h("Today is Monday."))));
}

#[test]
fn a_run_by_itself_is_judged_by_the_agents_clauses() {
    let [first, mut second, third, fourth] = lists();
    second[3] = t("a", "?");
    let (mut third_too, mut fourth_too) = (third, fourth);
    third_too[3] = t("a", "?");
    fourth_too[3] = t("a", "?");
    let runs = [run(&[&first, &second], &[ran("a"), ran("b")]), run(&[&third_too], &[]), run(&[&fourth_too], &[])];
    let found = ["AGENT-RESULT: run 1, request 2, message 4: the result \"r-a\" became \"?\""];
    assert_found(&plain(), &runs, &found);
}

#[test]
fn a_run_that_ends_too_early() {
    let [first, second, ..] = lists();
    let runs = [
        run(&[&first, &second], &[ran("a"), ran("b")]),
        json!({"requests": [], "executed": []}),
        json!({"requests": [], "executed": []}),
    ];
    let ruling = ruling_of(&plain(), &runs, Abilities::default());
    assert_eq!(found_in(&ruling)[0], "AGENT-GOES-ON: run 2: the user message does not ask the model");
    assert!(matches!(ruling.holds(Property::SessionSaidOnce), Holding::Blocked(_)));
}

#[test]
fn sessions_do_not_meet() {
    let earlier = script(&json!([{"message": "Another secret", "model": [{"content": "No."}]}]));
    let others = Others::of([earlier.to_string()]);
    let runs = reports(|list| list.insert(1, h("Another secret")));
    let output = value::read(&json!({"runs": runs}).to_string()).expect("JSON");
    let ruling =
        judge(&plain().to_string(), &others, Abilities::default(), AgentReply::Output(output)).expect("a session");
    let found = "AGENT-INDEPENDENT: run 3, request 1, message 2: `Another secret` comes from another session";
    assert_eq!(found_in(&ruling)[0], found);
}

/// The thread is compacted before run 3.
fn compacted() -> Value {
    let mut input = plain();
    input["runs"][2]["compact"] = json!({"keepMessages": 2, "summary": "They looked."});
    input
}

#[test]
fn compaction_may_take_whole_rounds() {
    let kept = |from: usize, to: usize, more: Vec<Value>| reports(|list| drop(list.splice(from..to, more)));
    for runs in [
        kept(1, 1, Vec::new()),
        kept(1, 8, vec![h("They looked.")]),
        kept(1, 8, vec![s("They looked.")]),
        kept(1, 8, vec![a("They looked.", &[])]),
        kept(2, 5, Vec::new()),
        kept(3, 4, vec![t("a", "r…")]),
    ] {
        assert_sound(&compacted(), &runs);
    }
    let found = ["SESSION-COMPACT: run 3, request 1, message 3: the call `a` is not answered, which had returned"];
    assert_found(&compacted(), &kept(3, 4, Vec::new()), &found);
    let found = ["SESSION-COMPACT: run 3, request 1: the system message \"Be brief.\" is missing"];
    assert_found(&compacted(), &kept(0, 1, Vec::new()), &found);
    let found = ["SESSION-COMPACT-WHOLE: run 3, request 1: the user message \"Thanks\" of run 3 is missing"];
    assert_found(&compacted(), &kept(8, 9, Vec::new()), &found);
    let orphan = ruling_of(&compacted(), &kept(1, 3, Vec::new()), Abilities::default());
    assert!(orphan.findings().iter().all(|found| found.clause == clause::SESSION_COMPACT), "{orphan:?}");
    assert!(!orphan.findings().is_empty());
    let half = |list: &mut Vec<Value>| {
        list.splice(2..5, [a("I look.", &["b"]), t("b", "r-b")]);
    };
    let found = ["SESSION-COMPACT-WHOLE: run 3, request 1, message 3: the call `a` is left out of its response"];
    assert_found(&compacted(), &reports(half), &found);
}

#[test]
fn a_summary_is_whole_shortened_or_other_words_and_there_once() {
    let mut input = compacted();
    input["runs"][2]["compact"]["summary"] = json!("They looked at `$a` & found it, é and all.");
    let summed = |text: &[&str]| reports(|list| drop(list.splice(1..8, text.iter().map(|text| h(text)))));
    let whole = "[Summary] They looked at `$a` & found it, é and all.";
    for text in [whole, "They looked at `$a`…", "Earlier, the user asked for something.", "They looked."] {
        assert_sound(&input, &summed(&[text]));
    }
    for text in [
        "They looked at `` & found it, é and all.",
        "They looked at `$a` &amp; found it, é and all.",
        "[Summary] They looked at `$a` & found it, ? and all.",
        "THEY LOOKED AT `$A` & FOUND IT, É AND ALL.",
    ] {
        let ruling = ruling_of(&input, &summed(&[text]), Abilities::default());
        let clauses: Vec<&str> = ruling.findings().iter().map(|found| found.clause).collect();
        assert_eq!(clauses, [clause::SESSION_COMPACT], "{text}");
    }
    let found =
        format!("SESSION-COMPACT: run 3, request 1, message 3: a human message, {} is there twice", json!(whole));
    assert_found(&input, &summed(&[whole, whole]), &[&found]);
}

#[test]
fn nobody_answers_for_a_failed_model() {
    let input = script(&json!([
        {"message": "Go", "model": [{"error": "overloaded"}]},
        {"message": "Well?", "model": [{"content": "Done."}]},
    ]));
    let (first, said) = ([s("Be brief."), h("Go")], a("Error: overloaded", &[]));
    let failed = json!({"requests": [first], "executed": [], "failure": "overloaded"});
    let runs = |list: &[Value]| vec![failed.clone(), run(&[list], &[])];
    assert_sound(&input, &runs(&[&first[..], &[h("Well?")]].concat()));
    let found =
        ["AGENT-MODEL-FAILURE: run 2, request 1, message 3: the model never sent an ai message, \"Error: overloaded\""];
    assert_found(&input, &runs(&[&first[..], &[said, h("Well?")]].concat()), &found);
}

#[test]
fn compaction_keeps_the_open_round() {
    let input = script(&json!([
        {"message": "Go", "model": [turn("", &["a", "p"])]},
        {"decisions": {"p": {"approve": true}}, "compact": {"keepMessages": 1}, "model": [{"content": "Done."}]},
    ]));
    let first = vec![s("Be brief."), h("Go")];
    let runs = |list: &[Value]| {
        let waits = json!({"requests": [first], "executed": [ran("a")], "pending": ["p"]});
        vec![waits, run(&[list], &[ran("p")])]
    };
    let whole = [first.clone(), vec![a("", &["a", "p"]), t("a", "r-a"), t("p", "r-p")]].concat();
    assert_sound(&input, &runs(&whole));
    let found = [
        "SESSION-COMPACT: run 2, request 1: the response \"\" with the calls `a`, `p` is missing, though its turn is open",
    ];
    assert_found(&input, &runs(&whole[..2]), &found);
    let found = ["SESSION-COMPACT-WHOLE: run 2, request 1: the user message \"Go\" of run 1 is missing"];
    assert_found(&input, &runs(&[&whole[..1], &whole[2..]].concat()), &found);
}
