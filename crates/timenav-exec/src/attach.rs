//! Puts a program on the clock, between its `execve` and its first instruction.
//!
//! The thread is stopped where the system call returns. Calls are made on its behalf, using a `syscall` instruction of
//! the kernel's own vDSO, so that no code is modified. At the end its registers are restored, and one word of its stack
//! is changed: the address of the vDSO.

mod handover;

use std::collections::VecDeque;
use std::io;
use std::os::fd::BorrowedFd;

pub(crate) use self::handover::Handover;
use crate::error_text;
use crate::image::{IMAGE, IMAGE_BYTES_MAX};
use crate::kernel::process;
use crate::kernel::ptrace::{self, EVENT_STOP, Registers};
use crate::start::NOT_EXECUTED;
use crate::vdso::{Mapped, NAMES};

/// `AT_SYSINFO_EHDR`: the auxiliary vector entry with the address of the vDSO.
pub(crate) const AT_VDSO: u64 = 33;
const PAGE: u64 = 4096;
/// The originals, the clock page, and the image.
const MAPPED: u64 = 2 * PAGE + CODE;
const CODE: u64 = IMAGE_BYTES_MAX as u64;
/// Offset in the page of originals for the input of `PR_SET_MM_MAP`, and the maximum size of its vector.
const SCRATCH: u64 = 1024;
const AUXILIARY_WORDS_MAX: usize = 128;
/// Upper bound for the pointers to arguments and environment of a program: 6 MiB of them.
const STACK_WORDS_MAX: usize = 6 * 1024 * 1024 / 8;
/// The code segment selector of 64-bit programs.
pub(crate) const WIDE_CODE: u64 = 0x33;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Reason {
    #[error("it is a 32-bit program")]
    Narrow,
    #[error("the kernel gave it no vDSO")]
    NoVdso,
    #[error("its vDSO is not that of this kernel")]
    OtherVdso,
    #[error(
        "another tracer, such as a debugger, has attached to it, or only root may trace it: it gained privileges that \
         the supervisor lacks, or has made itself undumpable"
    )]
    Traced,
    #[error("it runs where its process id is not visible")]
    Invisible,
    #[error("{what} failed: {}", error_text(*error))]
    Refused { what: &'static str, error: i32 },
    /// It is on the clock nevertheless, unless it reads the vDSO address from elsewhere than its stack.
    #[error("changing the kernel's copy of its auxiliary vector failed: {}", error_text(*error))]
    Copy { error: i32 },
}

enum Failed {
    /// The program has ended, with this status.
    Exited(i32),
    /// The program exists, and is unchanged.
    NotOn(Reason),
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::NotOn(Reason::Refused { what: "reading its memory", error: number_of(&error) })
    }
}

/// Facts about this kernel that apply to all programs.
pub(crate) struct Kernel {
    vdso: Mapped,
    /// Offsets of the functions of [`NAMES`] that the image calls.
    originals: [u64; 5],
    instruction: u64,
    time_namespace: Option<std::path::PathBuf>,
    boot_shift: i128,
}

impl Kernel {
    /// Reads the vDSO of this process, which is the same in all processes.
    pub(crate) fn look() -> Option<Self> {
        let vdso = own_vdso()?;
        let clock_gettime = vdso.function("clock_gettime")?;
        let of = |name| vdso.function(name).unwrap_or(clock_gettime);
        let originals = [clock_gettime, of("gettimeofday"), of("clock_getres"), of("getcpu"), of("getrandom")];
        let instruction = vdso.syscall_instruction()?;
        let time_namespace = std::fs::read_link("/proc/self/ns/time").ok();
        Some(Self { vdso, originals, instruction, time_namespace, boot_shift: boot_shift("self") })
    }

    /// Returns by how many nanoseconds a process's boot clock is ahead of ours.
    fn shift(&self, pid: i32) -> i128 {
        let theirs = std::fs::read_link(format!("/proc/{pid}/ns/time_for_children")).ok();
        if theirs == self.time_namespace { 0 } else { boot_shift(&pid.to_string()) - self.boot_shift }
    }
}

