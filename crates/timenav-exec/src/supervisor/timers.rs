//! Timers of programs that are set to a virtual date (`timerfd_settime` with `TFD_TIMER_ABSTIME`), or if sleeps are
//! virtual, in any way.
//!
//! The supervisor duplicates the timer's descriptor, or receives it, and sets it to the remaining host time. When the
//! clock changes, it sets the timer again, without stopping a thread of the program. The duplicate keeps the timer
//! alive, so it is closed when no process of the run has the timer anymore.

mod timer;

use std::io;
use std::os::fd::OwnedFd;

use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use self::timer::Found;
pub(crate) use self::timer::{Due, Timer, is_readable};
use crate::board::Board;
use crate::kernel::ptrace;
use crate::kernel::seccomp::{Answering, Call};
use crate::page::Moment;
use crate::processes::process_of;
use crate::report::Hidden;
use crate::supervisor::answers::{Answered, Fault, read_words};

const NANOS: i64 = 1_000_000_000;
/// Number of timers at which expired ones are first removed.
const TIDY_FROM: usize = 16;
const UNSEEN_MAX: usize = 256;
/// Clock ids.
const REALTIME: u64 = 0;
const REALTIME_ALARM: u64 = 8;
/// `TFD_TIMER_ABSTIME`.
const ABSOLUTE: u64 = 1;

pub(crate) struct Timers {
    all: Vec<Timer>,
    tidy_at: usize,
}

/// What is to be done with a call that sets a timer.
enum Setting {
    /// The kernel handles it: the timer is disarmed, or is to use host time.
    Native,
    Until(Due, i128),
}

impl Timers {
    pub(crate) const fn new() -> Self {
        Self { all: Vec::new(), tidy_at: TIDY_FROM }
    }

    pub(crate) fn set(&mut self, call: &Call, board: &Board, line: &impl Answering) -> Answered {
        let [descriptor, flags, new, old, ..] = call.parameters;
        let setting = clock_of(call.pid, descriptor).and_then(|clock| {
            let Some(clock) = clock else { return Ok(Setting::Native) };
            setting(clock, flags & ABSOLUTE != 0, read_words(call.pid, new)?, board)
        });
        let (due, every) = match setting {
            Ok(Setting::Until(due, every)) => (due, every),
            Ok(Setting::Native) => {
                line.let_go_on(call.id);
                return Answered::Done;
            }
            Err(Fault::Hidden) => {
                line.let_go_on(call.id);
                return Answered::ByHost(Hidden::Memory);
            }
            Err(Fault::Number(error)) => {
                line.answer(call.id, -i64::from(error));
                return Answered::Done;
            }
        };
        let owned = duplicate(call.pid, descriptor);
        if !line.is_waiting(call.id) {
            // A signal has ended the call, or the thread.
            return Answered::Done;
        }
        let Some((file, process)) = owned else {
            line.let_go_on(call.id);
            return Answered::ByHost(Hidden::Descriptor);
        };
        let mut timer = Timer::new((file, Some(process)), due, every);
        let before = timer.read().map(|before| self.in_virtual_time(before, board));
        if timer.arm(board).is_none() {
            line.let_go_on(call.id);
            return Answered::ByHost(Hidden::Descriptor);
        }
        let is_written = old == 0 || before.is_some_and(|before| write_setting(call.pid, old, before).is_ok());
        line.answer(call.id, if is_written { 0 } else { -i64::from(libc::EFAULT) });
        if !timer.is_native() {
            self.push(timer);
        }
        Answered::Done
    }

    /// Answers a call that reads a timer. Reported only if sleeps are virtual.
    pub(crate) fn read(&self, call: &Call, board: &Board, line: &impl Answering) {
        let [descriptor, into, ..] = call.parameters;
        let owned = duplicate(call.pid, descriptor)
            .map(|(file, process)| Timer::new((file, Some(process)), Due::Passed(i128::MAX), 0));
        let Some(found) = owned.and_then(|timer| timer.read()) else {
            line.let_go_on(call.id);
            return;
        };
        if line.is_waiting(call.id) {
            let is_written = write_setting(call.pid, into, self.in_virtual_time(found, board)).is_ok();
            line.answer(call.id, if is_written { 0 } else { -i64::from(libc::EFAULT) });
        }
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
            self.all.retain_mut(|timer| timer.is_set() && timer.is_owned());
            self.tidy_at = (2 * self.all.len()).max(TIDY_FROM);
        }
    }

    /// Sets all timers again after a clock change. Returns whether timers were dropped that a process may still have.
    pub(crate) fn set_again(&mut self, board: &Board) -> bool {
        let mut unseen = 0;
        self.all.retain_mut(|timer| {
            if !timer.is_set() || !(timer.is_owned_by_its_process() || timer.is_owned()) {
                return false;
            }
            unseen += usize::from(timer.is_unseen());
            unseen <= UNSEEN_MAX && timer.arm_again(board).is_some()
        });
        unseen > UNSEEN_MAX
    }

    /// Returns the interval and the rest of a timer in virtual time, in nanoseconds, if its sleeps are virtual.
    fn in_virtual_time(&self, found: Found, board: &Board) -> [i128; 2] {
        if !board.sleeps().are_virtual() || found.left == 0 {
            return [found.interval, found.left];
        }
        match self.all.iter().rev().find(|timer| timer.is_so(found)) {
            Some(timer) => [timer.interval(), timer.left(board)],
            None => [found.interval, found.left],
        }
    }
}

