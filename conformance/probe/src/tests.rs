//! Runs against servers that are functions: no socket, no clock.

use crate::{
    Allowances, ProbeConclusion, ProbeEstimate, ProbeLimits, ProbeOptions, ProbeReply, ProbeReport, ProbeRequest,
    ProbeRun, ProbeStep, ProbeVerdict, ProbedRule, Secrets, changes_since, junit, key_header, markdown, probe_plan,
    proposal, table,
};
use serde_json::{Value, json};
use std::time::Duration;
use threadspec::oracle::Api;
use threadspec_golden::{RuleEntry, provider_rules, read_provider_rules};
use threadspec_provider::{Answers, EngineOptions, Reaction, Received, Script, Standalone};

const KEY: &str = "sk-probe-0123456789";

/// The APIs that are probed.
const PROBED: [Api; 3] = [Api::OpenAiChat, Api::OpenAiResponses, Api::Anthropic];

type Server<'a> = &'a mut dyn FnMut(&ProbeRequest) -> Result<ProbeReply, String>;

#[allow(clippy::unnecessary_wraps, reason = "it is what a server gives")]
fn reply(status: u16, headers: &[(&str, &str)], body: &str) -> Result<ProbeReply, String> {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Ok(ProbeReply { status, headers, body: body.as_bytes().to_vec(), is_whole: true })
}

fn answer(api: Api) -> Value {
    match api {
        Api::OpenAiChat => json!({"id": "1", "model": "m", "choices": [{"index": 0, "finish_reason": "stop",
            "message": {"role": "assistant", "content": "The answer is four, as everybody knows who can count."}}]}),
        Api::OpenAiResponses => {
            json!({"id": "1", "status": "completed", "model": "m", "output": [{"type": "message", "id": "m",
            "role": "assistant", "content": [{"type": "output_text", "text": "Four.", "annotations": []}]}]})
        }
        Api::Anthropic | Api::Gemini => {
            json!({"id": "1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
            "content": [{"type": "text", "text": "Four."}]})
        }
    }
}

/// Runs to the end, and says what was sent and how long it waited.
fn run(
    options: &ProbeOptions,
    limits: ProbeLimits,
    server: Server<'_>,
) -> (ProbeRun, Vec<ProbeRequest>, Vec<Duration>) {
    let pairs = probe_plan(options).expect("a plan").pairs;
    let mut run = ProbeRun::new(options, pairs, limits, Secrets::new([KEY.to_owned()]));
    let (mut sent, mut waits) = (Vec::new(), Vec::new());
    loop {
        match run.next() {
            ProbeStep::End => return (run, sent, waits),
            ProbeStep::Wait(time) => waits.push(time),
            ProbeStep::Send(request) => {
                let came = server(&request);
                sent.push(request);
                run.heard(came);
            }
        }
    }
}

fn report(options: &ProbeOptions, run: &ProbeRun) -> ProbeReport {
    ProbeReport {
        threadspec: "0.1.0".into(),
        api: options.api.to_string(),
        host: "127.0.0.1:1".into(),
        model: options.model.clone(),
        version: None,
        stream: options.stream,
        date: "2026-12-01".into(),
        requests: run.requests(),
        ended: run.ended().map(str::to_owned),
        rules: run.results().to_vec(),
        not_asked: run.not_asked(),
        out_of_date: Vec::new(),
    }
}

/// The provider of this project, in the same process.
struct OwnProvider(Standalone, Duration);

