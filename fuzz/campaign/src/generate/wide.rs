//! Makes something inside an input wide or deep: a value, the messages that are given, the tools.

use super::{Enlargement, LIMITS};
use threadspec_judge::json::Node;

/// The part that grows inside an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Widened {
    /// Elements of an array in arguments or a result.
    Elements,
    /// Members of an object there.
    Members,
    /// Levels there.
    Depth,
    /// A list that an input has once: given messages, tools, or iterations of a summary.
    List,
}

/// Every kind of growth inside an input.
pub(super) const WIDENED: [Widened; 4] = [Widened::Elements, Widened::Members, Widened::Depth, Widened::List];

/// JSON texts of what is added: nodes borrow their tokens.
struct Added {
    numbers: Vec<String>,
    names: Vec<String>,
    texts: Vec<String>,
}

/// The input with one thing of this kind, chosen by the growth, made large; the same input where it has none.
pub(super) fn widened(growth: Enlargement, kind: Widened, input: &str) -> String {
    let limit = if kind == Widened::Depth { LIMITS.depth } else { LIMITS.many_values };
    let all = 0..growth.size(limit);
    let added = Added {
        numbers: all.clone().map(|number| number.to_string()).collect(),
        names: all.clone().map(|number| format!("\"more {number}\"")).collect(),
        texts: all.map(|number| format!("\"More {number}\"")).collect(),
    };
    let mut tree = Node::of(input);
    let mut growable = growable(&mut tree, kind);
    if growable.is_empty() {
        return input.to_owned();
    }
    growable.swap_remove(growth.at(growable.len())).grow(kind, &added);
    drop(growable);
    tree.text()
}

/// A part of an input that can grow.
enum Growable<'t, 'a> {
    Value(&'t mut Node<'a>),
    Iterations(&'t mut Vec<Node<'a>>),
    Messages(&'t mut Vec<Node<'a>>),
    Tools(&'t mut Vec<(&'a str, Node<'a>)>),
}

fn growable<'t, 'a>(tree: &'t mut Node<'a>, kind: Widened) -> Vec<Growable<'t, 'a>> {
    let mut growable = Vec::new();
    for (name, node) in members(tree) {
        if kind == Widened::List {
            lists(name, node, &mut growable);
        } else {
            values(name, node, &mut growable);
        }
    }
    growable
}

/// The lists in a member of an input.
fn lists<'t, 'a>(name: &str, node: &'t mut Node<'a>, growable: &mut Vec<Growable<'t, 'a>>) {
    match (name, node) {
        ("\"messages\"", Node::Array(messages)) => growable.push(Growable::Messages(messages)),
        ("\"tools\"", Node::Object(tools)) => growable.push(Growable::Tools(tools)),
        ("\"events\"", Node::Array(events)) => {
            for (name, node) in events.iter_mut().flat_map(|event| members(event).iter_mut()) {
                if let ("\"summarizedIterations\"", Node::Array(numbers)) = (*name, node) {
                    growable.push(Growable::Iterations(numbers));
                }
            }
        }
        _ => {}
    }
}

/// The values in a member of an input: arguments and results.
fn values<'t, 'a>(name: &str, node: &'t mut Node<'a>, growable: &mut Vec<Growable<'t, 'a>>) {
    match name {
        "\"tools\"" => {
            let results = members(node).iter_mut().flat_map(|(_, results)| elements(results).iter_mut());
            growable.extend(results.filter(|result| !is_failure(result)).map(Growable::Value));
        }
        "\"model\"" => {
            let turns = elements(node).iter_mut().flat_map(|turn| members(turn).iter_mut());
            let calls = turns.filter(|(name, _)| *name == "\"tool_calls\"");
            let calls = calls.flat_map(|(_, calls)| elements(calls).iter_mut());
            let args = calls.flat_map(|call| members(call).iter_mut()).filter(|(name, _)| *name == "\"args\"");
            growable.extend(args.map(|(_, args)| Growable::Value(args)));
        }
        // The result of a completion is a text.
        "\"events\"" => {
            let events = elements(node).iter_mut().filter(|event| is_of_a_tool(event));
            let data = events.flat_map(|event| members(event).iter_mut());
            let data = data.filter(|(name, _)| ["\"args\"", "\"result\""].contains(name));
            growable.extend(data.map(|(_, value)| Growable::Value(value)));
        }
        _ => {}
    }
}

fn members<'t, 'a>(node: &'t mut Node<'a>) -> &'t mut [(&'a str, Node<'a>)] {
    if let Node::Object(members) = node { members } else { &mut [] }
}

fn elements<'t, 'a>(node: &'t mut Node<'a>) -> &'t mut [Node<'a>] {
    if let Node::Array(elements) = node { elements } else { &mut [] }
}

/// In a script `{"error": …}` is no value.
fn is_failure(result: &Node<'_>) -> bool {
    matches!(result, Node::Object(members) if matches!(members[..], [("\"error\"", _)]))
}

impl<'a> Growable<'_, 'a> {
    fn grow(self, kind: Widened, added: &'a Added) {
        let numbers = added.numbers.iter().map(|number| Node::Scalar(number));
        match self {
            Self::Iterations(list) => list.extend(numbers),
            Self::Tools(tools) => {
                // Before the others, which are called.
                let more = added.names.iter().map(|name| (&**name, Node::Array(vec![Node::Scalar(name)])));
                tools.splice(0..0, more);
            }
            Self::Messages(messages) => {
                let human = |text| Node::Object(vec![("\"type\"", Node::Scalar("\"human\"")), ("\"content\"", text)]);
                let is_system = |message: &Node<'_>| matches!(message, Node::Object(members) if members.contains(&("\"type\"", Node::Scalar("\"system\""))));
                let start = messages.iter().take_while(|message| is_system(message)).count();
                messages.splice(start..start, added.texts.iter().map(|text| human(Node::Scalar(text))));
            }
            Self::Value(value) => {
                let names = added.names.iter().map(|name| &**name);
                match (kind, value) {
                    (Widened::Members, Node::Object(members)) => members.extend(names.zip(numbers)),
                    (_, Node::Object(members)) => members.push(("\"more\"", large(kind, added))),
                    (_, value) => {
                        let small = std::mem::replace(value, Node::Scalar("null"));
                        *value = Node::Array(vec![small, large(kind, added)]);
                    }
                }
            }
        }
    }
}

/// A value with so many elements, members or levels.
fn large(kind: Widened, added: &Added) -> Node<'_> {
    let numbers = added.numbers.iter().map(|number| Node::Scalar(number));
    match kind {
        Widened::Elements | Widened::List => Node::Array(numbers.collect()),
        Widened::Members => Node::Object(added.names.iter().map(|name| &**name).zip(numbers).collect()),
        Widened::Depth => numbers.fold(Node::Scalar("true"), |inner, number| match inner {
            Node::Array(_) => Node::Object(vec![("\"inner\"", inner)]),
            inner => Node::Array(vec![number, inner]),
        }),
    }
}

fn is_of_a_tool(event: &Node<'_>) -> bool {
    let is_of = |kind| matches!(event, Node::Object(members) if members.contains(&("\"type\"", Node::Scalar(kind))));
    is_of("\"tool_call\"") || is_of("\"tool_result\"")
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
