//! Handling of realtime system calls that bypass the vDSO, and of sleeps until a virtual date.

use std::io;

use crate::board::Board;
use crate::kernel::process::{self, TIMEX_BYTES, boot_now, tai_offset};
use crate::kernel::ptrace;
use crate::kernel::seccomp::{Answering, Call, Listener};
use crate::page::Moment;
use crate::report::Hidden;

const REALTIME: u64 = 0;
const TAI: u64 = 11;
/// `CLOCK_MONOTONIC`, its coarse variant, `CLOCK_BOOTTIME`, and its alarm. Reported only if sleeps are virtual.
const MONOTONICS: [u64; 4] = [1, 6, 7, 9];
const NANOS: i64 = 1_000_000_000;
/// `ADJ_OFFSET_SS_READ`: a read-only mode, although it is not 0.
const ADJ_READ: u32 = 0xa001;

/// Why a call cannot be answered as requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It fails with this error.
    Number(i32),
    /// Only the kernel can answer it: the program's memory is not accessible.
    Hidden,
}

impl Fault {
    pub(crate) fn of(error: &io::Error) -> Self {
        if error.raw_os_error() == Some(libc::EPERM) { Self::Hidden } else { Self::Number(libc::EFAULT) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// This value, or a negative error number.
    Value(i64),
    /// Left to the kernel, which uses host time.
    ByHost,
}

pub(crate) enum Answered {
    /// The call was answered, or is about a timer of another clock and continued.
    Done,
    /// It continued, and uses host time.
    ByHost(Hidden),
}

pub(crate) fn read_words<const COUNT: usize>(pid: i32, at: u64) -> Result<[i64; COUNT], Fault> {
    let mut bytes = vec![0; 8 * COUNT];
    ptrace::read(pid, at, &mut bytes).map_err(|error| Fault::of(&error))?;
    let mut words = bytes.chunks_exact(8).map(|word| word.try_into().map_or(0, i64::from_le_bytes));
    Ok(std::array::from_fn(|_| words.next().unwrap_or_default()))
}

/// A thread that sleeps until a virtual date.
struct Sleeper {
    id: u64,
    until: Moment,
}

#[derive(Default)]
pub(crate) struct Sleepers {
    all: Vec<Sleeper>,
}

impl Sleepers {
    /// Wakes threads whose date has passed, drops ended ones, and returns the boot-clock time of the next date.
    pub(crate) fn wake(&mut self, board: &Board, listener: &Listener) -> Option<i128> {
        let (slot, boot) = (board.slot(), boot_now());
        let displayed = slot.at(boot);
        self.all.retain(|sleeper| {
            if sleeper.until <= displayed {
                listener.answer(sleeper.id, 0);
                return false;
            }
            listener.is_waiting(sleeper.id)
        });
        self.all.iter().filter_map(|sleeper| slot.boot_when(sleeper.until)).min()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Adds a sleeping thread, or answers at once if its date is invalid or has passed.
    pub(crate) fn add(&mut self, call: &Call, board: &Board, listener: &Listener) -> Answered {
        let [clock, _, request, ..] = call.parameters;
        let result = match read_words(call.pid, request) {
            Err(Fault::Hidden) => {
                listener.let_go_on(call.id);
                return Answered::ByHost(Hidden::Memory);
            }
            Err(Fault::Number(error)) => -i64::from(error),
            Ok([_, nanos]) if !(0..NANOS).contains(&nanos) => -i64::from(libc::EINVAL),
            // As in the kernel, unless the clock is there too.
            Ok([seconds, _]) if seconds < 0 && board.now().seconds >= 0 => -i64::from(libc::EINVAL),
            Ok([seconds, nanos]) => {
                let shift = if clock_of(clock) == TAI { tai_offset() } else { 0 };
                let until = Moment { seconds: seconds - shift, nanos };
                if until > board.now() {
                    self.all.push(Sleeper { id: call.id, until });
                    return Answered::Done;
                }
                0
            }
        };
        listener.answer(call.id, result);
        Answered::Done
    }
}

/// Returns the answer to a call about time; `None` for any other call.
pub(crate) fn answer_call(call: &Call, board: &Board, line: &impl Answering) -> Option<Answer> {
    let [first, second, ..] = call.parameters;
    let result = match i64::from(call.number) {
        libc::SYS_clock_gettime => {
            let Moment { seconds, nanos } = match clock_of(first) {
                clock if MONOTONICS.contains(&clock) => Moment::from_nanos(board.monotonic_now()),
                _ => board.now(),
            };
            let shift = if clock_of(first) == TAI { tai_offset() } else { 0 };
            write(call, line, second, &pair(seconds + shift, nanos)).map(|()| 0)
        }
        libc::SYS_gettimeofday => {
            let Moment { seconds, nanos } = board.now();
            let time = if first == 0 { Ok(()) } else { write(call, line, first, &pair(seconds, nanos / 1_000)) };
            // The obsolete kernel time zone.
            let zone = if second == 0 { Ok(()) } else { write(call, line, second, &[0; 8]) };
            time.and(zone).map(|()| 0)
        }
        libc::SYS_time => {
            let seconds = board.now().seconds;
            let result = if first == 0 { Ok(()) } else { write(call, line, first, &seconds.to_le_bytes()) };
            result.map(|()| seconds)
        }
        libc::SYS_adjtimex => adjust(call, board, line, first),
        libc::SYS_clock_adjtime if clock_of(first) == REALTIME => adjust(call, board, line, second),
        libc::SYS_clock_adjtime => Err(Fault::Number(libc::EOPNOTSUPP)),
        _ => return None,
    };
    // Times before 1970 are negative like errors. This call is equally ambiguous natively.
    Some(match result {
        Ok(value) => Answer::Value(value),
        Err(Fault::Number(error)) => Answer::Value(-i64::from(error)),
        Err(Fault::Hidden) => Answer::ByHost,
    })
}

/// Returns the clock in a parameter: its lower half, because clock ids are 32-bit integers.
const fn clock_of(parameter: u64) -> u64 {
    parameter & 0xffff_ffff
}

/// Answers queries about clock adjustment, and rejects changes.
fn adjust(call: &Call, board: &Board, line: &impl Answering, at: u64) -> Result<i64, Fault> {
    let mut modes = [0; 4];
    let refused = Fault::Number(libc::EPERM);
    // If the mode cannot be read, the call might set the host's clock.
    ptrace::read(call.pid, at, &mut modes).map_err(|error| match Fault::of(&error) {
        Fault::Hidden => refused,
        fault @ Fault::Number(_) => fault,
    })?;
    if !matches!(u32::from_le_bytes(modes), 0 | ADJ_READ) {
        return Err(refused);
    }
    let (state, mut bytes) = process::adjusted_clock(board.now()).map_err(|_| refused)?;
    bytes.truncate(TIMEX_BYTES);
    bytes[..4].copy_from_slice(&modes);
    write(call, line, at, &bytes).map(|()| state)
}

fn pair(seconds: i64, rest: i64) -> Vec<u8> {
    [seconds.to_le_bytes(), rest.to_le_bytes()].concat()
}

/// Writes into the memory of the thread that waits for an answer, if it still does.
fn write(call: &Call, line: &impl Answering, at: u64, bytes: &[u8]) -> Result<(), Fault> {
    if !line.is_waiting(call.id) {
        return Err(Fault::Number(libc::EINTR));
    }
    ptrace::write(call.pid, at, bytes).map_err(|error| Fault::of(&error))
}
