//! What the supervisor tells: the front, how the first program fares; people, which programs are not on the clock.

use std::cmp::Ordering;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::process::{WaitId, WaitIdOptions, waitid};

use crate::attach::Reason;
use crate::front::{Told, send};
use crate::inspect::OutOfReach;
use crate::kernel::process;

/// How many programs are named that are not on the clock; of others, only that they are.
const LINES_MAX: usize = 20;

/// Why a call goes by host time of a program that is on the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Hidden {
    #[error(
        "only root may look into it, since it has made itself undumpable: waits and sleeps until a moment, timers that \
         are set to one, and plain system calls for the time have host time in such programs; others are not named"
    )]
    Memory,
    #[error("this kernel does not tell by which clock a timer goes (CONFIG_CHECKPOINT_RESTORE); others are not named")]
    Timers,
    #[error("another tracer, such as a debugger, has it; others are not named")]
    Traced,
    #[error("its descriptor cannot be had from outside")]
    Descriptor,
    #[error("the processes that set them have ended, and nobody may look into those that may have them")]
    Orphan,
}

/// What a run says about its programs.
pub(crate) struct Report<'a> {
    /// The program that was asked for; 0 when it has ended.
    first: i32,
    front: Option<OwnedFd>,
    front_pid: i32,
    pub(crate) is_strict: bool,
    sentences: &'a dyn Fn(&str),
    reported: usize,
    /// What was said of programs that are not on the clock.
    complaints: Vec<String>,
    /// Whether it was said that a program has another clock by the kernel's copy of its auxiliary vector. What hinders one
    /// hinders most.
    has_named_copy: bool,
    /// Why calls go by host time, as far as it was said.
    hidden: Vec<Hidden>,
}

impl<'a> Report<'a> {
    /// Tells the front that its program was started.
    pub(crate) fn begin(
        first: i32,
        (front, front_pid): (OwnedFd, i32),
        is_strict: bool,
        sentences: &'a dyn Fn(&str),
    ) -> Self {
        send(&front, Told::Started, first);
        let (reported, complaints, has_named_copy, hidden) = (0, Vec::new(), false, Vec::new());
        Self {
            first,
            front: Some(front),
            front_pid,
            is_strict,
            sentences,
            reported,
            complaints,
            has_named_copy,
            hidden,
        }
    }

    /// Tells the front that all programs end if the supervisor does.
    pub(crate) fn are_bound(&self) {
        self.tell(Told::Bound, 0);
    }

    /// Tells the front that programs start others on the clock without the supervisor.
    pub(crate) fn are_loaded(&self) {
        self.tell(Told::Loaded, 0);
    }

