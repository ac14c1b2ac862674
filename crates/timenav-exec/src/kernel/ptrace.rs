use std::io;
use std::mem::MaybeUninit;

use super::checked;

pub(crate) type Registers = libc::user_regs_struct;

/// The event of a thread that was interrupted, or that takes part in a stop of its process.
pub(crate) const EVENT_STOP: i32 = 128;
const SET_SIGNAL_MASK: Request = 0x420b;
const GET_SIGNAL_MASK: Request = 0x420a;
const LISTEN: Request = 0x4208;

/// The type of requests in the C library.
#[cfg(not(target_env = "musl"))]
type Request = libc::c_uint;
#[cfg(target_env = "musl")]
type Request = libc::c_int;

fn call(request: Request, pid: i32, address: usize, data: usize) -> io::Result<()> {
    // SAFETY: requests made through this function write nothing into this process.
    checked(unsafe { libc::ptrace(request, pid, address, data) }).map(|_| ())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Options(i32);

impl Options {
    /// Reports executed programs, and entries and exits of system calls.
    pub(crate) const CALLS: Self = Self(libc::PTRACE_O_TRACEEXEC | libc::PTRACE_O_TRACESYSGOOD);
    /// Includes all children of the thread, and reports calls selected by a filter.
    pub(crate) const TREE: Self = Self(
        Self::CALLS.0
            | libc::PTRACE_O_TRACEFORK
            | libc::PTRACE_O_TRACEVFORK
            | libc::PTRACE_O_TRACECLONE
            | libc::PTRACE_O_TRACESECCOMP,
    );

    /// Kills the thread if the tracer ends.
    pub(crate) const fn bound(self) -> Self {
        Self(self.0 | libc::PTRACE_O_EXITKILL)
    }

    /// Suspends the filters of the thread. Requires root, and that the tracer has no filter itself.
    pub(crate) const fn unfiltered(self) -> Self {
        Self(self.0 | libc::PTRACE_O_SUSPEND_SECCOMP)
    }

    fn bits(self) -> usize {
        usize::try_from(self.0).unwrap_or_default()
    }
}

/// Attaches to a thread without stopping it. Reports executed programs. While attached, the thread is killed if this
/// process ends: a program that is only partly on the clock must not continue.
pub(crate) fn seize(pid: i32) -> io::Result<()> {
    seize_with(pid, Options::CALLS.bound())
}

/// Attaches to a thread without stopping it.
pub(crate) fn seize_with(pid: i32, options: Options) -> io::Result<()> {
    call(libc::PTRACE_SEIZE, pid, 0, options.bits())
}

pub(crate) fn set_options(pid: i32, options: Options) -> io::Result<()> {
    call(libc::PTRACE_SETOPTIONS, pid, 0, options.bits())
}

/// Attaches without stopping, for atomic changes. The thread continues if this process is killed.
pub(crate) fn seize_for_a_moment(pid: i32) -> io::Result<()> {
    call(libc::PTRACE_SEIZE, pid, 0, 0)
}

pub(crate) fn interrupt(pid: i32) -> io::Result<()> {
    call(libc::PTRACE_INTERRUPT, pid, 0, 0)
}

/// Continues a stopped thread up to the next entry or exit of a system call, with a signal unless it is 0.
pub(crate) fn go_on_to_call(pid: i32, signal: i32) -> io::Result<()> {
    call(libc::PTRACE_SYSCALL, pid, 0, usize::try_from(signal).unwrap_or_default())
}

/// Continues a stopped thread, with a signal unless it is 0.
pub(crate) fn go_on(pid: i32, signal: i32) -> io::Result<()> {
    call(libc::PTRACE_CONT, pid, 0, usize::try_from(signal).unwrap_or_default())
}

/// Leaves a thread stopped whose process was stopped by a signal, until it is continued.
pub(crate) fn leave_stopped(pid: i32) -> io::Result<()> {
    call(LISTEN, pid, 0, 0)
}

/// Executes one instruction of a stopped thread.
pub(crate) fn step(pid: i32) -> io::Result<()> {
    call(libc::PTRACE_SINGLESTEP, pid, 0, 0)
}

/// Detaches from a stopped thread, which continues with a signal unless it is 0.
pub(crate) fn detach(pid: i32, signal: i32) -> io::Result<()> {
    call(libc::PTRACE_DETACH, pid, 0, usize::try_from(signal).unwrap_or_default())
}

pub(crate) fn registers(pid: i32) -> io::Result<Registers> {
    let mut registers = MaybeUninit::<Registers>::zeroed();
    // SAFETY: the kernel writes one `user_regs_struct` into space for one.
    checked(unsafe { libc::ptrace(libc::PTRACE_GETREGS, pid, 0, registers.as_mut_ptr()) })?;
    // SAFETY: any bits are valid for its integers, and they were zeroed before.
    Ok(unsafe { registers.assume_init() })
}

pub(crate) fn set_registers(pid: i32, registers: &Registers) -> io::Result<()> {
    // SAFETY: the kernel reads one `user_regs_struct` from a reference to one.
    checked(unsafe { libc::ptrace(libc::PTRACE_SETREGS, pid, 0, std::ptr::from_ref(registers)) }).map(|_| ())
}

pub(crate) fn signal_mask(pid: i32) -> io::Result<u64> {
    let mut mask = 0_u64;
    // SAFETY: the kernel writes the given number of bytes, which is the size of the mask.
    checked(unsafe { libc::ptrace(GET_SIGNAL_MASK, pid, size_of::<u64>(), &raw mut mask) })?;
    Ok(mask)
}

pub(crate) fn set_signal_mask(pid: i32, mask: u64) -> io::Result<()> {
    // SAFETY: the kernel reads the given number of bytes, which is the size of the mask.
    checked(unsafe { libc::ptrace(SET_SIGNAL_MASK, pid, size_of::<u64>(), &raw const mask) }).map(|_| ())
}

/// Returns the message of a stop: for an executed program, the previous thread id.
pub(crate) fn event_message(pid: i32) -> io::Result<i32> {
    let mut message: libc::c_ulong = 0;
    // SAFETY: the kernel writes one `unsigned long`.
    checked(unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, pid, 0, &raw mut message) })?;
    Ok(i32::try_from(message).unwrap_or_default())
}

