use super::*;

/// Runs a filter on a call, as the kernel would.
fn run(architecture: u32, number: u32, parameters: &[u64]) -> u32 {
    run_filter(&filter(false), architecture, number, parameters)
}

fn run_filter(filter: &[Instruction], architecture: u32, number: u32, parameters: &[u64]) -> u32 {
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
                    at if (PARAMETERS_AT..PARAMETERS_AT + 48).contains(&at) => {
                        let index = usize::try_from((at - PARAMETERS_AT) / 8).unwrap();
                        let parameter = parameters.get(index).copied().unwrap_or_default();
                        u32::try_from(parameter >> (8 * (at % 8)) & 0xffff_ffff).unwrap()
                    }
                    other => panic!("{other}"),
                }
            }
            code if code == libc::BPF_RET | libc::BPF_K => return k,
            code if code == libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K => at += goes(value == k),
            code if code == libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K => at += goes(value & k != 0),
            code if code == libc::BPF_ALU | libc::BPF_AND | libc::BPF_K => value &= k,
            other => panic!("{other}"),
        }
    }
    panic!("the filter has no end")
}

const ALLOWED: u32 = libc::SECCOMP_RET_ALLOW;
const REFUSED: u32 = libc::SECCOMP_RET_ERRNO | 1;

#[test]
fn only_calls_about_virtual_time_are_reported() {
    for (architecture, number, parameters, expected) in [
        (X86_64, 59, [0, 0], REPORTED),
        (X86_64, 322, [0, 0], REPORTED),
        (X86_64, X32 | 0x208, [0, 0], REPORTED),
        (I386, 11, [0, 0], REPORTED),
        (I386, 59, [0, 0], ALLOWED),
        (I386, 79, [0, 0], REFUSED),
        (0xc000_00b7, 221, [0, 0], ALLOWED),
        (X86_64, 0, [0, 0], ALLOWED),
        (X86_64, 201, [0, 0], REPORTED),
        (X86_64, 96, [0, 0], REPORTED),
        (X86_64, 227, [0, 0], REFUSED),
        (X86_64, 164, [0, 0], REFUSED),
        (X86_64, 228, [0, 0], REPORTED),
        (X86_64, 228, [1, 0], ALLOWED),
        (X86_64, 228, [5, 0], REPORTED),
        (X86_64, 228, [7, 0], ALLOWED),
        (X86_64, 228, [11, 0], REPORTED),
        (X86_64, 230, [0, 0], ALLOWED),
        (X86_64, 230, [0, 1], REPORTED),
        (X86_64, 230, [1, 1], ALLOWED),
        (X86_64, 230, [5, 1], ALLOWED),
        (X86_64, 286, [3, 0], ALLOWED),
        (X86_64, 286, [3, 1], REPORTED),
        (X86_64, 286, [3, 3], REPORTED),
        (X86_64, 223, [3, 0], ALLOWED),
        (X86_64, 223, [3, 1], REPORTED),
        (X86_64, 231, [0, 1], ALLOWED),
        (X86_64, 425, [8, 0], REPORTED),
        (X86_64, 426, [3, 1], ALLOWED),
    ] {
        assert_eq!(run(architecture, number, &parameters), expected, "{architecture:x} {number} {parameters:?}");
    }
}