/// Returns the image for this kernel, without the functions that its own vDSO lacks.
pub(crate) fn image() -> Option<Vec<u8>> {
    let image = Mapped::read(IMAGE)?.image_with(&own_vdso()?);
    (image.len() <= IMAGE_BYTES_MAX).then_some(image)
}

fn own_vdso() -> Option<Mapped> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let range = maps.lines().find(|line| line.ends_with("[vdso]"))?.split(' ').next()?;
    let (from, to) = range.split_once('-')?;
    let (from, to) = (u64::from_str_radix(from, 16).ok()?, u64::from_str_radix(to, 16).ok()?);
    let mut bytes = vec![0; usize::try_from(to.checked_sub(from)?).ok()?];
    ptrace::read(std::process::id().cast_signed(), from, &mut bytes).ok()?;
    let vdso = Mapped::read(&bytes)?;
    NAMES.iter().any(|name| vdso.function(name).is_some()).then_some(vdso)
}

/// Reads the offset of a process's boot clock, in nanoseconds; 0 without time namespaces.
pub(crate) fn boot_shift(process: &str) -> i128 {
    let text = std::fs::read_to_string(format!("/proc/{process}/timens_offsets")).unwrap_or_default();
    let Some(line) = text.lines().find(|line| line.starts_with("boottime")) else { return 0 };
    let mut numbers = line.split_whitespace().skip(1).filter_map(|word| word.parse::<i128>().ok());
    numbers.next().unwrap_or_default() * 1_000_000_000 + numbers.next().unwrap_or_default()
}

/// Puts a program on the clock of a page. Returns why it is not on it, or not for all ways of asking, and its status if
/// it ended.
///
/// If there is a reason, the program continues, or with `is_strict` is ended.
pub(crate) fn put_on(
    pid: i32,
    kernel: &Kernel,
    handover: Handover<'_>,
    page: BorrowedFd<'_>,
    is_strict: bool,
) -> (Option<Reason>, Option<i32>) {
    let is_let_go = matches!(handover, Handover::Listener(..));
    let mut program = match Program::look(pid, kernel, handover) {
        Ok(program) => program,
        Err(Failed::Exited(status)) => return (None, Some(status)),
        Err(Failed::NotOn(reason)) => {
            if is_let_go {
                let _ = ptrace::detach(pid, 0);
            }
            return (Some(reason), None);
        }
    };
    match program.put_on(page).and_then(|()| program.strictly(is_strict)) {
        Ok(()) => {
            let other = program.other_copy.take();
            program.let_go();
            (other, None)
        }
        Err(Failed::Exited(status)) => (None, Some(status)),
        Err(Failed::NotOn(reason)) if is_strict => (Some(reason), program.end(NOT_EXECUTED.cast_unsigned().into())),
        Err(Failed::NotOn(reason)) => {
            program.let_go();
            (Some(reason), None)
        }
    }
}

/// A newly executed program, stopped where its `execve` returns.
struct Program<'a> {
    pid: i32,
    kernel: &'a Kernel,
    handover: Handover<'a>,
    start: Registers,
    vdso: u64,
    /// Why the kernel's copy of the auxiliary vector still has the address of the original vDSO.
    other_copy: Option<Reason>,
    /// Stop signals to deliver once the program runs.
    stops: Vec<i32>,
}

impl<'a> Program<'a> {
    fn look(pid: i32, kernel: &'a Kernel, handover: Handover<'a>) -> Result<Self, Failed> {
        let start = ptrace::registers(pid)?;
        Ok(Self { pid, kernel, handover, start, vdso: 0, other_copy: None, stops: Vec::new() })
    }

