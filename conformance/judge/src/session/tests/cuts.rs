//! SESSION-VALID, SESSION-CUT, SESSION-ANSWERED, SESSION-KEPT, SESSION-WHOLE and SESSION-ONCE.

use super::*;

/// Three calls at once, of which the middle one is cut; two more runs.
fn three() -> Value {
    script(&json!([
        {"message": "Go", "model": [turn("I look.", &["a", "b", "c"])], "cut": {"during": "b", "how": "cancel"}},
        {"message": "Well?", "model": [turn("", &["d"]), {"content": "Done."}]},
        {"message": "Thanks", "model": [{"content": "Bye."}]},
    ]))
}

fn begin() -> Vec<Value> {
    vec![s("Be brief."), h("Go")]
}

/// The reports of three runs, the second of which begins with this list behind the first user message.
fn told(behind: &[Value]) -> Vec<Value> {
    let first = [begin(), behind.to_vec(), vec![h("Well?")]].concat();
    let second = [first.clone(), vec![a("", &["d"]), t("d", "r-d")]].concat();
    let third = [second.clone(), vec![a("Done.", &[]), h("Thanks")]].concat();
    vec![run(&[&begin()], &[ran("a"), cut("b"), ran("c")]), run(&[&first, &second], &[ran("d")]), run(&[&third], &[])]
}

fn whole() -> Vec<Value> {
    vec![a("I look.", &["a", "b", "c"]), t("a", "r-a"), t("b", "interrupted"), t("c", "r-c")]
}

#[test]
fn a_cut_call_is_told_or_gone() {
    assert_sound(&three(), &told(&whole()));
    // In any order, as an error, or by the user.
    let moved = vec![a("I look.", &["a", "b", "c"]), t("c", "r-c"), t("b", ""), t("a", "r-a")];
    assert_sound(&three(), &told(&moved));
    let gone = vec![a("I look.", &["a", "c"]), t("a", "r-a"), t("c", "r-c"), h("The call b was interrupted.")];
    assert_sound(&three(), &told(&gone));
    let waited = vec![a("I look.", &["a", "b", "c"]), t("a", "r-a"), t("b", "r-b"), t("c", "r-c")];
    assert_sound(&three(), &told(&waited));
}

#[test]
fn a_cut_response_of_which_nothing_returned_may_be_dropped() {
    let mut runs = told(&[]);
    runs[0]["executed"] = json!([cut("b")]);
    assert_sound(&three(), &runs);
}

#[test]
fn a_cut_call_without_its_answer() {
    let left = vec![a("I look.", &["a", "b", "c"]), t("a", "r-a"), t("c", "r-c")];
    let found = ["SESSION-ANSWERED: run 2, request 1, message 3: the call `b` is not answered, which was cut"];
    assert_found(&three(), &told(&left), &found);
    let twice = vec![a("I look.", &["a", "b", "c"]), t("a", "r-a"), t("b", "?"), t("b", "!"), t("c", "r-c")];
    let found = ["SESSION-ANSWERED: run 2, request 1, message 6: `b` is answered twice"];
    assert_found(&three(), &told(&twice), &found);
    let ruling = ruling_of(&three(), &told(&left), Abilities::default());
    for property in [Property::SessionValid, Property::SessionCut, Property::SessionKept] {
        assert!(matches!(ruling.holds(property), Holding::Blocked(_)), "{property}");
    }
    assert!(matches!(ruling.holds(Property::SessionAnswered), Holding::No(_)));
    assert_eq!(ruling.holds(Property::SessionOnce), Holding::Yes);
}

#[test]
fn an_answer_behind_the_next_user_message_is_one_fault() {
    let first =
        [begin(), vec![a("I look.", &["a", "b", "c"]), t("a", "r-a"), t("c", "r-c"), h("Well?"), t("b", "?")]].concat();
    let mut runs = told(&whole());
    runs[1]["requests"][0] = json!(first);
    let found = ruling_of(&three(), &runs, Abilities::default());
    let clauses: Vec<&str> = found.findings().iter().map(|found| found.clause).collect();
    assert!(clauses.contains(&clause::SESSION_ANSWERED), "{clauses:?}");
    assert!(!clauses.contains(&clause::SESSION_VALID), "{clauses:?}");
}

