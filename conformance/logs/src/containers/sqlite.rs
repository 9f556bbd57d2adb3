//! The rows of a SQLite database, as JSON objects of their columns.
//!
//! A log that a program is writing must not be touched, and the library of SQLite may write beside the file that it reads (`-shm`, a rollback
//! of a journal). So the file's format is read here (<https://www.sqlite.org/fileformat2.html>), page by page: the trees of tables, the pages
//! that a long row overflows into, and, of a write-ahead log, the pages of what was committed. Indexes and views are not needed.

use super::msgpack;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::io::{self, Read, Seek, SeekFrom};

/// How a database begins.
pub(in super::super) const MAGIC: &[u8] = b"SQLite format 3\0";
/// No tree is deeper, and no row longer.
const DEEPEST: usize = 40;
const LONGEST: usize = 256 << 20;

/// A file or bytes in which pages are looked up.
pub(in super::super) trait Source: Read + Seek {}
impl<T: Read + Seek> Source for T {}

/// A write-ahead log, and for each page in it where its last committed state is.
type WrittenAhead<'a> = (Box<dyn Source + 'a>, HashMap<u32, u64>);

/// A database.
pub(in super::super) struct Database<'a> {
    source: Box<dyn Source + 'a>,
    page_size: usize,
    /// The bytes of a page that hold rows.
    usable: usize,
    log: Option<WrittenAhead<'a>>,
}

fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the SQLite database is broken: {what}"))
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// A number of one to nine bytes, and how many it has.
fn varint(bytes: &[u8]) -> Option<(i64, usize)> {
    let mut value: u64 = 0;
    for (position, byte) in bytes.iter().take(9).enumerate() {
        if position == 8 {
            return Some(((value << 8 | u64::from(*byte)).cast_signed(), 9));
        }
        value = value << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value.cast_signed(), position + 1));
        }
    }
    None
}

impl<'a> Database<'a> {
    /// Opens a database, with its write-ahead log if it has one.
    pub(in super::super) fn open(
        mut source: Box<dyn Source + 'a>,
        log: Option<Box<dyn Source + 'a>>,
    ) -> io::Result<Self> {
        let mut header = [0; 100];
        source.read_exact(&mut header).map_err(|_| broken("it has no header"))?;
        let page_size = match number(&header[16..18]) {
            1 => 65536,
            size => usize::try_from(size).unwrap_or_default(),
        };
        if page_size < 512 || !page_size.is_power_of_two() {
            return Err(broken("it has no size of pages"));
        }
        let usable = page_size - usize::from(header[20]);
        if number(&header[56..60]) > 1 {
            return Err(broken("its texts are UTF-16, which is not read"));
        }
        let mut database = Self { source, page_size, usable, log: None };
        if let Some(log) = log {
            database.log = database.committed(log)?;
        }
        Ok(database)
    }