    /// Puts the program on the clock of a page. On failure the program is unchanged.
    fn put_on(&mut self, page: BorrowedFd<'_>) -> Result<(), Failed> {
        if self.start.cs != WIDE_CODE {
            return Err(Failed::NotOn(Reason::Narrow));
        }
        let (entry, auxiliary) = self.auxiliary_vector()?;
        let mask = ptrace::signal_mask(self.pid)?;
        // All signals wait except the one that reports steps.
        ptrace::set_signal_mask(self.pid, !(1 << (libc::SIGTRAP - 1)))?;
        self.heed_filters(false);
        let result = self
            .map(page, &auxiliary)
            .and_then(|image| ptrace::write(self.pid, entry, &image.to_le_bytes()).map_err(Failed::from));
        if let Err(Failed::Exited(status)) = result {
            return Err(Failed::Exited(status));
        }
        self.heed_filters(true);
        ptrace::set_registers(self.pid, &self.start)?;
        ptrace::set_signal_mask(self.pid, mask)?;
        result
    }

    /// Turns the remaining problem of a program on the clock into a failure, if strict.
    fn strictly(&self, is_strict: bool) -> Result<(), Failed> {
        match &self.other_copy {
            Some(reason) if is_strict => Err(Failed::NotOn(reason.clone())),
            Some(_) | None => Ok(()),
        }
    }

    /// Enables or suspends the program's own filters while calls are made on its behalf: a filter that only lists what
    /// the program needs would end it. Without the privilege to suspend them, they stay enabled.
    fn heed_filters(&self, are_heeded: bool) {
        let options = self.handover.options();
        let _ = ptrace::set_options(self.pid, if are_heeded { options } else { options.unfiltered() });
    }

    /// Lets the program run, or stop if it was stopped in the meantime. In tracing mode the tracer resumes it.
    fn let_go(self) {
        if let Handover::Listener(..) = self.handover {
            let _ = ptrace::detach(self.pid, 0);
        }
        for signal in self.stops {
            process::kill(self.pid, signal);
        }
    }

    /// Ends the program before its first instruction, as if it could not be executed. Returns its status if known.
    fn end(mut self, code: u64) -> Option<i32> {
        if self.vdso != 0
            && let Err(Failed::Exited(status)) = self.call(libc::SYS_exit_group, [code, 0, 0, 0, 0, 0])
        {
            return Some(status);
        }
        process::kill(self.pid, libc::SIGKILL);
        None
    }

