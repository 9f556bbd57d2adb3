//! Tests accusations that were once wrong, or by another clause's name, each beside a fault that must still be named.

use super::*;

fn begin() -> Vec<Value> {
    vec![s("Be brief."), h("Go")]
}

#[test]
fn a_user_message_about_a_cut_closes_the_turn_for_compaction() {
    let input = script(&json!([
        {"message": "Go", "model": [turn("", &["a", "b"])], "cut": {"during": "b", "how": "cancel"}},
        {"resume": true, "compact": {"keepMessages": 1, "summary": "They looked."}, "model": [{"content": "Done."}]},
    ]));
    let runs = |list: &[Value]| vec![run(&[&begin()], &[ran("a"), cut("b")]), run(&[list], &[])];
    let closed = vec![s("Be brief."), h("They looked."), h("[Request interrupted by user]")];
    assert_sound(&input, &runs(&closed));
    let found = [
        "SESSION-COMPACT: run 2, request 1: the response \"\" with the calls `a`, `b` is missing, though its turn is open",
        "SESSION-COMPACT-WHOLE: run 2, request 1: the user message \"Go\" of run 1 is missing",
    ];
    assert_found(&input, &runs(&closed[..2]), &found);
}

#[test]
fn a_cut_call_run_again_is_not_the_one_that_the_model_makes_next() {
    let mut input = script(&json!([
        {"message": "Go", "model": [turn("", &["a"])], "cut": {"during": "a", "how": "cancel"}},
        {"message": "Again", "model": [turn("", &["b"]), {"content": "Done."}]},
    ]));
    input["runs"][1]["model"][0]["tool_calls"][0]["args"] = json!({"n": "a"});
    let first = [begin(), vec![a("", &["a"]), t("a", "r-a"), h("Again")]].concat();
    let mut response = a("", &["b"]);
    response["tool_calls"][0]["args"] = json!({"n": "a"});
    let second = [first.clone(), vec![response, t("b", "r-b")]].concat();
    let deed = |id: &str| json!({"id": id, "name": "look", "args": {"n": "a"}});
    let runs = |executed: &[Value]| vec![run(&[&begin()], &[cut("a")]), run(&[&first, &second], executed)];
    assert_sound(&input, &runs(&[deed("x"), deed("b")]));
    let found = ["SESSION-ONCE: run 2: `b` is executed again, though it had returned"];
    assert_found(&input, &runs(&[deed("x"), deed("b"), deed("b")]), &found);
}

/// A call of a tool that needs an approval, whose arguments are no object, beside one whose arguments are.
fn raw_that_waits() -> Value {
    let mut input = script(&json!([
        {"message": "Go", "model": [turn("", &["p", "p2"]), {"content": "Paid."}]},
        {"decisions": {"p2": {"approve": true}}, "model": [{"content": "Paid one."}]},
        {"message": "Leave it", "model": [{"content": "Left."}]},
    ]));
    input["runs"][0]["model"][0]["tool_calls"][0] = json!({"id": "p", "name": "pay", "arguments": "{\"n\":"});
    input
}

#[test]
fn a_raw_call_may_wait_for_a_decision_too() {
    let waits = json!({"requests": [begin()], "executed": [], "pending": ["p", "p2"]});
    let paid = json!({"requests": [], "executed": [ran("p2")], "pending": ["p"]});
    let left = [begin(), vec![a("", &["p2"]), t("p2", "r-p2"), h("Leave it")]].concat();
    let refused = json!({"requests": [], "executed": [], "pending": ["p"], "refused": "Decide first."});
    for last in [run(&[&left], &[]), refused] {
        assert_sound(&raw_that_waits(), &[waits.clone(), paid.clone(), last]);
    }
    // One that does not wait is told.
    let not_it = json!({"requests": [begin()], "executed": [], "pending": ["p2"]});
    let silent = json!({"requests": [], "executed": [ran("p2")]});
    let found = ruling_of(&raw_that_waits(), &[not_it, silent, run(&[&left], &[])], Abilities::default());
    let clauses: Vec<&str> = found.findings().iter().map(|found| found.clause).collect();
    assert!(clauses.contains(&clause::SESSION_RAW), "{found:?}");
}

