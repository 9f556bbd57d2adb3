//! Finds the key of a request, and the part of it that may be shown.

use crate::received::Received;

/// The keys of a request, each once: `x-api-key` and `Authorization: Bearer`, for every API.
pub(crate) fn keys(received: &Received) -> Vec<&str> {
    let mut found = Vec::new();
    for (name, value) in &received.headers {
        let value = value.trim();
        let key = if name.eq_ignore_ascii_case("x-api-key") {
            value
        } else if name.eq_ignore_ascii_case("authorization")
            && let Some((scheme, key)) = value.split_once(' ')
            && scheme.eq_ignore_ascii_case("bearer")
        {
            key.trim()
        } else {
            continue;
        };
        if !key.is_empty() && !found.contains(&key) {
            found.push(key);
        }
    }
    found
}

/// Returns the text that replaces a key wherever somebody reads it.
pub(crate) fn disguised(key: &str) -> String {
    let hash = hmac_sha256::Hash::hash(key.as_bytes());
    let [one, two, three, four] = [hash[0], hash[1], hash[2], hash[3]];
    format!("sha256:{one:02x}{two:02x}{three:02x}{four:02x}")
}

/// A target without the keys in its query.
pub(crate) fn without_keys(target: &str) -> String {
    let Some((path, query)) = target.split_once('?') else { return target.to_owned() };
    let members = query.split('&').map(|member| match member.split_once('=') {
        Some((name, value)) if name.eq_ignore_ascii_case("key") || name.eq_ignore_ascii_case("api-key") => {
            format!("{name}={}", disguised(value))
        }
        _ => member.to_owned(),
    });
    format!("{path}?{}", members.collect::<Vec<_>>().join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(headers: &[(&str, &str)]) -> Received {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Received { method: "GET".into(), target: "/".into(), headers, body: Ok(Vec::new()) }
    }

    #[test]
    fn keys_stand_in_either_header() {
        for (headers, expected) in [
            (&[("X-API-Key", "a")][..], &["a"][..]),
            (&[("authorization", "Bearer a")], &["a"]),
            (&[("Authorization", "bearer  a "), ("x-api-key", "b")], &["a", "b"]),
            (&[("authorization", "Bearer a"), ("x-api-key", "a")], &["a"]),
            (&[("authorization", "Basic a"), ("x-api-key", "")], &[]),
        ] {
            assert_eq!(keys(&with(headers)), expected, "{headers:?}");
        }
    }

    #[test]
    fn nobody_can_read_a_key_back() {
        // printf %s KEY | sha256sum
        assert_eq!(disguised("abc"), "sha256:ba7816bf");
        assert_eq!(without_keys("/v1/messages?beta=true&key=abc"), "/v1/messages?beta=true&key=sha256:ba7816bf");
    }
}
