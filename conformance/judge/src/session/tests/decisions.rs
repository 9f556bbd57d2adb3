//! SESSION-APPROVED, SESSION-DENIED, SESSION-SIBLINGS and SESSION-PENDING.

use super::*;

fn input(decisions: &Value) -> Value {
    script(&json!([
        {"message": "Go", "model": [turn("", &["a", "p1", "p2"])]},
        {"decisions": decisions, "model": [{"content": "Paid."}]},
        {"message": "Thanks", "model": [{"content": "Bye."}]},
    ]))
}

fn begin() -> Vec<Value> {
    vec![s("Be brief."), h("Go")]
}

/// The reports, with what was executed in run 2, and the answers to the pending calls.
fn reports(executed: &[Value], answers: &[Value]) -> Vec<Value> {
    let first = [begin(), vec![a("", &["a", "p1", "p2"])], answers.to_vec()].concat();
    let last = [first.clone(), vec![a("Paid.", &[]), h("Thanks")]].concat();
    let waits = json!({"requests": [begin()], "executed": [ran("a")], "pending": ["p1", "p2"]});
    vec![waits, run(&[&first], executed), run(&[&last], &[])]
}

#[test]
fn approved_and_denied() {
    let input = input(&json!({"p1": {"approve": true}, "p2": {"approve": false, "reason": "Too dear."}}));
    let answers = [t("a", "r-a"), t("p1", "r-p1"), t("p2", "No: Too dear.")];
    assert_sound(&input, &reports(&[ran("p1")], &answers));
    let reordered = [t("p2", "No: Too dear."), t("p1", "r-p1"), t("a", "r-a")];
    assert_sound(&input, &reports(&[ran("p1")], &reordered));
    // Siblings may also run after the decision.
    let mut late = reports(&[ran("p1"), ran("a")], &answers);
    late[0]["executed"] = json!([]);
    assert_sound(&input, &late);
    let ruling = ruling_of(
        &input,
        &reports(&[ran("p1")], &[t("a", "r-a"), t("p1", "r-p1"), t("p2", "No.")]),
        Abilities::default(),
    );
    assert_eq!(found_in(&ruling), <[&str; 0]>::default(), "the reason is a `should`");
    assert!(matches!(ruling.holds(Property::SessionDeniedReason), Holding::No(_)));
    assert_eq!(ruling.holds(Property::SessionDenied), Holding::Yes);

    let found = ["SESSION-DENIED: run 2: `p2` is executed, though it was denied"];
    assert_found(&input, &reports(&[ran("p1"), ran("p2")], &answers), &found);
    let found = ["SESSION-APPROVED: run 2: `p1`, which was approved, is never executed"];
    assert_found(&input, &reports(&[], &[t("a", "r-a"), t("p1", "?"), t("p2", "Too dear.")]), &found);
    let found = ["SESSION-APPROVED: run 2: `p1` is executed again, though it had returned"];
    assert_found(&input, &reports(&[ran("p1"), ran("p1")], &answers), &found);
    let found = ["SESSION-DENIED: run 2, request 1, message 3: the call `p2` is not answered, which was denied"];
    assert_found(&input, &reports(&[ran("p1")], &answers[..2]), &found);
    let found =
        ["SESSION-APPROVED: run 2, request 1, message 5: `p1`, which had returned: the result \"r-p1\" became \"r-a\""];
    assert_found(&input, &reports(&[ran("p1")], &[t("a", "r-a"), t("p1", "r-a"), t("p2", "Too dear.")]), &found);
    let found = ["SESSION-SIBLINGS: run 2, request 1, message 3: the call `a` is not answered, which had returned"];
    assert_found(&input, &reports(&[ran("p1")], &answers[1..]), &found);
    let found = ["SESSION-SIBLINGS: run 2: `a` is executed again, though it had returned"];
    assert_found(&input, &reports(&[ran("p1"), ran("a")], &answers), &found);
    let mut never = reports(&[ran("p1")], &[t("a", "Skipped."), t("p1", "r-p1"), t("p2", "Too dear.")]);
    never[0]["executed"] = json!([]);
    assert_found(&input, &never, &["SESSION-SIBLINGS: run 2: `a`, a sibling of a pending call, is never executed"]);
    let mut early = reports(&[], &answers);
    early[0]["executed"] = json!([ran("a"), ran("p1")]);
    let found = ruling_of(&input, &early, Abilities::default());
    assert_eq!(found_in(&found), ["SESSION-APPROVED: run 1: `p1` is executed before its decision"]);
}