#[test]
fn calls_beside_raw_ones_are_executed() {
    let mut input = script(&json!([{"message": "Go", "model": [turn("", &["a", "b"]), {"content": "Oh."}]}]));
    input["runs"][0]["model"][0]["tool_calls"][1] = json!({"id": "b", "name": "look", "arguments": "{"});
    let mut response = a("", &["a", "b"]);
    response["tool_calls"][1]["args"] = json!({});
    let list = [begin(), vec![response, t("a", "Not run."), t("b", "No JSON.")]].concat();
    let found = [
        "SESSION-RAW: run 1, request 2, message 4: `a`, beside a call whose arguments are no JSON object, is answered without being executed",
    ];
    assert_found(&input, &[run(&[&begin(), &list], &[])], &found);
}

#[test]
fn what_a_call_gave_is_lost_by_the_cut_and_not_by_what_stood_beside_it() {
    let mut input = script(&json!([
        {"message": "Go", "model": [turn("", &["a", "b", "c"])], "cut": {"during": "c", "how": "cancel"}},
        {"message": "Well?", "model": [{"content": "Done."}]},
    ]));
    input["runs"][0]["model"][0]["tool_calls"][1] = json!({"id": "b", "name": "look", "arguments": "{"});
    let mut response = a("", &["a", "b", "c"]);
    response["tool_calls"][1]["args"] = json!({});
    let list = [begin(), vec![response, t("a", "?"), t("b", "?"), t("c", "?"), h("Well?")]].concat();
    let found = ["SESSION-KEPT: run 2, request 1, message 4: `a`, which had returned: the result \"r-a\" became \"?\""];
    assert_found(&input, &[run(&[&begin()], &[ran("a"), cut("c")]), run(&[&list], &[])], &found);
}

#[test]
fn an_approved_call_that_is_cut_and_left_open() {
    let input = script(&json!([
        {"message": "Go", "model": [turn("", &["p", "p2"])]},
        {"decisions": {"p": {"approve": true}, "p2": {"approve": true}}, "model": [{"content": "?"}],
            "cut": {"during": "p2", "how": "cancel"}},
        {"message": "Well?", "model": [{"content": "Oh."}]},
    ]));
    let waits = json!({"requests": [begin()], "executed": [], "pending": ["p", "p2"]});
    let cancelled = json!({"requests": [], "executed": [ran("p"), cut("p2")]});
    let runs = |answers: &[Value]| {
        let list = [begin(), vec![a("", &["p", "p2"])], answers.to_vec(), vec![h("Well?")]].concat();
        vec![waits.clone(), cancelled.clone(), run(&[&list], &[])]
    };
    assert_sound(&input, &runs(&[t("p", "r-p"), t("p2", "interrupted")]));
    let open = ruling_of(&input, &runs(&[t("p", "r-p")]), Abilities::default());
    let clauses: Vec<&str> = open.findings().iter().map(|found| found.clause).collect();
    assert_eq!(clauses, [clause::SESSION_ANSWERED]);
    let lost = ruling_of(&input, &runs(&[t("p", "?"), t("p2", "interrupted")]), Abilities::default());
    let clauses: Vec<&str> = lost.findings().iter().map(|found| found.clause).collect();
    assert_eq!(clauses, [clause::SESSION_KEPT]);
}

const IMAGE: &str = "aGVsbG8gaW1hZ2U=";

#[test]
fn an_image_that_a_cut_took_with_its_text() {
    let mut input = script(&json!([
        {"message": "Go", "model": [turn("", &["a", "b"])], "cut": {"during": "b", "how": "kill"}},
        {"message": "Well?", "model": [{"content": "Done."}]},
    ]));
    input["tools"]["look"]["byId"]["a"] = json!({"image": IMAGE, "text": "A cat."});
    let runs = |told: &str| {
        let list = [begin(), vec![a("", &["a", "b"]), t("a", told), t("b", "?"), h("Well?")]].concat();
        vec![run(&[&begin()], &[ran("a"), cut("b")]), run(&[&list], &[])]
    };
    assert_sound(&input, &runs("A cat. (An image was left out.)"));
    let found =
        ["SESSION-KEPT: run 2, request 1, message 4: `a`, which had returned: the text beside its image is missing"];
    assert_found(&input, &runs("Interrupted."), &found);
    let found =
        ["SESSION-IMAGE: run 2, request 1, message 4: the image of `a` is missing, and its answer does not say so"];
    assert_found(&input, &runs("A cat."), &found);
}

