use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};

use super::checked;

pub(crate) type Instruction = libc::sock_filter;

/// A system call that waits for an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) id: u64,
    /// The thread, or 0 if it is not visible from here.
    pub(crate) pid: i32,
    pub(crate) number: i32,
    pub(crate) parameters: [u64; 6],
}

pub(crate) trait Answering {
    /// Answers a call with a value, or a negative error number. Returns whether the thread was still waiting.
    fn answer(&self, id: u64, value: i64) -> bool;
    /// Lets a call continue in the kernel. Returns whether the thread was still waiting.
    fn let_go_on(&self, id: u64) -> bool;
    /// Returns whether the thread is still waiting, and so is still the one that made the call.
    fn is_waiting(&self, id: u64) -> bool;
}

pub(crate) struct Listener {
    fd: OwnedFd,
}

impl Listener {
    pub(crate) const fn new(fd: OwnedFd) -> Self {
        Self { fd }
    }

    /// Returns the next call; `None` if it is gone, for example after a signal.
    pub(crate) fn next(&self) -> io::Result<Option<Call>> {
        // SAFETY: any bits are valid for its integers; the kernel requires zeros.
        let mut notification: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: the kernel writes one `seccomp_notif` into space for one.
        match self.call(libc::SECCOMP_IOCTL_NOTIF_RECV, (&raw mut notification).cast()) {
            Ok(_) => Ok(Some(Call {
                id: notification.id,
                pid: notification.pid.cast_signed(),
                number: notification.data.nr,
                parameters: notification.data.args,
            })),
            Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EINTR)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Adds a descriptor to a waiting thread, and returns its number there.
    pub(crate) fn give(&self, id: u64, descriptor: BorrowedFd<'_>) -> io::Result<i64> {
        let source = descriptor.as_raw_fd().cast_unsigned();
        let mut given = libc::seccomp_notif_addfd { id, flags: 0, srcfd: source, newfd: 0, newfd_flags: 0 };
        self.call(libc::SECCOMP_IOCTL_NOTIF_ADDFD, (&raw mut given).cast())
    }

    fn send(&self, mut answer: libc::seccomp_notif_resp) -> bool {
        self.call(libc::SECCOMP_IOCTL_NOTIF_SEND, (&raw mut answer).cast()).is_ok()
    }

    fn call(&self, request: libc::Ioctl, argument: *mut libc::c_void) -> io::Result<i64> {
        // SAFETY: callers pass a pointer of the request's type, which outlives the call.
        checked(i64::from(unsafe { libc::ioctl(self.fd.as_raw_fd(), request, argument) }))
    }
}

impl Answering for Listener {
    fn answer(&self, id: u64, value: i64) -> bool {
        let error = i32::try_from(value.min(0)).unwrap_or(-libc::EIO);
        self.send(libc::seccomp_notif_resp { id, val: value.max(0), error, flags: 0 })
    }

    fn let_go_on(&self, id: u64) -> bool {
        let flags = u32::try_from(libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE).unwrap_or(1);
        self.send(libc::seccomp_notif_resp { id, val: 0, error: 0, flags })
    }

    fn is_waiting(&self, mut id: u64) -> bool {
        self.call(libc::SECCOMP_IOCTL_NOTIF_ID_VALID, (&raw mut id).cast()).is_ok()
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Puts this thread and all its children under a filter, and returns the listener.
///
/// If this requires a privilege that the process does not have, it permanently gives up gaining privileges
/// (`PR_SET_NO_NEW_PRIVS`), and retries.
pub(crate) fn install(filter: &[Instruction]) -> io::Result<OwnedFd> {
    let fd = installed(filter, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER)?;
    let fd = i32::try_from(fd).map_err(|_| io::Error::from_raw_os_error(libc::EBADF))?;
    // SAFETY: the kernel has just opened it, and only we own it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Puts this thread and all its children under a filter that reports to a tracer. Privileges are as for [`install`].
pub(crate) fn install_for_tracer(filter: &[Instruction]) -> io::Result<()> {
    installed(filter, 0).map(|_| ())
}

fn installed(filter: &[Instruction], flags: libc::c_ulong) -> io::Result<i64> {
    match try_install(filter, flags) {
        Err(error) if error.raw_os_error() == Some(libc::EACCES) => {
            // SAFETY: takes only integers.
            checked(i64::from(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }))?;
            try_install(filter, flags)
        }
        result => result,
    }
}

fn try_install(filter: &[Instruction], flags: libc::c_ulong) -> io::Result<i64> {
    let length = u16::try_from(filter.len()).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?;
    let program = libc::sock_fprog { len: length, filter: filter.as_ptr().cast_mut() };
    // SAFETY: the kernel reads as many instructions as the program has, and writes nothing.
    checked(unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program) })
}
