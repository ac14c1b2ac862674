//! The supervisor of programs with the library: keeps their timers, and reports programs not on the clock.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::net::sockopt::set_socket_passcred;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SocketAddrUnix, SocketFlags, SocketType,
    UCred, bind, recvmsg, socket_with,
};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::Folder;
use super::messages::{BYTES_MAX, Message};
use crate::board::Board;
use crate::front::is_one_of_ours;
use crate::kernel::process;
use crate::page::Moment;
use crate::report::{Report, is_alone};
use crate::supervisor::timers::{Due, Timer, Timers};

pub(crate) struct Keeper<'a> {
    board: &'a Board,
    socket: OwnedFd,
    report: Report<'a>,
    timers: Timers,
}

/// Opens the socket for messages of programs.
pub(crate) fn listen(folder: &Folder) -> io::Result<OwnedFd> {
    use std::os::unix::fs::PermissionsExt as _;

    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::DGRAM, flags, None)?;
    set_socket_passcred(&socket, true)?;
    bind(&socket, &SocketAddrUnix::new(folder.socket())?)?;
    // Programs that have changed their user must be able to send messages too.
    std::fs::set_permissions(folder.socket(), std::fs::Permissions::from_mode(0o666))?;
    Ok(socket)
}

impl<'a> Keeper<'a> {
    pub(crate) fn new(socket: OwnedFd, board: &'a Board, report: Report<'a>) -> Self {
        report.are_loaded();
        Self { board, socket, report, timers: Timers::new() }
    }

    /// Runs until the last program has ended.
    pub(crate) fn run(mut self, children: &OwnedFd) -> io::Result<()> {
        let mut changes = self.board.changes();
        loop {
            while process::arrived(children).is_some() {}
            while let Some((pid, status)) = process::wait(-1, false) {
                // Messages from before the end are processed before the end itself.
                while self.take() {}
                self.handle_status(pid, status);
            }
            while self.take() {}
            self.board.note_read(changes);
            if self.report.is_over() && is_alone() {
                return Ok(());
            }
            let mut polled = vec![
                PollFd::new(children, PollFlags::IN),
                PollFd::from_borrowed_fd(self.board.changed(), PollFlags::IN),
                PollFd::new(&self.socket, PollFlags::IN),
            ];
            polled.extend(self.report.front().map(|front| PollFd::from_borrowed_fd(front, PollFlags::empty())));
            process::poll(&mut polled, None)?;
            let is_changed = polled[1].revents().contains(PollFlags::IN);
            if polled.get(3).is_some_and(|front| !front.revents().is_empty()) {
                self.report.front_has_exited();
            }
            if is_changed {
                changes = self.board.take_changes();
                if self.timers.set_again(self.board) {
                    self.report.complain_of_timers();
                }
            }
        }
    }

    fn handle_status(&mut self, pid: i32, status: i32) {
        if libc::WIFCONTINUED(status) {
            self.report.continued(pid);
        } else if libc::WIFSTOPPED(status) {
            self.report.stopped(pid, libc::WSTOPSIG(status));
        } else {
            self.report.ended(pid, status);
        }
    }

    /// Receives a message, if there is one. Returns whether there was.
    fn take(&mut self) -> bool {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1), ScmCredentials(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut bytes = [0; BYTES_MAX];
        let mut into = [IoSliceMut::new(&mut bytes)];
        let Ok(received) = recvmsg(&self.socket, &mut into, &mut control, RecvFlags::CMSG_CLOEXEC) else {
            return false;
        };
        let (mut sender, mut file) = (None, None);
        for message in control.drain() {
            match message {
                RecvAncillaryMessage::ScmRights(descriptors) => file = descriptors.last(),
                RecvAncillaryMessage::ScmCredentials(credentials) => sender = Some(credentials),
                _ => {}
            }
        }
        // The socket accepts messages from everyone. Our programs may have changed their user, and may have ended.
        let is_ours = |it: &UCred| it.uid == rustix::process::geteuid() || is_one_of_ours(it.pid.as_raw_pid());
        let Some(sender) = sender.filter(is_ours).map(|it| it.pid) else { return true };
        match (Message::read(&bytes[..received.bytes]), file) {
            (Some(Message::Timer { until, interval, ends }), Some(file)) => {
                // The sender may have ended, and left the timer to a child.
                let process = process_of(sender).ok();
                let timer = Timer::of_program((file, process), Due::Date(until), in_nanos(interval), ends);
                self.timers.keep(timer, self.board);
            }
            (Some(Message::Program { reason, path }), None) => self.report.complain_of_program(&path, reason),
            _ => {}
        }
        true
    }
}

fn in_nanos(interval: Timespec) -> i128 {
    Moment { seconds: interval.tv_sec, nanos: interval.tv_nsec }.nanos_in_all()
}

fn process_of(sender: Pid) -> io::Result<OwnedFd> {
    Ok(pidfd_open(sender, PidfdFlags::empty())?)
}
