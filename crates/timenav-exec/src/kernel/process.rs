//! Processes and their signals.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{FromRawFd as _, OwnedFd};

use super::told;
use crate::page::Moment;

/// Which side of a fork this is.
pub(crate) enum Side {
    /// The one that was there before, with the id of the other.
    Parent(i32),
    /// The new one.
    Child,
}

/// Divides this process in two.
///
/// # Errors
/// It has more than one thread, so that the other half could wait forever for a lock that nobody holds; or the kernel
/// says no.
pub(crate) fn fork() -> io::Result<Side> {
    if std::fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::Error::other("a process with several threads is not divided"));
    }
    // SAFETY: with one thread, the new process is a whole copy of this one, in which anything may be called.
    match told(i64::from(unsafe { libc::fork() }))? {
        0 => Ok(Side::Child),
        pid => Ok(Side::Parent(i32::try_from(pid).map_err(io::Error::other)?)),
    }
}

/// Becomes another program, found as a shell finds it. Returns only why that failed.
pub(crate) fn execute(arguments: &[CString]) -> io::Error {
    let Some(name) = arguments.first() else { return io::Error::from_raw_os_error(libc::EINVAL) };
    // SAFETY: the vector ends in a null pointer, and its strings live until the call returns, if it does.
    unsafe { libc::execvp(name.as_ptr(), pointers(arguments).as_ptr()) };
    io::Error::last_os_error()
}

/// Likewise, with this environment in the place of the one here.
pub(crate) fn execute_with(arguments: &[CString], environment: &[CString]) -> io::Error {
    let Some(name) = arguments.first() else { return io::Error::from_raw_os_error(libc::EINVAL) };
    // SAFETY: both vectors end in a null pointer, and their strings live until the call returns, if it does.
    unsafe { libc::execvpe(name.as_ptr(), pointers(arguments).as_ptr(), pointers(environment).as_ptr()) };
    io::Error::last_os_error()
}

fn pointers(texts: &[CString]) -> Vec<*const libc::c_char> {
    texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
}

/// Ends this process at once, without running what others registered for its end.
pub(crate) fn exit_now(code: i32) -> ! {
    // SAFETY: does not return.
    unsafe { libc::_exit(code) }
}

/// A set of signals.
#[derive(Clone, Copy)]
pub(crate) struct Signals(libc::sigset_t);

impl Signals {
    /// Returns a set.
    pub(crate) fn of(signals: &[i32]) -> Self {
        // SAFETY: all bits of a set are valid, and the calls write to the place of one.
        unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut set);
            for signal in signals {
                libc::sigaddset(&raw mut set, *signal);
            }
            Self(set)
        }
    }

    /// Makes these the signals that are blocked, and returns those that were.
    pub(crate) fn block(self) -> Self {
        let mut before = Self::of(&[]);
        // SAFETY: both are sets; the kernel reads one and writes the other.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, &raw mut before.0) };
        before
    }

    /// Returns a descriptor from which these signals are read.
    pub(crate) fn descriptor(self) -> io::Result<OwnedFd> {
        // SAFETY: the kernel reads the set, and opens a descriptor for us alone.
        unsafe {
            let fd = told(i64::from(libc::signalfd(-1, &raw const self.0, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)))?;
            Ok(OwnedFd::from_raw_fd(i32::try_from(fd).map_err(io::Error::other)?))
        }
    }
}

/// Lets a signal do what it does by default.
pub(crate) fn reset(signal: i32) {
    // SAFETY: sets no handler of ours.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}

/// Sends this process a signal that is not blocked while it is sent.
pub(crate) fn raise_unblocked(signal: i32) {
    raise_unless(signal, || false);
}

/// Sends this process a signal, and lets it through unless that is off by the time when it is pending. It is blocked
/// before and after.
pub(crate) fn raise_unless(signal: i32, is_off: impl FnOnce() -> bool) {
    reset(signal);
    let set = Signals::of(&[signal]);
    // SAFETY: takes an integer, and a set of which nothing is written.
    unsafe {
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set.0, std::ptr::null_mut());
        libc::raise(signal);
    }
    if is_off() {
        return;
    }
    // SAFETY: the set is one, and nothing is written.
    unsafe {
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set.0, std::ptr::null_mut());
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set.0, std::ptr::null_mut());
    }
}

