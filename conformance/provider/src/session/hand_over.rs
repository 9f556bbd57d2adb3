//! Finds the declared tool that hands over to an agent. Its name is the framework's own.

use crate::example::example_of;
use threadspec::surrogates::unmark_surrogates;
use threadspec_apis::ApiRequest;

/// A call that hands over, as a request declares its tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HandOverTool {
    pub(super) name: String,
    /// The JSON text of arguments that its schema takes.
    pub(super) arguments: String,
}

/// How the names of such tools usually begin.
const USUAL: [&str; 3] = ["transfer_to_", "handoff_to_", "hand_off_to_"];

/// The tool that hands over to an agent: one with a usual name, else the first one whose name ends with `_to_` and the agent's.
pub(super) fn hand_over_tool(request: &ApiRequest, agent: &str) -> Option<HandOverTool> {
    let wanted = plain(agent);
    let ends_in = |name: &str| plain(name).ends_with(&format!("_to_{wanted}"));
    let is_usual = |name: &str| USUAL.iter().any(|begin| plain(name) == format!("{begin}{wanted}"));
    let named = || request.tools.iter().filter(|tool| tool.is_function());
    let has = |is: &dyn Fn(&str) -> bool| named().find(|tool| tool.name.as_deref().is_some_and(is));
    let tool = has(&is_usual).or_else(|| has(&ends_in))?;
    let arguments = tool.schema.as_ref().map(example_of).filter(serde_json::Value::is_object);
    let arguments = arguments.map_or_else(|| "{}".to_owned(), |arguments| arguments.to_string());
    Some(HandOverTool { name: tool.name.clone()?, arguments: unmark_surrogates(&arguments).into_owned() })
}

/// A name without what frameworks change in it.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use threadspec::oracle::Api;

    #[test]
    fn a_tool_is_found_by_its_name_and_called_as_its_schema_wants() {
        let declared = |name: &str| {
            let schema = json!({"type": "object", "required": ["why"], "properties": {"why": {"type": "string"}}});
            json!({"name": name, "input_schema": schema})
        };
        let tools = ["look_to_b", "pay", "Transfer-to-B", "send_to_big_c"].map(declared);
        let request = ApiRequest::read(Api::Anthropic, &json!({"tools": tools}));
        let found = |agent: &str| hand_over_tool(&request, agent).map(|tool| tool.name);
        assert_eq!(found("b").as_deref(), Some("Transfer-to-B"));
        assert_eq!(found("Big C").as_deref(), Some("send_to_big_c"));
        assert_eq!(found("pay"), None);
        let tool = hand_over_tool(&request, "b").expect("a tool");
        assert_eq!(tool.arguments, r#"{"why":"x"}"#);
    }
}
