//! Which system calls are reported to the supervisor, and which are refused.

use crate::kernel::seccomp::Instruction;

/// What happens to a call.
#[derive(Clone, Copy)]
enum Verdict {
    Allow,
    Report,
    Refuse,
}

const REPORTED: u32 = libc::SECCOMP_RET_USER_NOTIF;
/// Where the parts of `struct seccomp_data` are.
const NUMBER_AT: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;
const PARAMETERS_AT: u32 = 16;
/// `AUDIT_ARCH_X86_64` and `AUDIT_ARCH_I386`.
const X86_64: u32 = 0xc000_003e;
const I386: u32 = 0x4000_0003;
/// System calls of 64-bit programs with 32-bit pointers have this bit.
const X32: u32 = 0x4000_0000;
/// The clocks that are virtual: realtime, its alarm, and atomic time. The coarse one can be read and not slept on.
const CLOCKS: [u32; 3] = [0, 8, 11];
const COARSE: u32 = 5;
/// `TIMER_ABSTIME`, and `TFD_TIMER_ABSTIME`.
const ABSOLUTE: u32 = 1;

/// Returns the filter.
pub(crate) fn filter() -> Vec<Instruction> {
    let mut filter = vec![load(ARCHITECTURE_AT)];
    let narrow = narrow_calls();
    let length = u8::try_from(narrow.len()).unwrap_or(u8::MAX);
    filter.extend([jump_if_equal(X86_64, length + 1, 0), jump_if_equal(I386, 0, length)]);
    filter.extend(narrow);
    // Another architecture ends up here too: none of its numbers is known.
    filter.extend(wide_calls());
    filter
}

/// Returns what a 32-bit program may do. It has host time, but what it starts may be put on the clock.
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

fn wide_calls() -> Vec<Instruction> {
    let mut calls = vec![load(NUMBER_AT)];
    let number = |number: libc::c_long| u32::try_from(number).unwrap_or(u32::MAX);
    for (number, verdict) in [
        (number(libc::SYS_execve), Verdict::Report),
        (number(libc::SYS_execveat), Verdict::Report),
        (X32 | 0x208, Verdict::Report),
        (X32 | 0x221, Verdict::Report),
        (number(libc::SYS_gettimeofday), Verdict::Report),
        (number(libc::SYS_time), Verdict::Report),
        (number(libc::SYS_adjtimex), Verdict::Report),
        (number(libc::SYS_clock_adjtime), Verdict::Report),
        (number(libc::SYS_clock_settime), Verdict::Refuse),
        (number(libc::SYS_settimeofday), Verdict::Refuse),
    ] {
        calls.extend([jump_if_equal(number, 0, 1), end(verdict)]);
    }
    calls.extend(rule(number(libc::SYS_clock_gettime), report_clocks(&[CLOCKS[0], CLOCKS[1], CLOCKS[2], COARSE])));
    let mut sleep = vec![load(parameter(1)), jump_if_any(ABSOLUTE, 1, 0), end(Verdict::Allow)];
    sleep.extend(report_clocks(&CLOCKS));
    calls.extend(rule(number(libc::SYS_clock_nanosleep), sleep));
    let timer = vec![load(parameter(1)), jump_if_any(ABSOLUTE, 0, 1), end(Verdict::Report), end(Verdict::Allow)];
    calls.extend(rule(number(libc::SYS_timerfd_settime), timer));
    calls.push(end(Verdict::Allow));
    calls
}

/// Returns the instructions for one call. They end it whichever way they go.
fn rule(number: u32, body: Vec<Instruction>) -> Vec<Instruction> {
    let length = u8::try_from(body.len()).unwrap_or(u8::MAX);
    std::iter::once(jump_if_equal(number, 0, length)).chain(body).collect()
}

/// Reports a call whose first parameter is one of these clocks.
fn report_clocks(clocks: &[u32]) -> Vec<Instruction> {
    let mut body = vec![load(parameter(0))];
    for clock in clocks {
        body.extend([jump_if_equal(*clock, 0, 1), end(Verdict::Report)]);
    }
    body.push(end(Verdict::Allow));
    body
}