#[test]
fn what_had_returned_is_kept() {
    let otherwise = vec![a("I look.", &["a", "b", "c"]), t("a", "interrupted"), t("b", "interrupted"), t("c", "r-c")];
    let found = [
        "SESSION-KEPT: run 2, request 1, message 4: `a`, which had returned: the result \"r-a\" became \"interrupted\"",
    ];
    assert_found(&three(), &told(&otherwise), &found);
    let found = [
        "SESSION-KEPT: run 2, request 1: the response \"I look.\" with the calls `a`, `b`, `c` is missing, though `a`, `c` had returned before the cut",
    ];
    assert_found(&three(), &told(&[]), &found);
    let half = vec![a("I look.", &["a"]), t("a", "r-a")];
    let found = [
        "SESSION-WHOLE: run 2, request 1, message 3: the call `c` is left out of its response, though it had returned",
    ];
    assert_found(&three(), &told(&half), &found);
    let ruling = ruling_of(&three(), &told(&half), Abilities::default());
    assert!(matches!(ruling.holds(Property::SessionKept), Holding::Blocked(_)));
    let silent = vec![a("", &["a", "b", "c"]), t("a", "r-a"), t("b", "?"), t("c", "r-c")];
    let found = ["SESSION-WHOLE: run 2, request 1, message 3: the text \"I look.\" became \"\""];
    assert_found(&three(), &told(&silent), &found);
}

#[test]
fn whole_rounds_and_runs_may_be_lost_where_that_is_documented() {
    for kept in [Saves::Round, Saves::Run] {
        let ruling = ruling_of(&three(), &told(&[]), saves(kept));
        assert_eq!(found_in(&ruling), <[&str; 0]>::default());
        assert!(ruling.notes().any(|note| note.contains("the hello says")), "it is noted");
    }
    // The user message of the run, too.
    let mut runs = told(&[]);
    for report in runs.iter_mut().skip(1) {
        for request in report["requests"].as_array_mut().expect("requests") {
            request.as_array_mut().expect("messages").remove(1);
        }
    }
    assert_eq!(found_in(&ruling_of(&three(), &runs, saves(Saves::Run))), <[&str; 0]>::default());
    assert_eq!(found_in(&ruling_of(&three(), &runs, saves(Saves::Round))), <[&str; 0]>::default());
    assert_eq!(found_in(&ruling_of(&three(), &runs, Abilities::default())).len(), 1, "one fault, one name");
    // Half of it is a fault all the same.
    let half = vec![a("I look.", &["a"]), t("a", "r-a")];
    assert_eq!(found_in(&ruling_of(&three(), &told(&half), saves(Saves::Run))).len(), 1);
}

#[test]
fn an_earlier_round_of_the_cut_run_is_kept() {
    let input = script(&json!([
        {"message": "Go", "model": [turn("", &["a"]), turn("", &["b"])], "cut": {"during": "b", "how": "kill"}},
        {"message": "Well?", "model": [{"content": "Done."}]},
    ]));
    let second = [begin(), vec![a("", &["a"]), t("a", "r-a")]].concat();
    let runs = |behind: &[Value]| {
        let first = [begin(), behind.to_vec(), vec![h("Well?")]].concat();
        vec![run(&[&begin(), &second], &[ran("a"), cut("b")]), run(&[&first], &[])]
    };
    assert_sound(&input, &runs(&[a("", &["a"]), t("a", "r-a")]));
    assert_sound(&input, &runs(&[a("", &["a"]), t("a", "r-a"), a("", &["b"]), t("b", "?")]));
    let lost = found_in(&ruling_of(&input, &runs(&[a("", &["b"]), t("b", "?")]), Abilities::default()));
    assert_eq!(
        lost,
        [
            "SESSION-KEPT: run 2, request 1: the response \"\" with the call `a` is missing, a round of run 1 from before the cut"
        ]
    );
    assert_eq!(found_in(&ruling_of(&input, &runs(&[]), saves(Saves::Round))).len(), 1);
    assert_eq!(found_in(&ruling_of(&input, &runs(&[]), saves(Saves::Run))).len(), 0);
    assert_eq!(found_in(&ruling_of(&input, &runs(&[a("", &["b"]), t("b", "?")]), saves(Saves::Run))).len(), 1);
}