#[test]
fn complete_decisions_are_not_refused() {
    let input = input(&json!({"p1": {"approve": true}, "p2": {"approve": true}}));
    let mut runs = reports(&[], &[]);
    runs[1] = json!({"requests": [], "executed": [], "refused": "No.", "pending": ["p1", "p2"]});
    runs[2] = json!({"requests": [], "executed": [], "refused": "Decide first."});
    assert_found(&input, &runs, &["SESSION-APPROVED: run 2: complete decisions are refused: \"No.\""]);
    runs[1] = json!({"requests": [], "executed": []});
    let found = ruling_of(&input, &runs, Abilities::default());
    assert_eq!(
        found_in(&found)[..2],
        [
            "SESSION-APPROVED: run 2: `p1`, which was approved, is never executed",
            "SESSION-APPROVED: run 2: `p2`, which was approved, is never executed",
        ]
    );
}

#[test]
fn decisions_on_a_call_of_a_refused_run_may_be_refused() {
    let decide = json!({"p1": {"approve": true}, "p2": {"approve": false}});
    let input = script(&json!([
        {"message": "Go", "model": [turn("", &["p1"])]},
        {"message": "Wait", "model": [turn("", &["p2"])]},
        {"decisions": decide, "model": [{"content": "Done."}]},
    ]));
    let waits = json!({"requests": [begin()], "executed": [], "pending": ["p1"]});
    let refused = |words: &str| json!({"requests": [], "executed": [], "refused": words, "pending": ["p1"]});
    assert_sound(&input, &[waits.clone(), refused("Decide first."), refused("No call `p2` waits.")]);
    // Without it they are complete.
    let input = script(&json!([
        {"message": "Go", "model": [turn("", &["p1"])]},
        {"message": "Wait", "model": [turn("", &["p2"])]},
        {"decisions": {"p1": {"approve": true}}, "model": [{"content": "Done."}]},
    ]));
    let found = ["SESSION-APPROVED: run 3: complete decisions are refused: \"No.\""];
    assert_found(&input, &[waits, refused("Decide first."), refused("No.")], &found);
}

#[test]
fn edited_arguments() {
    let input = input(&json!({"p1": {"approve": true, "args": {"n": 5}}, "p2": {"approve": true}}));
    let edited = json!({"id": "p1", "name": "pay", "args": {"n": 5}});
    let answers = [t("a", "r-a"), t("p1", "r-p1"), t("p2", "r-p2")];
    assert_sound(&input, &reports(&[edited.clone(), ran("p2")], &answers));
    let noted = [t("a", "r-a"), t("p1", "r-p1 (edited)"), t("p2", "r-p2")];
    assert_sound(&input, &reports(&[edited.clone(), ran("p2")], &noted));
    let mut new = reports(&[edited, ran("p2")], &answers);
    for (number, index) in [(1, 2), (2, 2)] {
        new[number]["requests"][0][index]["tool_calls"][1]["args"] = json!({"n": 5});
    }
    assert_sound(&input, &new);
    let found = ["SESSION-APPROVED: run 2: `p1` is executed as pay with {\"n\":\"p1\"}, and not with {\"n\":5}"];
    assert_found(&input, &reports(&[ran("p1"), ran("p2")], &answers), &found);
}

#[test]
fn incomplete_decisions_may_be_refused_or_taken() {
    let input = script(&json!([
        {"message": "Go", "model": [turn("", &["p1", "p2"])]},
        {"decisions": {"p1": {"approve": true}}, "model": [{"content": "?"}]},
        {"decisions": {"p1": {"approve": true}, "p2": {"approve": true}}, "model": [{"content": "Paid."}]},
    ]));
    let waits = json!({"requests": [begin()], "executed": [], "pending": ["p1", "p2"]});
    let last = [begin(), vec![a("", &["p1", "p2"]), t("p1", "r-p1"), t("p2", "r-p2")]].concat();
    let refused = json!({"requests": [], "executed": [], "refused": "All of them.", "pending": ["p1", "p2"]});
    assert_sound(&input, &[waits.clone(), refused, run(&[&last], &[ran("p1"), ran("p2")])]);
    let taken = json!({"requests": [], "executed": [ran("p1")], "pending": ["p2"]});
    assert_sound(&input, &[waits, taken, run(&[&last], &[ran("p2")])]);
}

