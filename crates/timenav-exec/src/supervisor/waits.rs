//! Waits of futexes and message queues until a realtime moment, and POSIX timers that are set to a date. With virtual
//! sleeps, also all other calls with a timeout.
//!
//! The thread is interrupted before it waits, and redirected to a routine of the image. The routine waits on the clock
//! page instead, and returns to the caller (`timenav_wait` in `image/image.c`). Only registers are changed, and the
//! tracer detaches: anything that would end the program's wait also ends this one.

use std::path::Path;

use crate::attach::{AT_VDSO, image};
use crate::board::{Board, PAGE_NAME};
use crate::filter::SYS_FUTEX_WAIT;
use crate::image::{WAIT, WAITING};
use crate::kernel::process::tai_offset;
use crate::kernel::ptrace::{self, Registers};
use crate::kernel::seccomp::Call;
use crate::page::Moment;
use crate::report::Hidden;
use crate::supervisor::answers::{Fault, read_words};
use crate::vdso::Mapped;

const NANOS: i64 = 1_000_000_000;
/// `CLOCK_TAI`.
const TAI: u64 = 11;
/// `TIMER_ABSTIME`.
const ABSOLUTE: u64 = 1;
/// Clock ids, flags and numbers of milliseconds are 32-bit integers.
const LOWER_HALF: u64 = 0xffff_ffff;
/// Flags for the routine, as in `image/sleeps.h`.
const OF_TAI: u64 = 1 << 32;
const PRECISE: u64 = 1 << 33;
const WRITABLE: u64 = 1 << 34;
const OF_LENGTH: u64 = 1 << 35;
const OF_MONOTONIC: u64 = 1 << 36;
/// The lowest bits of the number of clock changes, as of which the supervisor knows a timer, follow these flags.
const CHANGES_SHIFT: u32 = 48;
/// `ERESTARTSYS`: the kernel will restart a call that has not begun.
const NOT_BEGUN: u64 = (-512_i64).cast_unsigned();
/// Number of bytes by which the routine is recognized.
const CODE_BYTES: usize = 64;

/// `FUTEX_WAIT`: its timeout is a length.
const FUTEX_WAIT: u64 = 0;
const FUTEX_COMMAND: u64 = 127;
/// The realtime clocks that can be slept on, and the monotonic ones.
const REALTIMES: [u64; 3] = [0, 8, TAI];
const MONOTONICS: [u64; 3] = [1, 7, 9];
const MILLISECOND: i128 = 1_000_000;
const MICROSECOND: i128 = 1_000;
/// Host speed, in millionths.
const HOST_SPEED: u64 = 1_000_000;
/// The first kernel with `epoll_pwait2`.
const FINE_EPOLL: (u32, u32) = (5, 11);

/// Returns whether a reported call waits, or sets a timer of the kernel.
pub(crate) const fn is_one(call: &Call) -> bool {
    matches!(
        call.number as libc::c_long,
        libc::SYS_futex
            | libc::SYS_futex_waitv
            | SYS_FUTEX_WAIT
            | libc::SYS_mq_timedsend
            | libc::SYS_mq_timedreceive
            | libc::SYS_timer_settime
            | libc::SYS_nanosleep
            | libc::SYS_clock_nanosleep
            | libc::SYS_poll
            | libc::SYS_ppoll
            | libc::SYS_select
            | libc::SYS_pselect6
            | libc::SYS_epoll_wait
            | libc::SYS_epoll_pwait
            | libc::SYS_epoll_pwait2
            | libc::SYS_rt_sigtimedwait
            | libc::SYS_semtimedop
            | libc::SYS_recvmmsg
    )
}

/// Returns whether a call sleeps until a moment of realtime. Unless it is traced, the supervisor ends the sleep itself.
pub(crate) fn is_sleep_until_a_date(call: &Call) -> bool {
    let [clock, flags, ..] = call.parameters;
    let is_date = flags & ABSOLUTE != 0 && REALTIMES.contains(&(clock & LOWER_HALF));
    i64::from(call.number) == libc::SYS_clock_nanosleep && is_date
}

