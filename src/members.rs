//! Members of JSON objects by their names.

use serde_json::Value;

/// Members of JSON objects by their names.
///
/// Objects of requests have few members: a look at all of them costs less than a hash, with which `value["name"]` finds one.
pub trait MemberLookup {
    /// The member of this name; null if there is none.
    ///
    /// ```
    /// use serde_json::json;
    /// use threadspec::MemberLookup;
    /// let call = json!({"function": {"name": "t"}});
    /// assert_eq!(call.member("function").member("name"), "t");
    /// assert!(call.member("id").member("name").is_null());
    /// ```
    fn member(&self, name: &str) -> &Value;
}

impl MemberLookup for Value {
    fn member(&self, name: &str) -> &Value {
        /// In larger objects a hash is faster.
        const FEW: usize = 16;
        match self {
            Self::Object(members) if members.len() <= FEW => {
                members.iter().find(|(known, _)| *known == name).map_or(&Self::Null, |(_, value)| value)
            }
            other => &other[name],
        }
    }
}