#[test]
fn an_image_that_stands_in_its_answer_twice() {
    let own = "84d8fd5280a5162aaf5c5d9aeb069b2660500eabeeda58ce2bb10595827e08ad";
    let mut input = script(&json!([{"message": "Go", "model": [turn("", &["a"]), {"content": "Seen."}]}]));
    input["tools"]["look"]["byId"]["a"] = json!({"image": IMAGE});
    let mut answer = t("a", "");
    answer["images"] = json!([own, own]);
    let list = [begin(), vec![a("", &["a"]), answer]].concat();
    let found = ["SESSION-IMAGE: run 1, request 2, message 4: the image of `a` is there more than once"];
    assert_found(&input, &[run(&[&begin(), &list], &[ran("a")])], &found);
}

#[test]
fn words_that_compaction_took_are_named_once() {
    let mut input = script(&json!([
        {"message": "Hi", "model": [{"content": "Hi."}]},
        {"message": "Go", "compact": {"keepMessages": 2}, "model": [turn("", &["x"]), {"content": "I am b."}]},
    ]));
    input["agents"] = json!({"b": {"system": "You are b."}});
    input["runs"][1]["model"][0]["tool_calls"][0] = json!({"id": "x", "handoff": "b"});
    let over = json!({"type": "ai", "content": "", "tool_calls": [{"id": "x", "name": "to_b", "args": {}}]});
    let first = vec![s("Be brief."), h("Hi")];
    let second = [first.clone(), vec![a("Hi.", &[])]].concat();
    let third = [vec![s("You are b."), h("Hi"), a("Hi.", &[])], vec![over, t("x", "Over.")]].concat();
    let found = ["SESSION-COMPACT-WHOLE: run 2, request 1: the user message \"Go\" of run 2 is missing"];
    assert_found(&input, &[run(&[&first], &[]), run(&[&second, &third], &[])], &found);
    let told = [second, vec![h("Go")]].concat();
    let found = ["SESSION-HANDOFF: run 2, request 2: the words of the last user message, \"Go\", are missing"];
    assert_found(&input, &[run(&[&first], &[]), run(&[&told, &third], &[])], &found);
}

#[test]
fn what_was_never_saved_is_not_taken_by_compaction() {
    let input = script(&json!([
        {"message": "Go", "model": [turn("", &["a", "b"])], "cut": {"during": "b", "how": "cancel"}},
        {"resume": true, "compact": {"keepMessages": 1, "summary": "They looked."}, "model": [{"content": "Done."}]},
    ]));
    let list = vec![s("Be brief."), h("They looked.")];
    let runs = [run(&[&begin()], &[ran("a"), cut("b")]), run(&[&list], &[])];
    assert_eq!(found_in(&ruling_of(&input, &runs, saves(Saves::Run))), <[&str; 0]>::default());
}

#[test]
fn a_cancelled_run_may_ask_once_more_before_it_says_so() {
    let input = script(&json!([
        {"message": "Go", "model": [turn("", &["a", "b"]), {"content": "Seen."}], "cut": {"during": "b", "how": "cancel"}},
        {"message": "Well?", "model": [{"content": "Done."}]},
    ]));
    let second = [begin(), vec![a("", &["a", "b"]), t("a", "r-a"), t("b", "r-b")]].concat();
    let mut cancelled = run(&[&begin(), &second], &[ran("a"), cut("b")]);
    cancelled["failure"] = json!("Run was cancelled");
    let kept = [second, vec![a("Seen.", &[]), h("Well?")]].concat();
    assert_sound(&input, &[cancelled.clone(), run(&[&kept], &[])]);
    let forgotten = ruling_of(&input, &[cancelled, run(&[&[s("Be brief."), h("Well?")]], &[])], saves(Saves::Run));
    assert_eq!(found_in(&forgotten), <[&str; 0]>::default());
}