/// Reads memory of a process, completely or not at all.
pub(crate) fn read(pid: i32, address: u64, into: &mut [u8]) -> io::Result<()> {
    let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: into.len() };
    // SAFETY: the local vector is the slice. The kernel resolves the remote address in the other process, and reports
    // an error if it is not mapped.
    let count = checked(unsafe { libc::process_vm_readv(pid, &raw const local, 1, &raw const remote, 1, 0) } as i64)?;
    whole(count, into.len())
}

/// Writes memory of a process. Partial writes are an error.
pub(crate) fn write(pid: i32, address: u64, bytes: &[u8]) -> io::Result<()> {
    let local = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: bytes.len() };
    // SAFETY: the local vector is the slice, which the kernel only reads; the remote one as above.
    let count = checked(unsafe { libc::process_vm_writev(pid, &raw const local, 1, &raw const remote, 1, 0) } as i64)?;
    whole(count, bytes.len())
}

/// Writes a word of a stopped thread's memory, even if the thread cannot write there.
pub(crate) fn poke(pid: i32, address: u64, word: u64) -> io::Result<()> {
    let (address, word) = (usize::try_from(address), usize::try_from(word));
    let invalid = |_| io::Error::from_raw_os_error(libc::EFAULT);
    call(libc::PTRACE_POKEDATA, pid, address.map_err(invalid)?, word.map_err(invalid)?)
}

fn whole(count: i64, expected: usize) -> io::Result<()> {
    if usize::try_from(count) == Ok(expected) { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::EFAULT)) }
}
