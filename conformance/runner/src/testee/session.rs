//! Runs sessions: each gets a private storage folder, and goes on when the script has killed the process in which it began.

use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::fs::DirBuilder;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fs, io};
use threadspec_judge::protocol::{Hello, Op, Reply, Request};
use threadspec_judge::script::{CutMeans, ScriptRun, SessionScript};
use threadspec_judge::text::{count, visible};
use threadspec_judge::verdict::{Outcome, Unready};

/// The sessions whose replies are awaited, by the ids of their requests.
#[derive(Debug, Default)]
pub(super) struct Sessions(HashMap<i64, PlayedSession>);

#[derive(Debug)]
struct PlayedSession {
    request: Request,
    storage: Storage,
    /// For each run whether the script kills the process in it.
    kills: Vec<bool>,
    /// The runs that were reported before the process ended.
    runs: Vec<Value>,
}

/// The consequence of an outcome.
#[derive(Debug, PartialEq)]
pub(super) enum SessionHeard {
    /// It is that of the whole request.
    Whole(Outcome),
    /// The process ends now. When it has, and was started again, it gets this request.
    Killed(Box<Request>),
}

impl Sessions {
    /// The request as the testee gets it: a session's with a folder of its own.
    ///
    /// # Errors
    ///
    /// When no folder can be made.
    pub(super) fn begin<'r>(&mut self, request: &'r Request) -> Result<Cow<'r, Request>, Unready> {
        if request.op != Op::Session || request.storage.is_some() {
            return Ok(Cow::Borrowed(request));
        }
        let storage = Storage::new().map_err(|error| {
            let folder = visible(&std::env::temp_dir().to_string_lossy());
            Unready::Runner(format!("no storage folder can be made in {folder} (TMPDIR names another one): {error}"))
        })?;
        let request = Request { storage: Some(storage.path().to_owned()), ..request.clone() };
        let session =
            PlayedSession { kills: kills(&request.input), request: request.clone(), storage, runs: Vec::new() };
        self.0.insert(request.id, session);
        Ok(Cow::Owned(request))
    }

    /// Decides the consequence of the outcome of a request. The folder of a session whose process is lost stays until [`Sessions::clear`]:
    /// the process may still write to it.
    pub(super) fn heard(&mut self, id: i64, outcome: Outcome) -> SessionHeard {
        let Some(session) = self.0.get_mut(&id) else {
            return SessionHeard::Whole(match outcome {
                Outcome::Reply(Reply::Cut { .. }) => {
                    Outcome::Garbage("it sends `cut`, and no session was requested".to_owned())
                }
                other => other,
            });
        };
        let outcome = match outcome {
            Outcome::Reply(Reply::Cut { runs }) => match session.cut(runs) {
                Ok(request) => return SessionHeard::Killed(Box::new(request)),
                Err(what) => Outcome::Garbage(what),
            },
            Outcome::Reply(Reply::Ok(output)) => session.joined(output),
            Outcome::Crash(what) if session.awaits_a_kill() => {
                Outcome::Crash(format!("without a word of `cut` {what}"))
            }
            other => other,
        };
        if !outcome.is_reply() {
            return SessionHeard::Whole(outcome);
        }
        let written = session.storage.written_beside();
        self.0.remove(&id);
        SessionHeard::Whole(written.map_or(outcome, Outcome::Garbage))
    }

    /// Gives up all sessions: whoever played them is gone.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

impl PlayedSession {
    /// The request with which the session goes on when the process has ended in the last of these runs.
    fn cut(&mut self, runs: Vec<Value>) -> Result<Request, String> {
        let (before, asked) = (self.runs.len(), self.kills.len());
        let reached = before + runs.len();
        if runs.is_empty() {
            return Err(format!("it sends `cut` without a new run: {} before", told(before)));
        }
        match self.kills.get(reached - 1) {
            None => return Err(format!("it sends `cut` after {reached} runs, and {asked} were asked")),
            Some(false) => return Err(format!("it sends `cut` in run {reached}, which has no kill")),
            Some(true) => {}
        }
        self.runs.extend(runs);
        Ok(Request { from: Some(reached), ..self.request.clone() })
    }

    /// The output with the runs that were reported before.
    fn joined(&mut self, mut output: Value) -> Outcome {
        let (before, asked) = (self.runs.len(), self.kills.len());
        if before > 0
            && let Some(Value::Array(runs)) = output.get_mut("runs")
        {
            if before + runs.len() != asked {
                let was = if runs.len() == 1 { "was" } else { "were" };
                return Outcome::Garbage(format!(
                    "after the kill in run {before} {} {was} reported, where {} of {asked} were left",
                    count(runs.len(), "run"),
                    asked - before
                ));
            }
            let rest = std::mem::replace(runs, std::mem::take(&mut self.runs));
            runs.extend(rest);
        }
        Outcome::Reply(Reply::Ok(output))
    }

    /// Returns whether the script kills the process in a run that was not reported yet.
    fn awaits_a_kill(&self) -> bool {
        self.kills.iter().skip(self.runs.len()).any(|kill| *kill)
    }
}

