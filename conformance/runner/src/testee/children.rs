//! Child processes, which are ended with this program, and so is everything that they start, as far as the system allows.

#[cfg(unix)]
use nix::errno::Errno;
#[cfg(unix)]
use nix::sys::signal::{Signal, killpg};
#[cfg(unix)]
use nix::unistd::Pid;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use threadspec_judge::verdict::Unready;

/// How long a process may take to end once it was killed. If it takes longer, it is given up: it cannot be killed.
const KILL_GRACE: Duration = Duration::from_secs(20);

/// The leaders of the process groups that are alive.
static ALIVE: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn alive() -> MutexGuard<'static, BTreeSet<u32>> {
    ALIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(windows)]
type Child = Box<dyn process_wrap::std::ChildWrapper>;
#[cfg(not(windows))]
type Child = std::process::Child;

/// A child in a process group of its own (on Windows, a job object), which is killed as a whole.
#[derive(Debug)]
pub(super) struct ProcessGroup {
    child: Child,
}

impl ProcessGroup {
    /// Starts a command with pipes.
    pub(super) fn spawn(command: &[OsString]) -> Result<Self, Unready> {
        Self::spawn_as(command, |prepared| {
            prepared.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        })
    }

    /// Starts a command that is prepared further.
    pub(super) fn spawn_as(command: &[OsString], prepare: impl FnOnce(&mut Command)) -> Result<Self, Unready> {
        let (program, arguments) = command.split_first().ok_or_else(|| "no command was given".to_owned())?;
        let mut prepared = Command::new(program);
        prepared.args(arguments);
        prepare(&mut prepared);
        let path = Path::new(program);
        let program = threadspec_judge::text::visible(&program.to_string_lossy());
        let child = start(prepared).map_err(|error| match error.kind() {
            // A name with a `/` is that of a file; any other one is looked for in the folders of programs.
            io::ErrorKind::NotFound if path.is_file() && path.components().count() > 1 => {
                format!("{program} cannot be started: its interpreter is not there (the one of its first line, or the loader of a binary)").into()
            }
            io::ErrorKind::NotFound => format!("command not found: {program}").into(),
            io::ErrorKind::PermissionDenied => format!("{program}: {error}; is it executable?").into(),
            _ if is_shortage(&error) => Unready::Shortage(error.to_string()),
            _ => Unready::Testee(format!("{program}: {error}")),
        })?;
        alive().insert(child.id());
        Ok(Self { child })
    }

    /// The pipes to its stdin, stdout and stderr.
    pub(super) fn pipes(&mut self) -> (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>) {
        let child = &mut self.child;
        #[cfg(windows)]
        return (child.stdin().take(), child.stdout().take(), child.stderr().take());
        #[cfg(not(windows))]
        return (child.stdin.take(), child.stdout.take(), child.stderr.take());
    }

    /// The id of the child.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// How the child ended, if it has.
    pub(super) fn exit_status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    fn kill(&mut self) {
        // The group may hold more than the child, so it is killed even when the child has ended by itself. The child may
        // have left the group, so it is killed on its own, too. Errors mean that nothing is left to kill.
        #[cfg(unix)]
        let _ = killpg(Pid::from_raw(self.child.id().cast_signed()), Signal::SIGKILL);
        #[cfg(windows)]
        let _ = self.child.start_kill();
        #[cfg(not(windows))]
        let _ = self.child.kill();
    }
}

/// Returns whether the system has run out of files, processes or memory, which is not the fault of the command.
fn is_shortage(error: &io::Error) -> bool {
    #[cfg(unix)]
    if matches!(error.raw_os_error().map(Errno::from_raw), Some(Errno::EMFILE | Errno::ENFILE)) {
        return true;
    }
    matches!(error.kind(), io::ErrorKind::OutOfMemory | io::ErrorKind::WouldBlock)
}

fn start(#[allow(unused_mut, reason = "not on every system")] mut prepared: Command) -> io::Result<Child> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut prepared, 0);
    #[cfg(target_os = "linux")]
    parent_death::ends_with_this_thread(&mut prepared);
    #[cfg(windows)]
    return process_wrap::std::CommandWrap::from(prepared).wrap(process_wrap::std::JobObject).spawn();
    #[cfg(not(windows))]
    return prepared.spawn();
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
        let given_up = Instant::now() + KILL_GRACE;
        while self.exit_status().is_none() && Instant::now() < given_up {
            thread::sleep(Duration::from_millis(1));
        }
        alive().remove(&self.child.id());
    }
}

