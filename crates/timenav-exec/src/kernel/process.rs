use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{FromRawFd as _, OwnedFd};

use rustix::event::{PollFd, Timespec};

use super::checked;
use crate::page::Moment;

pub(crate) enum Side {
    /// The original process, with the id of the new one.
    Parent(i32),
    Child,
}

/// Fails if there is more than one thread: the child might wait forever for a lock.
pub(crate) fn fork() -> io::Result<Side> {
    if std::fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::Error::other("a process with several threads is not divided"));
    }
    // SAFETY: with one thread, the child is a complete copy of this process, in which any function may be called.
    match checked(i64::from(unsafe { libc::fork() }))? {
        0 => Ok(Side::Child),
        pid => Ok(Side::Parent(i32::try_from(pid).map_err(io::Error::other)?)),
    }
}

/// Executes another program, searching for it like a shell. Returns only on failure, with the reason.
pub(crate) fn execute(arguments: &[CString]) -> io::Error {
    let Some(name) = arguments.first() else { return io::Error::from_raw_os_error(libc::EINVAL) };
    // SAFETY: the vector ends in a null pointer, and its strings live until the call returns, if it does.
    unsafe { libc::execvp(name.as_ptr(), pointers(arguments).as_ptr()) };
    io::Error::last_os_error()
}

pub(crate) fn execute_with(arguments: &[CString], environment: &[CString]) -> io::Error {
    let Some(name) = arguments.first() else { return io::Error::from_raw_os_error(libc::EINVAL) };
    // SAFETY: both vectors end in a null pointer, and their strings live until the call returns, if it does.
    unsafe { libc::execvpe(name.as_ptr(), pointers(arguments).as_ptr(), pointers(environment).as_ptr()) };
    io::Error::last_os_error()
}

fn pointers(texts: &[CString]) -> Vec<*const libc::c_char> {
    texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
}

/// Ends this process immediately, without running exit handlers.
pub(crate) fn exit_now(code: i32) -> ! {
    // SAFETY: does not return.
    unsafe { libc::_exit(code) }
}

#[derive(Clone, Copy)]
pub(crate) struct Signals(libc::sigset_t);

impl Signals {
    pub(crate) fn of(signals: &[i32]) -> Self {
        // SAFETY: any bits are a valid set, and the calls only write to it.
        unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut set);
            for signal in signals {
                libc::sigaddset(&raw mut set, *signal);
            }
            Self(set)
        }
    }

    /// Replaces the set of blocked signals, and returns the previous one.
    pub(crate) fn block(self) -> Self {
        let mut before = Self::of(&[]);
        // SAFETY: both are sets; the kernel reads one and writes the other.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, &raw mut before.0) };
        before
    }

    pub(crate) fn descriptor(self) -> io::Result<OwnedFd> {
        // SAFETY: the kernel reads the set, and opens a descriptor that only we own.
        unsafe {
            let fd = checked(i64::from(libc::signalfd(-1, &raw const self.0, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)))?;
            Ok(OwnedFd::from_raw_fd(i32::try_from(fd).map_err(io::Error::other)?))
        }
    }
}

pub(crate) fn reset(signal: i32) {
    // SAFETY: does not set a handler.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}

/// Sends this process a signal and unblocks it temporarily.
pub(crate) fn raise_unblocked(signal: i32) {
    raise_unless(signal, || false);
}

/// Sends this process a signal, and delivers it unless `is_off` while pending. It is blocked before and after.
pub(crate) fn raise_unless(signal: i32, is_off: impl FnOnce() -> bool) {
    reset(signal);
    let set = Signals::of(&[signal]);
    // SAFETY: takes an integer, and a set that is not written.
    unsafe {
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set.0, std::ptr::null_mut());
        libc::raise(signal);
    }
    if is_off() {
        return;
    }
    // SAFETY: takes a set that is not written.
    unsafe {
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set.0, std::ptr::null_mut());
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set.0, std::ptr::null_mut());
    }
}

pub(crate) fn kill(pid: i32, signal: i32) {
    // SAFETY: takes only integers.
    unsafe { libc::kill(pid, signal) };
}

