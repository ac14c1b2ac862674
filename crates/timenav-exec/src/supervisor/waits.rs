//! Waits of futexes and message queues until a realtime moment, and POSIX timers that are set to a date.
//!
//! The kernel would compare such a moment with the host clock. Therefore the thread is interrupted before it waits, and
//! redirected to a routine of the image, which waits on the clock page instead and returns to where the call would have
//! returned (`timenav_wait` in `image/image.c`). Only registers are changed, the tracer detaches, and no state is kept:
//! anything that would end the program's wait also ends this one.

use std::path::Path;

use crate::attach::{AT_VDSO, image};
use crate::board::PAGE_NAME;
use crate::filter::SYS_FUTEX_WAIT;
use crate::image::WAIT;
use crate::kernel::ptrace::{self, Registers};
use crate::kernel::seccomp::Call;
use crate::report::Hidden;
use crate::supervisor::answers::{Fault, read_words};
use crate::vdso::Mapped;

const NANOS: i64 = 1_000_000_000;
/// `CLOCK_TAI`.
const TAI: u64 = 11;
/// Flag for the routine that a timer uses the TAI clock: `OF_TAI` in `image/waits.h`.
const OF_TAI: u64 = 1 << 32;
/// `ERESTARTSYS`: the kernel will restart a call that has not begun.
const NOT_BEGUN: u64 = (-512_i64).cast_unsigned();
/// Number of bytes by which the routine is recognized.
const CODE_BYTES: usize = 64;

/// Returns whether a reported call waits until a realtime moment, or sets a timer to one.
pub(crate) const fn is_one(call: &Call) -> bool {
    matches!(
        call.number as libc::c_long,
        libc::SYS_futex
            | libc::SYS_futex_waitv
            | SYS_FUTEX_WAIT
            | libc::SYS_mq_timedsend
            | libc::SYS_mq_timedreceive
            | libc::SYS_timer_settime
    )
}

/// Same as [`is_one`], including sleeps until a date. For tracers, which can only redirect threads.
pub(crate) const fn is_one_or_sleeps(call: &Call) -> bool {
    is_one(call) || call.number as libc::c_long == libc::SYS_clock_nanosleep
}

pub(crate) struct Routine {
    at: u64,
    head: Vec<u8>,
    code: Vec<u8>,
}

/// A redirection of a thread to the routine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    call: Call,
    to: u64,
    /// Passed to the routine together with the call number.
    hint: u64,
}

impl Routine {
    pub(crate) fn look() -> Option<Self> {
        let image = Mapped::read(&image()?)?;
        let (at, code) = image.symbol(WAIT)?;
        Some(Self { at, head: image.head().to_vec(), code: code.get(..CODE_BYTES)?.to_vec() })
    }

    /// Returns where to redirect the thread; `None` to leave the call to the kernel. Fails if the deadline is not
    /// readable.
    pub(crate) fn send(&self, call: Call) -> Result<Option<Sent>, Hidden> {
        let [_, _, third, fourth, fifth, _] = call.parameters;
        let (is_right, hint) = match i64::from(call.number) {
            libc::SYS_timer_settime => match clock_of_date(&call, third)? {
                Some(0 | 8) => (true, 0),
                Some(TAI) => (true, OF_TAI),
                Some(_) | None => (false, 0),
            },
            libc::SYS_clock_nanosleep => (is_moment(call.pid, third)?, 0),
            libc::SYS_futex | libc::SYS_futex_waitv => (is_moment(call.pid, fourth)?, 0),
            _ => (is_moment(call.pid, fifth)?, 0),
        };
        let is_here = |image: &u64| {
            let (mut head, mut code) = (vec![0; self.head.len()], vec![0; self.code.len()]);
            ptrace::read(call.pid, *image, &mut head).is_ok()
                && ptrace::read(call.pid, *image + self.at, &mut code).is_ok()
                && (head, code) == (self.head.clone(), self.code.clone())
        };
        if !is_right {
            return Ok(None);
        }
        let image = told_image(call.pid).filter(is_here).or_else(|| mapped_image(call.pid).filter(is_here));
        Ok(image.map(|image| Sent { call, to: image + self.at, hint }))
    }
}

impl Sent {
    /// Sets the registers of the stopped thread, if it is still about to make the call.
    pub(crate) fn redirect(&self, pid: i32) {
        let Ok(found) = ptrace::registers(pid) else { return };
        let Registers { rdi, rsi, rdx, r10, r8, r9, .. } = found;
        let number = u64::from(self.call.number.cast_unsigned());
        if (found.rax, found.orig_rax) != (NOT_BEGUN, number) || [rdi, rsi, rdx, r10, r8, r9] != self.call.parameters {
            return;
        }
        let _ = ptrace::set_registers(pid, &self.registers(&found));
    }

