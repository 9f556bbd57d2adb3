//! How long a testee may take, measured by a clock that is still while the machine keeps it waiting: for a processor or a disk, or because
//! this program itself has to wait for a processor. So nobody who is right is late on a busy machine, and a hang is still one.

use std::time::Duration;

/// For so long nothing is measured: most replies are there by then, and measuring costs more than they do.
const UNMEASURED: Duration = Duration::from_millis(50);
/// At least one part in so many counts, however busy the machine is, so that every wait ends.
const LEAST: u32 = 50;

/// The time left for one reply.
#[derive(Debug, Default)]
pub(super) struct Patience {
    limit: Duration,
    /// The time that counts so far.
    spent: Duration,
    /// The time by the clock on the wall.
    waited: Duration,
    before: Option<Delays>,
}

impl Patience {
    pub(super) fn of(limit: Duration) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Returns this patience with another limit.
    pub(super) fn up_to(self, limit: Duration) -> Self {
        Self { limit, ..self }
    }

    pub(super) fn left(&self) -> Duration {
        self.limit.saturating_sub(self.spent)
    }

    /// Returns the time that counts so far.
    pub(super) fn spent(&self) -> Duration {
        self.spent
    }

    /// Counts a wait for a process: how long it was meant to be at most, and how long it was.
    pub(super) fn spend(&mut self, meant: Duration, waited: Duration, process: u32) {
        self.waited += waited;
        if self.waited < UNMEASURED {
            self.spent += waited;
            return;
        }
        let now = Delays::of(process);
        self.spent += match self.before.replace(now) {
            Some(before) => {
                let delayed = self.before.as_ref().map_or(Duration::ZERO, |now| now.since(&before, waited));
                waited.saturating_sub(delayed).max(waited / LEAST)
            }
            // What is beyond the end that was meant is the machine's.
            None => waited.min(meant),
        };
    }

    /// How long it was by the clock, if much longer than what counts.
    pub(super) fn by_the_clock(&self) -> String {
        if self.waited > self.spent * 2 {
            format!(" ({:.1?} by the clock: the machine was busy)", self.waited)
        } else {
            String::new()
        }
    }
}

#[cfg(not(target_os = "linux"))]
use elsewhere::Delays;
#[cfg(target_os = "linux")]
use linux::Delays;

/// Only Linux tells how long a process waited for the machine.
#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use std::time::Duration;

    #[derive(Debug)]
    pub(super) struct Delays;

    impl Delays {
        pub(super) fn of(_process: u32) -> Self {
            Self
        }

        pub(super) fn since(&self, _before: &Self, _waited: Duration) -> Duration {
            Duration::ZERO
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::{BTreeMap, HashMap};
    use std::fs;
    use std::path::Path;
    use std::time::Duration;

    /// The system's figures about each thread of a process and of its children, and about the one that waits for them.
    #[derive(Debug, Default)]
    pub(super) struct Delays {
        /// By process and thread.
        threads: HashMap<(u32, u32), ThreadTimes>,
    }

    /// A thread, since it began.
    #[derive(Debug)]
    struct ThreadTimes {
        /// How long it has run.
        ran: Duration,
        /// How long it was ready to run, and did not. The system adds a delay when it ends.
        delayed: Duration,
        state: char,
    }

    impl Delays {
        pub(super) fn of(process: u32) -> Self {
            let mut delays = Self::default();
            delays.threads.extend(ThreadTimes::at(Path::new("/proc/thread-self")).map(|own| ((0, 0), own)));
            delays.add(process);
            delays
        }

        fn add(&mut self, process: u32) {
            let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { return };
            for entry in threads.flatten() {
                let path = entry.path();
                let Some(id) = entry.file_name().to_str().and_then(|id| id.parse().ok()) else { continue };
                self.threads.extend(ThreadTimes::at(&path).map(|thread| ((process, id), thread)));
                let children = fs::read_to_string(path.join("children")).unwrap_or_default();
                children.split_whitespace().filter_map(|id| id.parse().ok()).for_each(|child| self.add(child));
            }
        }

        /// How much longer they were kept waiting than before. The threads of a process wait at the same time, processes of a pipeline one
        /// after the other.
        pub(super) fn since(&self, before: &Self, waited: Duration) -> Duration {
            let mut longest: BTreeMap<u32, Duration> = BTreeMap::new();
            for (id, thread) in &self.threads {
                let longest = longest.entry(id.0).or_default();
                *longest = thread.delayed_since(before.threads.get(id), waited).max(*longest);
            }
            longest.values().sum()
        }
    }

    impl ThreadTimes {
        fn at(path: &Path) -> Option<Self> {
            let text = fs::read_to_string(path.join("schedstat")).ok()?;
            let mut numbers =
                text.split_whitespace().filter_map(|number| number.parse().ok().map(Duration::from_nanos));
            let (ran, delayed) = (numbers.next()?, numbers.next()?);
            let stat = fs::read_to_string(path.join("stat")).unwrap_or_default();
            let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()).unwrap_or(' ');
            Some(Self { ran, delayed, state })
        }

        fn delayed_since(&self, before: Option<&Self>, waited: Duration) -> Duration {
            let (ran, delayed) = before.map_or((Duration::ZERO, Duration::ZERO), |before| (before.ran, before.delayed));
            let is_kept_waiting = match self.state {
                // Ready to run, and has not run at all.
                'R' => self.ran == ran,
                // Waits for a disk.
                'D' => true,
                _ => false,
            };
            if is_kept_waiting { waited } else { self.delayed.saturating_sub(delayed) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LEAST, Patience, UNMEASURED};
    use std::time::Duration;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_process_that_sleeps_uses_up_its_time() {
        let mut sleeper = std::process::Command::new("sleep").arg("600").spawn().expect("a process");
        let mut patience = Patience::of(SECOND * 10);
        // Each wait is told to be a second, so that the clock of the machine plays no part. Until the process sleeps, little counts.
        let mut waits = 0;
        while !patience.left().is_zero() {
            patience.spend(SECOND, SECOND, sleeper.id());
            waits += 1;
            std::thread::sleep(Duration::from_millis(1));
        }
        // If nothing counted but the least, it would take fifty times as many.
        assert!(cfg!(not(target_os = "linux")) || waits < 10 * LEAST, "{waits}");
        sleeper.kill().expect("it is killed");
        sleeper.wait().expect("it ends");
    }

    #[test]
    fn what_nobody_can_measure_counts() {
        let mut patience = Patience::of(SECOND);
        patience.spend(UNMEASURED, UNMEASURED / 2, 0);
        assert_eq!(patience.left() + UNMEASURED / 2, SECOND);
        // The machine was late: only what was meant counts.
        patience.spend(UNMEASURED, SECOND * 5, 0);
        assert_eq!(patience.left() + UNMEASURED / 2 + UNMEASURED, SECOND);
        assert!(patience.by_the_clock().contains("by the clock"), "{patience:?}");
        // And every wait ends.
        for _ in 0..LEAST {
            patience.spend(UNMEASURED, SECOND, 0);
        }
        assert!(patience.left().is_zero(), "{patience:?}");
    }
}
