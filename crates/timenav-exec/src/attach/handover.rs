//! Transfer of the clock page to a program: an anonymous file that the program cannot open by itself.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd};
use std::os::unix::fs::MetadataExt as _;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, Resource, Rlimit, pidfd_getfd, pidfd_open, prlimit};

use super::{Failed, Program, Reason, done};
use crate::kernel::process;
use crate::kernel::ptrace::{self, Options};
use crate::kernel::seccomp::{Answering as _, Call, Listener};

/// How long a call of ours may take to be reported before the program is considered lost.
const REPORT_SECONDS_MAX: u32 = 30;
/// Offsets of the parts of a received message in the program's memory.
const HEADER: u64 = 64;
const VECTOR: u64 = 128;
const CONTROL: u64 = 192;
const BYTE: u64 = 256;
/// How many additional descriptors a program may have during the transfer: it needs one, or three.
const DESCRIPTORS_MORE: u64 = 64;
/// The size of a control message with one descriptor, without and with padding (`CMSG_LEN`, `CMSG_SPACE`).
const CONTROL_BYTES: u64 = 20;
const CONTROL_ROOM: u64 = 24;

pub(crate) enum Handover<'a> {
    /// Through the listener of its filter. Calls of other threads that arrive in the meantime are queued.
    Listener(&'a Listener, &'a mut VecDeque<Call>),
    Socket,
}

impl Handover<'_> {
    pub(super) const fn options(&self) -> Options {
        match self {
            Self::Listener(..) => Options::CALLS.bound(),
            Self::Socket => Options::TREE.bound(),
        }
    }
}

impl Program<'_> {
    /// Transfers a file, and returns its descriptor in the program. `room` is the address of writable memory there. If
    /// no descriptor is free, the program's limit is raised temporarily, as far as the kernel permits.
    pub(super) fn receive(&mut self, file: BorrowedFd<'_>, room: u64) -> Result<u64, Failed> {
        let received = self.receive_within_limit(file, room);
        match received {
            Err(Failed::NotOn(Reason::Refused { error: libc::EMFILE, .. })) => {}
            _ => return received,
        }
        let Some(before) = allow_more(self.pid) else { return received };
        let received = self.receive_within_limit(file, room);
        if !matches!(received, Err(Failed::Exited(_))) {
            let _ = prlimit(Pid::from_raw(self.pid), Resource::Nofile, before);
        }
        received
    }

    fn receive_within_limit(&mut self, file: BorrowedFd<'_>, room: u64) -> Result<u64, Failed> {
        if let Handover::Listener(..) = self.handover {
            self.heed_filters(true);
            let received = self.receive_by_listener(file);
            self.heed_filters(false);
            return received;
        }
        match self.receive_by_socket(file, room) {
            Err(Failed::NotOn(_)) => self.receive_by_path(file, room),
            result => result,
        }
    }

    /// Makes the program create a socket pair, takes one end, and sends the file through it (`unix(7)`). This works
    /// regardless of the program's user and view of the file system.
    fn receive_by_socket(&mut self, file: BorrowedFd<'_>, room: u64) -> Result<u64, Failed> {
        let (unix, stream) = (libc::AF_UNIX.cast_unsigned().into(), libc::SOCK_STREAM.cast_unsigned().into());
        let made = self.call(libc::SYS_socketpair, [unix, stream, 0, room, 0, 0])?;
        done("handing over the clock page", made)?;
        let mut pair = [0; 8];
        ptrace::read(self.pid, room, &mut pair)?;
        let [theirs, ours] = [0, 4].map(|at| pair[at..at + 4].try_into().map_or(-1, i32::from_le_bytes));
        let received = match send_to(self.pid, ours, file) {
            Ok(()) => self.receive_message(theirs, room),
            Err(error) => Err(error.into()),
        };
        for descriptor in [theirs, ours] {
            self.call(libc::SYS_close, [u64::from(descriptor.cast_unsigned()), 0, 0, 0, 0, 0])?;
        }
        received
    }

    fn receive_message(&mut self, socket: i32, room: u64) -> Result<u64, Failed> {
        // An `msghdr` without a name, with one data buffer and one control buffer.
        let header = [0, 0, room + VECTOR, 1, room + CONTROL, CONTROL_ROOM, 0];
        let bytes = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        ptrace::write(self.pid, room + HEADER, &bytes(&header))?;
        ptrace::write(self.pid, room + VECTOR, &bytes(&[room + BYTE, 1]))?;
        let flags = libc::MSG_DONTWAIT.cast_unsigned().into();
        let parameters = [u64::from(socket.cast_unsigned()), room + HEADER, flags, 0, 0, 0];
        let received = self.call(libc::SYS_recvmsg, parameters)?;
        done("handing over the clock page", received)?;
        let mut control = [0; 20];
        ptrace::read(self.pid, room + CONTROL, &mut control)?;
        let word = |at: usize| control[at..at + 4].try_into().map_or(-1, i32::from_le_bytes);
        if (u64::try_from(word(0)), word(8), word(12)) != (Ok(CONTROL_BYTES), libc::SOL_SOCKET, libc::SCM_RIGHTS) {
            // As if no descriptor is free.
            return Err(io::Error::from_raw_os_error(libc::EMFILE).into());
        }
        done("handing over the clock page", i64::from(word(16)))
    }

    /// Makes the program open the file in `/proc`, for kernels before 5.6 and if socket pairs are forbidden.
    fn receive_by_path(&mut self, file: BorrowedFd<'_>, room: u64) -> Result<u64, Failed> {
        let path = format!("/proc/{}/fd/{}\0", std::process::id(), file.as_raw_fd());
        ptrace::write(self.pid, room, path.as_bytes())?;
        let flags = (libc::O_RDONLY | libc::O_CLOEXEC).cast_unsigned().into();
        let opened = self.call(libc::SYS_open, [room, flags, 0, 0, 0, 0])?;
        let descriptor = done("handing over the clock page", opened)?;
        // In another `/proc` this may be another file.
        let expected = rustix::fs::fstat(file).map_err(io::Error::from)?;
        let found = std::fs::metadata(format!("/proc/{}/fd/{descriptor}", self.pid));
        if found.is_ok_and(|found| (found.dev(), found.ino()) == (expected.st_dev, expected.st_ino)) {
            return Ok(descriptor);
        }
        self.call(libc::SYS_close, [descriptor, 0, 0, 0, 0, 0])?;
        Err(io::Error::from_raw_os_error(libc::ENOENT).into())
    }
}