pub(crate) struct Routine {
    at: u64,
    /// The offset at which a waiting thread continues.
    waiting: u64,
    head: Vec<u8>,
    code: Vec<u8>,
    /// The number of filters of a program that has none itself; `None` if this kernel does not say, or cannot wait for
    /// less than a millisecond.
    filters: Option<usize>,
}

/// A redirection of a thread to the routine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    call: Call,
    to: u64,
    /// The address of the image in the program.
    pub(crate) image: u64,
    /// The address at which the waiting thread will continue.
    pub(crate) waiting: u64,
    /// Passed to the routine together with the call number.
    hint: u64,
    /// The number of clock changes before the hint was determined.
    changes: u64,
}

/// The address and the format of a timeout.
enum Timeout {
    Date(u64),
    Timespec(u64),
    /// The kernel writes the remaining time back.
    TimespecLeft(u64),
    TimevalLeft(u64),
    Millis(u64),
}

impl Timeout {
    fn of(call: &Call) -> Self {
        let [first, second, third, fourth, fifth, _] = call.parameters;
        match i64::from(call.number) {
            libc::SYS_nanosleep => Self::Timespec(first),
            libc::SYS_clock_nanosleep if second & ABSOLUTE == 0 => Self::Timespec(third),
            libc::SYS_clock_nanosleep => Self::Date(third),
            libc::SYS_futex if second & FUTEX_COMMAND == FUTEX_WAIT => Self::Timespec(fourth),
            libc::SYS_futex | libc::SYS_futex_waitv => Self::Date(fourth),
            libc::SYS_poll => Self::Millis(third),
            libc::SYS_epoll_wait | libc::SYS_epoll_pwait => Self::Millis(fourth),
            libc::SYS_ppoll => Self::TimespecLeft(third),
            libc::SYS_select => Self::TimevalLeft(fifth),
            libc::SYS_pselect6 | libc::SYS_recvmmsg => Self::TimespecLeft(fifth),
            libc::SYS_rt_sigtimedwait => Self::Timespec(third),
            libc::SYS_semtimedop | libc::SYS_epoll_pwait2 => Self::Timespec(fourth),
            _ => Self::Date(fifth),
        }
    }
}

impl Routine {
    /// `has_filter` says whether programs get a filter from this run.
    pub(crate) fn look(has_filter: bool) -> Option<Self> {
        let image = Mapped::read(&image()?)?;
        let (at, code) = image.symbol(WAIT)?;
        let (waiting, _) = image.symbol(WAITING)?;
        let filters = filters_of("self").filter(|_| is_kernel_since(FINE_EPOLL));
        let filters = filters.map(|own| own + usize::from(has_filter));
        Some(Self { at, waiting, head: image.head().to_vec(), code: code.get(..CODE_BYTES)?.to_vec(), filters })
    }

    /// Returns how to redirect the thread; `None` to leave the call to the kernel. Fails if the timeout is not readable.
    /// `known` is the address of the image, if it is known.
    pub(crate) fn send(&self, call: Call, board: &Board, known: Option<u64>) -> Result<Option<Sent>, Hidden> {
        let changes = board.changes();
        let hint = match i64::from(call.number) {
            libc::SYS_timer_settime => hint_of_timer(&call, board)?,
            _ => self.hint_of_wait(&call, board)?,
        };
        let Some(hint) = hint else { return Ok(None) };
        let is_here = |image: &u64| {
            let (mut head, mut code) = (vec![0; self.head.len()], vec![0; self.code.len()]);
            ptrace::read(call.pid, *image, &mut head).is_ok()
                && ptrace::read(call.pid, *image + self.at, &mut code).is_ok()
                && (&head, &code) == (&self.head, &self.code)
        };
        let image = known.filter(is_here);
        let image = image.or_else(|| reported_image(call.pid).filter(is_here));
        let image = image.or_else(|| mapped_image(call.pid).filter(is_here));
        Ok(image.map(|image| Sent { call, to: image + self.at, image, waiting: image + self.waiting, hint, changes }))
    }