    fn map(&mut self, page: BorrowedFd<'_>, auxiliary: &[u64]) -> Result<u64, Failed> {
        let anonymous = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS).cast_unsigned().into();
        let writable = (libc::PROT_READ | libc::PROT_WRITE).cast_unsigned().into();
        let parameters = [0, MAPPED, writable, anonymous, u64::MAX, 0];
        let at = self.call(libc::SYS_mmap, parameters).and_then(|result| done("mapping memory", result))?;
        let image = at + 2 * PAGE;
        let result = self.fill(at, page, auxiliary);
        if let Err(Failed::NotOn(_)) = result {
            // Nothing refers to the memory. If this fails too, some of it is lost.
            let _ = self.call(libc::SYS_munmap, [at, MAPPED, 0, 0, 0, 0]);
        }
        result.map(|()| image)
    }

    fn fill(&mut self, at: u64, page: BorrowedFd<'_>, auxiliary: &[u64]) -> Result<(), Failed> {
        let descriptor = self.receive(page, at)?;
        let fixed = |kind: i32| u64::from((kind | libc::MAP_FIXED).cast_unsigned());
        let readable = u64::from(libc::PROT_READ.cast_unsigned());
        let executable = u64::from((libc::PROT_READ | libc::PROT_EXEC).cast_unsigned());
        let clock = self.call(libc::SYS_mmap, [at + PAGE, PAGE, readable, fixed(libc::MAP_SHARED), descriptor, 0])?;
        let code =
            self.call(libc::SYS_mmap, [at + 2 * PAGE, CODE, executable, fixed(libc::MAP_PRIVATE), descriptor, PAGE])?;
        self.call(libc::SYS_close, [descriptor, 0, 0, 0, 0, 0])?;
        done("mapping the clock page", clock)?;
        done("mapping the code that reads it", code)?;
        let shift = self.kernel.shift(self.pid);
        let whole = i64::try_from(shift.div_euclid(1_000_000_000)).unwrap_or_default();
        let rest = i64::try_from(shift.rem_euclid(1_000_000_000)).unwrap_or_default();
        let originals = self.kernel.originals.map(|original| self.vdso + original);
        let words = originals.into_iter().chain([whole.cast_unsigned(), rest.cast_unsigned()]);
        ptrace::write(self.pid, at, &words.flat_map(u64::to_le_bytes).collect::<Vec<u8>>())?;
        self.set_auxiliary(at, auxiliary)?;
        let parameters = [at, PAGE, readable, 0, 0, 0];
        self.call(libc::SYS_mprotect, parameters).and_then(|result| done("protecting memory", result))?;
        Ok(())
    }

    /// Changes the kernel's copy of the auxiliary vector, which some programs read instead of the one on the stack. A
    /// kernel without `CONFIG_CHECKPOINT_RESTORE` rejects this, and filters may. Such programs then have host time.
    fn set_auxiliary(&mut self, at: u64, auxiliary: &[u64]) -> Result<(), Failed> {
        let result = match stat_fields(self.pid) {
            Ok(fields) => self.set_memory_map(at, auxiliary, &fields)?,
            Err(error) => -i64::from(number_of(&error)),
        };
        if result != 0 {
            self.other_copy = Some(Reason::Copy { error: i32::try_from(-result).unwrap_or(libc::EIO) });
        }
        Ok(())
    }

    /// Sets the program's memory map to its current values, with another auxiliary vector. Returns the kernel's result.
    fn set_memory_map(&mut self, at: u64, auxiliary: &[u64], fields: &[u64]) -> Result<i64, Failed> {
        let field = |number: usize| fields.get(number - 3).copied().unwrap_or_default();
        let mut changed = auxiliary.to_vec();
        for pair in changed.chunks_exact_mut(2).filter(|pair| pair[0] == AT_VDSO) {
            pair[1] = at + 2 * PAGE;
        }
        let (vector, map) = (at + SCRATCH, at + SCRATCH + 8 * AUXILIARY_WORDS_MAX as u64);
        let length = 8 * changed.len() as u64;
        // A `prctl_mm_map` (linux/prctl.h). The program has not run yet, so its break is at the start.
        let words = [
            field(26),
            field(27),
            field(45),
            field(46),
            field(47),
            field(47),
            field(28),
            field(48),
            field(49),
            field(50),
            field(51),
            vector,
            length | u64::from(u32::MAX) << 32,
        ];
        ptrace::write(self.pid, vector, &changed.into_iter().flat_map(u64::to_le_bytes).collect::<Vec<u8>>())?;
        ptrace::write(self.pid, map, &words.into_iter().flat_map(u64::to_le_bytes).collect::<Vec<u8>>())?;
        let (set, whole) = (libc::PR_SET_MM.cast_unsigned().into(), 14);
        self.call(libc::SYS_prctl, [set, whole, map, 8 * words.len() as u64, 0, 0])
    }

    /// Finds the auxiliary vector on the stack. Returns the address of its vDSO entry, and the complete vector.
    fn auxiliary_vector(&mut self) -> Result<(u64, Vec<u64>), Failed> {
        let mut stack = Stack { pid: self.pid, at: self.start.rsp, words: VecDeque::new(), taken: 0 };
        let arguments = stack.take()?;
        for _ in 0..arguments {
            stack.take()?;
        }
        stack.take()?;
        while stack.take()? != 0 {}
        let (mut entry, mut vector) = (None, Vec::new());
        while vector.len() < AUXILIARY_WORDS_MAX {
            let key = stack.take()?;
            let at = stack.place();
            let value = stack.take()?;
            vector.extend([key, value]);
            if key == AT_VDSO {
                entry = Some((at, value));
            }
            if key == 0 {
                break;
            }
        }
        let (at, vdso) = entry.ok_or(Failed::NotOn(Reason::NoVdso))?;
        let mut head = vec![0; self.kernel.vdso.head().len()];
        let mut instruction = [0; 2];
        ptrace::read(self.pid, vdso, &mut head)?;
        ptrace::read(self.pid, vdso + self.kernel.instruction, &mut instruction)?;
        if head != self.kernel.vdso.head() || instruction != [0x0f, 0x05] {
            return Err(Failed::NotOn(Reason::OtherVdso));
        }
        self.vdso = vdso;
        Ok((at, vector))
    }

    fn prepare(&self, number: i64, parameters: [u64; 6]) -> Result<(), Failed> {
        let [rdi, rsi, rdx, r10, r8, r9] = parameters;
        let (rip, rax) = (self.vdso + self.kernel.instruction, number.cast_unsigned());
        // No system call is in progress that the kernel could restart.
        let orig_rax = u64::MAX;
        let registers = Registers { rip, rax, orig_rax, rdi, rsi, rdx, r10, r8, r9, ..self.start };
        ptrace::set_registers(self.pid, &registers)?;
        ptrace::step(self.pid)?;
        Ok(())
    }

    /// Makes a system call on the program's behalf.
    fn call(&mut self, number: i64, parameters: [u64; 6]) -> Result<i64, Failed> {
        self.prepare(number, parameters)?;
        self.stepped()
    }

    /// Waits for the end of a step, and returns the result of the system call.
    fn stepped(&mut self) -> Result<i64, Failed> {
        loop {
            let Some((_, status)) = process::wait(self.pid, true) else { return Err(Failed::Exited(0)) };
            if self.has_stepped(status)? {
                return Ok(ptrace::registers(self.pid)?.rax.cast_signed());
            }
        }
    }

    /// Returns whether a stop ends a step. If not, the step is repeated.
    fn has_stepped(&mut self, status: i32) -> Result<bool, Failed> {
        if libc::WIFCONTINUED(status) {
            return Ok(false);
        }
        if !libc::WIFSTOPPED(status) {
            return Err(Failed::Exited(status));
        }
        let (signal, event) = (libc::WSTOPSIG(status), status >> 16);
        if event == 0 && signal == libc::SIGTRAP {
            return Ok(true);
        }
        if event != EVENT_STOP && signal == libc::SIGSTOP {
            self.stops.push(signal);
        }
        ptrace::step(self.pid)?;
        Ok(false)
    }
}