#[test]
fn a_stuck_thread() {
    let mut runs = told(&whole());
    runs[1] = json!({"requests": [], "executed": [], "failure": "400"});
    runs[2] = json!({"requests": [], "executed": [], "failure": "400"});
    let found = ["SESSION-CUT: after the cut of run 1, run 2 does not ask the model and fails: \"400\""];
    assert_eq!(found_in(&ruling_of(&three(), &runs, Abilities::default()))[..1], found);
}

#[test]
fn a_refusal_after_a_cut_leaves_a_way_to_go_on() {
    let input = script(&json!([
        {"message": "Go", "model": [turn("", &["b"])], "cut": {"during": "b", "how": "throw"}},
        {"message": "Well?", "model": [{"content": "Done."}]},
        {"resume": true, "model": [{"content": "Resumed."}]},
        {"message": "Thanks", "model": [{"content": "Bye."}]},
    ]));
    let again = [begin(), vec![a("", &["b"]), t("b", "r-b")]].concat();
    let last = [again.clone(), vec![a("Resumed.", &[]), h("Thanks")]].concat();
    let refused = json!({"requests": [], "executed": [], "refused": "Resume first."});
    let runs = vec![run(&[&begin()], &[cut("b")]), refused.clone(), run(&[&again], &[ran("b")]), run(&[&last], &[])];
    assert_sound(&input, &runs);
    let silent = json!({"requests": [], "executed": [], "refused": ""});
    let stuck = vec![runs[0].clone(), silent, runs[2].clone(), runs[3].clone()];
    assert_found(&input, &stuck, &["SESSION-CUT: after the cut of run 1, run 2 does not ask the model"]);
    let dead = vec![runs[0].clone(), refused.clone(), refused.clone(), refused];
    assert_found(
        &input,
        &dead,
        &[
            "SESSION-CUT: after the cut of run 1, run 2 is refused: \"Resume first.\"; and run 3, which should go on, does not ask the model",
        ],
    );
}

#[test]
fn decisions_on_what_a_refused_run_would_have_called_are_no_way_to_go_on() {
    // Run 2 is refused, so that nobody sent `p`; only a note says that the case has no `resume`.
    let input = script(&json!([
        {"message": "Go", "model": [turn("", &["b"])], "cut": {"during": "b", "how": "throw"}},
        {"message": "Well?", "model": [turn("", &["p"])]},
        {"decisions": {"p": {"approve": true}}, "model": [{"content": "Paid."}]},
    ]));
    let refused = |words: &str| json!({"requests": [], "executed": [], "refused": words});
    let runs = [run(&[&begin()], &[cut("b")]), refused("Resume first."), refused("No call waits.")];
    let ruling = ruling_of(&input, &runs, Abilities::default());
    assert_eq!(found_in(&ruling), [""; 0]);
    assert!(ruling.notes().any(|note| note.contains("does not go on by `resume`")));
    // One that was said before the cut waits all the same.
    let input = script(&json!([
        {"message": "Go", "model": [turn("", &["b", "p"])], "cut": {"during": "b", "how": "throw"}},
        {"message": "Well?", "model": [{"content": "Done."}]},
        {"decisions": {"p": {"approve": true}}, "model": [{"content": "Paid."}]},
    ]));
    let found = found_in(&ruling_of(&input, &runs, Abilities::default()));
    assert!(found.iter().any(|what| what.starts_with(clause::SESSION_CUT)), "{found:?}");
}

#[test]
fn what_had_returned_is_not_executed_again() {
    let mut runs = told(&whole());
    runs[1]["executed"] = json!([ran("d"), ran("a")]);
    assert_found(&three(), &runs, &["SESSION-ONCE: run 2: `a` is executed again, though it had returned"]);
    runs[1]["executed"] = json!([ran("d")]);
    runs[2]["executed"] = json!([ran("b")]);
    let found = ["SESSION-ONCE: run 3: `b` is executed, though a request had shown the model how it ended"];
    assert_found(&three(), &runs, &found);
    runs[2]["executed"] = json!([ran("x")]);
    let found = ["SESSION-ONCE: run 3: `x` of look with {\"n\":\"x\"} is executed, which no response asks for"];
    assert_found(&three(), &runs, &found);
}

