//! Reports to the front about the first program, and to the user about programs that are not on the clock.

use std::cmp::Ordering;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::process::{WaitId, WaitIdOptions, waitid};

use crate::attach::Reason;
use crate::front::{FrontEvent, send};
use crate::inspect::OutOfReach;
use crate::kernel::process;

/// How many programs that are not on the clock are named.
const LINES_MAX: usize = 20;

/// Why a call of a program on the clock uses host time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Hidden {
    #[error(
        "only root may inspect it, because it has made itself undumpable: in such programs, waits, sleeps and timers \
         with an absolute time, and plain system calls for the time, use host time; further programs are not reported"
    )]
    Memory,
    #[error(
        "this kernel does not report the clock of a timer (CONFIG_CHECKPOINT_RESTORE); further programs are not \
         reported"
    )]
    Timers,
    #[error("another tracer, such as a debugger, has attached to it; further programs are not reported")]
    Traced,
    #[error("its descriptor cannot be copied from outside")]
    Descriptor,
    #[error("the processes that set them have ended, and the processes that may own them cannot be inspected")]
    Orphan,
}

pub(crate) struct Report<'a> {
    /// The first program; 0 after it has ended.
    first: i32,
    front: Option<OwnedFd>,
    front_pid: i32,
    pub(crate) is_strict: bool,
    sentences: &'a dyn Fn(&str),
    reported: usize,
    complaints: Vec<String>,
    /// Whether it was reported that the kernel's copy of an auxiliary vector could not be changed. The cause usually
    /// affects all programs.
    has_named_copy: bool,
    /// The reasons for host time that were reported.
    hidden: Vec<Hidden>,
}

impl<'a> Report<'a> {
    pub(crate) fn begin(
        first: i32,
        (front, front_pid): (OwnedFd, i32),
        is_strict: bool,
        sentences: &'a dyn Fn(&str),
    ) -> Self {
        send(&front, FrontEvent::Started, first);
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

    /// Notifies the front that all programs end if the supervisor does.
    pub(crate) fn are_bound(&self) {
        self.send_event(FrontEvent::Bound, 0);
    }

    /// Notifies the front that programs can start others on the clock without the supervisor.
    pub(crate) fn are_loaded(&self) {
        self.send_event(FrontEvent::Loaded, 0);
    }

    /// Returns the socket of the front, which is closed when the front ends.
    pub(crate) fn front(&self) -> Option<BorrowedFd<'_>> {
        self.front.as_ref().map(AsFd::as_fd)
    }

    /// Ends the first program after the front, which represents it, was killed. Its children continue, as natively.
    /// `PR_SET_PDEATHSIG` is not suitable: programs reset it, and the parent is the supervisor, whose end must not end
    /// them.
    pub(crate) fn front_has_exited(&mut self) {
        self.front = None;
        if self.first != 0 {
            process::kill(self.first, libc::SIGKILL);
        }
    }

    /// Returns whether the front knows how the first program ended, or is gone.
    pub(crate) const fn is_over(&self) -> bool {
        self.front.is_none()
    }

    pub(crate) fn stopped(&self, pid: i32, signal: i32) {
        if pid == self.first {
            self.send_event(FrontEvent::Stopped, signal);
        }
    }

    /// Continues the front if its program was continued. It is notified first, so that it does not stop after this.
    pub(crate) fn continued(&self, pid: i32) {
        if pid == self.first {
            self.send_event(FrontEvent::Continued, 0);
            process::kill(self.front_pid, libc::SIGCONT);
        }
    }

    pub(crate) fn ended(&mut self, pid: i32, status: i32) {
        if pid == self.first {
            self.first = 0;
            // Otherwise a reader of the program's output would also wait for the supervisor to close it.
            let _ = quiet();
            self.send_event(FrontEvent::Ended, status);
            self.front = None;
        }
    }

    /// Reports that a program ended while it was being put on the clock. Its own filter may have caused this, which is
    /// not visible otherwise.
    pub(crate) fn ended_early(&mut self, pid: i32, status: i32) {
        if libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGSYS {
            let name = name(pid);
            self.say(&format!(
                "{name} was ended by its own seccomp filter, which forbids the calls that put it on the clock; as \
                 root, `timenav exec` bypasses the filter"
            ));
        }
        self.ended(pid, status);
    }

    fn send_event(&self, what: FrontEvent, value: i32) {
        if let Some(front) = &self.front {
            send(front, what, value);
        }
    }

    /// Reports once that a program is not on the clock: a search along `PATH` calls `execve` several times.
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
                "{name} uses host time if it finds the vDSO in the kernel's copy of its auxiliary vector, as programs \
                 with rustix do: {reason}; further programs are not reported"
            ));
        }
    }

    const fn outcome(&self) -> &'static str {
        if self.is_strict { "was not started" } else { "runs on host time" }
    }

    /// Reports that a program will not be on the clock. It is known only by its path.
    pub(crate) fn complain_of_program(&mut self, path: &str, reason: OutOfReach) {
        let outcome = self.outcome();
        self.say(&format!("`{}` {outcome}: {reason}", path.escape_debug()));
    }

    /// Reports that a call such as "a wait" uses host time. Most reasons are reported once per run.
    pub(crate) fn complain_of_call(&mut self, what: &str, pid: i32, hidden: Hidden) {
        if hidden != Hidden::Descriptor {
            if self.hidden.contains(&hidden) {
                return;
            }
            self.hidden.push(hidden);
        }
        let name = name(pid);
        self.say(&format!("{what} of {name} uses host time: {hidden}"));
    }

    /// Reports that timers use host time because their owner is unknown.
    pub(crate) fn complain_of_timers(&mut self) {
        if !self.hidden.contains(&Hidden::Orphan) {
            self.hidden.push(Hidden::Orphan);
            self.say(&format!("some timers use host time: {}", Hidden::Orphan));
        }
    }

    /// Reports that timeouts in a ring use host time.
    pub(crate) fn complain_of_ring(&mut self, pid: i32) {
        let name = name(pid);
        self.say(&format!(
            "a timeout of {name} uses host time: it is in an io_uring ring, which only the kernel reads"
        ));
    }

    /// Reports something, up to a limit.
    pub(crate) fn say(&mut self, text: &str) {
        self.reported += 1;
        match self.reported.cmp(&(LINES_MAX + 1)) {
            Ordering::Less => (self.sentences)(text),
            Ordering::Equal => (self.sentences)("more programs are on host time; they are not reported"),
            Ordering::Greater => {}
        }
    }
}

/// Returns whether this process has no children.
pub(crate) fn is_alone() -> bool {
    let how = WaitIdOptions::EXITED | WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    waitid(WaitId::All, how).is_err_and(|error| error == rustix::io::Errno::CHILD)
}

pub(crate) fn name(pid: i32) -> String {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    match name.trim_end() {
        "" => format!("process {pid}"),
        name => format!("`{name}` (process {pid})"),
    }
}

/// Closes the standard streams, which are shared with the programs.
pub(crate) fn quiet() -> rustix::io::Result<()> {
    let nothing = rustix::fs::open("/dev/null", rustix::fs::OFlags::RDWR, rustix::fs::Mode::empty())?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)
}