/// Returns what a call asks of a timer, given its new setting in memory.
fn setting(
    clock: u64,
    is_absolute: bool,
    [every, every_nanos, seconds, nanos]: [i64; 4],
    board: &Board,
) -> Result<Setting, Fault> {
    let value = Moment { seconds, nanos };
    let is_of_realtime = matches!(clock, REALTIME | REALTIME_ALARM);
    if value == Moment::default() {
        // The call disarms the timer.
        return Ok(Setting::Native);
    }
    let is_before_1970 = seconds < 0 && is_absolute && is_of_realtime && board.now().seconds < 0;
    let is_right = |seconds: i64, nanos: i64| seconds >= 0 && (0..NANOS).contains(&nanos);
    let is_right = is_right(every, every_nanos) && is_right(if is_before_1970 { 0 } else { seconds }, nanos);
    if !is_right {
        return Err(Fault::Number(libc::EINVAL));
    }
    let every = Moment { seconds: every, nanos: every_nanos }.nanos_in_all();
    let (sleeps, now, value) = (board.sleeps(), board.monotonic_now(), value.nanos_in_all());
    let due = match is_absolute {
        true if is_of_realtime => Due::Date(Moment { seconds, nanos }),
        true if !sleeps.are_virtual() => return Ok(Setting::Native),
        true if sleeps.are_native_for(value - now) => Due::Native(value - now),
        true => Due::Passed(value),
        false if sleeps.are_native_for(value) => return Ok(Setting::Native),
        false => Due::Passed(now + value),
    };
    Ok(Setting::Until(due, every))
}

/// Writes an `itimerspec` of two lengths in nanoseconds.
pub(crate) fn write_setting(pid: i32, at: u64, lengths: [i128; 2]) -> io::Result<()> {
    let [interval, value] = lengths.map(Moment::from_nanos);
    let words = [interval.seconds, interval.nanos, value.seconds, value.nanos].map(i64::to_le_bytes);
    ptrace::write(pid, at, &words.concat())
}

/// Returns the clock of a timer; `None` if the descriptor is something else.
fn clock_of(thread: i32, descriptor: u64) -> Result<Option<u64>, Fault> {
    let descriptor = descriptor & 0xffff_ffff;
    let text = match std::fs::read_to_string(format!("/proc/{thread}/fdinfo/{descriptor}")) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Err(Fault::Hidden),
        Err(_) => return Ok(None),
    };
    Ok(text.lines().find_map(|line| line.strip_prefix("clockid:")?.trim().parse().ok()))
}

/// Returns a duplicate of a descriptor, and the process that owns it.
fn duplicate(thread: i32, descriptor: u64) -> Option<(OwnedFd, OwnedFd)> {
    let process = pidfd_open(Pid::from_raw(process_of(thread)?)?, PidfdFlags::empty()).ok()?;
    let descriptor = i32::try_from(descriptor & 0xffff_ffff).ok()?;
    let file = pidfd_getfd(&process, descriptor, PidfdGetfdFlags::empty()).ok()?;
    Some((file, process))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::page::{Sleeps, Slot};

    fn board(seconds: i64, sleeps: Sleeps) -> Board {
        let first = Slot {
            origin_virtual: Moment { seconds, nanos: 0 },
            origin_boot: Moment::default(),
            rate: 1_000_000,
            is_paused: true,
            generation: 1,
            uncertainty: Some(0),
        };
        Board::create(("main", "http://x"), first, sleeps).unwrap()
    }

    #[test]
    fn timer_settings_depend_on_clock_flags_and_sleeps() {
        let long = Sleeps::Virtual { native_below: Duration::from_secs(5) };
        for (sleeps, clock, is_absolute, words, expected) in [
            (Sleeps::Native, 0, true, [0, 0, 9, 0], "date"),
            (Sleeps::Native, 8, true, [1, 0, 9, 0], "date"),
            (Sleeps::Native, 0, false, [0, 0, 9, 0], "native"),
            (Sleeps::Native, 1, true, [0, 0, 9, 0], "native"),
            (Sleeps::Native, 0, true, [0, 0, 0, 0], "native"),
            (Sleeps::Native, 0, true, [0, 0, -9, 0], "wrong"),
            (Sleeps::Native, 0, true, [-1, 0, 9, 0], "wrong"),
            (Sleeps::Native, 0, true, [0, 0, 9, NANOS], "wrong"),
            (long, 0, true, [0, 0, 1, 0], "date"),
            (long, 0, false, [0, 0, 9, 0], "length"),
            (long, 1, false, [0, 0, 9, 0], "length"),
            (long, 7, true, [0, 0, 4_000_000_000, 0], "length"),
            (long, 7, true, [0, 0, 1, 0], "host length"),
            (long, 1, false, [0, 0, 4, 0], "native"),
            (long, 1, false, [0, 0, 0, 0], "native"),
            (long, 1, false, [0, 0, -9, 0], "wrong"),
        ] {
            let found = match setting(clock, is_absolute, words, &board(100, sleeps)) {
                Ok(Setting::Native) => "native",
                Ok(Setting::Until(Due::Date(_), _)) => "date",
                Ok(Setting::Until(Due::Passed(_), _)) => "length",
                Ok(Setting::Until(Due::Native(_), _)) => "host length",
                Err(_) => "wrong",
            };
            assert_eq!(found, expected, "{sleeps:?} {clock} {is_absolute} {words:?}");
        }
        let early = setting(0, true, [0, 0, -9, 0], &board(-100, Sleeps::Native));
        assert!(matches!(early, Ok(Setting::Until(Due::Date(Moment { seconds: -9, nanos: 0 }), 0))), "before 1970");
    }
}
