//! Alarms of programs whose sleeps are virtual: `alarm`, and `setitimer` on `ITIMER_REAL`.
//!
//! The kernel would send their signal after a length of host time. Here the supervisor sends it. A process has at most
//! one, which it keeps when it executes a program, and which its children do not get.

use std::collections::HashMap;
use std::os::fd::OwnedFd;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::board::Board;
use crate::kernel::process::boot_now;
use crate::kernel::ptrace;
use crate::kernel::seccomp::{Answering, Call};
use crate::processes::process_of;
use crate::report::Hidden;
use crate::supervisor::answers::{Answered, Fault, read_words};
use crate::supervisor::timers::is_readable;

const MICRO: i128 = 1_000;
const SECOND: i128 = 1_000_000_000;
const HALF_SECOND: i128 = SECOND / 2;
/// The shortest time between two signals, in nanoseconds of host time. The kernel keeps one pending.
const PAUSE: i128 = 1_000_000;

struct Alarm {
    process: OwnedFd,
    /// Whether it is so short that it uses the host's boot clock instead of the monotonic clock of programs.
    is_native: bool,
    /// On its clock, in nanoseconds.
    due: i128,
    /// 0 for an alarm that does not repeat.
    every: i128,
    /// Not before this time of the boot clock.
    not_before: i128,
}

impl Alarm {
    fn now(&self, board: &Board) -> i128 {
        now(self.is_native, board)
    }
}

fn now(is_native: bool, board: &Board) -> i128 {
    if is_native { boot_now().nanos_in_all() } else { board.monotonic_now() }
}

#[derive(Default)]
pub(crate) struct Alarms {
    all: HashMap<i32, Alarm>,
}

/// Returns whether a call sets or reads an alarm.
pub(crate) const fn is_one(call: &Call) -> bool {
    matches!(call.number as libc::c_long, libc::SYS_alarm | libc::SYS_setitimer | libc::SYS_getitimer)
}

impl Alarms {
    /// Answers a call that sets or reads an alarm.
    pub(crate) fn take(&mut self, call: &Call, board: &Board, line: &impl Answering) -> Answered {
        match self.taken(call, board, line) {
            Ok(value) => {
                line.answer(call.id, value);
                Answered::Done
            }
            Err(Fault::Number(error)) => {
                line.answer(call.id, -i64::from(error));
                Answered::Done
            }
            Err(Fault::Hidden) => {
                line.let_go_on(call.id);
                Answered::ByHost(Hidden::Memory)
            }
        }
    }

    fn taken(&mut self, call: &Call, board: &Board, line: &impl Answering) -> Result<i64, Fault> {
        let [first, second, third, ..] = call.parameters;
        let interrupted = Fault::Number(libc::EINTR);
        let process = process_of(call.pid).ok_or(interrupted)?;
        let (left, every) = self.left(process, board);
        match i64::from(call.number) {
            libc::SYS_alarm => {
                let seconds = i128::from(first & 0xffff_ffff);
                self.set(process, board, (seconds * SECOND, 0))?;
                // As the kernel rounds it, but never to 0.
                let rounded = (left + HALF_SECOND) / SECOND;
                let left_seconds = if left > 0 { rounded.max(1) } else { 0 };
                return Ok(i64::try_from(left_seconds).unwrap_or(i64::from(i32::MAX)));
            }
            libc::SYS_setitimer => {
                let new = if second == 0 { (0, 0) } else { lengths(read_words(call.pid, second)?)? };
                if third != 0 {
                    write(call, line, third, left, every)?;
                }
                self.set(process, board, new)?;
            }
            _ => write(call, line, second, left, every)?,
        }
        Ok(0)
    }

    /// Returns what is left of the alarm of a process, and after which time it repeats.
    fn left(&self, process: i32, board: &Board) -> (i128, i128) {
        self.all.get(&process).map_or((0, 0), |alarm| ((alarm.due - alarm.now(board)).max(MICRO), alarm.every))
    }

    fn set(&mut self, process: i32, board: &Board, (length, every): (i128, i128)) -> Result<(), Fault> {
        if length == 0 {
            self.all.remove(&process);
            return Ok(());
        }
        let pid = Pid::from_raw(process).ok_or(Fault::Number(libc::ESRCH))?;
        let opened = pidfd_open(pid, PidfdFlags::empty());
        let file = opened.map_err(|error| Fault::Number(error.raw_os_error()))?;
        self.all.retain(|_, alarm| !is_readable(&alarm.process));
        let is_native = board.sleeps().are_native_for(length);
        let due = now(is_native, board) + length;
        self.all.insert(process, Alarm { process: file, is_native, due, every, not_before: 0 });
        Ok(())
    }

    /// Sends the signals that are due, and returns the time of the boot clock at which the next one is.
    pub(crate) fn ring(&mut self, board: &Board) -> Option<i128> {
        if self.all.is_empty() {
            return None;
        }
        let boot = boot_now().nanos_in_all();
        self.all.retain(|_, alarm| {
            let now = alarm.now(board);
            if alarm.due > now || alarm.not_before > boot {
                return true;
            }
            if pidfd_send_signal(&alarm.process, Signal::ALARM).is_err() || alarm.every == 0 {
                return false;
            }
            alarm.due += ((now - alarm.due) / alarm.every + 1) * alarm.every;
            alarm.not_before = boot + PAUSE;
            true
        });
        let slot = board.slot();
        let next = |alarm: &Alarm| {
            let left = alarm.due - alarm.now(board);
            let host = if alarm.is_native { Some(left) } else { slot.host_length(left) };
            Some((boot + host?).max(alarm.not_before))
        };
        self.all.values().filter_map(next).min()
    }
}

/// Returns the length and the repetition of an `itimerval`.
fn lengths([every, every_micros, seconds, micros]: [i64; 4]) -> Result<(i128, i128), Fault> {
    let length = |seconds: i64, micros: i64| {
        let is_right = seconds >= 0 && (0..1_000_000).contains(&micros);
        is_right.then(|| i128::from(seconds) * SECOND + i128::from(micros) * MICRO)
    };
    let both = length(seconds, micros).zip(length(every, every_micros));
    both.ok_or(Fault::Number(libc::EINVAL))
}

fn write(call: &Call, line: &impl Answering, at: u64, left: i128, every: i128) -> Result<(), Fault> {
    let words = [every / SECOND, every % SECOND / MICRO, left / SECOND, left % SECOND / MICRO];
    let words = words.map(|word| i64::try_from(word).unwrap_or(i64::MAX).to_le_bytes());
    if !line.is_waiting(call.id) {
        return Err(Fault::Number(libc::EINTR));
    }
    ptrace::write(call.pid, at, &words.concat()).map_err(|error| Fault::of(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alarm_values_are_converted_and_checked() {
        assert_eq!(lengths([1, 500_000, 0, 1]), Ok((1_000, 1_500_000_000)));
        assert_eq!(lengths([0; 4]), Ok((0, 0)));
        for wrong in [[-1, 0, 0, 0], [0, 1_000_000, 0, 0], [0, 0, -1, 0], [0, 0, 0, -1]] {
            assert_eq!(lengths(wrong), Err(Fault::Number(libc::EINVAL)), "{wrong:?}");
        }
    }
}
