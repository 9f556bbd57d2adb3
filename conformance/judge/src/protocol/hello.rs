//! Reads a testee's description of itself.

use super::{JudgeProfile, Op, Transport, VERSION};
use crate::Error;
use crate::feature::SessionAbilities;
use crate::json;
use crate::text::{beginning, closest};
use crate::universal::Abilities;
use serde_json::{Value, json};
use std::str::FromStr;
use threadspec::oracle::Api;

/// How much is kept of what a testee says about itself, in characters.
const LONGEST_NAME: usize = 200;

/// A testee's description of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The implementation's name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The language that it is written in.
    pub language: String,
    /// Where to find it.
    pub url: Option<String>,
    /// The operations that it has.
    pub ops: Vec<Op>,
    /// The profiles that it wants to be judged by.
    pub profiles: Vec<JudgeProfile>,
    /// The abilities that decide how far profile `universal` can judge it.
    pub abilities: Abilities,
    /// The APIs through which it can ask a model; every one, if it does not say.
    pub apis: Option<Vec<Api>>,
    /// The remarks about it, in sentences; they count for nothing.
    pub remarks: Vec<String>,
}

impl Hello {
    /// The handshake request, without the line end. It says whether the requests will come with an endpoint, and of which kind.
    pub fn request(provider: Option<Transport>) -> String {
        let provider = provider.map(|transport| format!(r#","provider":{}"#, transport.to_json())).unwrap_or_default();
        format!(r#"{{"id":0,"op":"hello","protocol":{VERSION}{provider}}}"#)
    }

    /// Returns whether it can ask a model through an API.
    pub fn takes(&self, api: Api) -> bool {
        self.apis.as_ref().is_none_or(|apis| apis.contains(&api))
    }

    /// The output of `hello`.
    pub fn to_json(&self) -> Value {
        let Self { name, version, language, url, ops, profiles, abilities, apis, remarks: _ } = self;
        let mut implementation = json!({"name": name, "version": version, "language": language});
        if let Some(url) = url {
            implementation["url"] = json!(url);
        }
        let mut hello = json!({
            "protocol": VERSION,
            "implementation": implementation,
            "ops": ops.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "profiles": profiles.iter().map(ToString::to_string).collect::<Vec<_>>(),
        });
        if abilities.exact_integers {
            hello["exactIntegers"] = true.into();
        }
        if abilities.concurrent {
            hello["concurrent"] = true.into();
        }
        if abilities.wraps_results {
            hello["wrapsResults"] = true.into();
        }
        if let Some(apis) = apis {
            hello["apis"] = apis.iter().map(ToString::to_string).collect();
        }
        abilities.session.write(&mut hello);
        hello
    }

    /// Reads the output of `hello`.
    ///
    /// # Errors
    ///
    /// Says what is missing or unknown.
    pub fn from_json(hello: &Value) -> Result<Self, Error> {
        let protocol = &hello["protocol"];
        if protocol.as_i64() != Some(VERSION) {
            let protocol = shortened(protocol);
            return Err(Error::new(format!("its `protocol` is {protocol}; this runner speaks protocol {VERSION}")));
        }
        let about = &hello["implementation"];
        let kept = |text: &str| beginning(text, LONGEST_NAME);
        let text = |field: &str| {
            let missing = || Error::new(format!("its `implementation.{field}` is missing"));
            about[field].as_str().map(kept).ok_or_else(missing)
        };
        let ops = known(&hello["ops"], "ops", Op::all())?;
        let (session, remarks) = SessionAbilities::read(hello, ops.contains(&Op::Session))?;
        Ok(Self {
            name: text("name")?,
            version: text("version")?,
            language: text("language")?,
            url: about["url"].as_str().map(kept),
            ops,
            profiles: known(&hello["profiles"], "profiles", JudgeProfile::ALL)?,
            abilities: Abilities {
                exact_integers: flag(&hello["exactIntegers"], "exactIntegers")?,
                concurrent: flag(&hello["concurrent"], "concurrent")?,
                wraps_results: flag(&hello["wrapsResults"], "wrapsResults")?,
                session,
            },
            apis: match &hello["apis"] {
                Value::Null => None,
                names => Some(known(names, "apis", Api::ALL)?),
            },
            remarks,
        })
    }
}

/// A member that is true, false, or absent for false.
pub(super) fn flag(value: &Value, name: &str) -> Result<bool, Error> {
    match value {
        Value::Null => Ok(false),
        Value::Bool(flag) => Ok(*flag),
        other => Err(Error::new(format!("its `{name}` is {}, not true or false", shortened(other)))),
    }
}

fn shortened(value: &Value) -> String {
    json::shortened(value, LONGEST_NAME)
}

/// The names in a list, each once. An unknown one is an error: ignoring a misspelt name would silently leave out what it represents.
fn known<T: FromStr + ToString + PartialEq>(
    names: &Value,
    field: &str,
    all: impl IntoIterator<Item = T>,
) -> Result<Vec<T>, Error> {
    let names = names.as_array().ok_or_else(|| Error::new(format!("its `{field}` is not a list")))?;
    let all: Vec<String> = all.into_iter().map(|one| one.to_string()).collect();
    let read = |name: &Value| {
        let known = name.as_str().and_then(|name| name.parse().ok());
        known.ok_or_else(|| {
            let closest = name.as_str().and_then(|name| closest(name, &all));
            let hint = closest.map(|one| format!("; did you mean `{one}`?")).unwrap_or_default();
            Error::new(format!(
                "its `{field}` names {}, which protocol {VERSION} does not know (it has {}){hint}",
                shortened(name),
                all.join(", ")
            ))
        })
    };
    let mut read_names = Vec::new();
    for name in names {
        let name = read(name)?;
        if !read_names.contains(&name) {
            read_names.push(name);
        }
    }
    if names.is_empty() { Err(Error::new(format!("its `{field}` is empty"))) } else { Ok(read_names) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::{Features, Saves};

    #[test]
    fn a_hello_is_kept_within_bounds() {
        let long = "x".repeat(1000);
        let hello = |op: &str, version: &Value| {
            let implementation = json!({"name": long, "version": version, "language": "\u{1f600}".repeat(1000)});
            Hello::from_json(&json!({
                "protocol": 1, "implementation": implementation, "ops": vec![op; 1000], "profiles": ["literal"]
            }))
        };
        let read = hello("escape", &json!("1")).expect("a hello");
        assert_eq!((read.name, read.ops), (format!("{}…", &long[..LONGEST_NAME]), vec![Op::Escape]));
        assert_eq!(read.language.chars().count(), LONGEST_NAME + 1);
        assert!(hello(&long, &json!("1")).is_err_and(|why| why.to_string().len() < 2 * LONGEST_NAME));
    }

    #[test]
    fn hellos_survive_their_own_writing() {
        let hello = Hello {
            name: "n".into(),
            version: "1".into(),
            language: "l".into(),
            url: None,
            ops: Op::all().collect(),
            profiles: JudgeProfile::ALL.into(),
            abilities: Abilities {
                exact_integers: true,
                concurrent: true,
                wraps_results: true,
                session: SessionAbilities { features: Features::all(), saves: Saves::Round, both_systems: true },
            },
            apis: Some(vec![Api::Anthropic]),
            remarks: Vec::new(),
        };
        assert_eq!(Hello::from_json(&hello.to_json()), Ok(hello));
    }

    #[test]
    fn what_a_hello_says_of_sessions_is_read_or_remarked_on() {
        let hello = |members: Value| {
            let about = json!({"name": "n", "version": "1", "language": "l"});
            let mut hello =
                json!({"protocol": 1, "implementation": about, "ops": ["session"], "profiles": ["universal"]});
            hello.as_object_mut().expect("an object").extend(members.as_object().cloned().expect("an object"));
            Hello::from_json(&hello)
        };
        let read = hello(json!({"session": ["message", "kil", 7], "saves": "run"})).expect("a hello");
        assert_eq!(read.abilities.session.features.to_string(), "message");
        assert_eq!(read.abilities.session.saves, Saves::Run);
        assert!(
            read.remarks[0].contains("did you mean `kill`?") && read.remarks[1].contains("names 7"),
            "{:?}",
            read.remarks
        );
        let unused = hello(json!({"ops": ["tools"], "session": ["message"]})).expect("a hello");
        assert!(unused.remarks[0].contains("does not name it"), "{:?}", unused.remarks);
        for (members, why) in [
            (json!({}), "`message`"),
            (json!({"session": ["kill"]}), "`message`"),
            (json!({"session": "message"}), "not a list"),
            (json!({"session": ["message"], "saves": "all"}), "`saves`"),
            (json!({"session": ["message"], "systems": true}), "`systems`"),
        ] {
            let error = hello(members).expect_err("it is no hello").to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
