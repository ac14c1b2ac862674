//! Starts the first program under the filter, and receives the listener from it.

use std::ffi::{CString, OsString};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};

use crate::Refused;
use crate::filter::filter;
use crate::kernel::process::{self, Side, Signals, c_string, error_text, shown};
use crate::kernel::seccomp::{self, Listener};

/// What shells tell by these codes: there is no such program, or it cannot be executed.
const NOT_FOUND: i32 = 127;
pub(crate) const NOT_EXECUTED: i32 = 126;

/// A program that was started and waits until its `execve` is answered.
pub(crate) struct Started {
    pub(crate) pid: i32,
    pub(crate) listener: Listener,
}

/// Starts a program with these signals blocked.
pub(crate) fn start(command: &[OsString], mask: Signals) -> Result<Started, Refused> {
    let arguments: io::Result<Vec<CString>> = command.iter().map(|word| c_string(word.as_bytes())).collect();
    let arguments = arguments.map_err(Refused::Start)?;
    let (ours, theirs) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).map_err(io::Error::from)?;
    match process::fork()? {
        Side::Child => {
            drop(ours);
            become_program(&arguments, mask, theirs)
        }
        Side::Parent(pid) => {
            drop(theirs);
            receive(&ours).map(|listener| Started { pid, listener })
        }
    }
}

fn become_program(arguments: &[CString], mask: Signals, socket: OwnedFd) -> ! {
    process::reset(libc::SIGPIPE);
    process::reset(libc::SIGCHLD);
    mask.block();
    let installed = seccomp::install(&filter());
    let error = installed.as_ref().err().map_or(0, |error| error.raw_os_error().unwrap_or(libc::EIO));
    let sent = send(&socket, error, installed.as_ref().ok());
    drop((socket, installed));
    if error == 0 && sent.is_ok() {
        let error = process::execute(arguments).raw_os_error().unwrap_or(libc::EIO);
        let name = arguments.first().map(|name| shown(name)).unwrap_or_default();
        eprintln!("timenav exec: cannot start `{name}`: {}", error_text(error));
        process::exit_now(if error == libc::ENOENT { NOT_FOUND } else { NOT_EXECUTED });
    }
    process::exit_now(NOT_EXECUTED)
}

fn send(socket: &OwnedFd, error: i32, listener: Option<&OwnedFd>) -> rustix::io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let descriptors: Vec<_> = listener.iter().map(|listener| listener.as_fd()).collect();
    if !descriptors.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(&descriptors));
    }
    sendmsg(socket, &[IoSlice::new(&error.to_le_bytes())], &mut control, SendFlags::NOSIGNAL).map(|_| ())
}

fn receive(socket: &OwnedFd) -> Result<Listener, Refused> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut error = [0; 4];
    let mut into = [IoSliceMut::new(&mut error)];
    let received = recvmsg(socket, &mut into, &mut control, RecvFlags::CMSG_CLOEXEC).map_err(io::Error::from)?;
    let rights = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    match (rights, i32::from_le_bytes(error)) {
        (Some(listener), 0) => Ok(Listener::new(listener)),
        (_, libc::EBUSY) => Err(Refused::Nested),
        (_, libc::EINVAL | libc::ENOSYS) => Err(Refused::NoListener),
        _ if received.bytes == 0 => Err(Refused::Start(io::Error::other("the process ended before it began"))),
        (_, error) => Err(Refused::Start(io::Error::from_raw_os_error(error))),
    }
}