/// Returns the next event of a process, or of any process for −1, with the raw status; `None` if there is none.
pub(crate) fn wait(pid: i32, is_blocking: bool) -> Option<(i32, i32)> {
    let how = libc::__WALL | libc::WUNTRACED | libc::WCONTINUED | if is_blocking { 0 } else { libc::WNOHANG };
    let mut status = 0;
    loop {
        // SAFETY: the kernel writes one integer.
        let found = unsafe { libc::waitpid(pid, &raw mut status, how) };
        if found > 0 {
            return Some((found, status));
        }
        if found == 0 || io::Error::last_os_error().raw_os_error() != Some(libc::EINTR) {
            return None;
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived {
    pub(crate) signal: i32,
    /// Whether a process sent it, as opposed to the kernel, for example for a terminal key.
    pub(crate) is_sent: bool,
    pub(crate) sender: i32,
}

/// Waits for events, up to a limit. A signal ends the wait early.
pub(crate) fn poll(polled: &mut [PollFd<'_>], limit: Option<&Timespec>) -> io::Result<()> {
    match rustix::event::poll(polled, limit) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Reads a signal, if one is pending.
pub(crate) fn arrived(descriptor: &OwnedFd) -> Option<Arrived> {
    let mut bytes = [0; size_of::<libc::signalfd_siginfo>()];
    let count = rustix::io::read(descriptor, &mut bytes).ok()?;
    // The first words of a `signalfd_siginfo`: number, error, code, sender.
    let word = |at: usize| bytes.get(at..at + 4)?.try_into().ok().map(i32::from_le_bytes);
    let (signal, code, sender) = (word(0)?, word(8)?, word(12)?);
    (count == bytes.len()).then_some(Arrived { signal, is_sent: code <= 0, sender })
}

/// Returns the boot clock, which continues while the machine is suspended.
#[must_use]
pub fn boot_now() -> Moment {
    read_clock(libc::CLOCK_BOOTTIME)
}

/// Returns the monotonic clock, which relative timers use.
pub(crate) fn monotonic_now() -> Moment {
    read_clock(libc::CLOCK_MONOTONIC)
}

/// Returns by how many seconds the host's TAI clock is ahead of its realtime clock.
pub(crate) fn tai_offset() -> i64 {
    // The two are read one after the other, and differ by whole seconds.
    let half = 500_000_000;
    let apart = read_clock(libc::CLOCK_TAI).nanos_in_all() - read_clock(libc::CLOCK_REALTIME).nanos_in_all();
    i64::try_from((apart + half).div_euclid(1_000_000_000)).unwrap_or_default()
}

fn read_clock(clock: libc::clockid_t) -> Moment {
    let mut displayed = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one `timespec`.
    unsafe { libc::clock_gettime(clock, &raw mut displayed) };
    Moment { seconds: displayed.tv_sec, nanos: displayed.tv_nsec }
}

/// Returns the kernel's clock adjustment data with another time, and the clock state. The bytes are a `timex`.
pub(crate) fn adjusted_clock(displayed: Moment) -> io::Result<(i64, Vec<u8>)> {
    // SAFETY: any bits are valid for its integers. With `modes` 0 the kernel sets nothing and writes one `timex`, whose
    // bytes are then read; its padding was zeroed.
    unsafe {
        let mut timex: libc::timex = std::mem::zeroed();
        let state = checked(i64::from(libc::adjtimex(&raw mut timex)))?;
        let in_nanos = timex.status & libc::STA_NANO != 0;
        timex.time.tv_sec = displayed.seconds;
        timex.time.tv_usec = if in_nanos { displayed.nanos } else { displayed.nanos / 1_000 };
        let bytes = std::slice::from_raw_parts((&raw const timex).cast::<u8>(), size_of::<libc::timex>());
        Ok((state, bytes.to_vec()))
    }
}

pub(crate) const TIMEX_BYTES: usize = size_of::<libc::timex>();

pub(crate) fn c_string(bytes: &[u8]) -> io::Result<CString> {
    CString::new(bytes).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))
}

/// Returns the text of an argument, for messages.
pub(crate) fn display(text: &CStr) -> String {
    text.to_string_lossy().into_owned()
}