impl OwnProvider {
    fn new() -> Self {
        let script = Script::read(r#"{"rules": [], "otherwise": {"content": "Done"}}"#).expect("a script");
        Self(Standalone::new(EngineOptions::default(), script, Vec::new()), Duration::ZERO)
    }

    fn ask(&mut self, api: Api, request: &ProbeRequest) -> Result<ProbeReply, String> {
        self.1 += Duration::from_secs(2);
        let headers = request.headers.iter().cloned().chain([key_header(api, KEY)]).collect();
        let body = Ok(request.body.clone().into_bytes());
        let received = Received { method: "POST".into(), target: request.target.clone(), headers, body };
        let (attempt, reaction) = self.0.receive(self.1, received);
        self.0.delivered(self.1, attempt, true);
        let Reaction::Answer(answer) = reaction else { return Err(format!("{reaction:?}")) };
        let headers = answer.headers.iter().map(|(name, value)| (name.to_lowercase(), value.clone())).collect();
        Ok(ProbeReply { status: answer.status, headers, body: answer.body(), is_whole: true })
    }
}

/// Returns the model of a rule.
fn model_of(rule: &RuleEntry) -> &'static str {
    match (&*rule.api, &*rule.id) {
        (_, "DS-UTF16") => "deepseek-chat",
        ("openai-chat", _) => "gpt-4.1",
        ("openai-responses", _) => "gpt-5",
        // Those that take a system message in the middle.
        (_, "ANT-SYSTEM") => "claude-opus-5",
        _ => "claude-sonnet-5",
    }
}

#[test]
fn our_own_provider_agrees_in_status_code_and_words() {
    for (api, stream) in PROBED.into_iter().flat_map(|api| [(api, false), (api, true)]) {
        let mut provider = OwnProvider::new();
        for rule in provider_rules().iter().filter(|rule| rule.api == api.to_string() && rule.thinking.is_none()) {
            // It plays the API's maker, and refuses what is sure.
            let is_elsewhere = !rule.applies.is_empty() && rule.applies.iter().all(|place| !place.servers.is_empty());
            let is_refused = rule.is_sure() && rule.until.is_none() && !is_elsewhere;
            let options =
                ProbeOptions { rules: vec![rule.id.clone()], stream, ..ProbeOptions::new(api, model_of(rule)) };
            if let Err(error) = probe_plan(&options) {
                let why = error.to_string();
                assert!(why.contains("--large") || why.contains("reasoning item"), "{why}");
                continue;
            }
            let (run, ..) = run(&options, ProbeLimits::default(), &mut |request| provider.ask(api, request));
            let result = &run.results()[0];
            let verdict = if is_refused { ProbeVerdict::Agrees } else { ProbeVerdict::Silent };
            assert_eq!(result.verdict, verdict, "{} {stream}: {result:#?}", rule.id);
            assert_eq!(result.differences(), [""; 0], "{} {stream}: {result:#?}", rule.id);
        }
    }
}

#[test]
fn a_server_that_refuses_nothing_is_silent_and_fabricates() {
    for api in PROBED {
        let options = ProbeOptions::new(api, "m");
        let body = answer(api).to_string();
        let (run, sent, waits) = run(&options, ProbeLimits::default(), &mut |_| reply(200, &[], &body));
        assert!(run.results().iter().all(|one| one.verdict == ProbeVerdict::Silent), "{:?}", run.results());
        assert_eq!((run.ended(), sent.len()), (None, run.results().len() * 2));
        assert_eq!(waits, vec![Duration::from_millis(200); sent.len() - 1]);
        let fabricates = |word: &str| run.results().iter().any(|one| one.fabricates && one.rule.contains(word));
        for word in ["-ANSWERED", "-ORPHAN", "-ONE-"] {
            assert!(fabricates(word) || api == Api::OpenAiResponses && word == "-ONE-", "{api} {word}");
        }
        assert!(!fabricates("NONEMPTY"));
        let report = report(&options, &run);
        assert_eq!(report.conclusion(), ProbeConclusion::SomeDiffer);
        let words = &report.rules[0].broken.as_ref().expect("an answer").words;
        assert!(words.chars().count() <= 41, "{words}");
    }
}