/// How many runs were reported.
fn told(runs: usize) -> String {
    if runs == 1 { "run 1 was reported".to_owned() } else { format!("{} were reported", count(runs, "run")) }
}

/// For each run of a session whether the script kills the process in it.
fn kills(input: &str) -> Vec<bool> {
    let is_kill = |run: ScriptRun| run.cut.is_some_and(|cut| cut.how == CutMeans::Kill);
    // In what is no script, nobody is killed.
    SessionScript::read(input).map(|script| script.runs.into_iter().map(is_kill).collect()).unwrap_or_default()
}

/// Returns the fault of a process that was started again, if its hello is another one now.
pub(super) fn is_the_same(before: &Hello, now: &Hello) -> Result<(), Outcome> {
    if before == now {
        return Ok(());
    }
    let what = "after the kill it sends another hello";
    Err(Outcome::Garbage(format!("{what}: {} instead of {}", now.to_json(), before.to_json())))
}

// Storage folders: one for each session, private, and removed afterwards.

/// How often a folder is removed again that somebody still writes to, or another name is tried.
const MOST_TRIES: usize = 100;
/// The name of the folder in the one that is watched.
const NAME: &str = "storage";

/// The folders that are there.
static THERE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn there() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    THERE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A fresh folder that only this user can enter. It is alone in another one, so that what is written beside it is seen. Dropping it
/// removes both.
#[derive(Debug)]
pub struct Storage {
    around: PathBuf,
    /// The folder, as text: it goes into JSON.
    path: String,
}

impl Storage {
    /// Makes one.
    ///
    /// # Errors
    ///
    /// When the system refuses it.
    pub fn new() -> io::Result<Self> {
        let around = Self::unused()?;
        let storage = Self { path: around.join(NAME).to_string_lossy().into_owned(), around };
        // Only what was made is removed.
        there().insert(storage.around.clone());
        private().create(&storage.path)?;
        Ok(storage)
    }

    /// A new folder with a name that nobody had.
    fn unused() -> io::Result<PathBuf> {
        let secret = RandomState::new();
        let mut refused = io::Error::from(io::ErrorKind::AlreadyExists);
        for number in 0..MOST_TRIES {
            let name = format!("threadspec-{}-{:016x}", std::process::id(), secret.hash_one(number));
            let around = std::env::temp_dir().join(name);
            match private().create(&around) {
                Ok(()) => return Ok(around),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => refused = error,
                Err(error) => return Err(error),
            }
        }
        Err(refused)
    }

    /// The folder.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Says what was written beside it, if anything was.
    pub fn written_beside(&self) -> Option<String> {
        let names: Vec<String> =
            self.beside().iter().map(|name| format!("`{}`", visible(&name.to_string_lossy()))).collect();
        (!names.is_empty()).then(|| format!("it wrote outside its storage folder: beside it is {}", names.join(", ")))
    }

    /// Lists the files beside it, by name.
    fn beside(&self) -> Vec<OsString> {
        let entries = fs::read_dir(&self.around).into_iter().flatten();
        let names = entries.filter_map(|entry| Some(entry.ok()?.file_name()));
        let mut names: Vec<OsString> = names.filter(|name| name != NAME).collect();
        names.sort();
        names
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        remove(&self.around);
        there().remove(&self.around);
    }
}

/// Removes every folder, because this program ends at once.
pub(super) fn remove_all() {
    there().iter().for_each(|folder| remove(folder));
}

/// Removes a folder. What has just been killed may still write to it.
fn remove(folder: &Path) {
    for _ in 0..MOST_TRIES {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {}
            _ => return,
        }
    }
}