/// Returns where the lower half of a parameter is. Clocks and flags are no longer.
const fn parameter(index: u32) -> u32 {
    PARAMETERS_AT + index * 8
}

const fn load(at: u32) -> Instruction {
    instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, at, 0, 0)
}

const fn jump_if_equal(value: u32, then: u8, otherwise: u8) -> Instruction {
    instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, value, then, otherwise)
}

const fn jump_if_any(bits: u32, then: u8, otherwise: u8) -> Instruction {
    instruction(libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K, bits, then, otherwise)
}

fn end(verdict: Verdict) -> Instruction {
    let value = match verdict {
        Verdict::Allow => libc::SECCOMP_RET_ALLOW,
        Verdict::Report => REPORTED,
        Verdict::Refuse => libc::SECCOMP_RET_ERRNO | libc::EPERM.cast_unsigned(),
    };
    instruction(libc::BPF_RET | libc::BPF_K, value, 0, 0)
}

#[expect(clippy::cast_possible_truncation, reason = "codes of instructions have 16 bits")]
const fn instruction(code: u32, k: u32, jt: u8, jf: u8) -> Instruction {
    Instruction { code: code as u16, jt, jf, k }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel would do: runs a filter on a call.
    fn run(architecture: u32, number: u32, parameters: [u32; 2]) -> u32 {
        let filter = filter();
        let (mut at, mut value) = (0, 0);
        for _ in 0..filter.len() {
            let Instruction { code, jt, jf, k } = filter[at];
            at += 1;
            let goes = |is_true: bool| usize::from(if is_true { jt } else { jf });
            match u32::from(code) {
                code if code == libc::BPF_LD | libc::BPF_W | libc::BPF_ABS => {
                    value = match k {
                        NUMBER_AT => number,
                        ARCHITECTURE_AT => architecture,
                        PARAMETERS_AT => parameters[0],
                        at if at == parameter(1) => parameters[1],
                        other => panic!("{other}"),
                    }
                }
                code if code == libc::BPF_RET | libc::BPF_K => return k,
                code if code == libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K => at += goes(value == k),
                code if code == libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K => at += goes(value & k != 0),
                other => panic!("{other}"),
            }
        }
        panic!("the filter has no end")
    }

    #[test]
    fn what_is_about_virtual_time_is_reported_and_nothing_else() {
        let (allowed, refused) = (libc::SECCOMP_RET_ALLOW, libc::SECCOMP_RET_ERRNO | 1);
        for (architecture, number, parameters, expected) in [
            (X86_64, 59, [0, 0], REPORTED),
            (X86_64, 322, [0, 0], REPORTED),
            (X86_64, X32 | 0x208, [0, 0], REPORTED),
            (I386, 11, [0, 0], REPORTED),
            (I386, 59, [0, 0], allowed),
            (I386, 79, [0, 0], refused),
            (0xc000_00b7, 221, [0, 0], allowed),
            (X86_64, 0, [0, 0], allowed),
            (X86_64, 201, [0, 0], REPORTED),
            (X86_64, 96, [0, 0], REPORTED),
            (X86_64, 227, [0, 0], refused),
            (X86_64, 164, [0, 0], refused),
            (X86_64, 228, [0, 0], REPORTED),
            (X86_64, 228, [1, 0], allowed),
            (X86_64, 228, [5, 0], REPORTED),
            (X86_64, 228, [7, 0], allowed),
            (X86_64, 228, [11, 0], REPORTED),
            (X86_64, 230, [0, 0], allowed),
            (X86_64, 230, [0, 1], REPORTED),
            (X86_64, 230, [1, 1], allowed),
            (X86_64, 230, [5, 1], allowed),
            (X86_64, 286, [3, 0], allowed),
            (X86_64, 286, [3, 1], REPORTED),
            (X86_64, 286, [3, 3], REPORTED),
            (X86_64, 231, [0, 1], allowed),
        ] {
            assert_eq!(run(architecture, number, parameters), expected, "{architecture:x} {number} {parameters:?}");
        }
    }
}
