//! A timer of a program, of which the supervisor has a duplicate.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use rustix::time::{Itimerspec, TimerfdTimerFlags, timerfd_gettime, timerfd_settime};

use crate::board::Board;
use crate::kernel::process::{boot_now, monotonic_now};
use crate::page::Moment;
use crate::processes::descendants;

/// Practically infinite, in nanoseconds: a hundred years.
const FAR: i128 = 100 * 366 * 86_400 * 1_000_000_000;
const DESCRIPTORS_MAX: usize = 65_536;

/// When a timer expires first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    Date(Moment),
    /// At a time of the monotonic clock of programs, in nanoseconds.
    Passed(i128),
    /// After a length of host time, in nanoseconds, whatever the clock does.
    Native(i128),
}

pub(crate) struct Timer {
    file: OwnedFd,
    /// A process that has it; `None` if only an inaccessible process may have it.
    process: Option<OwnedFd>,
    due: Due,
    /// Nanoseconds between expirations: of virtual time if sleeps are virtual, else of host time. 0 for a single one.
    every: i128,
    /// Bounds for its end on the monotonic clock. The program has since set a timer with another end.
    ends: (i128, i128),
    /// Nanoseconds of host time after which it expires again, if that is known.
    repeats: i128,
    /// When it expires on the monotonic clock of programs, as it was last set.
    passes: i128,
}

/// What the kernel says of a timer, in nanoseconds of host time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) interval: i128,
    pub(super) left: i128,
    /// The monotonic clock before and after it was read.
    from: i128,
    to: i128,
}

enum FdOwner {
    By(OwnedFd),
    ByNobody,
    /// An inaccessible process may have it.
    Unseen,
}

impl Timer {
    pub(crate) fn new((file, process): (OwnedFd, Option<OwnedFd>), due: Due, every: i128) -> Self {
        Self { file, process, due, every, ends: (0, 0), repeats: 0, passes: i128::MAX }
    }

    /// Returns a timer that its program has set, with bounds for its current end on the monotonic clock.
    pub(crate) fn of_program(file: (OwnedFd, Option<OwnedFd>), due: Due, every: i128, ends: (i128, i128)) -> Self {
        Self { ends, ..Self::new(file, due, every) }
    }

    /// Sets the timer to the remaining time.
    pub(super) fn arm(&mut self, board: &Board) -> Option<()> {
        self.arm_after(board, None)
    }

    /// Sets the timer again after a clock change. One that has expired, and that the program has not read, does so again.
    pub(super) fn arm_again(&mut self, board: &Board) -> Option<()> {
        let is_repeated = self.repeats > 0;
        if is_repeated {
            // Only the kernel decides whether it has expired: two changes may be seen as one.
            let late = monotonic_now().nanos_in_all() - self.ends.0;
            let passes = self.passes + if late < 0 { 0 } else { (late / self.repeats + 1) * self.every };
            let now = board.monotonic_now();
            // A jump over several repeats is one expiration.
            let over = if passes < now { (now - passes) / self.every * self.every } else { 0 };
            if late >= 0 || over > 0 {
                self.due = Due::Passed(passes + over);
            }
        }
        let is_unread = is_repeated && is_readable(&self.file);
        self.arm_after(board, is_unread.then_some(1))
    }

    fn arm_after(&mut self, board: &Board, left: Option<i128>) -> Option<()> {
        let (slot, passed) = (board.slot(), board.monotonic_now());
        let (host, rest) = match self.due {
            Due::Date(date) => {
                let boot = boot_now();
                let rest = date.nanos_in_all() - slot.at(boot).nanos_in_all();
                (slot.boot_when(date).map(|at| at - boot.nanos_in_all()), rest)
            }
            Due::Passed(at) => (slot.host_length(at.saturating_sub(passed)), at.saturating_sub(passed)),
            Due::Native(length) => (Some(length), length),
        };
        self.passes = passed.saturating_add(rest);
        // Zero would disarm the timer.
        let host = left.or(host).unwrap_or(FAR).clamp(1, FAR);
        let is_native = matches!(self.due, Due::Native(_)) || !board.sleeps().are_virtual();
        let repeats = match self.every {
            every if every == 0 || is_native => every,
            every => slot.host_length(every).unwrap_or(FAR).clamp(1, FAR),
        };
        let set = Itimerspec { it_interval: spec(repeats), it_value: spec(host) };
        let from = monotonic_now().nanos_in_all();
        timerfd_settime(&self.file, TimerfdTimerFlags::empty(), &set).ok()?;
        let to = monotonic_now().nanos_in_all();
        self.ends = (from + host, to + host);
        self.repeats = if is_native { 0 } else { repeats };
        Some(())
    }

    pub(super) fn read(&self) -> Option<Found> {
        let from = monotonic_now().nanos_in_all();
        let Itimerspec { it_interval, it_value } = timerfd_gettime(self.file.as_fd()).ok()?;
        let to = monotonic_now().nanos_in_all();
        Some(Found { interval: nanos(it_interval), left: nanos(it_value), from, to })
    }

    /// Returns whether the timer is still set as it was here.
    pub(super) fn is_set(&self) -> bool {
        self.read().is_some_and(|found| self.is_so(found))
    }