#[test]
fn a_cut_response_of_which_nothing_returned_may_be_left_out_beside_compaction() {
    let input = |how: &str| {
        script(&json!([
            {"message": "Go", "model": [turn("", &["a", "b"])], "cut": {"during": "b", "how": how}},
            {"resume": true, "compact": {"keepMessages": 1}, "model": [{"content": "Done."}]},
        ]))
    };
    let runs = |executed: &[Value]| vec![run(&[&begin()], executed), run(&[&begin()], &[])];
    assert_sound(&input("kill"), &runs(&[cut("a"), cut("b")]));
    let found = [
        "SESSION-COMPACT: run 2, request 1: the response \"\" with the calls `a`, `b` is missing, though its turn is open",
    ];
    assert_found(&input("kill"), &runs(&[ran("a"), cut("b")]), &found);
}

#[test]
fn what_waits_beside_a_call_that_is_killed_need_not_be_saved() {
    let input = script(&json!([
        {"message": "Go", "model": [turn("", &["p", "b"])], "cut": {"during": "b", "how": "kill"}},
        {"decisions": {"p": {"approve": true}}, "model": [{"content": "Paid."}]},
    ]));
    let killed = json!({"requests": [begin()], "executed": [cut("b")], "pending": ["p"]});
    let refused = json!({"requests": [], "executed": [], "refused": "No call waits."});
    for kept in [Saves::Round, Saves::Run] {
        let ruling = ruling_of(&input, &[killed.clone(), refused.clone()], saves(kept));
        assert_eq!(found_in(&ruling), [""; 0]);
        assert!(ruling.notes().any(|note| note.contains("decisions are refused")));
    }
    let found = ["SESSION-APPROVED: run 2: complete decisions are refused: \"No call waits.\""];
    assert_found(&input, &[killed, refused], &found);
}

#[test]
fn a_decision_of_a_cut_run_need_not_be_saved() {
    let input = script(&json!([
        {"message": "Go", "model": [turn("", &["p"])]},
        {"decisions": {"p": {"approve": false}}, "model": [turn("", &["b"])], "cut": {"during": "b", "how": "cancel"}},
        {"message": "Well?", "model": [{"content": "Done."}]},
        {"resume": true, "model": [{"content": "Done."}]},
    ]));
    let waits = json!({"requests": [begin()], "executed": [], "pending": ["p"]});
    let cut = run(&[&[begin(), vec![a("", &["p"]), t("p", "Denied.")]].concat()], &[cut("b")]);
    let refused = json!({"requests": [], "executed": [], "refused": "Decide first.", "pending": ["p"]});
    let runs = [waits, cut, refused.clone(), refused];
    for kept in [Saves::Round, Saves::Run] {
        assert_eq!(found_in(&ruling_of(&input, &runs, saves(kept))), [""; 0]);
    }
    assert!(!found_in(&ruling_of(&input, &runs, Abilities::default())).is_empty());
}

#[test]
fn a_cut_call_run_again_with_another_id_is_not_one_of_the_same_arguments() {
    let look = |id: &str| json!({"id": id, "name": "look", "args": {"n": 1}});
    let said = |id: &str| json!({"type": "ai", "content": "", "tool_calls": [look(id)]});
    let input = script(&json!([
        {"message": "Go", "cut": {"during": "a", "how": "throw"}, "model": [{"content": "", "tool_calls": [look("a")]}]},
        {"message": "On", "cut": {"during": "b", "how": "throw"}, "model": [{"content": "", "tool_calls": [look("b")]}]},
        {"message": "Thanks", "model": [{"content": "Bye."}]},
    ]));
    let never = |id: &str| json!({"id": id, "name": "look", "args": {"n": 1}, "returned": false});
    let begin = vec![s("Be brief."), h("Go")];
    let on = [begin.clone(), vec![said("a"), t("a", "r-a"), h("On")]].concat();
    let thanks = [on.clone(), vec![said("b"), t("b", "r-b"), h("Thanks")]].concat();
    let cut = |requests: &[Value], executed: &[Value]| json!({"requests": [requests], "executed": executed, "failure": "It broke."});
    let runs =
        [cut(&begin, &[never("a")]), cut(&on, &[look("a_again"), never("b")]), run(&[&thanks], &[look("b_again")])];
    assert_sound(&input, &runs);
}

