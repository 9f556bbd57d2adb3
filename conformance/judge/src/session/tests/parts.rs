//! SESSION-OPAQUE, SESSION-RAW, SESSION-HANDOFF and SESSION-IMAGE.

use super::*;

fn begin() -> Vec<Value> {
    vec![s("Be brief."), h("Go")]
}

fn with(mut message: Value, name: &str, value: Value) -> Value {
    message[name] = value;
    message
}

#[test]
fn opaque() {
    let thinking = |text: &str| json!({"kind": "thinking", "text": text, "signature": format!("s-{text}")});
    let signed = json!({"kind": "signature", "call": "a", "data": "xyz"});
    let parts = json!([thinking("One"), thinking("Two"), signed]);
    let input = script(&json!([
        {"message": "Go", "model": [with(turn("", &["a", "b"]), "opaque", parts.clone()), {"content": "Done."}]},
        {"message": "Thanks", "model": [{"content": "Bye."}]},
    ]));
    let runs = |open: Value, closed: Value| {
        let response = |parts: Value| with(a("", &["a", "b"]), "opaque", parts);
        let answers = vec![t("a", "r-a"), t("b", "r-b")];
        let second = [begin(), vec![response(open)], answers.clone()].concat();
        let third = [begin(), vec![response(closed)], answers, vec![a("Done.", &[]), h("Thanks")]].concat();
        [run(&[&begin(), &second], &[ran("a"), ran("b")]), run(&[&third], &[])]
    };
    assert_sound(&input, &runs(parts.clone(), parts.clone()));
    for kept in [json!([]), json!([thinking("Two")]), json!([signed])] {
        assert_sound(&input, &runs(parts.clone(), kept));
    }
    let extra = with(thinking("One"), "cache", json!(true));
    assert_sound(&input, &runs(json!([extra, thinking("Two"), signed]), json!([])));
    for (open, why) in [
        (json!([thinking("One"), signed]), "the thinking \"Two\" with the signature \"s-Two\" is missing"),
        (json!([thinking("Two"), thinking("One"), signed]), "its opaque parts are in another order"),
        (
            json!([thinking("OneTwo"), signed]),
            "the thinking \"OneTwo\" with the signature \"s-OneTwo\" is not what the model sent here",
        ),
        (
            json!([thinking("One"), thinking("One"), thinking("Two"), signed]),
            "the thinking \"One\" with the signature \"s-One\" is there twice",
        ),
    ] {
        let found = format!("SESSION-OPAQUE: run 1, request 2, message 3: {why}");
        assert_found(&input, &runs(open, parts.clone()), &[&found]);
    }
    // Over the wire the request says whether the model may think where it likes to: then all thoughts of a response may be left out.
    let said: Value = input["runs"].as_array().expect("runs").iter().map(|run| run["model"].clone()).collect();
    let over_wire = |open: Value, adaptive: bool| {
        let wire = json!({"api": "anthropic", "said": said, "adaptive": adaptive});
        let output = json!({"runs": runs(open, json!([])), "wire": wire});
        let answer = AgentReply::Output(value::read(&output.to_string()).expect("JSON"));
        let ruling = judge(&input.to_string(), &Others::default(), Abilities::default(), answer);
        found_in(&ruling.expect("a script and a session")).len()
    };
    for (open, adaptive, found) in [(json!([]), true, 0), (json!([]), false, 1), (json!([signed]), true, 1)] {
        assert_eq!(over_wire(open, adaptive), found, "{adaptive}");
    }
    let found = [
        "SESSION-OPAQUE: run 2, request 1, message 3: the thinking \"Three\" with the signature \"s-Three\" is not what the model sent here",
    ];
    assert_found(&input, &runs(parts, json!([thinking("Three")])), &found);
}

#[test]
fn opaque_parts_do_not_stand_alone() {
    let part = json!({"kind": "redacted", "data": "xyz"});
    let input = script(&json!([
        {"message": "Go", "model": [with(turn("", &["b"]), "opaque", json!([part]))], "cut": {"during": "b", "how": "cancel"}},
        {"message": "Well?", "model": [{"content": "Done."}]},
    ]));
    let list = [begin(), vec![with(a("", &[]), "opaque", json!([part])), h("Well?")]].concat();
    let found = [
        "SESSION-WHOLE: run 2, request 1, message 3: opaque parts are alone, without the text and the calls of their response",
    ];
    assert_found(&input, &[run(&[&begin()], &[cut("b")]), run(&[&list], &[])], &found);
}

fn raw(arguments: &str) -> Value {
    let mut input = script(&json!([
        {"message": "Go", "model": [turn("", &["a", "b"]), {"content": "Oh."}]},
        {"message": "Thanks", "model": [{"content": "Bye."}]},
    ]));
    let call = &mut input["runs"][0]["model"][0]["tool_calls"][1];
    *call = json!({"id": "b", "name": "look", "arguments": arguments});
    input
}

