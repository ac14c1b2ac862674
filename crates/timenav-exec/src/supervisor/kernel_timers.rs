//! Kernel timers (`timer_settime`) of programs with virtual sleeps.
//!
//! Only a process can set its timers. It sets a timer in the routine of the image. After a clock change, one of its
//! threads is stopped and repeats the call with the remaining time.

use std::collections::HashMap;
use std::io;

use crate::board::Board;
use crate::kernel::process::{self, boot_now};
use crate::kernel::ptrace::{self, EVENT_STOP, Registers};
use crate::kernel::seccomp::{Answering, Call};
use crate::page::{Moment, Slot};
use crate::processes::{is_there, process_of};
use crate::supervisor::answers::read_words;
use crate::supervisor::timers::write_setting;
use crate::supervisor::waits::{Sent, TimerValue};

/// Practically infinite, in nanoseconds: a hundred years.
const FAR: i128 = 100 * 366 * 86_400 * 1_000_000_000;
/// The page of originals is that far before the image, and has room there (`attach.rs`).
const SCRATCH: u64 = 2 * 4096 - 1024;
/// `syscall` and `ret`: the code around the address at which a waiting thread continues.
const CODE: [u8; 3] = [0x0f, 0x05, 0xc3];
const SYSCALL_BYTES: u64 = 2;
/// `OURS` in `image/waits.h`, which lets the call pass the filter.
const OURS: u64 = 0x7469_6d65 << 32;
const LOWER_HALF: u64 = 0xffff_ffff;
/// Number of timers at which those of ended processes are first removed.
const TIDY_FROM: usize = 256;
/// How often it is tried to stop a thread of a process.
const TRIES_MAX: u32 = 50;

struct KernelTimer {
    image: u64,
    waiting: u64,
    /// When it expires on the monotonic clock of programs, in nanoseconds.
    passes: i128,
    /// If it expires at a date.
    date: Option<Moment>,
    every: i128,
    /// When it expires as the kernel knows it, on the boot clock, and after which host time again.
    fires: i128,
    repeats: i128,
}

impl KernelTimer {
    /// Returns when it expires next, given the monotonic clock; `None` if it has expired.
    fn next(&self, now: i128) -> Option<i128> {
        match (self.passes > now, self.every) {
            (true, _) => Some(self.passes),
            (false, 0) => None,
            (false, every) => Some(next_repeat(self.passes, every, now)),
        }
    }

    /// Moves it by a clock change, given the boot clock. Returns whether it has not expired.
    fn change(&mut self, boot: i128, now: i128, displayed: Moment) -> bool {
        if boot >= self.fires {
            if self.every == 0 {
                return false;
            }
            self.date = None;
            self.passes += ((boot - self.fires) / self.repeats.max(1) + 1) * self.every;
        }
        if let Some(date) = self.date {
            self.passes = now + date.nanos_in_all() - displayed.nanos_in_all();
        }
        true
    }

    /// Returns the host time after which it repeats, and that until it expires, as the clock is.
    fn set(&mut self, slot: &Slot, boot: i128, now: i128) -> [i128; 2] {
        // Zero would disarm the timer.
        let host = |length: i128| slot.host_length(length).unwrap_or(FAR).clamp(1, FAR);
        let left = host(self.passes - now);
        self.repeats = if self.every == 0 { 0 } else { host(self.every) };
        self.fires = boot + left;
        if self.every > 0 && self.passes < now {
            // A jump over several repeats is one expiration.
            self.passes = next_repeat(self.passes, self.every, now) - self.every;
        }
        [self.repeats, left]
    }
}

#[derive(Default)]
pub(crate) struct KernelTimers {
    /// By process and timer.
    all: HashMap<(i32, u64), KernelTimer>,
    /// Processes with timers that are set by an earlier clock, and the number of attempts to change them.
    late: HashMap<i32, u32>,
    tidy_at: usize,
}