/// Either half of a pointer may be zero; a null pointer means no timeout.
#[test]
fn waits_until_a_realtime_moment_are_reported() {
    let ours = u64::from(OURS) << 32 | 5;
    let pointers = [(0, ALLOWED), (8, REPORTED), (1 << 32, REPORTED), (0x7fff_1234_5678, REPORTED)];
    for (pointer, reported) in pointers {
        for (number, parameters, expected) in [
            // futex: wait, wake, wait with a set of bits, the same by realtime, shared, and waits that go on to a lock.
            (202, [1, 0, 3, pointer, 0, 0], ALLOWED),
            (202, [1, 129, 3, pointer, 0, 0], ALLOWED),
            (202, [1, 137, 3, pointer, 0, u64::from(u32::MAX)], ALLOWED),
            (202, [1, 393, 3, pointer, 0, u64::from(u32::MAX)], reported),
            (202, [1, 265, 3, pointer, 0, 1], reported),
            (202, [1, 395, 3, pointer, 0, 0], reported),
            (202, [1, 139, 3, pointer, 0, 0], ALLOWED),
            // Locks: the older call has no flag, and goes by realtime.
            (202, [1, 134, 0, pointer, 0, 0], reported),
            (202, [1, 6, 0, pointer, 0, u64::from(OURS)], reported),
            (202, [1, 6, 0, pointer, 0, ours], ALLOWED),
            (202, [1, 141, 0, pointer, 0, 0], ALLOWED),
            (202, [1, 397, 0, pointer, 0, 0], reported),
            // futex_waitv and futex_wait.
            (449, [1, 2, 0, pointer, 0, 0], reported),
            (449, [1, 2, 0, pointer, 1, 0], ALLOWED),
            (455, [1, 2, 3, 4, pointer, 0], reported),
            (455, [1, 2, 3, 4, pointer, 1], ALLOWED),
            // Message queues.
            (242, [1, 2, 3, 4, pointer, 0], reported),
            (243, [1, 2, 3, 4, pointer, 7], reported),
            (243, [1, 2, 3, 4, pointer, ours], ALLOWED),
        ] {
            assert_eq!(run(X86_64, number, &parameters), expected, "{number} {parameters:?}");
        }
    }
}

/// With virtual sleeps all timeouts are reported, but neither waits without one nor those of the image.
#[test]
fn waits_for_a_length_are_reported_if_sleeps_are_virtual() {
    let filter = filter(true);
    let ours = u64::from(OURS) << 32;
    for (number, parameters, expected) in [
        // futex: a wait for a length, until a moment, without an end, by the image; a wake.
        (202, [1, 128, 3, 8, 0, 0], REPORTED),
        (202, [1, 137, 3, 8, 0, u64::from(u32::MAX)], REPORTED),
        (202, [1, 393, 3, 8, 0, u64::from(u32::MAX)], REPORTED),
        (202, [1, 134, 3, 8, 0, 0], REPORTED),
        (202, [1, 139, 3, 8, 0, 0], REPORTED),
        (202, [1, 141, 3, 8, 0, 0], REPORTED),
        (202, [1, 128, 3, 0, 0, 0], ALLOWED),
        (202, [1, 137, 3, 8, 0, ours | 5], ALLOWED),
        (202, [1, 129, 3, 8, 0, 0], ALLOWED),
        (202, [1, 132, 3, 8, 0, 0], ALLOWED),
        (449, [1, 2, 0, 8, 1, 0], REPORTED),
        (449, [1, 2, 0, 8, 1, ours], ALLOWED),
        (455, [1, 2, 3, 4, 8, 1], REPORTED),
        (455, [1, 2, 3, 4, 8, ours | 1], ALLOWED),
        // nanosleep, clock_nanosleep: clocks of the processor stay as they are.
        (35, [8, 0, 0, 0, 0, 0], REPORTED),
        (35, [8, 0, 0, 0, 0, ours], ALLOWED),
        (230, [0, 0, 8, 0, 0, 0], REPORTED),
        (230, [1, 0, 8, 0, 0, 0], REPORTED),
        (230, [7, 1, 8, 0, 0, 0], REPORTED),
        (230, [2, 0, 8, 0, 0, 0], ALLOWED),
        (230, [1, 0, 8, 0, 0, ours], ALLOWED),
        // poll, ppoll, select, pselect6.
        (7, [8, 1, 1, 0, 0, 0], REPORTED),
        (7, [8, 1, 0, 0, 0, 0], ALLOWED),
        (7, [8, 1, u64::from(u32::MAX), 0, 0, 0], ALLOWED),
        (7, [8, 1, 1, 0, 0, ours], ALLOWED),
        (271, [8, 1, 8, 0, 0, 0], REPORTED),
        (271, [8, 1, 0, 0, 0, 0], ALLOWED),
        (23, [1, 8, 8, 8, 8, 0], REPORTED),
        (23, [1, 8, 8, 8, 0, 0], ALLOWED),
        (270, [1, 8, 8, 8, 8, 8], REPORTED),
        (270, [ours | 1, 8, 8, 8, 8, 8], ALLOWED),
        // epoll_wait, epoll_pwait, epoll_pwait2.
        (232, [1, 8, 9, 1000, 0, 0], REPORTED),
        (232, [1, 8, 9, 0, 0, 0], ALLOWED),
        (232, [1, 8, 9, 0xffff_ffff_ffff_ffff, 0, 0], ALLOWED),
        (281, [1, 8, 9, 1000, 8, 8], REPORTED),
        (281, [ours | 1, 8, 9, 1000, 8, 8], ALLOWED),
        (441, [1, 8, 9, 8, 8, 8], REPORTED),
        (441, [ours | 1, 8, 9, 8, 8, 8], ALLOWED),
        // rt_sigtimedwait, semtimedop, recvmmsg, mq_timedreceive.
        (128, [8, 8, 8, 8, 0, 0], REPORTED),
        (128, [8, 8, 0, 8, 0, 0], ALLOWED),
        (220, [1, 8, 1, 8, 0, 0], REPORTED),
        (220, [1, 8, 1, 0, 0, 0], ALLOWED),
        (299, [1, 8, 1, 0, 8, 0], REPORTED),
        (243, [1, 2, 3, 4, 8, 0], REPORTED),
        // Timers and alarms.
        (286, [3, 0, 8, 0, 0, 0], REPORTED),
        (287, [3, 8, 0, 0, 0, 0], REPORTED),
        (223, [0, 0, 8, 0, 0, 0], REPORTED),
        (223, [0, 0, 8, 0, 0, ours], ALLOWED),
        (37, [5, 0, 0, 0, 0, 0], REPORTED),
        (38, [0, 8, 0, 0, 0, 0], REPORTED),
        (38, [2, 8, 0, 0, 0, 0], ALLOWED),
        (36, [0, 8, 0, 0, 0, 0], REPORTED),
        // Clocks.
        (228, [1, 8, 0, 0, 0, 0], REPORTED),
        (228, [6, 8, 0, 0, 0, 0], REPORTED),
        (228, [7, 8, 0, 0, 0, 0], REPORTED),
        (228, [0, 8, 0, 0, 0, 0], REPORTED),
        (228, [4, 8, 0, 0, 0, 0], ALLOWED),
        (228, [2, 8, 0, 0, 0, 0], ALLOWED),
    ] {
        assert_eq!(run_filter(&filter, X86_64, number, &parameters), expected, "{number} {parameters:?}");
    }
    for number in [59, 322, 96, 201] {
        assert_eq!(run_filter(&filter, X86_64, number, &[0; 6]), REPORTED, "as otherwise: {number}");
    }
}