fn raw_runs(call: Value, told: &str, executed: &[Value]) -> Vec<Value> {
    let mut response = a("", &["a", "b"]);
    response["tool_calls"][1] = call;
    let second = [begin(), vec![response, t("a", "r-a"), t("b", told)]].concat();
    let third = [second.clone(), vec![a("Oh.", &[]), h("Thanks")]].concat();
    vec![run(&[&begin(), &second], executed), run(&[&third], &[])]
}

#[test]
fn raw_arguments() {
    let sent = |args: Value| json!({"id": "b", "name": "look", "args": args});
    let back = json!({"id": "b", "name": "look", "args": {}, "raw": "{\"n\":"});
    for call in [sent(json!({})), sent(json!("{\"n\":")), back.clone()] {
        assert_sound(&raw("{\"n\":"), &raw_runs(call, "No JSON.", &[ran("a")]));
    }
    let ruling = ruling_of(&raw("{\"n\":"), &raw_runs(back, "No JSON.", &[ran("a")]), Abilities::default());
    assert!(ruling.notes().any(|note| note.contains("OAI-CHAT-ARGS-JSON")));
    let executed = json!({"id": "b", "name": "look", "args": {}});
    let found = ["SESSION-RAW: run 1: `b`, whose arguments are no JSON object, is executed with {}"];
    assert_found(&raw("{\"n\":"), &raw_runs(sent(json!({})), "r-b", &[ran("a"), executed.clone()])[..], &found);
    // What can be repaired may be, and no arguments are `{}`.
    let repaired = json!({"id": "b", "name": "look", "args": {"n": 1}});
    for text in ["```json\n{\"n\":1}\n```", "\"{\\\"n\\\":1}\"", "```{\"n\":1}```"] {
        assert_sound(&raw(text), &raw_runs(repaired.clone(), "r-b", &[ran("a"), repaired.clone()]));
    }
    assert_sound(&raw(""), &raw_runs(sent(json!({})), "r-b", &[ran("a"), executed]));
    assert_sound(&raw(""), &raw_runs(sent(json!({})), "No JSON.", &[ran("a")]));
    // The text of an object is that object.
    let plain = json!({"id": "b", "name": "look", "args": {"n": "b"}});
    assert_sound(&raw("{\"n\":\"b\"}"), &raw_runs(plain, "r-b", &[ran("a"), ran("b")]));

    let mut dead = raw_runs(sent(json!({})), "No JSON.", &[ran("a")]);
    dead[0] = json!({"requests": [begin()], "executed": [ran("a")], "failure": "JSONDecodeError"});
    dead[1] = json!({"requests": [], "executed": [], "failure": "JSONDecodeError"});
    let found = "SESSION-RAW: run 1, request 1: the model is not asked again after a call whose arguments are no JSON object; it says: JSONDecodeError";
    assert_eq!(found_in(&ruling_of(&raw("{"), &dead, Abilities::default()))[0], found);
    let mut gone = raw_runs(sent(json!({})), "No JSON.", &[ran("a")]);
    let list = json!([s("Be brief."), h("Go"), a("", &["a"]), t("a", "r-a")]);
    gone[0]["requests"][1] = list;
    let found = ["SESSION-RAW: run 1, request 2, message 3: the call `b` is left out of its response"];
    assert_eq!(found_in(&ruling_of(&raw("{"), &gone, Abilities::default()))[0], found[0]);
}

fn hand_over() -> Value {
    let mut input = script(&json!([
        {"message": "Go", "model": [turn("", &["a"]), {"content": "I am b."}]},
        {"message": "Thanks", "model": [{"content": "Bye."}]},
    ]));
    input["agents"] = json!({"b": {"system": "You are b."}});
    let calls = input["runs"][0]["model"][0]["tool_calls"].as_array_mut().expect("calls");
    calls.push(json!({"id": "x", "handoff": "b"}));
    input
}

fn handed(system: &str, behind: &[Value], next: &str) -> Vec<Value> {
    let body = [vec![h("Go")], behind.to_vec()].concat();
    let second = [vec![s(system)], body.clone()].concat();
    let third = [vec![s(next)], body, vec![a("I am b.", &[]), h("Thanks")]].concat();
    vec![run(&[&begin(), &second], &[ran("a")]), run(&[&third], &[])]
}

fn over() -> Value {
    let mut response = a("", &["a"]);
    response["tool_calls"].as_array_mut().expect("calls").push(json!({"id": "x", "name": "transfer_to_b", "args": {}}));
    response
}

