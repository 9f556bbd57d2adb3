//! Exports that have their newest records first: turned round before they are judged.

use super::finding::Place;
use super::forms::RecordPiece;
use serde_json::Value;
use std::mem;

/// Holds the records of an export until their order is known, and those of one that goes backwards until its end.
///
/// The first two times tell which it is. A log that goes forwards is judged as it comes.
#[derive(Default)]
pub(super) struct ExportOrder {
    held: Vec<ExportedRecord>,
    direction: Direction,
    /// About how many bytes are held.
    weight: usize,
}

/// The content of a record of an export, and its time.
pub(super) struct ExportedRecord {
    /// Sorts as the times do.
    pub(super) time: String,
    pub(super) pieces: Vec<RecordPiece>,
    pub(super) place: Place,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Direction {
    #[default]
    Unknown,
    Forwards,
    Backwards,
}

/// How much of an export that goes backwards is held.
const MOST: usize = 256 << 20;

impl ExportOrder {
    /// Takes the next record, and gives those that can be judged now; and whether more was held than can be, so that those which come
    /// are not compared with these.
    pub(super) fn push(&mut self, record: ExportedRecord, weight: usize) -> (Vec<ExportedRecord>, bool) {
        if self.direction == Direction::Unknown
            && let Some(first) = self.held.first()
        {
            self.direction = match record.time.cmp(&first.time) {
                std::cmp::Ordering::Less => Direction::Backwards,
                std::cmp::Ordering::Equal => Direction::Unknown,
                std::cmp::Ordering::Greater => Direction::Forwards,
            };
        }
        self.weight += weight;
        self.held.push(record);
        let is_full = self.weight > MOST;
        if is_full || self.direction == Direction::Forwards {
            return (self.rest(), is_full);
        }
        (Vec::new(), false)
    }

    /// All that is held, the oldest first.
    pub(super) fn rest(&mut self) -> Vec<ExportedRecord> {
        self.weight = 0;
        let mut held = mem::take(&mut self.held);
        if self.direction == Direction::Backwards {
            // Records of one time are backwards, too.
            held.reverse();
        }
        held.sort_by(|one, other| one.time.cmp(&other.time));
        held
    }
}

/// A time as a text that sorts as times do: one of ISO 8601 in UTC, or a number; `None` for others.
pub(super) fn sortable(time: &Value) -> Option<String> {
    if let Some(number) = time.as_f64() {
        return Some(format!("{number:020.6}"));
    }
    let text = time.as_str()?.trim();
    let text = ["Z", "+00:00", "+0000", " UTC"].iter().find_map(|zone| text.strip_suffix(zone)).unwrap_or(text);
    let is_time = text.len() >= "2026-01-01T00:00:00".len() && text.is_ascii() && !text[19..].contains(['+', '-']);
    is_time.then(|| text.replacen(' ', "T", 1))
}

/// About how many bytes a value has.
pub(super) fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(elements) => elements.iter().map(weight).sum::<usize>() + 8,
        Value::Object(members) => members.iter().map(|(name, value)| name.len() + weight(value)).sum::<usize>() + 8,
        _ => 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The order in which records with these times are judged.
    fn judged(times: &[&str]) -> Vec<String> {
        let mut order = ExportOrder::default();
        let record =
            |time: &&str| ExportedRecord { time: (*time).to_owned(), pieces: Vec::new(), place: Place::default() };
        let mut found: Vec<ExportedRecord> = times.iter().flat_map(|time| order.push(record(time), 1).0).collect();
        found.extend(order.rest());
        found.into_iter().map(|record| record.time).collect()
    }

    #[test]
    fn only_what_goes_backwards_is_turned_round() {
        assert_eq!(judged(&["1", "2", "3"]), ["1", "2", "3"]);
        assert_eq!(judged(&["3", "3", "1", "2"]), ["1", "2", "3", "3"]);
        assert_eq!(judged(&["1", "2", "1"]), ["1", "2", "1"]);
        assert_eq!(judged(&["1"]), ["1"]);
    }

    #[test]
    fn times_sort_whatever_their_digits() {
        let times = [
            json!("2026-11-26T05:40:21Z"),
            json!("2026-11-26T05:40:21.926Z"),
            json!("2026-11-26 05:40:21.926501+00:00"),
            json!("2026-11-26T05:40:22.1"),
        ];
        let sorted: Vec<Option<String>> = times.iter().map(sortable).collect();
        assert!(sorted.iter().all(Option::is_some) && sorted.is_sorted(), "{sorted:?}");
        assert_eq!(sortable(&json!("2026-11-26T05:40:21+02:00")), None);
        assert!(sortable(&json!(9.5)) < sortable(&json!(1_764_000_000_000_i64)));
    }
}