#[test]
fn a_cut_call_may_be_run_again_with_another_id() {
    let again = vec![a("I look.", &["a", "b", "c"]), t("a", "r-a"), t("b", "r-b"), t("c", "r-c")];
    let mut runs = told(&again);
    runs[1]["executed"] = json!([{"id": "x1", "name": "look", "args": {"n": "b"}}, ran("d")]);
    assert_sound(&three(), &runs);
}

#[test]
fn an_answer_of_another_call() {
    let swapped = vec![a("I look.", &["a", "b", "c"]), t("a", "r-c"), t("b", "?"), t("c", "r-c")];
    let found =
        ["SESSION-KEPT: run 2, request 1, message 4: `a`, which had returned: the result \"r-a\" became \"r-c\""];
    assert_found(&three(), &told(&swapped), &found);
    let stolen = vec![a("I look.", &["a", "b", "c"]), t("a", "r-a"), t("b", "r-a"), t("c", "r-c")];
    let found =
        ["SESSION-ANSWERED: run 2, request 1, message 5: `b` is answered with the result of another call: \"r-a\""];
    assert_found(&three(), &told(&stolen), &found);
}

#[test]
fn a_fault_in_the_third_run_is_named_there() {
    let mut runs = told(&whole());
    runs[2]["requests"][0].as_array_mut().expect("messages").remove(4);
    assert_found(
        &three(),
        &runs,
        &["SESSION-ANSWERED: run 3, request 1, message 3: the call `b` is not answered, which was cut"],
    );
    let mut runs = told(&whole());
    runs[2]["requests"][0].as_array_mut().expect("messages").remove(8);
    assert_found(
        &three(),
        &runs,
        &["SESSION-VALID: run 3, request 1, message 8: the call `d` is not answered, which had returned"],
    );
}

#[test]
fn a_limit_may_be_told_in_the_name_of_the_model() {
    let input = script(&json!([
        {"message": "Go", "model": [turn("", &["a"]), turn("", &["b"])], "maxRecursionDepth": 1},
        {"message": "Well?", "model": [{"content": "Done."}]},
    ]));
    let told = [begin(), vec![a("", &["a"]), t("a", "?"), a("Model call limits exceeded", &[]), h("Well?")]].concat();
    assert_sound(&input, &[run(&[&begin()], &[]), run(&[&told], &[])]);
    let left = [begin(), vec![a("", &["a"]), h("Well?")]].concat();
    let found = ["SESSION-ANSWERED: run 2, request 1, message 3: the call `a` is not answered, which was not executed"];
    assert_found(&input, &[run(&[&begin()], &[]), run(&[&left], &[])], &found);
}

#[test]
fn a_throw_that_is_answered_is_no_cut() {
    let input = script(&json!([
        {"message": "Go", "model": [turn("", &["a", "b"]), {"content": "Oh."}], "cut": {"during": "b", "how": "throw"}},
        {"message": "Well?", "model": [{"content": "Done."}]},
    ]));
    let second = [begin(), vec![a("", &["a", "b"]), t("a", "r-a"), t("b", "It threw.")]].concat();
    let third = [second.clone(), vec![a("Oh.", &[]), h("Well?")]].concat();
    // Whatever the report says, the script knows that it threw.
    for thrown in [cut("b"), ran("b")] {
        assert_sound(&input, &[run(&[&begin(), &second], &[ran("a"), thrown]), run(&[&third], &[])]);
    }
}

#[test]
fn a_continued_message_after_a_failing_model() {
    let input = script(&json!([
        {"message": "Go", "model": [{"error": "503"}]},
        {"message": "Again", "model": [{"content": "Done."}]},
    ]));
    let failed = json!({"requests": [begin()], "executed": [], "failure": "503"});
    for list in [vec![h("Go"), h("Again")], vec![h("Go\n\nAgain")]] {
        let list = [vec![s("Be brief.")], list].concat();
        assert_sound(&input, &[failed.clone(), run(&[&list], &[])]);
    }
    let lost = vec![s("Be brief."), h("Again")];
    assert_found(
        &input,
        &[failed.clone(), run(&[&lost], &[])],
        &["SESSION-SAID-ONCE: run 2, request 1: the user message \"Go\" of run 1 is missing"],
    );
    let ruling = ruling_of(&input, &[failed, run(&[&lost], &[])], saves(Saves::Run));
    assert_eq!(found_in(&ruling), <[&str; 0]>::default());
}