#[test]
fn requests_are_what_a_client_sends() {
    for (api, stream) in PROBED.into_iter().flat_map(|api| [(api, false), (api, true)]) {
        let options = ProbeOptions { all: true, stream, ..ProbeOptions::new(api, "tiny") };
        for pair in probe_plan(&options).expect("a plan").pairs {
            assert_ne!(pair.twin, pair.broken, "{}", pair.rule.id);
            for request in [&pair.twin, &pair.broken] {
                let body = threadspec::read_json(&request.body).expect("JSON");
                let id = &pair.rule.id;
                assert_eq!(body["model"], "tiny", "{id}");
                assert_eq!(body["stream"] == true, stream, "{id}");
                assert_eq!(body["store"] == false, api != Api::Anthropic, "{id}");
                let most = ["max_tokens", "max_output_tokens"].iter().find_map(|name| body[*name].as_u64());
                let budget = body["thinking"]["budget_tokens"].as_u64().unwrap_or_default();
                // What a rule is about stays away.
                let is_limited = id != "ANT-MAX-TOKENS" || *request == pair.twin;
                assert_eq!(most, is_limited.then_some(16 + budget), "{id}");
                let has_calls =
                    ["tool_use", "\"tool_calls\"", "function_call"].iter().any(|word| request.body.contains(word));
                assert!(!has_calls || body["tools"].is_array(), "{id}: {}", request.body);
                assert!(!request.headers.iter().any(|(name, _)| name.contains("key") || name == "authorization"));
            }
            assert!(!pair.twin.body.contains("previous_response_id"), "nothing is stored");
        }
    }
    let newer = probe_plan(&ProbeOptions::new(Api::OpenAiChat, "gpt-5-mini")).expect("a plan");
    assert!(newer.pairs.iter().all(|pair| pair.twin.body.contains("\"max_completion_tokens\": 16")));
}

#[test]
fn rules_of_others_are_asked_only_by_name() {
    let asked = |rules: &[&str], all: bool| {
        let rules = rules.iter().map(|rule| (*rule).to_owned()).collect();
        let plan = probe_plan(&ProbeOptions { rules, all, ..ProbeOptions::new(Api::OpenAiChat, "m") });
        plan.map(|plan| plan.pairs.iter().map(|pair| pair.rule.id.clone()).collect::<Vec<_>>())
            .map_err(|error| error.to_string())
    };
    let has = |rules: &[&str], all, id: &str| asked(rules, all).is_ok_and(|ids| ids.iter().any(|own| own == id));
    assert!(!has(&[], false, "OAI-CHAT-ARGS-JSON") && has(&[], true, "OAI-CHAT-ARGS-JSON"));
    assert!(has(&["OAI-CHAT-ARGS-JSON"], false, "OAI-CHAT-ARGS-JSON"));
    assert!(!has(&[], true, "DS-UTF16") && !has(&["*"], true, "DS-UTF16") && has(&["DS-UTF16"], false, "DS-UTF16"));
    assert!(asked(&["OAI-CHAT-NOTHING*"], false).is_err_and(|error| error.contains("no rule of openai-chat")));
    assert!(asked(&["OAI-CHAT-CONTENT-MAX"], false).is_err_and(|error| error.contains("--large")));
}

/// Returns the result of one rule, whose valid and broken request are answered so.
fn probed(twin: &Result<ProbeReply, String>, broken: &Result<ProbeReply, String>) -> (ProbedRule, usize) {
    let options = ProbeOptions { rules: vec!["OAI-CHAT-ORPHAN".into()], ..ProbeOptions::new(Api::OpenAiChat, "m") };
    let mut count = 0;
    let (run, sent, _) = run(&options, ProbeLimits::default(), &mut |_| {
        count += 1;
        if count == 1 { twin.clone() } else { broken.clone() }
    });
    (run.results()[0].clone(), sent.len())
}

