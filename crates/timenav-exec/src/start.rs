//! Starts the first program under the filter, and receives the listener from it, or traces it.

use std::ffi::{CString, OsString};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};

use crate::filter::{filter, filter_for_tracer};
use crate::kernel::process::{self, Side, Signals, c_string, display};
use crate::kernel::ptrace::{self, Options};
use crate::kernel::seccomp::{self, Listener};
use crate::{Refused, error_text};

/// Exit codes of shells: there is no such program, or it cannot be executed.
const NOT_FOUND: i32 = 127;
pub(crate) const NOT_EXECUTED: i32 = 126;

/// Sent by the parent when the child may continue.
const GO: &[u8] = &[1];

/// A started program, whose `execve` waits for an answer.
pub(crate) struct Started {
    pub(crate) pid: i32,
    pub(crate) listener: Listener,
}

/// A started and traced program, about to call `execve`.
pub(crate) struct StartedTraced {
    pub(crate) pid: i32,
    /// Whether it has a filter. Otherwise the tracer sees all calls.
    pub(crate) is_filtered: bool,
}

/// A started program that waits for permission to continue.
pub(crate) struct Held {
    pub(crate) pid: i32,
    gate: OwnedFd,
}

impl Held {
    /// Lets the program start. If this is dropped instead, the program ends before it starts.
    pub(crate) fn let_go(self) -> io::Result<()> {
        Ok(rustix::net::send(&self.gate, GO, SendFlags::NOSIGNAL).map(drop)?)
    }
}

pub(crate) fn start(command: &[OsString], mask: Signals, has_virtual_sleeps: bool) -> Result<Started, Refused> {
    let arguments = arguments(command)?;
    let (ours, theirs) = pair()?;
    match process::fork()? {
        Side::Child => {
            drop(ours);
            prepare(mask);
            let installed = seccomp::install(&filter(has_virtual_sleeps));
            let sent = send(&theirs, number(installed.as_ref().err()), installed.as_ref().ok());
            let is_ready = installed.is_ok() && sent.is_ok();
            drop((theirs, installed));
            if is_ready { become_program(&arguments) } else { process::exit_now(NOT_EXECUTED) }
        }
        Side::Parent(pid) => {
            drop(theirs);
            receive(&ours).map(|listener| Started { pid, listener })
        }
    }
}

/// Starts a program with these blocked signals, and traces it from its first call on.
pub(crate) fn start_traced(
    command: &[OsString],
    mask: Signals,
    has_virtual_sleeps: bool,
) -> Result<StartedTraced, Refused> {
    let arguments = arguments(command)?;
    let (ours, theirs) = pair()?;
    match process::fork()? {
        Side::Child => {
            drop(ours);
            prepare(mask);
            // Calls that the filter reports fail unless the thread is traced.
            let is_traced = may_go_on(&theirs);
            let installed = seccomp::install_for_tracer(&filter_for_tracer(has_virtual_sleeps));
            let sent = send(&theirs, number(installed.as_ref().err()), None);
            let is_ready = is_traced && sent.is_ok() && may_go_on(&theirs);
            drop(theirs);
            if is_ready { become_program(&arguments) } else { process::exit_now(NOT_EXECUTED) }
        }
        Side::Parent(pid) => {
            drop(theirs);
            attach(pid, &ours).inspect_err(|_| process::kill(pid, libc::SIGKILL))
        }
    }
}

/// Starts a program with these blocked signals and this environment. It waits for [`Held::let_go`].
pub(crate) fn start_with(command: &[OsString], environment: &[CString], mask: Signals) -> Result<Held, Refused> {
    let arguments = arguments(command)?;
    let (ours, theirs) = pair()?;
    match process::fork()? {
        Side::Child => {
            drop(ours);
            prepare(mask);
            let is_let_go = may_go_on(&theirs);
            drop(theirs);
            if !is_let_go {
                process::exit_now(NOT_EXECUTED);
            }
            not_executed(&arguments, &process::execute_with(&arguments, environment))
        }
        Side::Parent(pid) => Ok(Held { pid, gate: ours }),
    }
}

fn attach(pid: i32, child: &OwnedFd) -> Result<StartedTraced, Refused> {
    ptrace::seize_with(pid, Options::TREE).map_err(|error| Refused::NoTracing(number(Some(&error))))?;
    let go_on = || rustix::net::send(child, GO, SendFlags::NOSIGNAL).map_err(io::Error::from);
    go_on()?;
    let mut error = [0; 4];
    let (count, _) = rustix::net::recv(child, &mut error, RecvFlags::empty()).map_err(io::Error::from)?;
    if count != error.len() {
        return Err(Refused::Start(io::Error::other("the process ended before it began")));
    }
    let is_filtered = i32::from_le_bytes(error) == 0;
    if !is_filtered {
        // The tracer sees all calls from here on. Only it keeps children off host time, so the program ends with it.
        ptrace::interrupt(pid)?;
        match process::wait(pid, true) {
            Some((_, status)) if libc::WIFSTOPPED(status) => {}
            _ => return Err(Refused::Start(io::Error::other("the process ended before it began"))),
        }
        ptrace::set_options(pid, Options::TREE.bound())?;
        ptrace::go_on_to_call(pid, 0)?;
    }
    go_on()?;
    Ok(StartedTraced { pid, is_filtered })
}

fn may_go_on(socket: &OwnedFd) -> bool {
    let mut word = [0];
    rustix::net::recv(socket, &mut word, RecvFlags::empty()).is_ok_and(|(count, _)| count == word.len())
}

fn arguments(command: &[OsString]) -> Result<Vec<CString>, Refused> {
    let arguments: io::Result<Vec<CString>> = command.iter().map(|word| c_string(word.as_bytes())).collect();
    arguments.map_err(Refused::Start)
}

pub(crate) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?)
}

fn prepare(mask: Signals) {
    process::reset(libc::SIGPIPE);
    process::reset(libc::SIGCHLD);
    mask.block();
}

/// Returns the number of an error; 0 if there is none.
pub(crate) fn number(error: Option<&io::Error>) -> i32 {
    error.map_or(0, |error| error.raw_os_error().unwrap_or(libc::EIO))
}

fn become_program(arguments: &[CString]) -> ! {
    not_executed(arguments, &process::execute(arguments))
}

fn not_executed(arguments: &[CString], error: &io::Error) -> ! {
    let error = error.raw_os_error().unwrap_or(libc::EIO);
    let name = arguments.first().map(|name| display(name)).unwrap_or_default();
    eprintln!("timenav exec: cannot start `{name}`: {}", error_text(error));
    process::exit_now(if error == libc::ENOENT { NOT_FOUND } else { NOT_EXECUTED })
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
        (_, error @ (libc::EINVAL | libc::ENOSYS)) => Err(Refused::NoListener(error)),
        _ if received.bytes == 0 => Err(Refused::Start(io::Error::other("the process ended before it began"))),
        (_, error) => Err(Refused::Start(io::Error::from_raw_os_error(error))),
    }
}
