//! Which system calls are reported to the supervisor, and which are rejected.
//!
//! The rules are seccomp instructions, for a listener or for a tracer. If the kernel does not accept a filter, the
//! tracer evaluates them itself ([`verdict`]).

mod sleeps;

use crate::kernel::seccomp::Instruction;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The call continues in the kernel.
    Allow,
    /// It is reported to the supervisor.
    Report,
    /// It fails with `EPERM`.
    Refuse,
}

const REPORTED: u32 = libc::SECCOMP_RET_USER_NOTIF;
/// Offsets in `struct seccomp_data`.
const NUMBER_AT: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;
const PARAMETERS_AT: u32 = 16;
/// `AUDIT_ARCH_X86_64` and `AUDIT_ARCH_I386`.
pub(crate) const X86_64: u32 = 0xc000_003e;
pub(crate) const I386: u32 = 0x4000_0003;
/// Flag of system calls of 64-bit programs with 32-bit pointers.
const X32: u32 = 0x4000_0000;
/// The virtual clocks: realtime, its alarm, and TAI. The coarse one can be read but not slept on.
const CLOCKS: [u32; 3] = [0, 8, 11];
const COARSE: u32 = 5;
/// `TIMER_ABSTIME`, and `TFD_TIMER_ABSTIME`.
const ABSOLUTE: u32 = 1;
/// `futex_wait` of Linux 6.7.
pub(crate) const SYS_FUTEX_WAIT: libc::c_long = 455;
/// The `futex` commands with a timeout on a clock selected by a flag, and the one that only supports realtime.
const FUTEX_WAITS: [u32; 3] = [9, 11, 13];
const FUTEX_LOCK_PI: u32 = 6;
const FUTEX_COMMAND: u32 = 127;
const FUTEX_REALTIME: u32 = 256;
/// Marks calls of the image, so that they pass: `OURS` in `image/waits.h`. The kernel does not read this half of the
/// last parameter, or of the first.
const OURS: u32 = 0x7469_6d65;
const FIRST: u32 = 0;
const LAST: u32 = 5;

/// `CLONE_UNTRACED`: a child started with it escapes a tracer.
pub(crate) const UNTRACED: u32 = 0x0080_0000;

pub(crate) fn filter(has_virtual_sleeps: bool) -> Vec<Instruction> {
    around(wide_calls(has_virtual_sleeps, Vec::new()))
}

/// Returns the filter for a tracer, which must also see calls that would escape it.
pub(crate) fn filter_for_tracer(has_virtual_sleeps: bool) -> Vec<Instruction> {
    let untraced = vec![load(parameter(0)), jump_if_any(UNTRACED, 0, 1), end(Verdict::Report), end(Verdict::Allow)];
    let mut more = rule(number(libc::SYS_clone), untraced);
    // Its flags are in memory, which filters cannot read.
    more.extend(rule(number(libc::SYS_clone3), vec![end(Verdict::Report)]));
    let mut filter = around(wide_calls(has_virtual_sleeps, more));
    for instruction in filter.iter_mut().filter(|it| u32::from(it.code) == END && it.k == REPORTED) {
        instruction.k = libc::SECCOMP_RET_TRACE;
    }
    filter
}

pub(crate) fn nothing() -> Vec<Instruction> {
    vec![end(Verdict::Allow)]
}

/// Evaluates a filter for a call, as the kernel would.
pub(crate) fn verdict(filter: &[Instruction], architecture: u32, number: u32, parameters: &[u64; 6]) -> Verdict {
    let (mut at, mut value) = (0, 0);
    while let Some(Instruction { code, jt, jf, k }) = filter.get(at).copied() {
        at += 1;
        let goes = |is_true: bool| usize::from(if is_true { jt } else { jf });
        match u32::from(code) {
            END => return outcome(k),
            LOAD => value = loaded(k, architecture, number, parameters),
            JUMP_IF_EQUAL => at += goes(value == k),
            JUMP_IF_ANY => at += goes(value & k != 0),
            _ => value &= k,
        }
    }
    Verdict::Allow
}

