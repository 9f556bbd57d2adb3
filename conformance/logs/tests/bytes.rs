//! Files as they come: cut off, compressed, broken, mixed, large.

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;
use std::io::{self, Read, Write};
use threadspec_golden::log_rules;
use threadspec_logs::{CheckOptions, Report, check, check_bytes};

fn found(bytes: impl AsRef<[u8]>) -> Report {
    check_bytes(bytes.as_ref(), &CheckOptions::default())
}

fn rules(report: &Report) -> Vec<(&str, Option<usize>)> {
    report.findings.iter().map(|found| (found.rule, found.place.line)).collect()
}

/// A request, of which the message that is asked for is an orphaned result.
fn request(is_faulty: bool) -> String {
    let role = if is_faulty { r#""role": "tool", "tool_call_id": "a""# } else { r#""role": "user""# };
    format!(r#"{{"model": "gpt-4.1", "messages": [{{{role}, "content": "a {{\"b\": [1,2"}}]}}"#)
}

#[test]
fn every_rule_of_logs_has_a_log_that_breaks_it() {
    for rule in log_rules() {
        if !rule.broken.is_empty() {
            let report = found(rule.broken.join("\n"));
            assert!(report.findings.iter().any(|found| found.rule == rule.id), "{}: {report:?}", rule.id);
        }
        let report = found(rule.valid.join("\n"));
        assert!(report.findings.is_empty(), "{}: {report:?}", rule.id);
    }
}

#[test]
fn records_stand_in_any_layout() {
    let (good, bad) = (request(false), request(true));
    for (layout, line) in [
        (format!("{good}\n{bad}\n"), 2),
        (format!("{good}\r\n\r\n{bad}"), 3),
        (format!("{good}{bad}"), 1),
        (format!("\u{feff}[{good},\n{bad}]"), 2),
        (format!("{{\"requests\": [{good}, {bad}]}}"), 1),
        (format!("{}\n{}", good.replace(", ", ",\n"), bad.replace(", ", ",\n")), 5),
        (format!("\u{1e}{good}\n\u{1e}{bad}\n"), 2),
        // More than is read at once.
        (format!("{}\n{good}{}\n{bad}", " ".repeat(1 << 19), " ".repeat(1 << 19)), 3),
    ] {
        let report = found(&layout);
        assert_eq!(report.summary.judged, [("request", 2)], "{layout}\n{report:?}");
        assert_eq!(rules(&report), [("OAI-CHAT-ORPHAN", Some(line))], "{layout}");
    }
}

#[test]
fn what_is_broken_hides_nothing_else() {
    let (good, bad) = (request(false), request(true));
    let cut = &good[..40];
    for (log, expected) in [
        (format!("{good}\n{cut}\n{bad}\n"), vec![("LOG-JSON", Some(2)), ("OAI-CHAT-ORPHAN", Some(3))]),
        (format!("{good}\n{{\"a\":\n{good}\n{bad}\n"), vec![("LOG-JSON", Some(2)), ("OAI-CHAT-ORPHAN", Some(4))]),
        // The text of a program is no record.
        (format!("{good}\nINFO nothing\n[12:30:01] nothing\n\"a\" is b\n{bad}\n"), vec![("OAI-CHAT-ORPHAN", Some(5))]),
        (format!("$ make\n[2026-11-29T12:30:01Z] {good}\n{bad} # done\n"), vec![("OAI-CHAT-ORPHAN", Some(3))]),
        (format!("{bad}\n{cut}"), vec![("OAI-CHAT-ORPHAN", Some(1)), ("LOG-CUT", Some(2))]),
        (
            format!("{{\"log\": 1, \"requests\": [\n{good},\n{bad},\n{cut}"),
            vec![("OAI-CHAT-ORPHAN", Some(3)), ("LOG-CUT", Some(1))],
        ),
    ] {
        let mut report = found(&log);
        report.findings.sort_by_key(|found| (found.rule == "LOG-CUT", found.place.line));
        assert_eq!(rules(&report), expected, "{log}");
    }
    let report = found([good.as_bytes(), b"\n{\"model\": \"\xff\", \"messages\": []}\n", bad.as_bytes()].concat());
    assert!(rules(&report).contains(&("LOG-UTF8", Some(2))), "{report:?}");
    assert!(rules(&report).contains(&("OAI-CHAT-ORPHAN", Some(3))), "{report:?}");
}

#[test]
fn nothing_holds_where_nothing_was_recognized() {
    for text in
        ["", "# Read me\n\nNothing here is JSON.\n", "{}", "[7]", r#"{"a": [{"b": 1}]}"#, "\u{1f}\u{8b}nonsense"]
    {
        let report = found(text);
        assert!(!report.summary.has_recognized() && report.summary.holds.is_empty(), "{text:?}: {report:?}");
    }
    // What only has brackets is no broken log.
    assert_eq!(rules(&found("[package]\nname = \"a\"\n\n[INFO] begins\n")), []);
    assert_eq!(rules(&found(format!("[INFO] begins\n{}\n", request(false)))), []);
    assert_eq!(rules(&found("[{\"role\": user}]")), [("LOG-JSON", Some(1))]);
}

#[test]
fn json_in_a_text_is_read_as_json() {
    let bad = request(true);
    let nothing = json!({"log": "{\"level\": 3}", "messages": "none"});
    for log in [
        // The log of a container; a line, and a file, that is a text; elements that are.
        format!("{}\n{nothing}\n", json!({"time": "t", "stream": "stdout", "log": format!("{bad}\n")})),
        json!(bad).to_string(),
        json!(format!("[{bad}]")).to_string(),
        json!([bad]).to_string(),
        json!({"rows": [bad]}).to_string(),
        json!({"record": {"attributes": {"body": bad}}}).to_string(),
        json!({"log": json!({"request": bad}).to_string()}).to_string(),
    ] {
        assert_eq!(rules(&found(&log)), [("OAI-CHAT-ORPHAN", Some(1))], "{log}");
    }
    // JSON it is, but no log.
    let report = found(format!("{}\n\"massive error\"\n42\n{nothing}\n", request(false)));
    assert_eq!((rules(&report), report.summary.skipped[0].records), (vec![], 3));
}

#[test]
fn a_text_that_breaks_off_ends_the_list_around_it() {
    let cut = format!("{{\"samples\": [{}, \"broken of", request(false));
    assert_eq!(rules(&found(cut)), [("LOG-CUT", Some(1))]);
}

#[test]
fn what_was_compressed_before_a_cut_is_judged() {
    let (good, bad) = (format!("{}\n", request(false)), format!("{}\n", request(true)));
    let block = |text: &str, is_last: bool| {
        let head = u32::try_from(text.len()).expect("a length") << 3 | u32::from(is_last);
        [&head.to_le_bytes()[..3], text.as_bytes()].concat()
    };
    // A frame with a window of 2 MB, without and with a checksum.
    for checksum in [&[][..], &[0; 4]] {
        let head = [0x28, 0xb5, 0x2f, 0xfd, if checksum.is_empty() { 0 } else { 4 }, 0x58];
        let whole = [&head[..], &block(&bad, false), &block(&good, true), checksum].concat();
        assert_eq!(rules(&found(&whole)), [("OAI-CHAT-ORPHAN", Some(1))]);
        let first = head.len() + 3 + bad.len();
        for length in first..whole.len() {
            let report = found(&whole[..length]);
            let is_told = report.findings.iter().any(|found| {
                found.rule == "LOG-CUT" && found.text.contains("(zstd): it ends before the compressed data does")
            });
            assert!(is_told && rules(&report).contains(&("OAI-CHAT-ORPHAN", Some(1))), "{length}: {report:?}");
        }
        let broken = [&whole[..first], &[0xff; 9]].concat();
        assert!(found(&broken).findings.iter().any(|found| found.text.contains("the compressed data is broken: ")));
    }
}

#[test]
fn an_archive_of_files_is_named() {
    let mut header = [0; 512];
    header[..7].copy_from_slice(b"a.jsonl");
    header[257..262].copy_from_slice(b"ustar");
    let report = found([&header, request(true).as_bytes()].concat());
    assert_eq!(rules(&report), [("LOG-CUT", None)]);
    assert_eq!(report.findings[0].text, "it is a tar archive; unpack it, and check the folder");
}

#[test]
fn nesting_of_any_depth_is_told() {
    let deep = format!("{{\"model\": \"m\", \"messages\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let report = found(format!("{deep}\n{}", request(true)));
    assert_eq!(rules(&report), [("LOG-JSON", Some(1)), ("OAI-CHAT-ORPHAN", Some(2))]);
}

fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes)?;
    encoder.finish()
}

#[test]
fn compressed_files_are_read_as_what_they_were() -> io::Result<()> {
    let log = format!("{}\n{}\n", request(false), request(true)).repeat(50);
    let plain = found(&log);
    assert!(!plain.findings.is_empty());
    let packed = gzip(log.as_bytes())?;
    assert_eq!(found(&packed), plain);
    assert_eq!(found(gzip(&packed)?), plain, "twice");
    assert_eq!(found([gzip(&log.as_bytes()[..100])?, gzip(&log.as_bytes()[100..])?].concat()), plain, "two members");
    let cut = found(&gzip(log.repeat(100).as_bytes())?[..2000]);
    assert_eq!(cut.findings.last().map(|found| found.rule), Some("LOG-CUT"), "{cut:?}");
    assert!(cut.summary.has_recognized());
    Ok(())
}

/// A value that is larger than what is held of a file is read element by element.
#[test]
fn a_large_value_is_read_by_its_elements() -> io::Result<()> {
    let (head, tail) =
        (format!("{{\"requests\": [{},", request(true)), format!("{}]}}", request(true).replace("\"a\"", "\"b\"")));
    let element = format!(r#"{{"note": "{}"}},"#, "x".repeat(1000));
    let bulk = element.repeat(1000);
    let input = head.as_bytes().chain(Repeated::new(bulk.as_bytes(), 40)).chain(tail.as_bytes());
    let mut report = Report::default();
    report.summary = check(input, &CheckOptions::default(), &mut report)?;
    assert_eq!(report.summary.judged, [("request", 2)]);
    assert_eq!(report.findings.len(), 2, "{report:?}");
    Ok(())
}

/// The same bytes so many times.
struct Repeated<'a> {
    bytes: &'a [u8],
    at: usize,
    times: usize,
}

impl<'a> Repeated<'a> {
    fn new(bytes: &'a [u8], times: usize) -> Self {
        Self { bytes, at: 0, times }
    }
}

impl Read for Repeated<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.times == 0 {
            return Ok(0);
        }
        let length = buffer.len().min(self.bytes.len() - self.at);
        buffer[..length].copy_from_slice(&self.bytes[self.at..self.at + length]);
        self.at += length;
        if self.at == self.bytes.len() {
            (self.at, self.times) = (0, self.times - 1);
        }
        Ok(length)
    }
}

