//! Tests of `growth`.

use super::*;

fn growth(size: u16, what: u8, at: u8) -> Enlargement {
    Enlargement { size, what, at, length: 0 }
}

#[test]
fn sizes_are_spread_over_orders_of_magnitude() {
    let sizes: Vec<usize> = (0..=4).map(|quarter| size(u16::MAX / 4 * quarter, 512)).collect();
    assert_eq!(sizes, [2, 8, 32, 128, 512]);
    assert_eq!(repetitions(1, 1_000_000), 2);
    assert_eq!(repetitions(1, 1), LIMITS.many_turns);
}

#[test]
fn elements_are_repeated_where_they_stand() {
    let list = ['a', 'b', 'c'];
    assert_eq!(growth(0, 2, 1).repeated(&list, 512, |_| false), ['a', 'b', 'b', 'b', 'c']);
    assert_eq!(growth(0, 2, 1).repeated(&list, 512, |&element| element == 'c'), ['a', 'b', 'c', 'c', 'c']);
    assert_eq!(growth(0, 2, 0).repeated(&[' '; 0], 512, |_| true), [' '; 0]);
}

#[test]
fn one_text_grows_wherever_it_stands() {
    let input =
        r#"{"events":[{"type":"tool_call","toolCallId":"c1"},{"type":"tool_result","toolCallId":"c1","result":"b"}]}"#;
    let long = growth(u16::MAX, 0, 0).with_long_text(input);
    assert!(long.len() > 2 * LIMITS.long_text && long.matches(r#""c10 c11 "#).count() == 2, "{}", long.len());
    assert!(long.contains(r#""result":"b""#) && long.contains(r#""type":"tool_call""#));
    let round = r#"{"tool_calls":[{"name":"a"},{"name":"a"}]}"#;
    let short = format!(r#"{{"model":[{}]}}"#, [round; 200].join(","));
    let more = growth(u16::MAX, 0, 0).with_long_text(&short).len() - short.len();
    assert!((LIMITS.large_run / 2..2 * LIMITS.large_run).contains(&(more * 200)), "{more}");
}

fn wide(kind: Widened, input: &str) -> String {
    widened(Enlargement::of_size(3, 2), kind, input).replace(", ", ",").replace(": ", ":")
}

#[test]
fn values_grow_where_they_stand() {
    let input = r#"{"events":[{"type":"completion","result":"r"},{"type":"tool_call","args":{"a":1}}]}"#;
    let with = |args: &str| input.replace(r#"{"a":1}"#, args);
    assert_eq!(wide(Widened::Elements, input), with(r#"{"a":1,"more":[0,1,2]}"#));
    assert_eq!(wide(Widened::Members, input), with(r#"{"a":1,"more 0":0,"more 1":1,"more 2":2}"#));
    // Its limit is another one, and so is the size.
    assert_eq!(wide(Widened::Depth, input), with(r#"{"a":1,"more":{"inner":[0,true]}}"#));
    assert_eq!(wide(Widened::List, input), input);
    let script = r#"{"model":[],"tools":{"t":[{"error":"x"},"r"]}}"#;
    assert_eq!(wide(Widened::Elements, script), script.replace(r#""r""#, r#"["r",[0,1,2]]"#));
}

#[test]
fn lists_grow_where_nothing_else_moves() {
    let summary = r#"{"events":[{"type":"summary","summarizedIterations":[7]}]}"#;
    assert_eq!(wide(Widened::List, summary), summary.replace("[7]", "[7,0,1,2]"));
    let given = r#"{"messages":[{"type":"system","content":"s"},{"type":"human","content":"h"}]}"#;
    let more = |n: u8| format!(r#"{{"type":"human","content":"More {n}"}},"#);
    let human = r#"{"type":"human","content":"h"}"#;
    let expected = given.replace(human, &(more(0) + &more(1) + &more(2) + human));
    assert_eq!(wide(Widened::List, given), expected);
    let tools = r#"{"tools":{"t":["r"]}}"#;
    let expected = r#"{"tools":{"more 0":["more 0"],"more 1":["more 1"],"more 2":["more 2"],"t":["r"]}}"#;
    assert_eq!(wide(Widened::List, tools), expected);
}