#[test]
fn a_message_of_a_refused_run_may_be_kept_behind_the_decisions() {
    let input = script(&json!([
        {"message": "Go", "model": [turn("", &["p1"])]},
        {"message": "Wait", "model": [{"content": "?"}]},
        {"decisions": {"p1": {"approve": true}}, "model": [{"content": "Paid."}]},
        {"message": "Thanks", "model": [{"content": "Bye."}]},
    ]));
    let begin = vec![s("Be brief."), h("Go")];
    let paid = [begin.clone(), vec![a("", &["p1"]), t("p1", "r-p1")]].concat();
    let last = |kept: &[Value]| [&paid[..], &[a("Paid.", &[])], kept, &[h("Thanks")]].concat();
    let runs = |kept: &[Value]| {
        [
            json!({"requests": [begin], "executed": [], "pending": ["p1"]}),
            json!({"requests": [], "executed": [], "refused": "Decide first.", "pending": ["p1"]}),
            run(&[&paid], &[ran("p1")]),
            run(&[&last(kept)], &[]),
        ]
    };
    assert_sound(&input, &runs(&[h("Wait")]));
    assert_sound(&input, &runs(&[]));
    let found = ["SESSION-SAID-ONCE: run 4, request 1, message 7: a human message, \"Wait\" is there twice"];
    assert_found(&input, &runs(&[h("Wait"), h("Wait")]), &found);
}

#[test]
fn compaction_may_shorten_answers_for_good() {
    let input = script(&json!([
        {"message": "Go", "model": [turn("", &["p1"])]},
        {"decisions": {"p1": {"approve": false, "reason": "Too dear."}}, "model": [{"content": "I see."}]},
        {"message": "On", "compact": {"keepMessages": 2}, "model": [{"content": "Yes?"}]},
        {"message": "Thanks", "model": [{"content": "Bye."}]},
    ]));
    let begin = vec![s("Be brief."), h("Go")];
    let told = |words: &str| [begin.clone(), vec![a("", &["p1"]), t("p1", words)]].concat();
    let on = |words: &str| [told(words), vec![a("I see.", &[]), h("On")]].concat();
    let thanks = |words: &str| [on(words), vec![a("Yes?", &[]), h("Thanks")]].concat();
    let runs = |first: &str, later: &str| {
        [
            json!({"requests": [begin], "executed": [], "pending": ["p1"]}),
            run(&[&told(first)], &[]),
            run(&[&on(later)], &[]),
            run(&[&thanks(later)], &[]),
        ]
    };
    let no = |runs: &[Value]| {
        matches!(ruling_of(&input, runs, Abilities::default()).holds(Property::SessionDeniedReason), Holding::No(_))
    };
    let shortened = runs("No: Too dear.", "[cleared]");
    assert_sound(&input, &shortened);
    assert!(!no(&shortened));
    assert!(no(&runs("No.", "[cleared]")), "the first request has all of it");
}

#[test]
fn messages_of_two_refused_runs_do_not_stand_for_a_response() {
    let input = script(&json!([
        {"message": "Go", "model": [turn("", &["p1"])]},
        {"message": "Wait", "model": [{"content": "?"}]},
        {"message": "Well?", "model": [{"content": "?"}]},
        {"decisions": {"p1": {"approve": true}}, "model": [{"content": "Paid."}]},
        {"message": "Thanks", "model": [{"content": "Bye."}]},
    ]));
    let begin = vec![s("Be brief."), h("Go")];
    let paid = [begin.clone(), vec![a("", &["p1"]), t("p1", "r-p1")]].concat();
    let last = [&paid[..], &[a("Paid.", &[]), h("Wait"), h("Well?"), h("Thanks")]].concat();
    let refused = json!({"requests": [], "executed": [], "refused": "Decide first.", "pending": ["p1"]});
    let waits = json!({"requests": [begin], "executed": [], "pending": ["p1"]});
    assert_sound(&input, &[waits, refused.clone(), refused, run(&[&paid], &[ran("p1")]), run(&[&last], &[])]);
}