fn done(what: &'static str, result: i64) -> Result<u64, Failed> {
    u64::try_from(result).map_err(|_| {
        let error = i32::try_from(-result).unwrap_or(libc::EIO);
        Failed::NotOn(Reason::Refused { what, error })
    })
}

/// The words of a stack from its top, read in chunks up to a page boundary.
struct Stack {
    pid: i32,
    at: u64,
    words: VecDeque<u64>,
    taken: usize,
}

impl Stack {
    fn take(&mut self) -> Result<u64, Failed> {
        self.taken += 1;
        if self.taken > STACK_WORDS_MAX {
            return Err(Failed::NotOn(Reason::NoVdso));
        }
        if self.words.is_empty() {
            let length = PAGE - self.at % PAGE;
            let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
            ptrace::read(self.pid, self.at, &mut bytes)?;
            self.at += length;
            let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte));
            self.words.extend(bytes.chunks_exact(8).map(word));
        }
        self.words.pop_front().ok_or(Failed::NotOn(Reason::NoVdso))
    }

    fn place(&self) -> u64 {
        self.at - 8 * self.words.len() as u64
    }
}

/// Returns the fields of `/proc/PID/stat` from the third on. All are numbers except the state.
fn stat_fields(pid: i32) -> io::Result<Vec<u64>> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let rest = text.rfind(')').map_or("", |end| &text[end + 1..]);
    Ok(rest.split_whitespace().map(|word| word.parse().unwrap_or_default()).collect())
}

fn number_of(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(libc::EIO)
}
