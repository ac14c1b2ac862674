//! The rules for programs whose sleeps and timeouts are virtual: all calls that wait for a length of time, or until a
//! moment of a monotonic clock.

use super::{
    CLOCKS, COARSE, FIRST, FUTEX_COMMAND, FUTEX_LOCK_PI, FUTEX_WAITS, Instruction, LAST, SYS_FUTEX_WAIT, Verdict, end,
    jump_if_any, jump_if_equal, let_ours_pass, load, mask, number, parameter, report_clocks, report_pointer, rule,
};

/// `CLOCK_MONOTONIC`, `CLOCK_BOOTTIME`, and its alarm. The coarse one can be read but not slept on.
const PASSING: [u32; 3] = [1, 7, 9];
const PASSING_COARSE: u32 = 6;
/// `FUTEX_WAIT`, whose timeout is a length.
const FUTEX_WAIT: u32 = 0;
/// `ITIMER_REAL`.
const REAL: u32 = 0;
const NEGATIVE: u32 = 1 << 31;

/// Reports waits with a timeout.
pub(super) fn futex() -> Vec<Instruction> {
    let mut body = let_ours_pass(LAST);
    body.extend([load(parameter(1)), mask(FUTEX_COMMAND)]);
    let waits = [FUTEX_WAIT, FUTEX_WAITS[0], FUTEX_LOCK_PI, FUTEX_WAITS[1], FUTEX_WAITS[2]];
    for (left, command) in (1..=5).rev().zip(waits) {
        body.push(jump_if_equal(command, left, 0));
    }
    body.push(end(Verdict::Allow));
    body.extend(report_pointer(3));
    body
}

pub(super) fn calls() -> Vec<Instruction> {
    let mut calls = Vec::new();
    let clocks = [CLOCKS, PASSING].concat();
    for (call, marked, timeout) in [
        (libc::SYS_nanosleep, LAST, 0),
        (libc::SYS_ppoll, LAST, 2),
        (libc::SYS_select, LAST, 4),
        (libc::SYS_pselect6, FIRST, 4),
        (libc::SYS_epoll_pwait2, FIRST, 3),
        (libc::SYS_rt_sigtimedwait, LAST, 2),
        (libc::SYS_semtimedop, LAST, 3),
        (libc::SYS_recvmmsg, LAST, 4),
        (libc::SYS_futex_waitv, LAST, 3),
        (SYS_FUTEX_WAIT, LAST, 4),
    ] {
        calls.extend(rule(number(call), [let_ours_pass(marked), report_pointer(timeout)].concat()));
    }
    for (call, marked, timeout) in
        [(libc::SYS_poll, LAST, 2), (libc::SYS_epoll_wait, LAST, 3), (libc::SYS_epoll_pwait, FIRST, 3)]
    {
        calls.extend(rule(number(call), [let_ours_pass(marked), report_positive(timeout)].concat()));
    }
    let read = [&clocks[..], &[COARSE, PASSING_COARSE]].concat();
    calls.extend(rule(number(libc::SYS_clock_gettime), report_clocks(&read)));
    calls.extend(rule(number(libc::SYS_clock_nanosleep), [let_ours_pass(LAST), report_clocks(&clocks)].concat()));
    calls.extend(rule(number(libc::SYS_timer_settime), [let_ours_pass(LAST), vec![end(Verdict::Report)]].concat()));
    for call in [libc::SYS_setitimer, libc::SYS_getitimer] {
        calls.extend(rule(number(call), report_clocks(&[REAL])));
    }
    for call in [libc::SYS_alarm, libc::SYS_timer_gettime, libc::SYS_timerfd_settime, libc::SYS_timerfd_gettime] {
        calls.extend([jump_if_equal(number(call), 0, 1), end(Verdict::Report)]);
    }
    calls
}

/// Reports a call if a parameter is a positive number of 32 bits.
fn report_positive(index: u32) -> Vec<Instruction> {
    vec![
        load(parameter(index)),
        jump_if_equal(0, 2, 0),
        jump_if_any(NEGATIVE, 1, 0),
        end(Verdict::Report),
        end(Verdict::Allow),
    ]
}
