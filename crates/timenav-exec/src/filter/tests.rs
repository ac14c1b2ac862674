use super::*;

/// Runs a filter on a call, as the kernel would.
fn run(architecture: u32, number: u32, parameters: &[u64]) -> u32 {
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
    let ours = u64::from(OURS[0]) | u64::from(OURS[1]) << 32;
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
            (202, [1, 6, 0, pointer, 0, u64::from(OURS[0])], reported),
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

/// Without kernel filters the tracer decides itself, by the same rules.
#[test]
fn tracer_verdicts_match_the_kernel_filter() {
    let (listener, tracer) = (filter(), filter_for_tracer());
    // `clone3` concerns only the tracer.
    for number in (0..500).filter(|number| *number != 435) {
        for parameters in [[0; 6], [0, 1, 8, 8, 8, 8], [1, 393, 3, 1 << 32, 0, 0], [5, 134, 0, 8, 0, 0]] {
            for architecture in [X86_64, I386, 0xc000_00b7] {
                let expected = match run(architecture, number, &parameters) {
                    ALLOWED => Verdict::Allow,
                    REFUSED => Verdict::Refuse,
                    REPORTED => Verdict::Report,
                    other => panic!("{other:x}"),
                };
                let told = format!("{architecture:x} {number} {parameters:?}");
                assert_eq!(verdict(&listener, architecture, number, &parameters), expected, "{told}");
                assert_eq!(verdict(&tracer, architecture, number, &parameters), expected, "{told}");
            }
        }
    }
    let clone = |flags: u64| verdict(&tracer, X86_64, 56, &[flags, 0, 0, 0, 0, 0]);
    assert_eq!((clone(17), clone(0x0080_0011)), (Verdict::Allow, Verdict::Report), "out of a tracer's reach");
    let clone3 = |filter: &[Instruction]| verdict(filter, X86_64, 435, &[0x1000, 88, 0, 0, 0, 0]);
    assert_eq!((clone3(&filter()), clone3(&tracer)), (Verdict::Allow, Verdict::Report), "its flags are in memory");
    assert!(tracer.iter().all(|it| u32::from(it.code) != END || it.k != REPORTED), "nobody listens");
}