impl<'a> Program<'a> {
    /// Makes a system call that the filter reports, and answers it with a descriptor. The call is the one that executed
    /// the program, because other filters of the program evidently permit it.
    fn receive_by_listener(&mut self, file: BorrowedFd<'_>) -> Result<u64, Failed> {
        let listener: &'a Listener = match self.handover {
            Handover::Listener(listener, _) => listener,
            Handover::Socket => return Err(io::Error::from_raw_os_error(libc::EBADF).into()),
        };
        let execveat = libc::SYS_execveat.cast_unsigned();
        let number = if self.start.orig_rax == execveat { libc::SYS_execveat } else { libc::SYS_execve };
        self.prepare(number, [0; 6])?;
        let mut waits = 0;
        loop {
            while let Some((_, status)) = process::wait(self.pid, false) {
                if self.has_stepped(status)? {
                    let result = ptrace::registers(self.pid)?.rax.cast_signed();
                    return done("handing over the clock page", result);
                }
            }
            let mut polled = [PollFd::from_borrowed_fd(listener.as_fd(), PollFlags::IN)];
            // Stops are not reported here, so they are polled.
            let moment = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
            if rustix::event::poll(&mut polled, Some(&moment)) != Ok(1) {
                waits += 1;
            } else if let Ok(Some(call)) = listener.next() {
                if call.pid != self.pid {
                    if let Handover::Listener(_, others) = &mut self.handover {
                        others.push_back(call);
                    }
                    continue;
                }
                let given = listener.give(call.id, file);
                let given = given.unwrap_or_else(|error| -i64::from(error.raw_os_error().unwrap_or(libc::EIO)));
                if listener.answer(call.id, given) {
                    let result = self.stepped()?;
                    return done("handing over the clock page", result);
                }
            }
            if waits > REPORT_SECONDS_MAX * 1_000 {
                // This is not known to happen. A program that cannot be stopped is not left in this state.
                process::kill(self.pid, libc::SIGKILL);
                waits = 0;
            }
        }
    }
}

/// Raises the descriptor limit of a process, as root even above its hard limit. Returns the previous limit.
fn allow_more(pid: i32) -> Option<Rlimit> {
    let process = Pid::from_raw(pid)?;
    // `prlimit` reads and sets in one call, so the current limit is read here first. The process is stopped.
    let text = std::fs::read_to_string(format!("/proc/{pid}/limits")).ok()?;
    let mut words = text.lines().find_map(|line| line.strip_prefix("Max open files"))?.split_whitespace();
    let mut number = || words.next()?.parse::<u64>().ok();
    let (soft, hard) = (number()?, number()?);
    let more = hard.saturating_add(DESCRIPTORS_MORE);
    let allow = |current: u64, maximum: u64| {
        prlimit(Some(process), Resource::Nofile, Rlimit { current: Some(current), maximum: Some(maximum) }).ok()
    };
    allow(more, more).or_else(|| (soft < hard).then(|| allow(hard, hard)).flatten())
}

fn send_to(pid: i32, socket: i32, file: BorrowedFd<'_>) -> io::Result<()> {
    let process = Pid::from_raw(pid).ok_or_else(|| io::Error::from_raw_os_error(libc::ESRCH))?;
    let process = pidfd_open(process, PidfdFlags::empty())?;
    let socket = pidfd_getfd(&process, socket, PidfdGetfdFlags::empty())?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let files = [file];
    control.push(SendAncillaryMessage::ScmRights(&files));
    sendmsg(&socket, &[IoSlice::new(b"!")], &mut control, SendFlags::NOSIGNAL | SendFlags::DONTWAIT)?;
    Ok(())
}