#[test]
fn what_is_too_far_apart_to_be_compared_is_told_once() {
    let log = |conversations: usize, word: &str| -> String {
        let first = (0..conversations).map(|number| (number, "Hi", 1));
        let second = (0..conversations).map(|number| (number, if number < 2 { word } else { "Hi" }, 3));
        let line = |(number, word, replies): (usize, &str, usize)| {
            let mut messages = vec![json!({"role": "user", "content": format!("Ask {number}")})];
            for reply in 0..replies {
                messages.push(json!({"role": "assistant", "content": format!("{word} {reply}")}));
                messages.push(json!({"role": "user", "content": "And?"}));
            }
            format!("{}\n", json!({"model": "gpt-4.1", "messages": messages}))
        };
        first.chain(second).map(line).collect()
    };
    for (conversations, word, expected, holds) in [
        (510, "Hello", &["LOG-LIMIT"][..], false),
        (490, "Hello", &["LOG-PREFIX", "LOG-PREFIX"], false),
        (510, "Hi", &[], true),
    ] {
        let report = found(log(conversations, word));
        assert_eq!(
            rules(&report).iter().map(|(rule, _)| *rule).collect::<Vec<_>>(),
            expected,
            "{conversations} {word}"
        );
        assert_eq!(report.summary.holds.contains(&"append-only"), holds, "{conversations} {word}");
    }
}
