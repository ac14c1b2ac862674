//! Timers of programs that are set to a virtual date (`timerfd_settime` with `TFD_TIMER_ABSTIME`).
//!
//! The supervisor duplicates the timer's descriptor, or receives it, and sets it to the remaining host time. When the
//! clock changes, it sets the timer again, without stopping a thread of the program. The duplicate keeps the timer
//! alive, so it is closed when no process of the run has the timer anymore.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use rustix::time::{Itimerspec, TimerfdTimerFlags, timerfd_gettime, timerfd_settime};

use crate::board::Board;
use crate::kernel::process::{boot_now, monotonic_now};
use crate::kernel::ptrace;
use crate::kernel::seccomp::{Answering, Call};
use crate::page::Moment;
use crate::processes::descendants;
use crate::report::Hidden;
use crate::supervisor::answers::{Answered, Fault, read_words};

const NANOS: i64 = 1_000_000_000;
/// Practically infinite, in nanoseconds: a hundred years.
const FAR: i128 = 100 * 366 * 86_400 * 1_000_000_000;
/// Number of timers at which expired ones are first removed.
const TIDY_FROM: usize = 16;
const DESCRIPTORS_MAX: usize = 65_536;
const UNSEEN_MAX: usize = 256;

pub(crate) struct Timer {
    file: OwnedFd,
    /// A process that has it; `None` if only an inaccessible process may have it.
    process: Option<OwnedFd>,
    until: Moment,
    interval: Timespec,
    /// Bounds for its end on the monotonic clock. A timer with another end was set by the program since.
    ends: (i128, i128),
}

pub(crate) struct Timers {
    all: Vec<Timer>,
    tidy_at: usize,
}

enum FdOwner {
    By(OwnedFd),
    ByNobody,
    /// An inaccessible process may have it.
    Unseen,
}

impl Timers {
    pub(crate) const fn new() -> Self {
        Self { all: Vec::new(), tidy_at: TIDY_FROM }
    }

    pub(crate) fn set(&mut self, call: &Call, board: &Board, line: &impl Answering) -> Answered {
        let [descriptor, _, new, old, ..] = call.parameters;
        let is_of_realtime = is_of_realtime(call.pid, descriptor);
        if !matches!(is_of_realtime, Ok(true)) {
            line.let_go_on(call.id);
            return is_of_realtime.map_or_else(Answered::ByHost, |_| Answered::Done);
        }
        let words: [i64; 4] = match read_words(call.pid, new) {
            Ok(words) => words,
            Err(Fault::Hidden) => {
                line.let_go_on(call.id);
                return Answered::ByHost(Hidden::Memory);
            }
            Err(Fault::Number(error)) => {
                line.answer(call.id, -i64::from(error));
                return Answered::Done;
            }
        };
        let is_right = |seconds: i64, nanos: i64| seconds >= 0 && (0..NANOS).contains(&nanos);
        if !is_right(words[0], words[1]) || !is_right(words[2], words[3]) {
            line.answer(call.id, -i64::from(libc::EINVAL));
            return Answered::Done;
        }
        let until = Moment { seconds: words[2], nanos: words[3] };
        if until == Moment::default() {
            // The call disarms the timer.
            line.let_go_on(call.id);
            return Answered::Done;
        }
        let interval = Timespec { tv_sec: words[0], tv_nsec: words[1] };
        let had = duplicate(call.pid, descriptor);
        if !line.is_waiting(call.id) {
            // A signal has ended the call, or the thread.
            return Answered::Done;
        }
        let Some((file, process)) = had else {
            line.let_go_on(call.id);
            return Answered::ByHost(Hidden::Descriptor);
        };
        let mut timer = Timer::new((file, Some(process)), until, interval, (0, 0));
        let Some(before) = timer.arm(board) else {
            line.let_go_on(call.id);
            return Answered::ByHost(Hidden::Descriptor);
        };
        let words =
            [before.it_interval.tv_sec, before.it_interval.tv_nsec, before.it_value.tv_sec, before.it_value.tv_nsec];
        let bytes: Vec<u8> = words.into_iter().flat_map(i64::to_le_bytes).collect();
        let is_told = old == 0 || ptrace::write(call.pid, old, &bytes).is_ok();
        line.answer(call.id, if is_told { 0 } else { -i64::from(libc::EFAULT) });
        self.push(timer);
        Answered::Done
    }

    /// Adds a timer that its program has set, and sets it again, because the clock may have changed since.
    pub(crate) fn keep(&mut self, mut timer: Timer, board: &Board) {
        if timer.is_set() && timer.arm(board).is_some() {
            self.push(timer);
        }
    }

    fn push(&mut self, timer: Timer) {
        self.all.push(timer);
        if self.all.len() >= self.tidy_at {
            self.all.retain_mut(|timer| timer.is_set() && timer.is_had());
            self.tidy_at = (2 * self.all.len()).max(TIDY_FROM);
        }
    }

    /// Sets all timers again after a clock change. Returns whether timers were dropped that a process may still have.
    pub(crate) fn set_again(&mut self, board: &Board) -> bool {
        let mut unseen = 0;
        self.all.retain_mut(|timer| {
            if !timer.is_set() || !(timer.is_had_by_its_process() || timer.is_had()) {
                return false;
            }
            unseen += usize::from(timer.process.is_none());
            unseen <= UNSEEN_MAX && timer.arm(board).is_some()
        });
        unseen > UNSEEN_MAX
    }
}