impl KernelTimers {
    /// Records how a process sets a timer; with `None`, the timer is disarmed or is the kernel's alone.
    pub(crate) fn set(&mut self, call: &Call, sent: Option<&Sent>, board: &Board) {
        let (Some(process), id) = (process_of(call.pid), call.parameters[0] & LOWER_HALF) else { return };
        let value =
            sent.and_then(|sent| Some((sent, sent.timer_value()?, read_words(call.pid, call.parameters[2]).ok()?)));
        let Some((sent, value, [every, every_nanos, seconds, nanos])) = value else {
            self.all.remove(&(process, id));
            return;
        };
        let (now, given) = (board.monotonic_now(), Moment { seconds, nanos });
        let date = match value {
            TimerValue::Date { shift } => Some(Moment { seconds: seconds - shift, nanos }),
            TimerValue::Length | TimerValue::Monotonic => None,
        };
        let passes = match (date, value) {
            (Some(date), _) => now + date.nanos_in_all() - board.now().nanos_in_all(),
            (None, TimerValue::Monotonic) => given.nanos_in_all(),
            (None, _) => now + given.nanos_in_all(),
        };
        let every = Moment { seconds: every, nanos: every_nanos }.nanos_in_all();
        let (image, waiting) = (sent.image, sent.waiting);
        let mut timer = KernelTimer { image, waiting, passes, date, every, fires: 0, repeats: 0 };
        timer.set(&board.slot(), boot_now().nanos_in_all(), now);
        self.all.insert((process, id), timer);
        if self.all.len() >= self.tidy_at.max(TIDY_FROM) {
            self.all.retain(|(process, _), _| is_there(*process));
            self.tidy_at = 2 * self.all.len();
        }
    }

    /// Answers a call that reads a timer.
    pub(crate) fn read(&self, call: &Call, board: &Board, line: &impl Answering) {
        let key = process_of(call.pid).map(|process| (process, call.parameters[0] & LOWER_HALF));
        let Some(timer) = key.and_then(|key| self.all.get(&key)) else {
            line.let_go_on(call.id);
            return;
        };
        let now = board.monotonic_now();
        let left = timer.next(now).map_or(0, |next| next - now);
        if line.is_waiting(call.id) {
            let is_written = write_setting(call.pid, call.parameters[1], [timer.every, left]).is_ok();
            line.answer(call.id, if is_written { 0 } else { -i64::from(libc::EFAULT) });
        }
    }

    /// Forgets the timers of a process, which executes another program.
    pub(crate) fn forget(&mut self, process: i32) {
        self.all.retain(|(owner, _), _| *owner != process);
        self.late.remove(&process);
    }

    /// Forgets timers that have expired, and moves the others.
    pub(crate) fn clock_has_changed(&mut self, board: &Board) {
        let (boot, now, displayed) = (boot_now().nanos_in_all(), board.monotonic_now(), board.now());
        self.all.retain(|_, timer| timer.change(boot, now, displayed));
        self.late = self.all.keys().map(|(process, _)| (*process, 0)).collect();
    }

    pub(crate) fn are_current(&self) -> bool {
        self.late.is_empty()
    }

    /// Returns a thread of each process to stop.
    pub(crate) fn take_stale(&mut self) -> Vec<i32> {
        let mut found = Vec::new();
        self.late.retain(|process, tries| {
            *tries += 1;
            let thread = thread_of(*process).filter(|_| *tries < TRIES_MAX);
            found.extend(thread);
            thread.is_some()
        });
        found
    }

    /// Lets a stopped thread set the timers of its process. Returns its status if it has ended instead.
    pub(crate) fn set_again(&mut self, thread: i32, board: &Board) -> Option<i32> {
        let process = process_of(thread).filter(|process| self.late.contains_key(process))?;
        self.late.remove(&process);
        let (slot, now) = (board.slot(), board.monotonic_now());
        let mut ended = None;
        self.all.retain(|(owner, id), timer| {
            if *owner != process {
                return true;
            }
            if ended.is_some() {
                return false;
            }
            let lengths = timer.set(&slot, boot_now().nanos_in_all(), now);
            match set_timer(thread, timer, *id, lengths) {
                Ok(result) => result == 0,
                Err(Failed::Exited(status)) => {
                    ended = Some(status);
                    false
                }
                Err(Failed::Unable) => false,
            }
        });
        ended
    }
}

enum Failed {
    /// The thread has ended, with this status.
    Exited(i32),
    Unable,
}

impl From<io::Error> for Failed {
    fn from(_: io::Error) -> Self {
        Self::Unable
    }
}

/// Returns the first time after `now` that is a whole number of repeats after `first`.
const fn next_repeat(first: i128, every: i128, now: i128) -> i128 {
    first + ((now - first) / every + 1) * every
}

