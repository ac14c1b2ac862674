//! The front process, which was called by the user. It represents the first program, with its exit code, stops and
//! signals.
//!
//! The supervisor is another process, which remains after the first program has ended if others have not.

use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags};
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::kernel::process::{self, Arrived, Signals};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrontEvent {
    /// The first program was started, with this id.
    Started,
    /// The first program was stopped by this signal.
    Stopped,
    /// The first program was continued.
    Continued,
    /// The first program has ended, with this status.
    Ended,
    /// All programs end if the supervisor does.
    Bound,
    /// Programs can start others on the clock without a supervisor.
    Loaded,
}

const LAST_SIGNAL: i32 = 64;
/// Reported if the supervisor ends before the programs.
const UNSUPERVISED: &str = "the supervisor has ended; programs keep the last clock, which is no longer updated, and \
                            cannot start other programs";
const LOADED: &str = "the supervisor has ended; programs and those that they start keep the last clock, which is no \
                      longer updated";
const BOUND: &str = "the supervisor has ended, and the programs with it: on this system, programs that they start \
                     would run on host time";
/// How many ancestors are searched to find out whether a signal came from one of the programs.
const PARENTS_MAX: usize = 64;

pub(crate) fn send(front: &OwnedFd, what: FrontEvent, value: i32) {
    let kind: i32 = match what {
        FrontEvent::Started => 1,
        FrontEvent::Stopped => 2,
        FrontEvent::Ended => 3,
        FrontEvent::Bound => 4,
        FrontEvent::Continued => 5,
        FrontEvent::Loaded => 6,
    };
    let bytes = [kind.to_le_bytes(), value.to_le_bytes()].concat();
    let _ = rustix::net::send(front, &bytes, rustix::net::SendFlags::NOSIGNAL);
}

fn receive(from: &OwnedFd) -> Option<(FrontEvent, i32)> {
    let mut bytes = [0; 8];
    let (count, _) = rustix::net::recv(from, &mut bytes, rustix::net::RecvFlags::empty()).ok()?;
    let [kind, value] = [0, 4].map(|at| bytes[at..at + 4].try_into().map_or(0, i32::from_le_bytes));
    let event = match kind {
        1 => FrontEvent::Started,
        2 => FrontEvent::Stopped,
        3 => FrontEvent::Ended,
        4 => FrontEvent::Bound,
        5 => FrontEvent::Continued,
        6 => FrontEvent::Loaded,
        _ => return None,
    };
    (count == bytes.len()).then_some((event, value))
}

/// Blocks the signals that the front handles. Returns them, and the signals that were blocked before. SIGKILL and
/// SIGSTOP cannot be blocked, and faults of the front itself still end it.
pub(crate) fn block_signals() -> (Signals, Signals) {
    process::reset(libc::SIGCHLD);
    let heeded: Vec<i32> = (1..=LAST_SIGNAL).filter(|it| ![libc::SIGKILL, libc::SIGSTOP].contains(it)).collect();
    let heeded = Signals::of(&heeded);
    (heeded, heeded.block())
}

pub struct Front {
    pub(crate) supervisor: i32,
    pub(crate) socket: OwnedFd,
    pub(crate) signals: OwnedFd,
}

