//! Where threads are kept: in memory, as if on a disk that outlives the process, and in the folder of the session where the process is real.

use super::run::KeptThread;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The threads of all sessions.
#[derive(Debug, Default)]
pub(crate) struct ThreadStore {
    threads: HashMap<String, KeptThread>,
    /// Whether the keys are folders, in which threads are written.
    pub(crate) is_on_disk: bool,
}

impl ThreadStore {
    /// The thread of a key; a new one if there is none.
    pub(crate) fn load(&self, key: &str) -> KeptThread {
        let written = || read(&file(key)).ok().filter(|_| self.is_on_disk);
        self.threads.get(key).cloned().or_else(written).unwrap_or_default()
    }

    /// Keeps a thread. One that cannot be written is lost with the process, which the next run shows.
    pub(crate) fn save(&mut self, key: &str, thread: KeptThread) {
        if self.is_on_disk {
            let _ = fs::write(file(key), written(&thread).to_string());
        }
        self.threads.insert(key.to_owned(), thread);
    }
}

fn file(key: &str) -> PathBuf {
    Path::new(key).join("thread.json")
}

fn written(thread: &KeptThread) -> Value {
    let KeptThread { list, agent, pending, cuts, before, notes } = thread;
    json!({"list": list, "agent": agent, "pending": pending, "cuts": cuts, "before": before, "notes": notes})
}

fn read(path: &Path) -> io::Result<KeptThread> {
    let mut thread: Value = serde_json::from_str(&fs::read_to_string(path)?)?;
    let texts = |value: &Value| serde_json::from_value(value.clone()).unwrap_or_default();
    Ok(KeptThread {
        list: serde_json::from_value(thread["list"].take())?,
        agent: thread["agent"].as_str().map(str::to_owned),
        pending: texts(&thread["pending"]),
        cuts: serde_json::from_value(thread["cuts"].take())?,
        before: serde_json::from_value(thread["before"].take())?,
        notes: thread["notes"].take(),
    })
}
