//! The bytes of an event stream as events.

/// An event: its name, if it has one, and its data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SseLine {
    pub(crate) name: String,
    pub(crate) data: String,
}

/// The events of a stream that came in these pieces. One that is not ended by an empty line never came.
pub(crate) fn lines(pieces: &[Vec<u8>]) -> Vec<SseLine> {
    events_of(&String::from_utf8_lossy(&pieces.concat()))
}

/// The events of a text. A line ends with a carriage return, a line feed, or both.
pub(crate) fn events_of(text: &str) -> Vec<SseLine> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n").replace('\r', "\n");
    let (mut events, mut event, mut data) = (Vec::new(), SseLine::default(), Vec::new());
    // What stands behind the last line end is no line yet.
    for line in text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
        if line.is_empty() {
            if !data.is_empty() {
                event.data = data.join("\n");
                events.push(std::mem::take(&mut event));
            }
            (event, data) = (SseLine::default(), Vec::new());
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut event.name),
            "data" => data.push(value),
            _ => {}
        }
    }
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_the_same_whatever_ends_their_lines() {
        let text = ": keep-alive\n\nevent: ping\ndata: {\"a\":\ndata: 1}\n\ndata:x\n\nid: 7\nretry: 5\n\ndata: half\n";
        let event = |name: &str, data: &str| SseLine { name: name.to_owned(), data: data.to_owned() };
        for end in ["\n", "\r\n", "\r"] {
            let bytes = text.replace('\n', end).into_bytes();
            let pieces: Vec<Vec<u8>> = bytes.chunks(3).map(<[u8]>::to_vec).collect();
            assert_eq!(lines(&pieces), [event("ping", "{\"a\":\n1}"), event("", "x")], "{end:?}");
        }
    }
}