/// Returns what an instruction loads from a call: its number, its architecture, or half of a parameter.
fn loaded(at: u32, architecture: u32, number: u32, parameters: &[u64; 6]) -> u32 {
    let index = usize::try_from(at.saturating_sub(PARAMETERS_AT) / 8).unwrap_or(usize::MAX);
    let parameter = parameters.get(index).copied().unwrap_or_default();
    match at {
        NUMBER_AT => number,
        ARCHITECTURE_AT => architecture,
        _ => u32::try_from(parameter >> (8 * (at % 8)) & 0xffff_ffff).unwrap_or_default(),
    }
}

const fn outcome(value: u32) -> Verdict {
    match value {
        libc::SECCOMP_RET_ALLOW => Verdict::Allow,
        REPORTED | libc::SECCOMP_RET_TRACE => Verdict::Report,
        _ => Verdict::Refuse,
    }
}

fn around(wide: Vec<Instruction>) -> Vec<Instruction> {
    let mut filter = vec![load(ARCHITECTURE_AT)];
    let narrow = narrow_calls();
    let length = u8::try_from(narrow.len()).unwrap_or(u8::MAX);
    filter.extend([jump_if_equal(X86_64, length + 1, 0), jump_if_equal(I386, 0, length)]);
    filter.extend(narrow);
    // Other architectures also get here. None of their numbers is known.
    filter.extend(wide);
    filter
}

/// Returns the rules for 32-bit programs. These have host time, but programs that they execute can be put on the clock.
fn narrow_calls() -> Vec<Instruction> {
    let mut calls = vec![load(NUMBER_AT)];
    for (number, verdict) in [
        // execve, execveat
        (11, Verdict::Report),
        (358, Verdict::Report),
        // stime, settimeofday, adjtimex, clock_settime, clock_adjtime, clock_settime64, clock_adjtime64
        (25, Verdict::Refuse),
        (79, Verdict::Refuse),
        (124, Verdict::Refuse),
        (264, Verdict::Refuse),
        (343, Verdict::Refuse),
        (404, Verdict::Refuse),
        (405, Verdict::Refuse),
    ] {
        calls.extend([jump_if_equal(number, 0, 1), end(verdict)]);
    }
    calls.push(end(Verdict::Allow));
    calls
}

fn number(number: libc::c_long) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn wide_calls(has_virtual_sleeps: bool, more: Vec<Instruction>) -> Vec<Instruction> {
    let mut calls = vec![load(NUMBER_AT)];
    // The most frequent call comes first.
    calls.extend(rule(number(libc::SYS_futex), if has_virtual_sleeps { sleeps::futex() } else { futex() }));
    for (number, verdict) in [
        (number(libc::SYS_execve), Verdict::Report),
        (number(libc::SYS_execveat), Verdict::Report),
        (X32 | 0x208, Verdict::Report),
        (X32 | 0x221, Verdict::Report),
        (number(libc::SYS_gettimeofday), Verdict::Report),
        (number(libc::SYS_time), Verdict::Report),
        (number(libc::SYS_adjtimex), Verdict::Report),
        (number(libc::SYS_clock_adjtime), Verdict::Report),
        (number(libc::SYS_io_uring_setup), Verdict::Report),
        (number(libc::SYS_clock_settime), Verdict::Refuse),
        (number(libc::SYS_settimeofday), Verdict::Refuse),
    ] {
        calls.extend([jump_if_equal(number, 0, 1), end(verdict)]);
    }
    for queue in [libc::SYS_mq_timedsend, libc::SYS_mq_timedreceive] {
        calls.extend(rule(number(queue), [let_ours_pass(LAST), report_pointer(4)].concat()));
    }
    calls.extend(if has_virtual_sleeps { sleeps::calls() } else { calls_until_a_date() });
    calls.extend(more);
    calls.push(end(Verdict::Allow));
    calls
}

/// Returns the rules for calls that are about realtime only with some parameters.
fn calls_until_a_date() -> Vec<Instruction> {
    let mut calls = rule(number(libc::SYS_clock_gettime), report_clocks(&[CLOCKS[0], CLOCKS[1], CLOCKS[2], COARSE]));
    let mut sleep = vec![load(parameter(1)), jump_if_any(ABSOLUTE, 1, 0), end(Verdict::Allow)];
    sleep.extend(report_clocks(&CLOCKS));
    calls.extend(rule(number(libc::SYS_clock_nanosleep), sleep));
    let timer = vec![load(parameter(1)), jump_if_any(ABSOLUTE, 0, 1), end(Verdict::Report), end(Verdict::Allow)];
    calls.extend(rule(number(libc::SYS_timerfd_settime), timer.clone()));
    calls.extend(rule(number(libc::SYS_timer_settime), timer));
    let realtime_of = |clock: u32| vec![load(parameter(clock)), jump_if_equal(CLOCKS[0], 1, 0), end(Verdict::Allow)];
    calls.extend(rule(number(libc::SYS_futex_waitv), [realtime_of(4), report_pointer(3)].concat()));
    calls.extend(rule(number(SYS_FUTEX_WAIT), [realtime_of(5), report_pointer(4)].concat()));
    calls
}