impl Timer {
    /// `ends` are bounds for the current end on the monotonic clock.
    pub(crate) fn new(
        (file, process): (OwnedFd, Option<OwnedFd>),
        until: Moment,
        interval: Timespec,
        ends: (i128, i128),
    ) -> Self {
        Self { file, process, until, interval, ends }
    }

    /// Sets the timer to the remaining time until its date. Returns its previous setting.
    fn arm(&mut self, board: &Board) -> Option<Itimerspec> {
        let left = board.slot().boot_when(self.until).map_or(FAR, |at| at - boot_now().nanos_in_all());
        // Zero would disarm the timer.
        let left = Moment::from_nanos(left.clamp(1, FAR));
        let value = Timespec { tv_sec: left.seconds, tv_nsec: left.nanos };
        let set = Itimerspec { it_interval: self.interval, it_value: value };
        let from = monotonic_now().nanos_in_all();
        let before = timerfd_settime(&self.file, TimerfdTimerFlags::empty(), &set).ok()?;
        let to = monotonic_now().nanos_in_all();
        self.ends = (from + left.nanos_in_all(), to + left.nanos_in_all());
        Some(before)
    }

    /// Returns whether the timer is still set as it was here.
    fn is_set(&self) -> bool {
        let from = monotonic_now().nanos_in_all();
        let Ok(Itimerspec { it_value: left, .. }) = timerfd_gettime(self.file.as_fd()) else { return false };
        let to = monotonic_now().nanos_in_all();
        self.is_so(Moment { seconds: left.tv_sec, nanos: left.tv_nsec }, (from, to))
    }

    /// Returns whether a timer may be this one, given its remaining time, read between two moments.
    fn is_so(&self, left: Moment, (from, to): (i128, i128)) -> bool {
        let left = left.nanos_in_all();
        left > 0 && from + left <= self.ends.1 && to + left >= self.ends.0
    }

    /// Returns whether the last known owner process exists. It may have closed the timer.
    fn is_had_by_its_process(&self) -> bool {
        let Some(process) = &self.process else { return false };
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        rustix::event::poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&now)) == Ok(0)
    }

    /// Returns whether the run may have the timer: its creator may have ended, and left it to a child.
    fn is_had(&mut self) -> bool {
        match self.look_for() {
            FdOwner::By(process) => self.process = Some(process),
            FdOwner::Unseen => self.process = None,
            FdOwner::ByNobody => return false,
        }
        true
    }

    fn look_for(&self) -> FdOwner {
        let mut had = FdOwner::ByNobody;
        for pid in descendants() {
            match self.is_among_those_of(pid) {
                Ok(true) => {
                    let process = Pid::from_raw(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
                    if let Some(process) = process {
                        return FdOwner::By(process);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => had = FdOwner::Unseen,
                Ok(false) | Err(_) => {}
            }
        }
        had
    }

    /// Returns whether a process has a timer that ends at the same time, as accurately as can be determined.
    fn is_among_those_of(&self, pid: i32) -> io::Result<bool> {
        for entry in std::fs::read_dir(format!("/proc/{pid}/fdinfo"))?.take(DESCRIPTORS_MAX) {
            let from = monotonic_now().nanos_in_all();
            // A descriptor may be closed in the meantime.
            let Ok(text) = std::fs::read_to_string(entry?.path()) else { continue };
            let to = monotonic_now().nanos_in_all();
            if left_of(&text).is_some_and(|left| self.is_so(left, (from, to))) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Returns the remaining time of a timer, from its descriptor information (`proc_pid_fdinfo(5)`).
fn left_of(text: &str) -> Option<Moment> {
    let value = text.lines().find_map(|line| line.strip_prefix("it_value:"))?;
    let (seconds, nanos) = value.trim().strip_prefix('(')?.strip_suffix(')')?.split_once(',')?;
    Some(Moment { seconds: seconds.trim().parse().ok()?, nanos: nanos.trim().parse().ok()? })
}

fn is_of_realtime(thread: i32, descriptor: u64) -> Result<bool, Hidden> {
    let descriptor = descriptor & 0xffff_ffff;
    let text = match std::fs::read_to_string(format!("/proc/{thread}/fdinfo/{descriptor}")) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Err(Hidden::Memory),
        Err(_) => return Ok(false),
    };
    let clock = text.lines().find_map(|line| line.strip_prefix("clockid:")).map(str::trim);
    // CLOCK_REALTIME and CLOCK_REALTIME_ALARM.
    Ok(matches!(clock, Some("0" | "8")))
}

/// Returns a duplicate of a descriptor, and the process that owns it.
fn duplicate(thread: i32, descriptor: u64) -> Option<(OwnedFd, OwnedFd)> {
    let status = std::fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    let process = status.lines().find_map(|line| line.strip_prefix("Tgid:"))?.trim().parse().ok()?;
    let process = pidfd_open(Pid::from_raw(process)?, PidfdFlags::empty()).ok()?;
    let descriptor = i32::try_from(descriptor & 0xffff_ffff).ok()?;
    let file = pidfd_getfd(&process, descriptor, PidfdGetfdFlags::empty()).ok()?;
    Some((file, process))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remaining_timer_value_is_parsed() {
        let told =
            "pos:\t0\nclockid: 0\nticks: 0\nsettime flags: 01\nit_value: (3599, 999999127)\nit_interval: (1, 0)\n";
        assert_eq!(left_of(told), Some(Moment { seconds: 3_599, nanos: 999_999_127 }));
        assert_eq!(left_of("pos:\t0\nflags:\t02\n"), None);
        assert_eq!(left_of("it_value: 3599"), None);
    }
}