/// Returns a thread of a process that has not ended.
fn thread_of(process: i32) -> Option<i32> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).ok()?.flatten();
    let mut threads = threads.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    threads.find(|thread: &i32| {
        let status = std::fs::read_to_string(format!("/proc/{thread}/stat")).unwrap_or_default();
        status.rfind(')').is_some_and(|end| !status[end + 1..].trim_start().starts_with(['Z', 'X']))
    })
}

/// Makes a stopped thread set a timer, and restores its registers, with which the kernel restarts its own call.
fn set_timer(thread: i32, timer: &KernelTimer, id: u64, lengths: [i128; 2]) -> Result<i64, Failed> {
    let mut code = [0; CODE.len()];
    ptrace::read(thread, timer.waiting - SYSCALL_BYTES, &mut code)?;
    if code != CODE {
        return Err(Failed::Unable);
    }
    let (found, mask) = (ptrace::registers(thread)?, ptrace::signal_mask(thread)?);
    let scratch = timer.image - SCRATCH;
    let [every, left] = lengths.map(Moment::from_nanos);
    for (at, word) in (scratch..).step_by(8).zip([every.seconds, every.nanos, left.seconds, left.nanos]) {
        ptrace::poke(thread, at, word.cast_unsigned())?;
    }
    // All signals wait except the one that reports steps.
    ptrace::set_signal_mask(thread, !(1 << (libc::SIGTRAP - 1)))?;
    let call = Registers {
        rip: timer.waiting - SYSCALL_BYTES,
        rax: libc::SYS_timer_settime.cast_unsigned(),
        orig_rax: u64::MAX,
        rdi: id,
        rsi: 0,
        rdx: scratch,
        r10: 0,
        r8: 0,
        r9: OURS,
        ..found
    };
    ptrace::set_registers(thread, &call)?;
    let result = match stepped(thread) {
        Err(Failed::Exited(status)) => return Err(Failed::Exited(status)),
        result => result,
    };
    ptrace::set_registers(thread, &found)?;
    ptrace::set_signal_mask(thread, mask)?;
    result
}

/// Executes one instruction, and returns the result of the system call that it is.
fn stepped(thread: i32) -> Result<i64, Failed> {
    loop {
        ptrace::step(thread)?;
        match process::wait(thread, true) {
            Some((_, status)) if libc::WIFSTOPPED(status) => {
                let is_step = status >> 16 != EVENT_STOP && libc::WSTOPSIG(status) == libc::SIGTRAP;
                if is_step {
                    return Ok(ptrace::registers(thread)?.rax.cast_signed());
                }
            }
            Some((_, status)) if libc::WIFCONTINUED(status) => {}
            Some((_, status)) => return Err(Failed::Exited(status)),
            None => return Err(Failed::Unable),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timer(every: i128) -> KernelTimer {
        KernelTimer { image: 0, waiting: 0, passes: 100, date: None, every, fires: 1_000, repeats: every }
    }

    #[test]
    fn next_expiration_of_a_timer_is_computed() {
        for (every, now, expected) in [
            (0, 99, Some(100)),
            (0, 100, None),
            (10, 99, Some(100)),
            (10, 100, Some(110)),
            (10, 109, Some(110)),
            (10, 110, Some(120)),
        ] {
            assert_eq!(timer(every).next(now), expected, "{every} {now}");
        }
    }

    /// Two changes may be seen as one: only the kernel decides whether a timer has expired.
    #[test]
    fn only_timers_that_the_kernel_has_ended_have_expired() {
        for (every, boot, now, expected) in [
            (0, 999, 5_000, Some(100)),
            (0, 1_000, 50, None),
            (10, 999, 5_000, Some(100)),
            (10, 1_000, 50, Some(110)),
            (10, 1_025, 50, Some(130)),
        ] {
            let mut timer = timer(every);
            let is_left = timer.change(boot, now, Moment::default());
            assert_eq!(is_left.then_some(timer.passes), expected, "{every} {boot}");
        }
        let slot = Slot {
            origin_virtual: Moment::default(),
            origin_boot: Moment::default(),
            rate: 2_000_000,
            is_paused: false,
            generation: 1,
            uncertainty: None,
        };
        let mut repeated = timer(10);
        assert_eq!(repeated.set(&slot, 2_000, 60), [5, 20]);
        assert_eq!((repeated.passes, repeated.fires), (100, 2_020));
        assert_eq!(repeated.set(&slot, 2_000, 155), [5, 1], "a jump over several repeats");
        assert_eq!((repeated.passes, repeated.fires), (150, 2_001));
    }
}