#[test]
fn verdicts_are_those_of_the_table() {
    let good = reply(200, &[], &answer(Api::OpenAiChat).to_string());
    let error = |status| reply(status, &[], r#"{"error": {"message": "No.", "code": "bad"}}"#);
    let cut = good.clone().map(|reply| ProbeReply { is_whole: false, ..reply });
    let html = reply(200, &[], "<html>Log in</html>");
    let nothing = || Err("connection refused".to_owned());
    for (twin, broken, verdict, requests) in [
        (good.clone(), error(400), ProbeVerdict::Agrees, 2),
        (good.clone(), error(422), ProbeVerdict::Agrees, 2),
        (good.clone(), good.clone(), ProbeVerdict::Silent, 2),
        (error(400), error(400), ProbeVerdict::Stricter, 2),
        (error(400), good.clone(), ProbeVerdict::Backwards, 2),
        (good.clone(), error(500), ProbeVerdict::Crashes, 2),
        (good.clone(), nothing(), ProbeVerdict::Crashes, 2),
        (good.clone(), cut, ProbeVerdict::Crashes, 2),
        (good.clone(), error(401), ProbeVerdict::Unknown, 2),
        (good.clone(), html.clone(), ProbeVerdict::Unknown, 2),
        (html, good.clone(), ProbeVerdict::Unknown, 1),
        (error(401), good.clone(), ProbeVerdict::Unknown, 1),
        (error(404), good.clone(), ProbeVerdict::Unknown, 1),
        (error(503), good.clone(), ProbeVerdict::Unknown, 1),
        (reply(302, &[("location", "http://else")], ""), good.clone(), ProbeVerdict::Unknown, 1),
        (nothing(), good, ProbeVerdict::Unknown, 1),
    ] {
        let (result, sent) = probed(&twin, &broken);
        assert_eq!((result.verdict, sent), (verdict, requests), "{twin:?} {broken:?}");
    }
}

#[test]
fn a_refusal_in_the_stream_is_one() {
    let options =
        ProbeOptions { rules: vec!["OAI-CHAT-ORPHAN".into()], stream: true, ..ProbeOptions::new(Api::OpenAiChat, "m") };
    let mut bodies = vec![
        "data: {\"error\": {\"message\": \"No.\", \"type\": \"invalid_request_error\", \"code\": \"bad\"}}\n\n",
        "data: {\"choices\": [{\"index\": 0, \"delta\": {\"content\": \"Hi\"}, \"finish_reason\": \"stop\"}]}\n\ndata: [DONE]\n\n",
    ];
    let kind = [("content-type", "text/event-stream; charset=utf-8")];
    let (run, ..) = run(&options, ProbeLimits::default(), &mut |_| reply(200, &kind, bodies.pop().expect("two")));
    let result = &run.results()[0];
    assert_eq!(
        (result.verdict, result.broken.as_ref().map(|broken| broken.in_stream)),
        (ProbeVerdict::Agrees, Some(true))
    );
    assert!(!result.differences().contains(&"status"), "{result:?}");
}

#[test]
fn two_unknown_in_a_row_end_the_run() {
    let options = ProbeOptions::new(Api::OpenAiChat, "m");
    let (run, sent, _) = run(&options, ProbeLimits::default(), &mut |_| {
        reply(401, &[], r#"{"error": {"message": "Incorrect API key provided: sk-probe-0123456789."}}"#)
    });
    assert_eq!((sent.len(), run.results().len()), (2, 2));
    let ended = run.ended().expect("a reason");
    assert!(ended.contains("401: Incorrect API key provided: [key]."), "{ended}");
    let report = report(&options, &run);
    assert_eq!(report.conclusion(), ProbeConclusion::NothingLearnt);
    assert_eq!(report.rules.len() + report.not_asked.len(), probe_plan(&options).expect("a plan").pairs.len());
}

#[test]
fn a_server_of_texts_alone_is_asked_every_other_rule() {
    for api in [Api::OpenAiChat, Api::OpenAiResponses, Api::Anthropic] {
        let mut server = |request: &ProbeRequest| {
            if request.body.contains("\"image") {
                return reply(500, &[], r#"{"error": {"message": "image input is not supported"}}"#);
            }
            reply(200, &[], &answer(api).to_string())
        };
        let options = ProbeOptions::new(api, "tiny");
        let (run, ..) = run(&options, ProbeLimits::default(), &mut server);
        assert_eq!(run.ended(), None, "{api:?}: {:?}", run.not_asked());
        for result in run.results() {
            let rule = provider_rules().iter().find(|rule| rule.id == result.rule).expect("a rule");
            let wants_images = rule.valid().contains("\"image");
            assert_eq!(result.verdict == ProbeVerdict::Unknown, wants_images, "{}: {:?}", result.rule, result.verdict);
        }
    }
}

#[test]
fn after_429_it_waits_as_long_as_it_is_told_and_at_most_three_times() {
    let options = ProbeOptions { rules: vec!["OAI-CHAT-ORPHAN".into()], ..ProbeOptions::new(Api::OpenAiChat, "m") };
    let slow = || reply(429, &[("retry-after", "7")], "{}");
    let good = answer(Api::OpenAiChat).to_string();
    let mut count = 0;
    let (run_, sent, waits) = run(&options, ProbeLimits::default(), &mut |_| {
        count += 1;
        if count <= 3 { slow() } else { reply(200, &[], &good) }
    });
    assert_eq!(run_.results()[0].verdict, ProbeVerdict::Silent);
    assert!(sent[..4].iter().all(|request| *request == sent[0]) && sent.len() == 5);
    assert_eq!(waits[..3], [Duration::from_secs(7); 3]);
    let (run_, sent, _) = run(&options, ProbeLimits::default(), &mut |_| slow());
    assert_eq!((run_.results()[0].verdict, sent.len()), (ProbeVerdict::Unknown, 4));
    // Who wants an hour is not waited for.
    let (_, sent, _) = run(&options, ProbeLimits::default(), &mut |_| reply(429, &[("retry-after", "3600")], "{}"));
    assert_eq!(sent.len(), 1);
}

#[test]
fn nothing_is_sent_beyond_the_limit_or_twice() {
    let options = ProbeOptions::new(Api::Anthropic, "m");
    let good = answer(Api::Anthropic).to_string();
    for (most, expected) in [(0, 0), (1, 0), (5, 4), (6, 6)] {
        let limits = ProbeLimits { requests: most, ..ProbeLimits::default() };
        let (run, sent, _) = run(&options, limits, &mut |_| reply(200, &[], &good));
        assert_eq!(sent.len(), expected, "{most}");
        assert!(run.ended().is_some_and(|why| why.contains("--max-requests")));
    }
    // The twins of some rules are alike, but they are about different rules; of one rule nothing is sent twice.
    let (run, sent, _) = run(&options, ProbeLimits::default(), &mut |_| reply(200, &[], &good));
    assert_eq!(sent.len(), run.results().len() * 2);
}

#[test]
fn what_is_known_of_a_server_is_excused_as_long_as_it_is_so() {
    let options = ProbeOptions { rules: vec!["OAI-CHAT-OR*".into()], ..ProbeOptions::new(Api::OpenAiChat, "m") };
    let good = answer(Api::OpenAiChat).to_string();
    let (run, ..) = run(&options, ProbeLimits::default(), &mut |_| reply(200, &[], &good));
    for (text, problems, conclusion) in [
        ("OAI-CHAT-ORPHAN=silent", 0, ProbeConclusion::AllAgree),
        ("*=silent # all", 0, ProbeConclusion::AllAgree),
        ("OAI-CHAT-ORPHAN=crashes", 1, ProbeConclusion::SomeDiffer),
        ("OAI-*=silent\nANT-*=silent", 1, ProbeConclusion::SomeDiffer),
    ] {
        let mut report = report(&options, &run);
        report.out_of_date = Allowances::read(text).expect("entries").apply(&mut report.rules);
        assert_eq!((report.out_of_date.len(), report.conclusion()), (problems, conclusion), "{text}");
    }
}

/// Reports that are written are read again, and show the changes of the provider.
#[test]
fn reports_are_compared() {
    let options = ProbeOptions { rules: vec!["OAI-CHAT-OR*".into()], ..ProbeOptions::new(Api::OpenAiChat, "m") };
    let good = answer(Api::OpenAiChat).to_string();
    let of = |broken: &str| {
        let mut bodies = vec![reply(400, &[("x-request-id", "req_1")], broken), reply(200, &[], &good)];
        let (run, ..) = run(&options, ProbeLimits::default(), &mut |_| bodies.pop().expect("two"));
        report(&options, &run)
    };
    let then = of(r#"{"error": {"message": "No, sk-probe-0123456789 | <b>!"}}"#);
    let now = of(r#"{"error": {"message": "Never.", "code": "never"}}"#);
    assert_eq!(ProbeReport::read(&then.to_json()), Ok(then.clone()));
    assert!(then.to_json().contains("req_1"));
    assert_eq!(changes_since(&then, &then), Ok(Vec::new()));
    let changes = changes_since(&then, &now).expect("the same API");
    assert!(changes[0].contains("code \"never\", before \"\"; words \"Never.\""), "{changes:?}");
    for text in [then.to_json(), table(&then), markdown(&then), junit(&then)] {
        assert!(!text.contains(KEY) && text.contains("OAI-CHAT-ORPHAN"), "{text}");
    }
    assert!(markdown(&then).contains("\\| &lt;b&gt;!") && table(&then).contains("ours: 400"), "{}", table(&then));
}

#[test]
fn a_proposal_changes_the_rules_that_were_learnt_and_no_other() {
    let options = ProbeOptions { rules: vec!["OAI-CHAT-*R*".into()], ..ProbeOptions::new(Api::OpenAiChat, "gpt-4.1") };
    let mut provider = OwnProvider::new();
    let (run, ..) = run(&options, ProbeLimits::default(), &mut |request| provider.ask(Api::OpenAiChat, request));
    let report = report(&options, &run);
    let (_, before) =
        threadspec_golden::files().iter().find(|(path, _)| *path == "provider-rules.json").expect("rules");
    let after = crate::report::with_probes(before, &report);
    let rules = read_provider_rules(&after).expect("the rules");
    for rule in &rules {
        let is_learnt = report.rules.iter().any(|one| one.rule == rule.id && rule.api == "openai-chat");
        assert_eq!(rule.probed.is_some(), is_learnt, "{}", rule.id);
    }
    let orphan = rules.iter().find(|rule| rule.id == "OAI-CHAT-ORPHAN").expect("a rule");
    assert!(orphan.evidence().ends_with("; probed on 2026-12-01 (gpt-4.1): refused with 400"), "{}", orphan.evidence());
    // Again, on another day: one line is replaced by another.
    let later = ProbeReport { date: "2027-01-01".into(), ..report.clone() };
    let again = crate::report::with_probes(&after, &later);
    assert_eq!(again.lines().count(), after.lines().count());
    assert!(!again.contains("2026-12-01"));
    let patch = proposal(&report);
    assert!(patch.starts_with("--- a/golden/provider-rules.json\n+++ b/golden/provider-rules.json\n@@"), "{patch}");
    let added = patch.lines().filter(|line| line.starts_with('+')).count();
    assert_eq!(added, 1 + report.rules.len(), "{patch}");
    assert_eq!(patch.lines().filter(|line| line.starts_with('-')).count(), 1, "{patch}");
}

/// The guide promises upper bounds of requests and cost.
#[test]
fn a_run_costs_no_more_than_the_guide_promises() {
    let guide = include_str!("../README.md").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(guide.contains("fewer than 60 requests, and cost less than 0.04"));
    for (api, model) in
        [(Api::OpenAiChat, "gpt-4.1"), (Api::OpenAiResponses, "gpt-4.1"), (Api::Anthropic, "claude-sonnet-5")]
    {
        let options = ProbeOptions::new(api, model);
        let plan = probe_plan(&options).expect("a plan");
        let estimate = ProbeEstimate::of(&plan, &options, ProbeLimits::default());
        assert!(estimate.requests < 60 && estimate.cost(2.0, 8.0) < 0.04, "{api:?}: {estimate:?}");
    }
}