fn passed() -> Value {
    script(&json!([
        {"message": "Go", "model": [turn("", &["a", "p"])]},
        {"message": "Wait", "model": [{"content": "I wait."}]},
        {"decisions": {"p": {"approve": true}}, "model": [{"content": "Paid."}]},
    ]))
}

#[test]
fn a_user_message_while_calls_are_pending() {
    let waits = json!({"requests": [begin()], "executed": [ran("a")], "pending": ["p"]});
    let late = json!({"requests": [], "executed": [], "refused": "Too late."});
    let runs = |behind: &[Value]| {
        let list = [begin(), behind.to_vec(), vec![h("Wait")]].concat();
        vec![waits.clone(), run(&[&list], &[]), late.clone()]
    };
    assert_sound(&passed(), &runs(&[a("", &["a", "p"]), t("a", "r-a"), t("p", "Cancelled.")]));
    assert_sound(&passed(), &runs(&[a("", &["a"]), t("a", "r-a")]));
    let found = ["SESSION-PENDING: run 2, request 1, message 3: the call `p` is not answered, which was pending"];
    assert_found(&passed(), &runs(&[a("", &["a", "p"]), t("a", "r-a")]), &found);
    let found = [
        "SESSION-PENDING: run 2, request 1: the response \"\" with the calls `a`, `p` is missing, which run 1 received",
    ];
    assert_found(&passed(), &runs(&[]), &found);
    let mut executed = runs(&[a("", &["a", "p"]), t("a", "r-a"), t("p", "Cancelled.")]);
    executed[2] = json!({"requests": [], "executed": [ran("p")]});
    let found = ["SESSION-PENDING: run 3: `p` is executed on a late decision, after a user message went past it"];
    assert_found(&passed(), &executed, &found);
    // The message may be refused; then the decision counts.
    let refused = json!({"requests": [], "executed": [], "refused": "Decide first.", "pending": ["p"]});
    let list = [begin(), vec![a("", &["a", "p"]), t("a", "r-a"), t("p", "r-p")]].concat();
    assert_sound(&passed(), &[waits.clone(), refused, run(&[&list], &[ran("p")])]);
    let silent = json!({"requests": [], "executed": [], "pending": ["p"]});
    let found = [
        "SESSION-PENDING: run 2: its user message, sent while calls are pending, does not ask the model, and no words say why",
    ];
    assert_found(&passed(), &[waits, silent, run(&[&list], &[ran("p")])], &found);
}

#[test]
fn a_resume_decides_nothing() {
    let input = script(&json!([
        {"message": "Go", "model": [turn("", &["p"])]},
        {"resume": true, "model": [{"content": "?"}]},
        {"decisions": {"p": {"approve": true}}, "model": [{"content": "Paid."}]},
    ]));
    let waits = json!({"requests": [begin()], "executed": [], "pending": ["p"]});
    let nothing = json!({"requests": [], "executed": [], "pending": ["p"]});
    let list = [begin(), vec![a("", &["p"]), t("p", "r-p")]].concat();
    assert_sound(&input, &[waits.clone(), nothing, run(&[&list], &[ran("p")])]);
    let runs = [waits, run(&[&list], &[ran("p")]), json!({"requests": [], "executed": [], "refused": "None."})];
    let found = ruling_of(&input, &runs, Abilities::default());
    assert_eq!(found_in(&found)[0], "SESSION-APPROVED: run 2: `p` is executed before its decision");
}