    fn hint_of_wait(&self, call: &Call, board: &Board) -> Result<Option<u64>, Hidden> {
        let timeout = Timeout::of(call);
        let length = match timeout {
            Timeout::Date(at) => return Ok(is_moment(call.pid, at)?.then_some(0)),
            Timeout::Timespec(at) | Timeout::TimespecLeft(at) => timespec_at(call.pid, at)?,
            Timeout::TimevalLeft(at) => timeval_at(call.pid, at)?,
            Timeout::Millis(millis) => Some(i128::from(millis & LOWER_HALF) * MILLISECOND),
        };
        Ok(length.filter(|length| !is_short(*length, board)).map(|_| match timeout {
            Timeout::TimespecLeft(at) | Timeout::TimevalLeft(at) => writable_hint(call.pid, at),
            Timeout::Millis(_) => self.precise_hint(call.pid, board),
            Timeout::Date(_) | Timeout::Timespec(_) => 0,
        }))
    }

    /// Lets the routine make another call of the same effect with a timeout in nanoseconds, unless a filter of the
    /// program could forbid that call.
    fn precise_hint(&self, pid: i32, board: &Board) -> u64 {
        let is_precise =
            board.slot().rate > HOST_SPEED && self.filters.is_some() && filters_of(&pid.to_string()) == self.filters;
        if is_precise { PRECISE } else { 0 }
    }
}

/// Returns whether a length is left to the kernel, because it is native or too short to matter.
fn is_short(length: i128, board: &Board) -> bool {
    let slot = board.slot();
    let is_native = board.sleeps().are_native_for(length);
    is_native || length == 0 || (length <= MILLISECOND && !slot.is_paused && slot.rate >= HOST_SPEED)
}

fn timespec_at(pid: i32, at: u64) -> Result<Option<i128>, Hidden> {
    let words: Option<[i64; 2]> = words(pid, at)?;
    Ok(words.filter(|[seconds, nanos]| is_right(*seconds, *nanos)).map(|[seconds, nanos]| in_nanos(seconds, nanos)))
}

fn timeval_at(pid: i32, at: u64) -> Result<Option<i128>, Hidden> {
    let words: Option<[i64; 2]> = words(pid, at)?;
    let words = words.filter(|[seconds, micros]| *seconds >= 0 && *micros >= 0);
    Ok(words.map(|[seconds, micros]| in_nanos(seconds, 0) + i128::from(micros) * MICROSECOND))
}

fn in_nanos(seconds: i64, nanos: i64) -> i128 {
    Moment { seconds, nanos }.nanos_in_all()
}

/// Lets the routine write the rest of a timeout back, unless the memory is read-only.
fn writable_hint(pid: i32, at: u64) -> u64 {
    let mut bytes = [0; 16];
    let is_writable = ptrace::read(pid, at, &mut bytes).and_then(|()| ptrace::write(pid, at, &bytes)).is_ok();
    if is_writable { WRITABLE } else { 0 }
}

/// Returns the number of seccomp filters of a process (`proc_pid_status(5)`).
fn filters_of(process: &str) -> Option<usize> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("Seccomp_filters:"))?.trim().parse().ok()
}

fn is_kernel_since(first: (u32, u32)) -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split(|sign: char| !sign.is_ascii_digit()).map_while(|word| word.parse().ok());
    numbers.next().zip(numbers.next()).is_some_and(|release| release >= first)
}

/// The meaning of a timer's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimerValue {
    /// A date. Its clock is ahead of realtime by `shift` seconds.
    Date {
        shift: i64,
    },
    Length,
    /// A moment of the monotonic clock.
    Monotonic,
}

impl Sent {
    /// Returns the meaning of a timer's value; `None` for another call.
    pub(crate) fn timer_value(&self) -> Option<TimerValue> {
        let value = match self.hint {
            OF_LENGTH => TimerValue::Length,
            OF_MONOTONIC => TimerValue::Monotonic,
            OF_TAI => TimerValue::Date { shift: tai_offset() },
            _ => TimerValue::Date { shift: 0 },
        };
        (i64::from(self.call.number) == libc::SYS_timer_settime).then_some(value)
    }

