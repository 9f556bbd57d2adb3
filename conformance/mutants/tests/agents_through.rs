//! An agent behind a gateway: whose fault it is. Of each fault three runs tell the same: the agent alone, the gateway alone, and both together.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::{fs, io};

const PLANTED: &str = env!("CARGO_BIN_EXE_threadspec-mutants");

/// What is planted on both sides, and between which APIs.
struct FaultyPair {
    client: &'static str,
    provider: &'static str,
    agent: &'static str,
    gateway: &'static str,
}

/// Each case that failed, with the clauses that are broken.
type BrokenByCase = BTreeMap<String, BTreeSet<String>>;

impl FaultyPair {
    /// What a run shows of an agent, of a gateway, or of an agent behind one: each with its bug or without.
    fn run(&self, folder: &Path, gateway: Option<bool>, agent: Option<bool>) -> io::Result<BrokenByCase> {
        let Self { client, provider, .. } = self;
        let mut command = Command::new(env!("CARGO_BIN_EXE_threadspec-tested"));
        command.args(["verify", "--timeout", "600", "--filter", "agent/turns/*", "--report", "json=run.json"]);
        match gateway {
            None => {
                let mode = if provider.ends_with(":stream") { ":stream" } else { "" };
                command.args(["--provider", &format!("{client}{mode}")]);
            }
            Some(is_faulty) => {
                let to = provider.trim_end_matches(":stream");
                let bug = if is_faulty { format!(" --bug {}", self.gateway) } else { String::new() };
                let through =
                    format!("{PLANTED} gateway --from {client} --to {to} --port {{port}} --upstream {{upstream}}{bug}");
                command.args(["--provider", provider, "--client", client, "--through", &through]);
                command.args(["--ready-timeout", "600"]);
            }
        }
        // The reference speaks HTTP; what is planted shares no code with it.
        match agent {
            None => {}
            Some(true) => {
                command.args(["--", PLANTED, "serve", "--bug", self.agent]);
            }
            Some(false) => {
                command.args(["--", env!("CARGO_BIN_EXE_threadspec-tested"), "serve"]);
            }
        }
        let output = command.current_dir(folder).env_remove("CI").output()?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(matches!(output.status.code(), Some(0 | 1)), "{:?}: {said}", output.status);
        let run: Value = serde_json::from_str(&fs::read_to_string(folder.join("run.json"))?)?;
        let cases = run["cases"].as_array().cloned().unwrap_or_default();
        assert!(cases.iter().filter(|case| case["verdict"] == "pass").count() > 2, "{said}");
        Ok(cases.iter().filter(|case| case["verdict"] == "fail").map(named).collect())
    }

    fn assert_told_apart(&self) -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let run = |gateway, agent| self.run(folder.path(), gateway, agent);
        let is_of_gateways = |clause: &String| clause.starts_with("GATE-");
        let what = format!("{} behind {}, {} → {}", self.agent, self.gateway, self.client, self.provider);

        let of_agent = run(None, Some(true))?;
        assert!(!of_agent.is_empty(), "{what}");
        assert_eq!(
            run(Some(false), Some(true))?,
            of_agent,
            "{what}: the agent alone, and behind a gateway that is sound"
        );

        let of_gateway = run(Some(true), None)?;
        assert!(!of_gateway.is_empty(), "{what}");
        assert!(of_gateway.values().flatten().all(is_of_gateways), "{what}: {of_gateway:?}");
        assert_eq!(
            run(Some(true), Some(false))?,
            of_gateway,
            "{what}: the gateway alone, and before an agent that is right"
        );

        let both = run(Some(true), Some(true))?;
        let ids: BTreeSet<&String> = of_agent.keys().chain(of_gateway.keys()).collect();
        assert_eq!(both.keys().collect::<BTreeSet<_>>(), ids, "{what}");
        for (id, clauses) in &both {
            let nothing = BTreeSet::new();
            let (agents, gateways) = (of_agent.get(id).unwrap_or(&nothing), of_gateway.get(id).unwrap_or(&nothing));
            let known: BTreeSet<&String> = agents.union(gateways).collect();
            assert!(clauses.iter().all(|clause| known.contains(clause)), "{what}: {id}: {clauses:?}, not {known:?}");
            if agents.is_empty() || gateways.is_empty() {
                assert_eq!(clauses.iter().collect::<BTreeSet<_>>(), known, "{what}: {id}");
            }
        }
        assert!(both.values().flatten().any(is_of_gateways), "{what}: {both:?}");
        assert!(both.values().flatten().any(|clause| !is_of_gateways(clause)), "{what}: {both:?}");
        Ok(())
    }
}

/// A case with the clauses that its note names.
fn named(case: &Value) -> (String, BTreeSet<String>) {
    let is_of_name = |of: u8| of.is_ascii_uppercase() || of == b'-';
    let note = case["note"].as_str().unwrap_or_default();
    let names = note.lines().filter_map(|line| Some(line.split_once(": ")?.0));
    let names = names.filter(|name| name.contains('-') && name.bytes().all(is_of_name));
    (case["id"].as_str().unwrap_or_default().to_owned(), names.map(str::to_owned).collect())
}

#[test]
fn faults_are_told_apart_behind_a_plain_proxy() -> io::Result<()> {
    let (client, provider) = ("openai-chat", "openai-chat");
    let (agent, gateway) = ("answers-not-written-from-the-third-ask-on", "second-result-of-a-group-lost");
    FaultyPair { client, provider, agent, gateway }.assert_told_apart()
}

#[test]
fn faults_are_told_apart_behind_a_gateway_that_translates() -> io::Result<()> {
    let (client, provider) = ("anthropic", "openai-responses:stream");
    let (agent, gateway) = ("answers-not-written-from-the-third-ask-on", "first-call-of-an-answer-alone");
    FaultyPair { client, provider, agent, gateway }.assert_told_apart()
}