#[test]
fn an_approved_call_that_is_cut() {
    let input = script(&json!([
        {"message": "Go", "model": [turn("", &["p"])]},
        {"decisions": {"p": {"approve": true}}, "model": [{"content": "?"}], "cut": {"during": "p", "how": "kill"}},
        {"message": "Well?", "model": [{"content": "Oh."}]},
    ]));
    let waits = json!({"requests": [begin()], "executed": [], "pending": ["p"]});
    let killed = json!({"requests": [], "executed": [cut("p")]});
    let told = [begin(), vec![a("", &["p"]), t("p", "interrupted"), h("Well?")]].concat();
    assert_sound(&input, &[waits.clone(), killed.clone(), run(&[&told], &[])]);
    let gone = [begin(), vec![h("Well?")]].concat();
    assert_sound(&input, &[waits.clone(), killed.clone(), run(&[&gone], &[])]);
    let again = [begin(), vec![a("", &["p"]), t("p", "r-p"), h("Well?")]].concat();
    assert_sound(&input, &[waits, killed, run(&[&again], &[ran("p")])]);
}

#[test]
fn an_agent_that_answers_a_pending_call_itself() {
    let input = script(&json!([{"message": "Go", "model": [turn("", &["p"]), {"content": "It waits."}]}]));
    let list = [begin(), vec![a("", &["p"]), t("p", "It waits for approval.")]].concat();
    let ruling = ruling_of(&input, &[run(&[&begin(), &list], &[])], Abilities::default());
    assert!(ruling.unsupported().is_some_and(|why| why.contains("`p`")));
}

#[test]
fn a_thread_that_a_late_decision_kills() {
    let mut input = passed();
    let behind = json!({"message": "Hello?", "model": [{"content": "Hi."}]});
    input["runs"].as_array_mut().expect("runs").push(behind);
    let waits = json!({"requests": [begin()], "executed": [ran("a")], "pending": ["p"]});
    let list = [begin(), vec![a("", &["a"]), t("a", "r-a"), h("Wait")]].concat();
    let late = json!({"requests": [], "executed": []});
    let dead = json!({"requests": [], "executed": [], "refused": "No result for p."});
    let found = ["SESSION-PENDING: run 4: the user message is refused: \"No result for p.\""];
    assert_found(&input, &[waits, run(&[&list], &[]), late, dead], &found);
}

#[test]
fn a_decision_on_a_call_whose_run_was_cut() {
    let input = script(&json!([
        {"message": "Go", "model": [turn("", &["a", "p"])], "cut": {"during": "a", "how": "kill"}},
        {"decisions": {"p": {"approve": true}}, "model": [{"content": "Paid."}]},
    ]));
    let list = [begin(), vec![a("", &["a", "p"]), t("a", "interrupted"), t("p", "r-p")]].concat();
    assert_sound(&input, &[run(&[&begin()], &[cut("a")]), run(&[&list], &[ran("p")])]);
}

#[test]
fn a_run_that_only_resumes() {
    let input = script(&json!([{"resume": true, "model": [{"error": "503"}, {"content": "Hi."}]}]));
    let failed = json!({"requests": [[s("Be brief.")], [s("Be brief.")]], "executed": [], "failure": "503"});
    assert!(found_in(&ruling_of(&input, &[failed], Abilities::default())).is_empty());
}

#[test]
fn decisions_on_a_settled_call_may_be_refused() {
    let both = json!({"p1": {"approve": true}, "p2": {"approve": true}});
    let session = |last: &Value| {
        script(&json!([
            {"message": "Go", "model": [turn("", &["p1"])]},
            {"decisions": {"p1": {"approve": true}}, "model": [{"content": "Paid."}]},
            {"message": "On", "model": [turn("", &["p2"])]},
            {"decisions": last, "model": [{"content": "Paid."}]},
        ]))
    };
    let paid = [begin(), vec![a("", &["p1"]), t("p1", "r-p1")]].concat();
    let on = [paid.clone(), vec![a("Paid.", &[]), h("On")]].concat();
    let runs = [
        json!({"requests": [begin()], "executed": [], "pending": ["p1"]}),
        run(&[&paid], &[ran("p1")]),
        json!({"requests": [on], "executed": [], "pending": ["p2"]}),
        json!({"requests": [], "executed": [], "refused": "No call `p1` waits.", "pending": ["p2"]}),
    ];
    assert_sound(&session(&both), &runs);
    let found = ["SESSION-APPROVED: run 4: complete decisions are refused: \"No call `p1` waits.\""];
    assert_found(&session(&json!({"p2": {"approve": true}})), &runs, &found);
}