    /// Sets the registers of the stopped thread, if it is still about to make the call. Returns whether it is.
    pub(crate) fn redirect(&self, pid: i32) -> bool {
        let Ok(found) = ptrace::registers(pid) else { return false };
        let Registers { rdi, rsi, rdx, r10, r8, r9, .. } = found;
        let number = u64::from(self.call.number.cast_unsigned());
        if (found.rax, found.orig_rax) != (NOT_BEGUN, number) || [rdi, rsi, rdx, r10, r8, r9] != self.call.parameters {
            return false;
        }
        ptrace::set_registers(pid, &self.registers(&found)).is_ok()
    }

    /// Returns the registers that redirect a thread from the call to the routine.
    pub(crate) fn registers(&self, found: &Registers) -> Registers {
        let number = u64::from(self.call.number.cast_unsigned());
        // A call clobbers rcx and rax; no call is in progress anymore.
        let rax = number | self.hint | self.changes << CHANGES_SHIFT;
        Registers { rip: self.to, rcx: found.rip, rax, orig_rax: u64::MAX, ..*found }
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

/// Returns the flags for a kernel timer; `None` if the call is left to the kernel.
fn hint_of_timer(call: &Call, board: &Board) -> Result<Option<u64>, Hidden> {
    let [_, flags, new, ..] = call.parameters;
    let Some([every, every_nanos, seconds, nanos]) = words(call.pid, new)? else { return Ok(None) };
    if !is_right(every, every_nanos) || !is_right(seconds, nanos) || (seconds, nanos) == (0, 0) {
        return Ok(None);
    }
    let clock = clock_of_timer_in(call)?;
    let is_virtual = board.sleeps().are_virtual();
    Ok(match (flags & ABSOLUTE != 0, clock) {
        (true, Some(0 | 8)) => Some(0),
        (true, Some(TAI)) => Some(OF_TAI),
        (true, Some(clock)) if is_virtual && MONOTONICS.contains(&clock) => Some(OF_MONOTONIC),
        (false, Some(clock)) if MONOTONICS.contains(&clock) || REALTIMES.contains(&clock) => {
            Some(OF_LENGTH).filter(|_| !is_short(in_nanos(seconds, nanos), board))
        }
        _ => None,
    })
}

fn clock_of_timer_in(call: &Call) -> Result<Option<u64>, Hidden> {
    match std::fs::read_to_string(format!("/proc/{}/timers", call.pid)) {
        Ok(timers) => Ok(clock_of_timer(&timers, call.parameters[0] & LOWER_HALF)),
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
fn reported_image(pid: i32) -> Option<u64> {
    let bytes = std::fs::read(format!("/proc/{pid}/auxv")).ok()?;
    let word = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
    bytes.chunks_exact(16).find(|pair| word(&pair[..8]) == AT_VDSO).map(|pair| word(&pair[8..]))
}

/// Finds the image's code in the maps (`proc_pid_maps(5)`), for kernels whose copy could not be changed.
fn mapped_image(pid: i32) -> Option<u64> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
    let expected = format!("/memfd:{PAGE_NAME}");
    let line = maps.lines().find(|line| line.contains(&expected) && line.contains(" r-xp "))?;
    u64::from_str_radix(line.split('-').next()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{Sleeps, Slot};

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
        let routine = Routine::look(true).unwrap();
        assert_eq!(routine.code[..4], [0xf3, 0x0f, 0x1e, 0xfa], "endbr64");
        let first = Slot {
            origin_virtual: Moment::default(),
            origin_boot: Moment::default(),
            rate: HOST_SPEED,
            is_paused: false,
            generation: 1,
            uncertainty: None,
        };
        let board = Board::create(("main", "http://x"), first, Sleeps::Native).unwrap();
        let call = Call { id: 1, pid: std::process::id().cast_signed(), number: 202, parameters: [0; 6] };
        assert!(routine.send(call, &board, None).unwrap().is_none(), "it waits for no moment");
        let moment = [5_i64, 0];
        let at = std::ptr::from_ref(&moment) as u64;
        let call = Call { parameters: [0, 0, 0, at, 0, 0], ..call };
        assert!(routine.send(call, &board, None).unwrap().is_none(), "this process is not on a clock");
    }
}