    /// Returns the registers that redirect a thread from the call to the routine.
    pub(crate) fn registers(&self, found: &Registers) -> Registers {
        let number = u64::from(self.call.number.cast_unsigned());
        // A call clobbers rcx and rax; no call is in progress anymore.
        Registers { rip: self.to, rcx: found.rip, rax: number | self.hint, orig_rax: u64::MAX, ..*found }
    }
}

fn is_right(seconds: i64, nanos: i64) -> bool {
    seconds >= 0 && (0..NANOS).contains(&nanos)
}

/// Returns the words at an address; `None` if it is not readable.
fn words<const COUNT: usize>(pid: i32, at: u64) -> Result<Option<[i64; COUNT]>, Hidden> {
    match read_words(pid, at) {
        Ok(words) => Ok(Some(words)),
        Err(Fault::Hidden) => Err(Hidden::Memory),
        Err(Fault::Number(_)) => Ok(None),
    }
}

fn is_moment(pid: i32, at: u64) -> Result<bool, Hidden> {
    Ok(words(pid, at)?.is_some_and(|[seconds, nanos]: [i64; 2]| is_right(seconds, nanos)))
}

/// Returns the clock of a timer that is set to a date, as opposed to disarmed.
fn clock_of_date(call: &Call, at: u64) -> Result<Option<u64>, Hidden> {
    let Some([every, every_nanos, seconds, nanos]) = words(call.pid, at)? else { return Ok(None) };
    if !is_right(every, every_nanos) || !is_right(seconds, nanos) || (seconds, nanos) == (0, 0) {
        return Ok(None);
    }
    match std::fs::read_to_string(format!("/proc/{}/timers", call.pid)) {
        Ok(timers) => Ok(clock_of_timer(&timers, call.parameters[0] & 0xffff_ffff)),
        // The timer is gone, or the kernel does not list timers (`CONFIG_CHECKPOINT_RESTORE`).
        Err(_) if Path::new("/proc/self/timers").exists() => Ok(None),
        Err(_) => Err(Hidden::Timers),
    }
}

/// Finds the clock of a timer in the kernel's list for a process (`proc_pid_timers(5)`).
fn clock_of_timer(timers: &str, id: u64) -> Option<u64> {
    let number = |line: &str, name: &str| line.strip_prefix(name)?.trim().parse::<u64>().ok();
    let mut lines = timers.lines().skip_while(|line| number(line, "ID:") != Some(id)).skip(1);
    lines.by_ref().take_while(|line| !line.starts_with("ID:")).find_map(|line| number(line, "ClockID:"))
}

/// Returns the vDSO address of a process according to the kernel.
fn told_image(pid: i32) -> Option<u64> {
    let bytes = std::fs::read(format!("/proc/{pid}/auxv")).ok()?;
    let word = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
    bytes.chunks_exact(16).find(|pair| word(&pair[..8]) == AT_VDSO).map(|pair| word(&pair[8..]))
}

/// Finds the image's code in the maps (`proc_pid_maps(5)`), for kernels whose copy could not be changed.
fn mapped_image(pid: i32) -> Option<u64> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
    let wanted = format!("/memfd:{PAGE_NAME}");
    let line = maps.lines().find(|line| line.contains(&wanted) && line.contains(" r-xp "))?;
    u64::from_str_radix(line.split('-').next()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_of_a_posix_timer_is_found() {
        let timers = "ID: 1\nsignal: 60/00007fff86e452a8\nnotify: signal/pid.2634\nClockID: 0\n\
                      ID: 11\nsignal: 60/0\nnotify: thread/tid.2634\nClockID: 1\n";
        for (id, expected) in [(1, Some(0)), (11, Some(1)), (2, None), (0, None)] {
            assert_eq!(clock_of_timer(timers, id), expected, "{id}");
        }
        assert_eq!(clock_of_timer("ID: 1\nID: 2\nClockID: 0\n", 1), None, "it is not that of the next one");
    }

    #[test]
    fn wait_routine_of_the_image_is_usable() {
        let routine = Routine::look().unwrap();
        assert_eq!(routine.code[..4], [0xf3, 0x0f, 0x1e, 0xfa], "endbr64");
        let call = Call { id: 1, pid: std::process::id().cast_signed(), number: 202, parameters: [0; 6] };
        assert!(routine.send(call).unwrap().is_none(), "it waits for no moment");
        let moment = [5_i64, 0];
        let at = std::ptr::from_ref(&moment) as u64;
        let call = Call { parameters: [0, 0, 0, at, 0, 0], ..call };
        assert!(routine.send(call).unwrap().is_none(), "this process is not on a clock");
    }
}