/// Reports waits with a realtime deadline. Waits without a timeout have the flag too, and are not reported.
fn futex() -> Vec<Instruction> {
    let lock = [let_ours_pass(LAST), report_pointer(3)].concat();
    let length = u8::try_from(lock.len()).unwrap_or(u8::MAX);
    let mut body = vec![load(parameter(1)), mask(FUTEX_COMMAND), jump_if_equal(FUTEX_LOCK_PI, 0, length)];
    body.extend(lock);
    for (left, command) in (1..=3).rev().zip(FUTEX_WAITS) {
        body.push(jump_if_equal(command, left, 0));
    }
    body.extend([end(Verdict::Allow), load(parameter(1)), jump_if_any(FUTEX_REALTIME, 1, 0), end(Verdict::Allow)]);
    body.extend(report_pointer(3));
    body
}

/// Lets calls of the image pass, which are marked in this parameter.
fn let_ours_pass(marked: u32) -> Vec<Instruction> {
    vec![load(parameter(marked) + 4), jump_if_equal(OURS, 0, 1), end(Verdict::Allow)]
}

/// Reports a call if a parameter is not a null pointer, and allows it otherwise. Pointers have two halves.
fn report_pointer(index: u32) -> Vec<Instruction> {
    vec![
        load(parameter(index)),
        jump_if_equal(0, 0, 2),
        load(parameter(index) + 4),
        jump_if_equal(0, 1, 0),
        end(Verdict::Report),
        end(Verdict::Allow),
    ]
}

/// Returns the instructions for one call. All paths in `body` must end the evaluation.
fn rule(number: u32, body: Vec<Instruction>) -> Vec<Instruction> {
    let length = u8::try_from(body.len()).unwrap_or(u8::MAX);
    std::iter::once(jump_if_equal(number, 0, length)).chain(body).collect()
}

/// Reports a call if its first parameter is one of these clocks.
fn report_clocks(clocks: &[u32]) -> Vec<Instruction> {
    let mut body = vec![load(parameter(0))];
    for clock in clocks {
        body.extend([jump_if_equal(*clock, 0, 1), end(Verdict::Report)]);
    }
    body.push(end(Verdict::Allow));
    body
}

/// Returns the offset of the lower half of a parameter. Clocks and flags are not longer.
const fn parameter(index: u32) -> u32 {
    PARAMETERS_AT + index * 8
}

const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
const JUMP_IF_EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
const JUMP_IF_ANY: u32 = libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K;
const END: u32 = libc::BPF_RET | libc::BPF_K;

const fn load(at: u32) -> Instruction {
    instruction(LOAD, at, 0, 0)
}

const fn jump_if_equal(value: u32, then: u8, otherwise: u8) -> Instruction {
    instruction(JUMP_IF_EQUAL, value, then, otherwise)
}

const fn jump_if_any(bits: u32, then: u8, otherwise: u8) -> Instruction {
    instruction(JUMP_IF_ANY, bits, then, otherwise)
}

const fn mask(bits: u32) -> Instruction {
    instruction(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, bits, 0, 0)
}

fn end(verdict: Verdict) -> Instruction {
    let value = match verdict {
        Verdict::Allow => libc::SECCOMP_RET_ALLOW,
        Verdict::Report => REPORTED,
        Verdict::Refuse => libc::SECCOMP_RET_ERRNO | libc::EPERM.cast_unsigned(),
    };
    instruction(END, value, 0, 0)
}

#[expect(clippy::cast_possible_truncation, reason = "instruction codes have 16 bits")]
const fn instruction(code: u32, k: u32, jt: u8, jf: u8) -> Instruction {
    Instruction { code: code as u16, jt, jf, k }
}

#[cfg(test)]
mod tests;