    /// The committed pages of a write-ahead log.
    fn committed(&self, mut log: Box<dyn Source + 'a>) -> io::Result<Option<WrittenAhead<'a>>> {
        let mut header = [0; 32];
        if log.read_exact(&mut header).is_err() || number(&header[8..12]) != self.page_size as u64 {
            return Ok(None);
        }
        let (mut pages, mut pending, mut at) = (HashMap::new(), Vec::new(), 32_u64);
        let mut frame = [0; 24];
        loop {
            log.seek(SeekFrom::Start(at))?;
            // Frames of an earlier use of the file have other salts.
            if log.read_exact(&mut frame).is_err() || frame[8..16] != header[16..24] {
                return Ok(Some((log, pages)));
            }
            let page = u32::try_from(number(&frame[..4])).unwrap_or_default();
            pending.push((page, at + 24));
            if number(&frame[4..8]) > 0 {
                pages.extend(pending.drain(..));
            }
            at += 24 + self.page_size as u64;
        }
    }

    fn page(&mut self, page: u32) -> io::Result<Vec<u8>> {
        let in_log = self.log.as_ref().and_then(|(_, pages)| pages.get(&page).copied());
        let (source, at) = match (&mut self.log, in_log) {
            (Some((log, _)), Some(at)) => (log, at),
            _ => (
                &mut self.source,
                u64::from(page.checked_sub(1).ok_or_else(|| broken("page 0"))?) * self.page_size as u64,
            ),
        };
        let mut bytes = vec![0; self.page_size];
        source.seek(SeekFrom::Start(at))?;
        source.read_exact(&mut bytes).map_err(|_| broken(&format!("page {page} is missing")))?;
        Ok(bytes)
    }

    /// Every row of every table, in the order in which they were written: the name of the table, and the row.
    pub(in super::super) fn rows(&mut self, each: &mut dyn FnMut(&str, Value)) -> io::Result<()> {
        let mut tables = Vec::new();
        self.tree(1, DEEPEST, &mut |_, row| tables.push(row))?;
        for table in tables {
            let [Value::String(kind), Value::String(name), _, Value::Number(root), Value::String(sql)] = &*table else {
                continue;
            };
            // A virtual table has no tree, and one without row ids is an index.
            let is_plain = kind == "table" && !sql.to_ascii_uppercase().contains("WITHOUT ROWID");
            let root = root.as_u64().and_then(|root| u32::try_from(root).ok()).filter(|root| *root > 0 && is_plain);
            let Some(root) = root else { continue };
            let columns = columns(sql);
            self.tree(root, DEEPEST, &mut |id, values| {
                let mut row = Map::new();
                for (position, (name, is_id)) in columns.iter().enumerate() {
                    let value = values.get(position).cloned().unwrap_or_default();
                    row.insert(name.clone(), if *is_id && value.is_null() { json!(id) } else { value });
                }
                each(name, row.into());
            })?;
        }
        Ok(())
    }

    /// The rows of the tree of a table.
    fn tree(&mut self, page: u32, depth: usize, each: &mut dyn FnMut(i64, Vec<Value>)) -> io::Result<()> {
        let bytes = self.page(page)?;
        let header = if page == 1 { 100 } else { 0 };
        let kind = bytes[header];
        let cells = usize::try_from(number(&bytes[header + 3..header + 5])).unwrap_or_default();
        let first = header + if kind == 5 { 12 } else { 8 };
        let cell = |position: usize| {
            let at = first + 2 * position;
            let start = usize::try_from(number(bytes.get(at..at + 2)?)).ok()?;
            bytes.get(start..)
        };
        let bad = || broken(&format!("page {page}"));
        match kind {
            5 if depth > 0 => {
                let children = (0..cells).map(|position| Some(number(cell(position)?.get(..4)?)));
                let last = number(&bytes[header + 8..header + 12]);
                let children: Vec<u64> = children.chain([Some(last)]).collect::<Option<_>>().ok_or_else(bad)?;
                for child in children {
                    self.tree(u32::try_from(child).map_err(|_| bad())?, depth - 1, each)?;
                }
                Ok(())
            }
            13 => {
                for position in 0..cells {
                    let cell = cell(position).ok_or_else(bad)?;
                    let (length, first) = varint(cell).ok_or_else(bad)?;
                    let (id, second) = varint(&cell[first..]).ok_or_else(bad)?;
                    let length = usize::try_from(length).ok().filter(|length| *length <= LONGEST).ok_or_else(bad)?;
                    let payload = self.payload(&cell[first + second..], length)?;
                    each(id, record(&payload).ok_or_else(bad)?);
                }
                Ok(())
            }
            _ => Err(bad()),
        }
    }

    /// The bytes of a row, some of which may be in other pages.
    fn payload(&mut self, cell: &[u8], length: usize) -> io::Result<Vec<u8>> {
        let most = self.usable - 35;
        let bad = || broken("a row is cut off");
        if length <= most {
            return Ok(cell.get(..length).ok_or_else(bad)?.to_vec());
        }
        let least = (self.usable - 12) * 32 / 255 - 23;
        let here = least + (length - least) % (self.usable - 4);
        let here = if here <= most { here } else { least };
        let mut payload = cell.get(..here).ok_or_else(bad)?.to_vec();
        let mut next = number(cell.get(here..here + 4).ok_or_else(bad)?);
        while payload.len() < length && next != 0 {
            let page = self.page(u32::try_from(next).map_err(|_| bad())?)?;
            next = number(&page[..4]);
            let rest = (length - payload.len()).min(self.usable - 4);
            payload.extend_from_slice(&page[4..4 + rest]);
        }
        if payload.len() == length { Ok(payload) } else { Err(bad()) }
    }
}

/// The values of a row.
fn record(payload: &[u8]) -> Option<Vec<Value>> {
    let (header, mut at) = varint(payload)?;
    let header = usize::try_from(header).ok()?;
    let mut body = header;
    let mut values = Vec::new();
    while at < header {
        let (kind, length) = varint(payload.get(at..)?)?;
        at += length;
        let length = match kind {
            0 | 8 | 9 => 0,
            1..=4 => usize::try_from(kind).ok()?,
            5 => 6,
            6 | 7 => 8,
            _ => usize::try_from((kind - 12) / 2).ok()?,
        };
        let bytes = payload.get(body..body + length)?;
        body += length;
        values.push(match kind {
            0 => Value::Null,
            8 => json!(0),
            9 => json!(1),
            1..=6 => {
                let unused = 64 - 8 * u32::try_from(length).ok()?;
                json!((number(bytes) << unused).cast_signed() >> unused)
            }
            7 => json!(f64::from_bits(number(bytes))),
            _ if kind % 2 == 1 => json!(String::from_utf8_lossy(bytes)),
            _ => blob(bytes),
        });
    }
    Some(values)
}

/// Bytes: texts, or values of msgpack; anything else is not looked into.
fn blob(bytes: &[u8]) -> Value {
    match msgpack::read(bytes) {
        Some(value @ (Value::Object(_) | Value::Array(_))) => value,
        _ => std::str::from_utf8(bytes).map_or(Value::Null, |text| json!(text)),
    }
}

/// The columns of a table, and whether they are the row's number.
fn columns(sql: &str) -> Vec<(String, bool)> {
    let Some(start) = sql.find('(') else { return Vec::new() };
    let (mut depth, mut column, mut parts) = (0, String::new(), Vec::new());
    for character in sql[start + 1..].chars() {
        match character {
            '(' => depth += 1,
            ')' if depth == 0 => break,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(std::mem::take(&mut column));
                continue;
            }
            _ => {}
        }
        column.push(character);
    }
    parts.push(column);
    let constraints = ["PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "CONSTRAINT"];
    let column = |part: &String| {
        let name = part.split_whitespace().next()?;
        if constraints.contains(&&*name.to_ascii_uppercase()) {
            return None;
        }
        let is_id = part.to_ascii_uppercase().contains("INTEGER PRIMARY KEY");
        Some((name.trim_matches(['"', '`', '[', ']', '\'']).to_owned(), is_id))
    };
    parts.iter().filter_map(column).collect()
}