    /// Returns the socket of the front, at which it is noticed if that is gone.
    pub(crate) fn front(&self) -> Option<BorrowedFd<'_>> {
        self.front.as_ref().map(AsFd::as_fd)
    }

    /// Ends the first program after the front was killed, which stands for it: whoever does that wants it to end. Its
    /// children go on, as natively. `PR_SET_PDEATHSIG` would not do: programs reset it, and the parent is the
    /// supervisor, whose death must not end them.
    pub(crate) fn front_is_gone(&mut self) {
        self.front = None;
        if self.first != 0 {
            process::kill(self.first, libc::SIGKILL);
        }
    }

    /// Returns whether the front has been told how the first program ended, or is gone.
    pub(crate) const fn is_over(&self) -> bool {
        self.front.is_none()
    }

    /// Tells the front that its program has stopped, if it is that one.
    pub(crate) fn stopped(&self, pid: i32, signal: i32) {
        if pid == self.first {
            self.tell(Told::Stopped, signal);
        }
    }

    /// Continues the front, if it was its program that somebody continued. It is told before, so that it does not stop
    /// if it has not yet.
    pub(crate) fn continued(&self, pid: i32) {
        if pid == self.first {
            self.tell(Told::Continued, 0);
            process::kill(self.front_pid, libc::SIGCONT);
        }
    }

    /// Tells the front how its program has ended, if it is that one.
    pub(crate) fn ended(&mut self, pid: i32, status: i32) {
        if pid == self.first {
            self.first = 0;
            // Whoever waits for the output of the program would also wait for what the supervisor keeps open.
            let _ = quiet();
            self.tell(Told::Ended, status);
            self.front = None;
        }
    }

    /// Takes how a program ended while it was put on the clock. A filter of its own may have ended it, of which it tells
    /// nothing itself.
    pub(crate) fn ended_early(&mut self, pid: i32, status: i32) {
        if libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGSYS {
            let name = name(pid);
            self.say(&format!(
                "{name} was ended by a filter that it runs under, which forbids what puts it on the clock; as root, \
                 `timenav exec` goes around it"
            ));
        }
        self.ended(pid, status);
    }

    fn tell(&self, what: Told, value: i32) {
        if let Some(front) = &self.front {
            send(front, what, value);
        }
    }

    /// Says that a program is not on the clock, once: a search along `PATH` executes at each place, and fails at most.
    pub(crate) fn complain(&mut self, pid: i32, reason: &Reason) {
        let name = name(pid);
        if matches!(reason, Reason::Copy { .. }) && !self.is_strict {
            return self.complain_of_copy(&name, reason);
        }
        let outcome = self.outcome();
        let sentence = format!("{name} {outcome}: {reason}");
        if self.complaints.contains(&sentence) {
            return;
        }
        self.say(&sentence);
        if self.complaints.len() < LINES_MAX {
            self.complaints.push(sentence);
        }
    }

    fn complain_of_copy(&mut self, name: &str, reason: &Reason) {
        if !std::mem::replace(&mut self.has_named_copy, true) {
            self.say(&format!(
                "{name} has host time if it looks for the vDSO in the kernel's copy of its auxiliary vector, as programs \
                 with rustix do: {reason}; other programs are not named"
            ));
        }
    }

    const fn outcome(&self) -> &'static str {
        if self.is_strict { "was not started" } else { "runs on host time" }
    }

    /// Says that a program will not be on the clock, which has no name yet but its path.
    pub(crate) fn complain_of_program(&mut self, path: &str, reason: OutOfReach) {
        let outcome = self.outcome();
        self.say(&format!("`{}` {outcome}: {reason}", path.escape_debug()));
    }

    /// Says that a call goes by host time, such as "a wait"; of most reasons, once in a run.
    pub(crate) fn complain_of_call(&mut self, what: &str, pid: i32, hidden: Hidden) {
        if hidden != Hidden::Descriptor {
            if self.hidden.contains(&hidden) {
                return;
            }
            self.hidden.push(hidden);
        }
        let name = name(pid);
        self.say(&format!("{what} of {name} goes by host time: {hidden}"));
    }

    /// Says that timers go by host time of which nobody knows who has them.
    pub(crate) fn complain_of_timers(&mut self) {
        if !self.hidden.contains(&Hidden::Orphan) {
            self.hidden.push(Hidden::Orphan);
            self.say(&format!("some timers go by host time: {}", Hidden::Orphan));
        }
    }

    /// Says that timeouts in a ring go by host time.
    pub(crate) fn complain_of_ring(&mut self, pid: i32) {
        let name = name(pid);
        self.say(&format!(
            "a timeout of {name} goes by host time: it is in a ring of io_uring, which nobody but the kernel reads"
        ));
    }

    /// Says something, as long as there is not too much of it.
    pub(crate) fn say(&mut self, text: &str) {
        self.reported += 1;
        match self.reported.cmp(&(LINES_MAX + 1)) {
            Ordering::Less => (self.sentences)(text),
            Ordering::Equal => (self.sentences)("more programs are on host time; they are not named"),
            Ordering::Greater => {}
        }
    }
}

/// Returns whether no process is left to be waited for.
pub(crate) fn is_alone() -> bool {
    let how = WaitIdOptions::EXITED | WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    waitid(WaitId::All, how).is_err_and(|error| error == rustix::io::Errno::CHILD)
}

/// Returns how a process is named in a sentence.
pub(crate) fn name(pid: i32) -> String {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    match name.trim_end() {
        "" => format!("process {pid}"),
        name => format!("`{name}` (process {pid})"),
    }
}

/// Closes what the supervisor shares with the programs.
pub(crate) fn quiet() -> rustix::io::Result<()> {
    let nothing = rustix::fs::open("/dev/null", rustix::fs::OFlags::RDWR, rustix::fs::Mode::empty())?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)
}