/// Sends a signal to a process.
pub(crate) fn kill(pid: i32, signal: i32) {
    // SAFETY: takes integers only.
    unsafe { libc::kill(pid, signal) };
}

/// Returns the next news of a process, or of any for −1, with the raw status; `None` if there is none.
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

/// What is sent when a signal arrives at a descriptor: which, how it was sent, and by whom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived {
    /// The signal.
    pub(crate) signal: i32,
    /// Whether a process sent it, and not the kernel, as for a key of the terminal.
    pub(crate) is_sent: bool,
    /// The process that sent it.
    pub(crate) sender: i32,
}

/// Reads a signal that has arrived.
pub(crate) fn arrived(descriptor: &OwnedFd) -> Option<Arrived> {
    let mut bytes = [0; size_of::<libc::signalfd_siginfo>()];
    let count = rustix::io::read(descriptor, &mut bytes).ok()?;
    // The first words of a `signalfd_siginfo`: number, error, code, sender.
    let word = |at: usize| bytes.get(at..at + 4)?.try_into().ok().map(i32::from_le_bytes);
    let (signal, code, sender) = (word(0)?, word(8)?, word(12)?);
    (count == bytes.len()).then_some(Arrived { signal, is_sent: code <= 0, sender })
}

/// Returns what the boot clock shows: host time that counts on while the machine sleeps.
#[must_use]
pub fn boot_now() -> Moment {
    read_clock(libc::CLOCK_BOOTTIME)
}

/// Returns what the monotonic clock shows, by which timers of a length go.
pub(crate) fn monotonic_now() -> Moment {
    read_clock(libc::CLOCK_MONOTONIC)
}

/// Returns by how many seconds the host's atomic time is ahead of its realtime.
pub(crate) fn tai_offset() -> i64 {
    // The two are read one after the other, and are whole seconds apart.
    let half = 500_000_000;
    let apart = read_clock(libc::CLOCK_TAI).nanos_in_all() - read_clock(libc::CLOCK_REALTIME).nanos_in_all();
    i64::try_from((apart + half).div_euclid(1_000_000_000)).unwrap_or_default()
}

fn read_clock(clock: libc::clockid_t) -> Moment {
    let mut shown = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one `timespec`.
    unsafe { libc::clock_gettime(clock, &raw mut shown) };
    Moment { seconds: shown.tv_sec, nanos: shown.tv_nsec }
}

/// Returns what the kernel says of how the host's clock is kept, with another time in it, and the state of the clock.
/// The bytes are those of a `timex`.
pub(crate) fn kept_clock(shown: Moment) -> io::Result<(i64, Vec<u8>)> {
    // SAFETY: all bits of the integers it consists of are valid. With `modes` 0 the kernel sets nothing and writes one
    // `timex`, whose bytes are then read; its padding was zeroed.
    unsafe {
        let mut kept: libc::timex = std::mem::zeroed();
        let state = told(i64::from(libc::adjtimex(&raw mut kept)))?;
        let in_nanos = kept.status & libc::STA_NANO != 0;
        kept.time.tv_sec = shown.seconds;
        kept.time.tv_usec = if in_nanos { shown.nanos } else { shown.nanos / 1_000 };
        let bytes = std::slice::from_raw_parts((&raw const kept).cast::<u8>(), size_of::<libc::timex>());
        Ok((state, bytes.to_vec()))
    }
}

/// Where a timer's time is in a `timex`: after `modes`, which the kernel leaves as it was.
pub(crate) const TIMEX_BYTES: usize = size_of::<libc::timex>();

/// Returns an argument as the kernel takes it.
pub(crate) fn c_string(bytes: &[u8]) -> io::Result<CString> {
    CString::new(bytes).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))
}

/// Returns the text of an argument, for a sentence.
pub(crate) fn shown(text: &CStr) -> String {
    text.to_string_lossy().into_owned()
}
