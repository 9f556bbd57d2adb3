//! Keeps a program from the network: it runs in a network of its own, in which only our servers are, behind sockets in its folder.
//!
//! The program's side is this program itself, as the command `apart`: it makes the network, listens there at the ports of our servers, and
//! starts the command. Only Linux can do this, and not everywhere.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{env, fs, process, thread};
use threadspec_cli::Stop;
use threadspec_runner::Exit;

/// Run a command in a network of its own, with these doors to servers outside
#[derive(Debug, clap::Args)]
pub(crate) struct Apart {
    /// Listen at this port, and pass on to this socket (repeatable)
    #[arg(long, value_name = "PORT=SOCKET", value_parser = door)]
    door: Vec<(u16, PathBuf)>,
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

fn door(text: &str) -> Result<(u16, PathBuf), String> {
    let door = text.split_once('=').and_then(|(port, socket)| Some((port.parse().ok()?, socket.into())));
    door.ok_or_else(|| "not PORT=SOCKET".to_owned())
}

impl Apart {
    /// Runs the command and returns its exit code; it must be called while this program has one thread.
    ///
    /// # Errors
    ///
    /// When the system refuses a network, or the command cannot be started.
    pub(crate) fn execute(&self) -> Result<Exit, Stop> {
        let refused = |error: io::Error| Stop::new(Exit::Testee, format!("no network apart: {error}"));
        network::leave().map_err(refused)?;
        for (port, socket) in &self.door {
            let listener = TcpListener::bind(("127.0.0.1", *port)).map_err(refused)?;
            let socket = socket.clone();
            thread::spawn(move || {
                while let Ok((inside, _)) = listener.accept() {
                    if let Ok(outside) = UnixStream::connect(&socket) {
                        join(inside, outside);
                    }
                }
            });
        }
        let status = Command::new(&self.command[0]).args(&self.command[1..]).status().map_err(refused)?;
        // A shell tells a signal the same way.
        process::exit(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default()))
    }
}

/// Returns whether this system lets a program have a network of its own.
pub(super) fn is_possible() -> bool {
    let Ok(own) = env::current_exe() else { return false };
    let status = Command::new(&own)
        .args(["apart", "--"])
        .arg(&own)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

/// The doors of a case: sockets in its folder that lead to our servers. Dropping them closes them.
pub(super) struct Doors {
    doors: Vec<(u16, PathBuf)>,
    is_over: Arc<AtomicBool>,
}

impl Doors {
    /// Opens a door to each port.
    ///
    /// # Errors
    ///
    /// When a socket cannot be made.
    pub(super) fn open(folder: &Path, ports: &[u16]) -> io::Result<Self> {
        let is_over = Arc::new(AtomicBool::new(false));
        let mut doors = Vec::new();
        for &port in ports {
            let path = folder.join(format!("door-{port}"));
            let listener = UnixListener::bind(&path)?;
            let is_over = Arc::clone(&is_over);
            thread::Builder::new().name("door".into()).spawn(move || {
                while let Ok((inside, _)) = listener.accept() {
                    if is_over.load(Ordering::Relaxed) {
                        return;
                    }
                    if let Ok(outside) = TcpStream::connect(("127.0.0.1", port)) {
                        join(outside, inside);
                    }
                }
            })?;
            doors.push((port, path));
        }
        Ok(Self { doors, is_over })
    }

    /// The command that starts another one behind these doors.
    ///
    /// # Errors
    ///
    /// When this program does not know where it is.
    pub(super) fn around(&self, command: Vec<OsString>) -> io::Result<Vec<OsString>> {
        let mut words = vec![env::current_exe()?.into_os_string(), "apart".into()];
        for (port, path) in &self.doors {
            let mut door = OsString::from(format!("{port}="));
            door.push(path);
            words.extend(["--door".into(), door]);
        }
        words.push("--".into());
        words.extend(command);
        Ok(words)
    }
}

impl Drop for Doors {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        for (_, path) in &self.doors {
            drop(UnixStream::connect(path));
            let _ = fs::remove_file(path);
        }
    }
}

/// Copies both ways, until both have ended.
fn join(tcp: TcpStream, unix: UnixStream) {
    let _ = tcp.set_nodelay(true);
    let (Ok(tcp_back), Ok(unix_back)) = (tcp.try_clone(), unix.try_clone()) else { return };
    thread::spawn(move || {
        pass(&tcp, &unix);
        let _ = unix.shutdown(Shutdown::Write);
    });
    thread::spawn(move || {
        let is_whole = pass(&unix_back, &tcp_back);
        let _ = tcp_back.shutdown(if is_whole { Shutdown::Write } else { Shutdown::Both });
    });
}

/// Copies until the end; returns whether there was one.
fn pass(mut from: impl Read, mut to: impl Write) -> bool {
    let mut chunk = [0; 16 << 10];
    loop {
        match from.read(&mut chunk) {
            Ok(0) => return true,
            Ok(length) if to.write_all(&chunk[..length]).is_ok() => {}
            _ => return false,
        }
    }
}

#[cfg(target_os = "linux")]
mod network {
    use nix::sched::{CloneFlags, unshare};
    use nix::sys::socket::{
        AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, recv, sendto, socket,
    };
    use nix::unistd::{getgid, getuid};
    use std::os::fd::AsRawFd;
    use std::{fs, io};

    /// Gives this process a network of its own, with a loopback device that works.
    pub(super) fn leave() -> io::Result<()> {
        if unshare(CloneFlags::CLONE_NEWNET).is_err() {
            let (user, group) = (getuid(), getgid());
            unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET)?;
            fs::write("/proc/self/setgroups", "deny")?;
            fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
            fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
        }
        raise_loopback()
    }

    /// Asks the kernel to switch device 1 on, which is the loopback device of a new network.
    fn raise_loopback() -> io::Result<()> {
        const NEW_LINK: u16 = 16;
        const REQUEST_WITH_ANSWER: u16 = 5;
        const UP: u32 = 1;
        let kernel = socket(AddressFamily::Netlink, SockType::Raw, SockFlag::empty(), SockProtocol::NetlinkRoute)?;
        let mut message = Vec::new();
        message.extend(32_u32.to_ne_bytes());
        message.extend(NEW_LINK.to_ne_bytes());
        message.extend(REQUEST_WITH_ANSWER.to_ne_bytes());
        // Number and sender of the message; family and type of the device.
        message.extend([0; 12]);
        message.extend(1_i32.to_ne_bytes());
        message.extend(UP.to_ne_bytes());
        message.extend(UP.to_ne_bytes());
        sendto(kernel.as_raw_fd(), &message, &NetlinkAddr::new(0, 0), MsgFlags::empty())?;
        let mut answer = [0_u8; 256];
        let length = recv(kernel.as_raw_fd(), &mut answer, MsgFlags::empty())?;
        // Behind the header is the error, 0 for none.
        let error =
            answer.get(16..20).filter(|_| length >= 20).and_then(|bytes| bytes.try_into().ok()).map(i32::from_ne_bytes);
        match error {
            Some(0) => Ok(()),
            Some(error) => Err(io::Error::from_raw_os_error(-error)),
            None => Err(io::Error::other("the kernel did not answer")),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod network {
    use std::io;

    pub(super) fn leave() -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