#[test]
fn hand_overs() {
    let whole = [over(), t("a", "r-a"), t("x", "Transferred.")];
    for next in ["You are b.", "Be brief."] {
        assert_sound(&hand_over(), &handed("You are b.", &whole, next));
    }
    assert_sound(&hand_over(), &handed("You are b.", &[], "You are b."));
    let told = [over(), t("a", "Skipped."), t("x", "Transferred.")];
    let mut skipped = handed("You are b.", &told, "You are b.");
    skipped[0]["executed"] = json!([]);
    assert_sound(&hand_over(), &skipped);
    let found = ["SESSION-HANDOFF: run 1, request 2, message 3: the call `a` is not answered, which had returned"];
    assert_found(&hand_over(), &handed("You are b.", &[over(), t("x", "?")], "You are b."), &found);
    let found =
        ["SESSION-HANDOFF: run 1, request 2: the system message \"You are b.\" is missing; found \"Be brief.\""];
    assert_found(&hand_over(), &handed("Be brief.", &whole, "You are b."), &found);
    let both = handed("Be brief.\n\nYou are b.", &whole, "You are b.");
    let found = [
        "SESSION-HANDOFF: run 1, request 2: it has the system message \"Be brief.\" of the agent `main`, which does not speak here",
    ];
    assert_found(&hand_over(), &both, &found);
    let session = SessionAbilities { both_systems: true, ..SessionAbilities::default() };
    let abilities = Abilities { session, ..Abilities::default() };
    assert_eq!(found_in(&ruling_of(&hand_over(), &both, abilities)), <[&str; 0]>::default());
    let mut wordless = handed("You are b.", &whole, "You are b.");
    wordless[0]["requests"][1].as_array_mut().expect("messages").remove(1);
    let found = ["SESSION-HANDOFF: run 1, request 2: the words of the last user message, \"Go\", are missing"];
    assert_found(&hand_over(), &wordless, &found);
}

const IMAGE: &str = "aGVsbG8gaW1hZ2U=";

fn images() -> Value {
    let mut input = script(&json!([
        {"message": "Go", "model": [turn("", &["a", "b"]), {"content": "Seen."}]},
        {"message": "Thanks", "model": [{"content": "Bye."}]},
    ]));
    input["tools"]["look"]["byId"]["b"] = json!({"image": IMAGE, "text": "A cat."});
    input
}

fn seen(answers: &[Value]) -> Vec<Value> {
    let second = [begin(), vec![a("", &["a", "b"])], answers.to_vec()].concat();
    let third = [second.clone(), vec![a("Seen.", &[]), h("Thanks")]].concat();
    vec![run(&[&begin(), &second], &[ran("a"), ran("b")]), run(&[&third], &[])]
}

#[test]
fn images_of_results() {
    let digest = "a2b1ed8cd7ad9bc16db1b1bcb1c7ab1aa84af9e6e6ed5d4ba4b4eb5e3b4cbe4f";
    let own = "84d8fd5280a5162aaf5c5d9aeb069b2660500eabeeda58ce2bb10595827e08ad".to_owned();
    let shows = |text: &str, images: &[&str]| with(t("b", text), "images", json!(images));
    assert_sound(&images(), &seen(&[t("a", "r-a"), shows("A cat.", &[&own.to_uppercase()])]));
    let carrier = json!({"type": "human", "content": "", "images": [own]});
    assert_sound(&images(), &seen(&[t("a", "r-a"), t("b", "A cat."), carrier]));
    assert_sound(&images(), &seen(&[t("a", "r-a"), t("b", "A cat. (The image was left out.)")]));
    for (answers, why) in [
        ([t("a", "r-a"), t("b", "A cat.")], "message 5: the image of `b` is missing, and its answer does not say so"),
        ([t("a", "r-a"), shows("", &[&own])], "message 5: the text beside the image of `b` is missing in its answer"),
        (
            [t("a", "r-a"), t("b", &format!("A cat. {IMAGE}"))],
            "message 5: the bytes of the image of `b` are sent as text",
        ),
        (
            [with(t("a", "r-a"), "images", json!([own])), shows("A cat.", &[&own])],
            "message 4: the answer to `a` has an image that its result has not",
        ),
        (
            [t("a", "r-a"), shows("A cat.", &[digest])],
            "message 5: the answer to `b` has an image that its result has not",
        ),
    ] {
        let found = format!("SESSION-IMAGE: run 1, request 2, {why}");
        assert_found(&images(), &seen(&answers), &[&found]);
    }
    let mut later = seen(&[t("a", "r-a"), shows("A cat.", &[&own])]);
    later[1]["requests"][0][4]["images"] = json!([]);
    let found =
        ["SESSION-IMAGE: run 2, request 1, message 5: the image of `b` is missing, and its answer does not say so"];
    assert_found(&images(), &later, &found);
}

#[test]
fn a_raw_response_that_is_dropped() {
    let mut runs = raw_runs(json!({"id": "b", "name": "look", "args": {}}), "No JSON.", &[ran("a")]);
    runs[0]["requests"][1] = json!([s("Be brief."), h("Go"), h("Try again.")]);
    let found = "SESSION-RAW: run 1, request 2: the response \"\" with the calls `a`, `b` is missing";
    assert_eq!(found_in(&ruling_of(&raw("{"), &runs, Abilities::default()))[0], found);
}
