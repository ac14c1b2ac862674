//! Waits until a moment of realtime, of futexes and message queues, and POSIX timers that are set to a date.
//!
//! The kernel compares such a moment with the host's clock. So the thread is interrupted before it waits, and sent to a
//! routine of the image, which waits by the clock page in its place and returns to where the call would have returned
//! (`timenav_wait` in `image/image.c`). Nothing is written but registers, no tracer stays, and nobody keeps account of
//! who waits: whatever ends the wait of a program ends this one.

use std::path::Path;

use crate::answers::{Fault, read_words};
use crate::attach::{AT_VDSO, image};
use crate::board::PAGE_NAME;
use crate::filter::SYS_FUTEX_WAIT;
use crate::image::WAIT;
use crate::kernel::ptrace::{self, Registers};
use crate::kernel::seccomp::Call;
use crate::report::Hidden;
use crate::vdso::Mapped;

const NANOS: i64 = 1_000_000_000;
/// `CLOCK_TAI`.
const TAI: u64 = 11;
/// Tells the routine that a timer is one of atomic time: `OF_TAI` in `image/waits.h`.
const OF_TAI: u64 = 1 << 32;
/// `ERESTARTSYS`, by which the kernel notes that a call that has not begun is to begin again.
const NOT_BEGUN: u64 = (-512_i64).cast_unsigned();
/// By how many bytes the routine is recognized.
const CODE_BYTES: usize = 64;

/// Returns whether a reported call waits until a moment of realtime, or sets a timer to one.
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

/// Returns whether a reported call sleeps until a date or waits, for whoever can only send a thread elsewhere.
pub(crate) const fn is_one_or_sleeps(call: &Call) -> bool {
    is_one(call) || call.number as libc::c_long == libc::SYS_clock_nanosleep
}

/// Where the image waits.
pub(crate) struct Routine {
    at: u64,
    head: Vec<u8>,
    code: Vec<u8>,
}

/// A thread that is sent to the routine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    call: Call,
    to: u64,
    /// What the routine is told beside the number of the call.
    hint: u64,
}

impl Routine {
    /// Finds it in the image.
    pub(crate) fn look() -> Option<Self> {
        let image = Mapped::read(&image()?)?;
        let (at, code) = image.symbol(WAIT)?;
        Some(Self { at, head: image.head().to_vec(), code: code.get(..CODE_BYTES)?.to_vec() })
    }

    /// Returns where the thread of a call is to go on; `None` if the kernel is to take the call as it is.
    ///
    /// # Errors
    /// What there is to wait for is hidden from the supervisor.
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

    /// Returns the registers of a thread that is about to make the call and goes to the routine instead.
    pub(crate) fn registers(&self, found: &Registers) -> Registers {
        let number = u64::from(self.call.number.cast_unsigned());
        // A call changes rcx and rax, and nobody expects anything of them; no call is under way any more.
        Registers { rip: self.to, rcx: found.rip, rax: number | self.hint, orig_rax: u64::MAX, ..*found }
    }
}

fn is_right(seconds: i64, nanos: i64) -> bool {
    seconds >= 0 && (0..NANOS).contains(&nanos)
}

/// Returns the words at an address; `None` where there is nothing that could be read.
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

/// Returns the clock of a timer that is set to a date, rather than to nothing.
fn clock_of_date(call: &Call, at: u64) -> Result<Option<u64>, Hidden> {
    let Some([every, every_nanos, seconds, nanos]) = words(call.pid, at)? else { return Ok(None) };
    if !is_right(every, every_nanos) || !is_right(seconds, nanos) || (seconds, nanos) == (0, 0) {
        return Ok(None);
    }
    match std::fs::read_to_string(format!("/proc/{}/timers", call.pid)) {
        Ok(timers) => Ok(clock_of_timer(&timers, call.parameters[0] & 0xffff_ffff)),
        // It is gone, or the kernel tells of no timers (`CONFIG_CHECKPOINT_RESTORE`).
        Err(_) if Path::new("/proc/self/timers").exists() => Ok(None),
        Err(_) => Err(Hidden::Timers),
    }
}

/// Finds the clock of a timer in what the kernel tells of those of a process (`proc_pid_timers(5)`).
fn clock_of_timer(timers: &str, id: u64) -> Option<u64> {
    let number = |line: &str, name: &str| line.strip_prefix(name)?.trim().parse::<u64>().ok();
    let mut lines = timers.lines().skip_while(|line| number(line, "ID:") != Some(id)).skip(1);
    lines.by_ref().take_while(|line| !line.starts_with("ID:")).find_map(|line| number(line, "ClockID:"))
}

/// Returns where the kernel says that the vDSO of a process is.
fn told_image(pid: i32) -> Option<u64> {
    let bytes = std::fs::read(format!("/proc/{pid}/auxv")).ok()?;
    let word = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
    bytes.chunks_exact(16).find(|pair| word(&pair[..8]) == AT_VDSO).map(|pair| word(&pair[8..]))
}

/// Returns where the code of the image is mapped (`proc_pid_maps(5)`), for kernels that are not told.
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
    fn the_clock_of_a_timer_is_found() {
        let timers = "ID: 1\nsignal: 60/00007fff86e452a8\nnotify: signal/pid.2634\nClockID: 0\n\
                      ID: 11\nsignal: 60/0\nnotify: thread/tid.2634\nClockID: 1\n";
        for (id, expected) in [(1, Some(0)), (11, Some(1)), (2, None), (0, None)] {
            assert_eq!(clock_of_timer(timers, id), expected, "{id}");
        }
        assert_eq!(clock_of_timer("ID: 1\nID: 2\nClockID: 0\n", 1), None, "it is not that of the next one");
    }

    #[test]
    fn the_image_has_a_place_to_wait() {
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