/// Kills every child, and what the children leave behind, because this program ends at once.
pub(super) fn kill_all() {
    #[cfg(unix)]
    for &id in alive().iter() {
        let leader = Pid::from_raw(id.cast_signed());
        let _ = killpg(leader, Signal::SIGKILL);
        let _ = nix::sys::signal::kill(leader, Signal::SIGKILL);
    }
    end_orphans();
}

/// Makes this program the parent of processes whose own parents end, so that [`end_orphans`] finds them. Only Linux can
/// do this; elsewhere a process that leaves its group is on its own.
pub fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_child_subreaper(true);
}

/// Kills the processes that the children left behind, and returns descriptions of them, those of one command in one.
///
/// Call it when no child is left that was not killed.
pub fn end_orphans() -> Vec<String> {
    #[cfg(target_os = "linux")]
    return orphans::end();
    #[cfg(not(target_os = "linux"))]
    return Vec::new();
}

#[cfg(target_os = "linux")]
mod orphans {
    use super::{KILL_GRACE, alive};
    use nix::sys::signal::{Signal, kill};
    use nix::sys::wait::{WaitPidFlag, waitpid};
    use nix::unistd::Pid;
    use std::collections::BTreeMap;
    use std::thread;
    use std::time::{Duration, Instant};
    use std::{fs, io};
    use threadspec_judge::text::visible;

    /// How much of a command is shown, in bytes.
    const LONGEST_COMMAND: usize = 200;
    /// How many commands are described.
    const MOST_DESCRIBED: usize = 10;

    pub(super) fn end() -> Vec<String> {
        let mut named = BTreeMap::new();
        let given_up = Instant::now() + KILL_GRACE;
        // When an orphan dies, its children become orphans.
        loop {
            // What a child leaves behind becomes an orphan before the child is dead.
            let is_last = alive().iter().all(|id| is_dead(id.cast_signed()));
            let orphans = children().unwrap_or_default();
            for &id in &orphans {
                let orphan = Pid::from_raw(id);
                if !is_dead(id) {
                    named.entry(id).or_insert_with(|| command(id));
                    let _ = kill(orphan, Signal::SIGKILL);
                }
                let _ = waitpid(orphan, Some(WaitPidFlag::WNOHANG));
            }
            if orphans.is_empty() && is_last || Instant::now() > given_up {
                return described(named);
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn children() -> io::Result<Vec<i32>> {
        let mut found = Vec::new();
        for task in fs::read_dir("/proc/self/task")? {
            // A thread may have ended in the meantime.
            let children = fs::read_to_string(task?.path().join("children")).unwrap_or_default();
            found.extend(children.split_whitespace().filter_map(|id| id.parse::<i32>().ok()));
        }
        found.retain(|id| !alive().contains(&id.cast_unsigned()));
        Ok(found)
    }

    fn is_dead(id: i32) -> bool {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with(['Z', 'X']))
    }

    fn command(id: i32) -> String {
        let command = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command[..command.len().min(LONGEST_COMMAND)]).replace('\0', " ");
        // A process that is ending, or that has written over its command, still has a name.
        let name = || fs::read_to_string(format!("/proc/{id}/comm")).unwrap_or_default();
        if command.trim().is_empty() { visible(name().trim()) } else { visible(command.trim()) }
    }

    fn described(commands: BTreeMap<i32, String>) -> Vec<String> {
        let mut groups: BTreeMap<String, Vec<i32>> = BTreeMap::new();
        for (id, command) in commands {
            groups.entry(command).or_default().push(id);
        }
        let more: usize = groups.values().skip(MOST_DESCRIBED).map(Vec::len).sum();
        let describe = |(command, ids): (&String, &Vec<i32>)| match ids.as_slice() {
            [id] => format!("process {id} `{command}`"),
            ids => format!("{} processes `{command}`", ids.len()),
        };
        let mut described: Vec<String> = groups.iter().take(MOST_DESCRIBED).map(describe).collect();
        described.extend((more > 0).then(|| format!("{more} more")));
        described
    }
}

/// The signal that a child gets when its parent dies.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "there is no safe way to set it: only the child itself can, between fork and exec")]
mod parent_death {
    use nix::errno::Errno;
    use nix::sys::{prctl::set_pdeathsig, signal::Signal};
    use nix::unistd::{Pid, getppid};
    use std::io;
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    /// Has the child killed when the thread that starts it ends, however that happens.
    pub(super) fn ends_with_this_thread(command: &mut Command) {
        let parent = Pid::this();
        let in_child = move || -> io::Result<()> {
            set_pdeathsig(Signal::SIGKILL)?;
            // The parent may have died in between.
            if getppid() == parent { Ok(()) } else { Err(Errno::ESRCH.into()) }
        };
        // SAFETY: after the fork only system calls are made; nothing is allocated, no lock is taken.
        unsafe { command.pre_exec(in_child) };
    }
}