/// Without kernel filters the tracer decides itself, by the same rules.
#[test]
fn tracer_verdicts_match_the_kernel_filter() {
    for has_virtual_sleeps in [false, true] {
        let (listener, tracer) = (filter(has_virtual_sleeps), filter_for_tracer(has_virtual_sleeps));
        // `clone3` concerns only the tracer.
        for number in (0..500).filter(|number| *number != 435) {
            for parameters in [[0; 6], [0, 1, 8, 8, 8, 8], [1, 393, 3, 1 << 32, 0, 0], [5, 134, 0, 8, 0, 0]] {
                for architecture in [X86_64, I386, 0xc000_00b7] {
                    let expected = match run_filter(&listener, architecture, number, &parameters) {
                        ALLOWED => Verdict::Allow,
                        REFUSED => Verdict::Refuse,
                        REPORTED => Verdict::Report,
                        other => panic!("{other:x}"),
                    };
                    let context = format!("{architecture:x} {number} {parameters:?}");
                    assert_eq!(verdict(&listener, architecture, number, &parameters), expected, "{context}");
                    assert_eq!(verdict(&tracer, architecture, number, &parameters), expected, "{context}");
                }
            }
        }
        assert!(tracer.iter().all(|it| u32::from(it.code) != END || it.k != REPORTED), "nobody listens");
    }
    let (listener, tracer) = (filter(false), filter_for_tracer(false));
    let clone = |flags: u64| verdict(&tracer, X86_64, 56, &[flags, 0, 0, 0, 0, 0]);
    assert_eq!((clone(17), clone(0x0080_0011)), (Verdict::Allow, Verdict::Report), "out of a tracer's reach");
    let clone3 = |filter: &[Instruction]| verdict(filter, X86_64, 435, &[0x1000, 88, 0, 0, 0, 0]);
    assert_eq!((clone3(&listener), clone3(&tracer)), (Verdict::Allow, Verdict::Report), "its flags are in memory");
}