impl Front {
    /// Waits for the first program, and ends in the same way. Forwards signals, and stops when the program stops.
    pub fn wait(self, report: &dyn Fn(&str)) -> ! {
        let mut program = None;
        let mut is_supervised = true;
        let mut unsupervised = UNSUPERVISED;
        loop {
            let mut polled = vec![PollFd::new(&self.signals, PollFlags::IN)];
            if is_supervised {
                polled.push(PollFd::new(&self.socket, PollFlags::IN));
            }
            if rustix::event::poll(&mut polled, None).is_err_and(|error| error != rustix::io::Errno::INTR) {
                std::process::exit(1);
            }
            let has_messages = polled.get(1).is_some_and(|socket| !socket.revents().is_empty());
            if has_messages {
                match receive(&self.socket) {
                    Some((FrontEvent::Started, pid)) => program = Some(pid),
                    Some((FrontEvent::Stopped, signal)) => stop(signal, || has_message(&self.socket)),
                    Some((FrontEvent::Continued, _)) => {}
                    Some((FrontEvent::Ended, status)) => end_as(status),
                    Some((FrontEvent::Bound, _)) => unsupervised = BOUND,
                    Some((FrontEvent::Loaded, _)) => unsupervised = LOADED,
                    None => is_supervised = false,
                }
                if !is_supervised {
                    let status = process::wait(self.supervisor, true).map_or(0, |(_, status)| status);
                    if program.is_none() {
                        // The program was never started, and the reason has been reported.
                        end_as(status);
                    }
                    report(unsupervised);
                }
            }
            if let Some(pid) = program {
                while let Some(arrived) = process::arrived(&self.signals) {
                    pass_on(pid, arrived);
                }
                // Without a supervisor its children become ours.
                while !is_supervised && let Some((ended, status)) = process::wait(-1, false) {
                    if ended == pid && libc::WIFSTOPPED(status) {
                        stop(libc::WSTOPSIG(status), || false);
                    } else if ended == pid && !libc::WIFCONTINUED(status) {
                        end_as(status);
                    }
                }
            } else if is_supervised {
                // A signal before the program has started is forwarded to the supervisor, to end it.
                while let Some(arrived) = process::arrived(&self.signals) {
                    if is_match(arrived) {
                        process::kill(self.supervisor, arrived.signal);
                    }
                }
            }
        }
    }
}

fn pass_on(program: i32, arrived: Arrived) {
    if is_match(arrived) {
        process::kill(program, arrived.signal);
    }
}

/// Returns whether a signal was meant for the program.
///
/// Signals of terminal keys reach all processes in the foreground, and signals that a program sends to its group reach
/// the program too.
fn is_match(Arrived { signal, is_sent, sender }: Arrived) -> bool {
    match signal {
        libc::SIGCHLD => false,
        // A timer set before the `execve` belongs to the program. Only the first process of a session gets a hangup.
        libc::SIGALRM if !is_sent => true,
        libc::SIGHUP if !is_sent => rustix::process::getsid(None).is_ok_and(|it| it == rustix::process::getpid()),
        _ => is_sent && sender != std::process::id().cast_signed() && !is_one_of_ours(sender),
    }
}

/// Returns whether a process is a descendant of this one.
pub(crate) fn is_one_of_ours(mut pid: i32) -> bool {
    let own = std::process::id().cast_signed();
    for _ in 0..PARENTS_MAX {
        match parent(pid) {
            Some(parent) if parent == own => return true,
            Some(parent) if parent > 1 => pid = parent,
            _ => return false,
        }
    }
    false
}

fn parent(pid: i32) -> Option<i32> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    text[text.rfind(')')? + 1..].split_whitespace().nth(1)?.parse().ok()
}

/// Stops like the program did, so that a shell gets its terminal back. The supervisor continues this process when the
/// program is continued.
///
/// The signal has no effect if there is no shell that could continue the process. If the program has already been
/// continued, this is noticed while the signal is pending: continuing this process from then on discards the signal.
fn stop(signal: i32, goes_on: impl FnOnce() -> bool) {
    let signal = if signal == libc::SIGSTOP { libc::SIGTSTP } else { signal };
    if matches!(signal, libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU) {
        process::raise_unless(signal, goes_on);
    }
}

/// Returns whether more was sent after the stop: that the program was continued, or has ended.
fn has_message(socket: &OwnedFd) -> bool {
    let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
    rustix::event::poll(&mut [PollFd::new(socket, PollFlags::IN)], Some(&now)).is_ok_and(|count| count > 0)
}

/// Ends like a process did: with its exit code, or by its signal.
fn end_as(status: i32) -> ! {
    if libc::WIFSIGNALED(status) {
        let signal = libc::WTERMSIG(status);
        // The program has already written a core file, if enabled.
        let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
        process::raise_unblocked(signal);
        // The signal does not end a process, or cannot be unblocked. Shells report it in this way.
        std::process::exit(128 + signal);
    }
    std::process::exit(libc::WEXITSTATUS(status))
}