    /// Returns whether a timer may be this one.
    pub(super) const fn is_so(&self, Found { left, from, to, .. }: Found) -> bool {
        let (first, last) = self.ends;
        // It may have expired several times.
        let late = if self.repeats > 0 { to + left - first } else { 0 };
        let more = if late > 0 { late - late % self.repeats } else { 0 };
        left > 0 && from + left <= last + more && to + left >= first + more
    }

    /// Returns whether clock changes do not concern it.
    pub(super) const fn is_native(&self) -> bool {
        matches!(self.due, Due::Native(_))
    }

    pub(super) const fn interval(&self) -> i128 {
        self.every
    }

    /// Returns the nanoseconds of virtual time until it expires, and at least one.
    pub(super) fn left(&self, board: &Board) -> i128 {
        let now = board.monotonic_now();
        let next = if self.every > 0 && self.passes <= now {
            self.passes + ((now - self.passes) / self.every + 1) * self.every
        } else {
            self.passes
        };
        (next - now).max(1)
    }

    /// Returns whether only inaccessible processes may have it.
    pub(super) const fn is_unseen(&self) -> bool {
        self.process.is_none()
    }

    /// Returns whether the last known owner process exists. It may have closed the timer.
    pub(super) fn is_owned_by_its_process(&self) -> bool {
        self.process.as_ref().is_some_and(|process| !is_readable(process))
    }

    /// Returns whether the run may have the timer: its creator may have ended, and left it to a child.
    pub(super) fn is_owned(&mut self) -> bool {
        match self.look_for() {
            FdOwner::By(process) => self.process = Some(process),
            FdOwner::Unseen => self.process = None,
            FdOwner::ByNobody => return false,
        }
        true
    }

    fn look_for(&self) -> FdOwner {
        let mut owned = FdOwner::ByNobody;
        for pid in descendants() {
            match self.is_among_those_of(pid) {
                Ok(true) => {
                    let process = Pid::from_raw(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
                    if let Some(process) = process {
                        return FdOwner::By(process);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => owned = FdOwner::Unseen,
                Ok(false) | Err(_) => {}
            }
        }
        owned
    }

    /// Returns whether a process has a timer that ends at the same time, as accurately as can be determined.
    fn is_among_those_of(&self, pid: i32) -> io::Result<bool> {
        for entry in std::fs::read_dir(format!("/proc/{pid}/fdinfo"))?.take(DESCRIPTORS_MAX) {
            let from = monotonic_now().nanos_in_all();
            // A descriptor may be closed in the meantime.
            let Ok(text) = std::fs::read_to_string(entry?.path()) else { continue };
            let to = monotonic_now().nanos_in_all();
            if left_of(&text).is_some_and(|left| self.is_so(Found { interval: 0, left, from, to })) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Returns the remaining nanoseconds of a timer, from its descriptor information (`proc_pid_fdinfo(5)`).
fn left_of(text: &str) -> Option<i128> {
    let value = text.lines().find_map(|line| line.strip_prefix("it_value:"))?;
    let (seconds, nanos) = value.trim().strip_prefix('(')?.strip_suffix(')')?.split_once(',')?;
    Some(Moment { seconds: seconds.trim().parse().ok()?, nanos: nanos.trim().parse().ok()? }.nanos_in_all())
}

pub(crate) fn is_readable(file: &OwnedFd) -> bool {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    rustix::event::poll(&mut [PollFd::new(file, PollFlags::IN)], Some(&now)) != Ok(0)
}

fn spec(nanos: i128) -> Timespec {
    let Moment { seconds, nanos } = Moment::from_nanos(nanos);
    Timespec { tv_sec: seconds, tv_nsec: nanos }
}

fn nanos(spec: Timespec) -> i128 {
    Moment { seconds: spec.tv_sec, nanos: spec.tv_nsec }.nanos_in_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remaining_timer_value_is_parsed() {
        let text =
            "pos:\t0\nclockid: 0\nticks: 0\nsettime flags: 01\nit_value: (3599, 999999127)\nit_interval: (1, 0)\n";
        assert_eq!(left_of(text), Some(3_599_999_999_127));
        assert_eq!(left_of("pos:\t0\nflags:\t02\n"), None);
        assert_eq!(left_of("it_value: 3599"), None);
    }

    #[test]
    fn timer_is_recognized_by_its_end_and_repeats() {
        let file = || std::fs::File::open("/dev/null").unwrap().into();
        let mut timer = Timer::of_program((file(), None), Due::Passed(0), 0, (1_000, 1_010));
        let found = |from: i128, left: i128| Found { interval: 0, left, from, to: from + 5 };
        assert!(timer.is_so(found(400, 600)) && timer.is_so(found(900, 108)));
        assert!(!timer.is_so(found(400, 0)) && !timer.is_so(found(400, 700)) && !timer.is_so(found(1_400, 600)));
        timer.repeats = 1_000;
        assert!(timer.is_so(found(400, 600)) && timer.is_so(found(1_400, 600)) && timer.is_so(found(9_400, 605)));
        assert!(!timer.is_so(found(1_400, 700)) && !timer.is_so(found(1_400, 0)));
    }
}