/// Makes folders that nobody else can enter.
fn private() -> DirBuilder {
    #[allow(unused_mut, reason = "not on every system")]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::path::Path;
    use threadspec_judge::protocol::JudgeProfile;

    fn begun(kills: &[bool]) -> (Sessions, Request) {
        let cut = |kill: &bool| if *kill { json!({"during": "a", "how": "kill"}) } else { Value::Null };
        let run = |kill: &bool| json!({"resume": true, "cut": cut(kill)});
        let input = json!({"runs": kills.iter().map(run).collect::<Vec<_>>()}).to_string();
        let mut sessions = Sessions::default();
        let asked = Request::new(7, Op::Session, JudgeProfile::Universal, input);
        let request = sessions.begin(&asked).expect("a folder").into_owned();
        (sessions, request)
    }

    fn cut(runs: &[u64]) -> Outcome {
        Outcome::Reply(Reply::Cut { runs: runs.iter().map(|run| json!(run)).collect() })
    }

    fn ok(runs: &[u64]) -> Outcome {
        Outcome::Reply(Reply::Ok(json!({"runs": runs})))
    }

    #[test]
    fn runs_before_and_after_kills_are_joined() {
        let (mut sessions, request) = begun(&[false, true, true, false, false]);
        let folder = request.storage.clone().expect("a folder");
        assert!(Path::new(&folder).is_dir());
        for (runs, from) in [(&[0, 1][..], 2), (&[2], 3)] {
            let next = Request { from: Some(from), ..request.clone() };
            assert_eq!(sessions.heard(7, cut(runs)), SessionHeard::Killed(Box::new(next)));
        }
        assert_eq!(sessions.heard(7, ok(&[3, 4])), SessionHeard::Whole(ok(&[0, 1, 2, 3, 4])));
        assert!(!Path::new(&folder).exists());
    }

    #[test]
    fn a_kill_that_was_not_played_is_passed_over() {
        let (mut sessions, _) = begun(&[true, true, false]);
        assert!(matches!(sessions.heard(7, cut(&[0, 1])), SessionHeard::Killed(request) if request.from == Some(2)));
        assert_eq!(sessions.heard(7, ok(&[2])), SessionHeard::Whole(ok(&[0, 1, 2])));
        let (mut sessions, _) = begun(&[true, false]);
        assert_eq!(sessions.heard(7, ok(&[0, 1])), SessionHeard::Whole(ok(&[0, 1])));
    }

    #[test]
    fn what_is_no_such_cut_is_garbage() {
        for (cuts, says) in [
            (&[&[][..]][..], "without a new run: 0 runs were reported before"),
            (&[&[0]], "in run 1, which has no kill"),
            (&[&[0, 1, 2, 3, 4]], "after 5 runs, and 4 were asked"),
            (&[&[0, 1], &[]], "without a new run: 2 runs were reported before"),
            (&[&[0, 1], &[1]], "in run 3, which has no kill"),
        ] {
            let (mut sessions, _) = begun(&[false, true, false, false]);
            let last = cuts.iter().map(|runs| sessions.heard(7, cut(runs))).last();
            let Some(SessionHeard::Whole(Outcome::Garbage(what))) = last else { panic!("{cuts:?}: {last:?}") };
            assert!(what.contains(says), "{what}");
        }
    }

    #[test]
    fn too_few_and_too_many_runs_after_a_kill_are_garbage() {
        for (runs, says) in [(&[0, 1, 2][..], "3 runs were"), (&[], "0 runs were"), (&[2], "1 run was")] {
            let (mut sessions, _) = begun(&[true, false, false]);
            let _ = sessions.heard(7, cut(&[0]));
            let heard = sessions.heard(7, ok(runs));
            let SessionHeard::Whole(Outcome::Garbage(what)) = heard else { panic!("{heard:?}") };
            assert!(what.contains(says) && what.ends_with("where 2 of 3 were left"), "{what}");
        }
    }

    #[test]
    fn the_folder_stays_while_a_lost_process_may_write_to_it() {
        let (mut sessions, request) = begun(&[true, false]);
        let folder = request.storage.expect("a folder");
        let lost = sessions.heard(7, Outcome::Crash("before its reply it ended (exit status: 1)".to_owned()));
        let what = "without a word of `cut` before its reply it ended (exit status: 1)".to_owned();
        assert_eq!(lost, SessionHeard::Whole(Outcome::Crash(what)));
        assert!(Path::new(&folder).exists());
        sessions.clear();
        assert!(!Path::new(&folder).exists());
    }

    #[test]
    fn what_is_written_beside_the_folder_is_named() -> io::Result<()> {
        let (mut sessions, request) = begun(&[false]);
        fs::write(format!("{}/../notes.json", request.storage.expect("a folder")), "{}")?;
        let what = "it wrote outside its storage folder: beside it is `notes.json`".to_owned();
        assert_eq!(sessions.heard(7, ok(&[0])), SessionHeard::Whole(Outcome::Garbage(what)));
        Ok(())
    }

    #[test]
    fn other_operations_have_no_folder_and_no_cut() {
        let mut sessions = Sessions::default();
        let asked = Request::new(7, Op::Tools, JudgeProfile::Universal, "{}");
        assert_eq!(sessions.begin(&asked).expect("no folder is made").as_ref(), &asked);
        assert!(matches!(sessions.heard(7, cut(&[0])), SessionHeard::Whole(Outcome::Garbage(_))));
        assert_eq!(sessions.heard(7, ok(&[0])), SessionHeard::Whole(ok(&[0])));
    }

    #[test]
    fn a_folder_is_fresh_private_watched_and_removed() -> io::Result<()> {
        let (one, other) = (Storage::new()?, Storage::new()?);
        assert_ne!(one.path(), other.path());
        #[cfg(unix)]
        for folder in [Path::new(one.path()), &one.around] {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(folder)?.permissions().mode() & 0o777, 0o700);
        }
        assert_eq!(fs::read_dir(one.path())?.count(), 0);
        fs::create_dir(Path::new(one.path()).join("inside"))?;
        assert_eq!(one.beside(), [""; 0]);
        fs::write(one.around.join("b"), "")?;
        fs::create_dir(one.around.join("a"))?;
        assert_eq!(one.beside(), ["a", "b"]);
        let around = one.around.clone();
        drop(one);
        assert!(!around.exists() && Path::new(other.path()).exists());
        Ok(())
    }
}
