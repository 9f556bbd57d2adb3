//! Threads as agents leave them: shell output with colours, source code, listings, JSON arguments. The same in every run.

use serde_json::{Map, Value, json};
use threadspec::{Event, EventKind, Role, is_xml_char};

/// What the texts of a thread are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextStyle {
    /// About one character in ninety is special, as in recorded runs of coding agents; some are forbidden, some are not ASCII.
    Realistic,
    /// The same without a special character.
    Clean,
    /// Three in ten are special.
    Dense,
    /// A few words, so that mostly the cost of the event itself is measured.
    Short,
}

/// A thread of `count` events.
pub fn thread(count: usize, texts: TextStyle) -> Vec<Event> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    (0..count).map(|number| event(number, texts, &mut random)).collect()
}

/// All texts of a thread.
pub fn texts(events: &[Event]) -> Vec<String> {
    let text = |event: &Event| match &event.kind {
        EventKind::Message { content: text, .. } | EventKind::ToolResult { result: Some(Value::String(text)), .. } => {
            text.clone()
        }
        EventKind::ToolCall { args, .. } => Value::Object(args.clone()).to_string(),
        _ => String::new(),
    };
    events.iter().map(text).collect()
}

/// A log as frameworks write it.
pub fn json(events: &[Event]) -> String {
    let events: Vec<String> = events.iter().map(|event| event.to_json().to_string()).collect();
    format!("[{}]", events.join(",\n"))
}

fn event(number: usize, texts: TextStyle, random: &mut Random) -> Event {
    let turn = number / 3;
    let kind = match number % 3 {
        0 => EventKind::Message {
            role: if turn == 0 { Role::User } else { Role::Assistant },
            content: text(texts, 40, random),
        },
        1 => EventKind::ToolCall {
            tool_name: ["bash", "edit", "search_dir", "open"][random.below(4)].to_owned(),
            tool_call_id: format!("call_{turn}"),
            args: arguments(texts, random),
        },
        _ => EventKind::ToolResult {
            tool_call_id: format!("call_{turn}"),
            result: Some(Value::from(text(texts, 120, random))),
        },
    };
    Event { iteration: turn as u64 / 4, kind }
}

fn arguments(texts: TextStyle, random: &mut Random) -> Map<String, Value> {
    let arguments = match random.below(3) {
        _ if texts == TextStyle::Short => json!({"command": "ls -F"}),
        0 => json!({"command": text(texts, 4, random)}),
        1 => json!({"path": "src/lib.rs", "line": random.below(900), "recursive": true}),
        _ => json!({"filename": "tests/test_fields.py", "text": text(texts, 30, random)}),
    };
    match arguments {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// A text of at most `most` pieces.
fn text(texts: TextStyle, most: usize, random: &mut Random) -> String {
    const LINES: [&str; 26] = [
        "def deserialize(self, value, attr, data, **kwargs):\n",
        "    base_unit = dt.timedelta(**{self.precision: 1})\n",
        "        return super().get(key, default) if key else None\n",
        "if len(rows) > 0 && rows[0].id != None:\n",
        "Traceback (most recent call last):\r\n",
        "  File \"/usr/lib/python3.11/site-packages/marshmallow/fields.py\", line 1474\r\n",
        "-rw-r--r-- 1 root root   4096 Jan 12 09:31 setup.cfg\n",
        "drwxr-xr-x 9 root root   4096 Jan 12 09:31 src/\n",
        "\u{1b}[32mPASSED\u{1b}[0m tests/test_serialization.py::test_timedelta_field \u{1b}[36m[ 42%]\u{1b}[0m\n",
        "The test fails since the value is rounded down before it is converted. Let's look at the code first, then at the tests.\n",
        "I will now open the file and read the lines around the place where the precision is applied to the difference.\n",
        "{\"status\": \"ok\", \"items\": [1, 2, 3], \"next\": null}\n",
        "warning: unused variable: `count` in the body of the loop, which is never read again\n",
        "Überprüfung abgeschlossen – 3 Dateien geändert ✓\n",
        "total 112, used 38 of 64 blocks, 4 inodes free, mounted read-only on the second device of the pool\n",
        "    return [row for row in rows if row.key == key]\n",
        "        self.precision = precision or self.DEFAULT_PRECISION\n",
        "src/marshmallow/fields.py:1474: round is applied to the difference of both values, not to each of them\n",
        "drwxr-xr-x 3 root root   4096 Jan 12 09:31 docs/\n",
        "I have found the place where the value is cut off. Next I will write a short script that shows the wrong result.\n",
        "After this change the script prints 345, as it should; the other tests of the module still pass.\n",
        "import datetime as dt\nfrom collections import OrderedDict\n",
        "(Open file: /marshmallow-code__marshmallow/src/marshmallow/fields.py, 1997 lines in total)\n",
        "(1457 more lines above) and (509 more lines below)\n",
        "1459:    def _serialize(self, value, attr, obj, **kwargs):\n",
        "        self.assertEqual(field.serialize(\"td_field\", obj), 345)\n",
    ];
    match texts {
        TextStyle::Short => "some words of a text".to_owned(),
        TextStyle::Dense => (0..(1 + random.below(most)) * 60)
            .map(|_| if random.below(10) < 3 { b"&<>\"'"[random.below(5)] } else { b'a' + random.below(26) as u8 })
            .map(char::from)
            .collect(),
        TextStyle::Realistic => {
            // Most texts are short, some are long.
            let pieces = 1 + random.below(most) * random.below(most) / most;
            (0..pieces).map(|_| LINES[random.below(LINES.len())]).collect()
        }
        TextStyle::Clean => text(TextStyle::Realistic, most, random)
            .chars()
            .map(|c| if "&<>\"'\\\r".contains(c) || !is_xml_char(c) { 'x' } else { c })
            .collect(),
    }
}

/// `xorshift64`.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % limit
    }
}
