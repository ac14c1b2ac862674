//! Timers of programs that are set to a virtual date (`timerfd_settime` with `TFD_TIMER_ABSTIME`).
//!
//! The supervisor takes a duplicate of the timer's descriptor, or is given one, and sets it to the length of host time
//! that is left. When the clock changes, it sets it anew. No thread of the program is stopped for that.

use std::os::fd::{AsFd as _, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use rustix::time::{Itimerspec, TimerfdTimerFlags, timerfd_gettime, timerfd_settime};

use crate::board::Board;
use crate::kernel::process::{boot_now, monotonic_now};
use crate::kernel::ptrace;
use crate::kernel::seccomp::{Answering, Call};
use crate::page::Moment;

const NANOS: i64 = 1_000_000_000;
/// Longer than anybody waits, in nanoseconds: a hundred years.
const FAR: i128 = 100 * 366 * 86_400 * 1_000_000_000;
/// At how many timers those that are done with are first looked for.
const TIDY_FROM: usize = 16;

/// A timer that is set to a virtual date.
pub(crate) struct Timer {
    file: OwnedFd,
    process: OwnedFd,
    until: Moment,
    interval: Timespec,
    /// When it ends by the monotonic clock, so that one that the program has set otherwise since is left alone.
    ends: (i128, i128),
}

/// The timers that are set to a virtual date.
pub(crate) struct Timers {
    all: Vec<Timer>,
    tidy_at: usize,
}

/// What became of a call.
pub(crate) enum Answered {
    /// It was answered, or is about a timer of another clock and went on.
    Done,
    /// It went on, and the timer goes by host time.
    ByHost,
}

impl Timers {
    /// Returns no timers.
    pub(crate) const fn new() -> Self {
        Self { all: Vec::new(), tidy_at: TIDY_FROM }
    }

    /// Answers a call that sets a timer to a date.
    pub(crate) fn set(&mut self, call: &Call, board: &Board, line: &impl Answering) -> Answered {
        let [descriptor, _, new, old, ..] = call.parameters;
        if !is_of_realtime(call.pid, descriptor) {
            line.let_go_on(call.id);
            return Answered::Done;
        }
        let mut bytes = [0; 32];
        if ptrace::read(call.pid, new, &mut bytes).is_err() {
            line.answer(call.id, -i64::from(libc::EFAULT));
            return Answered::Done;
        }
        let words = [0, 8, 16, 24].map(|at: usize| bytes[at..at + 8].try_into().map_or(0, i64::from_le_bytes));
        let is_right = |seconds: i64, nanos: i64| seconds >= 0 && (0..NANOS).contains(&nanos);
        if !is_right(words[0], words[1]) || !is_right(words[2], words[3]) {
            line.answer(call.id, -i64::from(libc::EINVAL));
            return Answered::Done;
        }
        let until = Moment { seconds: words[2], nanos: words[3] };
        if until == Moment::default() {
            // It is set to nothing.
            line.let_go_on(call.id);
            return Answered::Done;
        }
        let interval = Timespec { tv_sec: words[0], tv_nsec: words[1] };
        let Some((file, process)) = duplicate(call.pid, descriptor).filter(|_| line.is_waiting(call.id)) else {
            line.let_go_on(call.id);
            return Answered::ByHost;
        };
        let mut timer = Timer::new((file, process), until, interval, (0, 0));
        let Some(before) = timer.arm(board) else {
            line.let_go_on(call.id);
            return Answered::ByHost;
        };
        let words =
            [before.it_interval.tv_sec, before.it_interval.tv_nsec, before.it_value.tv_sec, before.it_value.tv_nsec];
        let bytes: Vec<u8> = words.into_iter().flat_map(i64::to_le_bytes).collect();
        let is_told = old == 0 || ptrace::write(call.pid, old, &bytes).is_ok();
        line.answer(call.id, if is_told { 0 } else { -i64::from(libc::EFAULT) });
        self.push(timer);
        Answered::Done
    }

    /// Keeps a timer that its program has set, and sets it anew: the clock may have changed since.
    pub(crate) fn keep(&mut self, mut timer: Timer, board: &Board) {
        if timer.is_set() && timer.arm(board).is_some() {
            self.push(timer);
        }
    }

    fn push(&mut self, timer: Timer) {
        self.all.push(timer);
        if self.all.len() >= self.tidy_at {
            self.all.retain(Timer::is_set);
            self.tidy_at = (2 * self.all.len()).max(TIDY_FROM);
        }
    }

    /// Sets all timers anew, after a change of the clock.
    pub(crate) fn set_again(&mut self, board: &Board) {
        self.all.retain_mut(|timer| timer.is_set() && timer.arm(board).is_some());
    }
}

impl Timer {
    /// Returns a timer by its descriptor and its process. `ends` says between which moments of the monotonic clock it
    /// ends as it is set now.
    pub(crate) fn new(
        (file, process): (OwnedFd, OwnedFd),
        until: Moment,
        interval: Timespec,
        ends: (i128, i128),
    ) -> Self {
        Self { file, process, until, interval, ends }
    }

    /// Sets the timer to what is left until its date. Returns what it was set to before.
    fn arm(&mut self, board: &Board) -> Option<Itimerspec> {
        let left = board.slot().boot_when(self.until).map_or(FAR, |at| at - boot_now().nanos_in_all());
        // Nothing would mean that it is not set.
        let left = Moment::from_nanos(left.clamp(1, FAR));
        let value = Timespec { tv_sec: left.seconds, tv_nsec: left.nanos };
        let set = Itimerspec { it_interval: self.interval, it_value: value };
        let from = monotonic_now().nanos_in_all();
        let before = timerfd_settime(&self.file, TimerfdTimerFlags::empty(), &set).ok()?;
        let to = monotonic_now().nanos_in_all();
        self.ends = (from + left.nanos_in_all(), to + left.nanos_in_all());
        Some(before)
    }

    /// Returns whether the timer is still as it was set here, and somebody has it.
    fn is_set(&self) -> bool {
        let mut polled = [PollFd::new(&self.process, PollFlags::IN)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        if rustix::event::poll(&mut polled, Some(&now)) != Ok(0) {
            return false;
        }
        let from = monotonic_now().nanos_in_all();
        let Ok(Itimerspec { it_value: left, .. }) = timerfd_gettime(self.file.as_fd()) else { return false };
        let to = monotonic_now().nanos_in_all();
        let left = Moment { seconds: left.tv_sec, nanos: left.tv_nsec }.nanos_in_all();
        left > 0 && from + left <= self.ends.1 && to + left >= self.ends.0
    }
}

/// Returns whether a descriptor is a timer of realtime.
fn is_of_realtime(thread: i32, descriptor: u64) -> bool {
    let descriptor = descriptor & 0xffff_ffff;
    let text = std::fs::read_to_string(format!("/proc/{thread}/fdinfo/{descriptor}")).unwrap_or_default();
    let clock = text.lines().find_map(|line| line.strip_prefix("clockid:")).map(str::trim);
    // CLOCK_REALTIME and CLOCK_REALTIME_ALARM.
    matches!(clock, Some("0" | "8"))
}

/// Returns a duplicate of a descriptor, and the process that has it.
fn duplicate(thread: i32, descriptor: u64) -> Option<(OwnedFd, OwnedFd)> {
    let status = std::fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    let process = status.lines().find_map(|line| line.strip_prefix("Tgid:"))?.trim().parse().ok()?;
    let process = pidfd_open(Pid::from_raw(process)?, PidfdFlags::empty()).ok()?;
    let descriptor = i32::try_from(descriptor & 0xffff_ffff).ok()?;
    let file = pidfd_getfd(&process, descriptor, PidfdGetfdFlags::empty()).ok()?;
    Some((file, process))
}
