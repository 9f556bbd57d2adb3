//! The field `host`: a page that a browser was led to by a name of its own must not reach this server.

use std::net::IpAddr;

/// Returns whether an authority is a literal address or `localhost`, with or without a port.
pub(super) fn is_local(authority: &str) -> bool {
    let host = match authority.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((host, port)) if is_port(port) => host,
            _ => return false,
        },
        None => match authority.split_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
            Some(_) => return false,
            None => authority,
        },
    };
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok()
}

fn is_port(text: &str) -> bool {
    text.is_empty() || text.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::is_local;

    #[test]
    fn only_addresses_and_localhost_are_local() {
        for host in ["127.0.0.1", "127.0.0.1:80", "localhost", "LocalHost:4", "[::1]", "[::1]:80", "10.0.0.7:1"] {
            assert!(is_local(host), "{host}");
        }
        for host in [
            "",
            "example.com",
            "example.com:80",
            "localhost.example.com",
            "127.0.0.1.nip.io",
            "[::1",
            "::1",
            "a@127.0.0.1",
            "127.0.0.1:80:80",
            "localhost:x",
        ] {
            assert!(!is_local(host), "{host}");
        }
    }
}
