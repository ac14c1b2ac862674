//! The supervisor: answers calls of programs, and puts each executed program on the clock.

use std::collections::VecDeque;
use std::collections::hash_map::{Entry, HashMap};
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;

use rustix::event::{PollFd, PollFlags, Timespec};

use self::all_waits::AllWaits;
use self::answers::{Answer, Answered, Sleepers, answer_call};
use self::waits::Sent;
use crate::attach::{Handover, Kernel, Reason, put_on};
use crate::board::Board;
use crate::kernel::process::{self, boot_now};
use crate::kernel::ptrace::{self, EVENT_STOP};
use crate::kernel::seccomp::{Answering as _, Call, Listener};
use crate::page::Moment;
use crate::report::{Hidden, Report};

pub(crate) mod alarms;
pub(crate) mod all_waits;
pub(crate) mod answers;
pub(crate) mod kernel_timers;
pub(crate) mod rings;
pub(crate) mod timers;
pub(crate) mod waiters;
pub(crate) mod waits;

/// Longest wait before checking whether sleepers still exist.
const LOOK_SECONDS: i128 = 5;
/// The signal of a stop at the entry or exit of a system call.
pub(crate) const CALL_STOP: i32 = libc::SIGTRAP | 0x80;

#[derive(Clone, Copy, Debug)]
enum Stage {
    /// The thread was allowed to continue its `execve`.
    Executing,
    /// It has executed a program, and the call has not returned.
    Executed,
    /// It waits until a realtime moment, and is redirected to wait on the virtual clock.
    Waiting(Sent),
    /// It waits, and is stopped because the clock has changed.
    Interrupted,
}

pub(crate) struct Supervisor<'a> {
    board: &'a Board,
    kernel: Kernel,
    listener: Listener,
    report: Report<'a>,
    attached: HashMap<i32, Stage>,
    calls: VecDeque<Call>,
    /// Calls of threads while another thread of their process executes a program.
    waiting: VecDeque<Call>,
    sleepers: Sleepers,
    waits: AllWaits,
}

impl<'a> Supervisor<'a> {
    pub(crate) fn new(listener: Listener, kernel: Kernel, board: &'a Board, report: Report<'a>) -> Self {
        Self {
            board,
            kernel,
            listener,
            report,
            attached: HashMap::new(),
            calls: VecDeque::new(),
            waiting: VecDeque::new(),
            sleepers: Sleepers::default(),
            waits: AllWaits::new(board, true),
        }
    }

    pub(crate) fn run(mut self, children: &OwnedFd) -> io::Result<()> {
        let mut is_listening = true;
        let mut changes = self.board.changes();
        loop {
            while let Some((pid, status)) = process::wait(-1, false) {
                self.handle_status(pid, status);
            }
            while let Some(call) = self.calls.pop_front() {
                self.take(call);
            }
            self.waits.look_at_rings(false, &mut self.report);
            let next = self.sleepers.wake(self.board, &self.listener);
            let next_alarm = self.waits.alarms.ring(self.board);
            self.interrupt_waiters();
            if self.waits.are_current() {
                self.board.note_read(changes);
            }
            if !is_listening && self.report.is_over() {
                return Ok(());
            }
            let mut polled = vec![
                PollFd::new(children, PollFlags::IN),
                PollFd::from_borrowed_fd(self.board.changed(), PollFlags::IN),
            ];
            let front = self.report.front().map(|front| PollFd::from_borrowed_fd(front, PollFlags::empty()));
            let is_fronted = front.is_some();
            polled.extend(front);
            if is_listening {
                polled.push(PollFd::from_borrowed_fd(self.listener.as_fd(), PollFlags::IN));
            }
            process::poll(&mut polled, self.patience(next, next_alarm).as_ref())?;
            let events: Vec<PollFlags> = polled.iter().map(PollFd::revents).collect();
            if events[0].contains(PollFlags::IN) {
                while process::arrived(children).is_some() {}
            }
            if events[1].contains(PollFlags::IN) {
                changes = self.waits.clock_has_changed(self.board, &mut self.report);
            }
            if is_fronted && !events[2].is_empty() {
                self.report.front_has_exited();
            }
            let listened = events.get(2 + usize::from(is_fronted)).copied().unwrap_or(PollFlags::empty());
            if listened.contains(PollFlags::IN) {
                self.calls.extend(self.listener.next()?);
            } else if listened.intersects(PollFlags::HUP | PollFlags::ERR) {
                // No process has the filter anymore.
                is_listening = false;
            }
        }
    }

    /// Returns how long to wait for events; `None` for no limit. `next_sleep` and `next_alarm` are on the boot clock.
    fn patience(&self, next_sleep: Option<i128>, next_alarm: Option<i128>) -> Option<Timespec> {
        let now = boot_now().nanos_in_all();
        let look = now + LOOK_SECONDS * 1_000_000_000;
        let sleep = (!self.sleepers.is_empty()).then(|| next_sleep.map_or(look, |next| next.min(look)));
        patience([sleep, next_alarm, self.waits.retry(now), self.waits.rings.next_look()], now)
    }

    /// Stops threads that wait by a clock that has changed, or whose process has timers.
    fn interrupt_waiters(&mut self) {
        for thread in self.waits.take_stale() {
            if self.attached.contains_key(&thread) {
                continue;
            }
            match ptrace::seize_for_a_moment(thread) {
                Ok(()) => {
                    self.attached.insert(thread, Stage::Interrupted);
                    let _ = ptrace::interrupt(thread);
                }
                // It is gone, or has another tracer.
                Err(_) => self.waits.waiters.leave(thread),
            }
        }
    }

    fn take(&mut self, call: Call) {
        if self.waits.answer(&call, self.board, &self.listener, &mut self.report) {
            return;
        }
        if waits::is_sleep_until_a_date(&call) {
            if let Answered::ByHost(hidden) = self.sleepers.add(&call, self.board, &self.listener) {
                self.report.complain_of_call("a sleep", call.pid, hidden);
            }
        } else if waits::is_one(&call) {
            self.wait(call);
        } else if i64::from(call.number) == libc::SYS_io_uring_setup {
            self.listener.let_go_on(call.id);
            self.waits.rings.add(call.pid);
        } else if let Some(answer) = answer_call(&call, self.board, &self.listener) {
            match answer {
                Answer::Value(value) => {
                    self.listener.answer(call.id, value);
                }
                Answer::ByHost => {
                    self.listener.let_go_on(call.id);
                    self.report.complain_of_call("a system call", call.pid, Hidden::Memory);
                }
            }
        } else {
            self.execute(call);
        }
    }

    /// Lets a thread execute a program, and attaches to it.
    fn execute(&mut self, call: Call) {
        if call.pid == 0 {
            return self.let_without(&call, &Reason::Invisible);
        }
        if self.is_executing_elsewhere(call.pid) {
            // The other thread ends this one if it succeeds. Attaching would be a deadlock.
            self.waiting.push_back(call);
            return;
        }
        if let Entry::Vacant(place) = self.attached.entry(call.pid) {
            match ptrace::seize(call.pid) {
                Ok(()) => {
                    place.insert(Stage::Executing);
                }
                Err(error) if error.raw_os_error() == Some(libc::EPERM) && self.listener.is_waiting(call.id) => {
                    return self.let_without(&call, &Reason::Traced);
                }
                // The thread is gone. If not, it retries.
                Err(_) => {
                    self.listener.answer(call.id, -i64::from(libc::EAGAIN));
                    return;
                }
            }
        }
        // Another thread may have this id by now. It is attached to temporarily.
        if self.listener.is_waiting(call.id) {
            self.listener.let_go_on(call.id);
        }
        // If the call fails, this is how the thread is noticed.
        let _ = ptrace::interrupt(call.pid);
    }

    /// Redirects a thread that waits until a realtime moment to the routine of the image.
    fn wait(&mut self, call: Call) {
        if call.pid != 0 && self.is_executing_elsewhere(call.pid) {
            self.waiting.push_back(call);
            return;
        }
        if self.attached.contains_key(&call.pid) {
            // It is about to stop, for its previous call or because the clock has changed. A signal ended that call before
            // it stopped. After the stop it makes this call again.
            return;
        }
        let sent = match self.waits.send(&call, self.board) {
            Ok(Some(sent)) => sent,
            Err(hidden) => return self.wait_by_host(&call, hidden),
            Ok(None) => {
                self.listener.let_go_on(call.id);
                return;
            }
        };
        match ptrace::seize_for_a_moment(call.pid) {
            Ok(()) => {
                self.attached.insert(call.pid, Stage::Waiting(sent));
                // The call is interrupted without an answer, and handled when the thread stops.
                let _ = ptrace::interrupt(call.pid);
            }
            Err(error) if error.raw_os_error() == Some(libc::EPERM) && self.listener.is_waiting(call.id) => {
                self.wait_by_host(&call, Hidden::Traced);
            }
            // The thread is gone. If not, it retries.
            Err(_) => {
                self.listener.answer(call.id, -i64::from(libc::EINTR));
            }
        }
    }

    fn wait_by_host(&mut self, call: &Call, hidden: Hidden) {
        self.listener.let_go_on(call.id);
        self.report.complain_of_call("a wait", call.pid, hidden);
    }

    /// Lets a thread execute a program that cannot be put on the clock, or with `is_strict` rejects it.
    fn let_without(&mut self, call: &Call, reason: &Reason) {
        self.report.complain(call.pid, reason);
        if self.report.is_strict {
            self.listener.answer(call.id, -i64::from(libc::EPERM));
        } else {
            self.listener.let_go_on(call.id);
        }
    }

    /// Returns whether another thread of the same process is executing a program.
    fn is_executing_elsewhere(&self, thread: i32) -> bool {
        let elsewhere = |other: &i32| *other != thread && Path::new(&format!("/proc/{other}/task/{thread}")).exists();
        let executing = self.attached.iter().filter(|(_, stage)| matches!(stage, Stage::Executing | Stage::Executed));
        executing.map(|(other, _)| other).any(elsewhere)
    }

    fn handle_status(&mut self, pid: i32, status: i32) {
        if libc::WIFCONTINUED(status) {
            self.report.continued(pid);
        } else if !libc::WIFSTOPPED(status) {
            self.forget(pid);
            self.report.ended(pid, status);
        } else if self.attached.contains_key(&pid) || status >> 16 != 0 {
            self.stopped(pid, libc::WSTOPSIG(status), status >> 16);
        } else {
            self.report.stopped(pid, libc::WSTOPSIG(status));
        }
    }

    fn stopped(&mut self, pid: i32, signal: i32, event: i32) {
        if event == libc::PTRACE_EVENT_EXEC {
            // A thread that executes a program takes the id of its process.
            if let Ok(former) = ptrace::event_message(pid) {
                self.attached.remove(&former);
            }
            self.attached.insert(pid, Stage::Executed);
            let _ = ptrace::go_on_to_call(pid, 0);
            return;
        }
        match self.attached.get(&pid) {
            Some(Stage::Executed) if signal == CALL_STOP => self.put_on(pid),
            Some(Stage::Executed) => {
                let _ = ptrace::go_on_to_call(pid, 0);
            }
            Some(Stage::Waiting(sent)) => {
                if event == EVENT_STOP && sent.redirect(pid) && self.board.sleeps().are_virtual() {
                    self.waits.waiters.add(pid, sent.image, sent.waiting);
                }
                self.detach(pid, signal, event);
            }
            Some(Stage::Interrupted) => {
                if event == EVENT_STOP
                    && let Some(status) = self.waits.interrupt(pid, self.board)
                {
                    self.forget(pid);
                    return self.report.ended(pid, status);
                }
                self.detach(pid, signal, event);
            }
            // The call has failed, or is restarted after a signal and then reported again.
            Some(Stage::Executing) | None => {
                let signal = if event == EVENT_STOP || signal == CALL_STOP { 0 } else { signal };
                let _ = ptrace::detach(pid, signal);
                self.forget(pid);
            }
        }
    }

    /// Detaches from a stopped thread, which gets the signal that stopped it.
    fn detach(&mut self, pid: i32, signal: i32, event: i32) {
        let _ = ptrace::detach(pid, if event == EVENT_STOP { 0 } else { signal });
        self.forget(pid);
    }

    /// Puts a program on the clock before its first instruction.
    fn put_on(&mut self, pid: i32) {
        let handover = Handover::Listener(&self.listener, &mut self.calls);
        let (reason, ended) = put_on(pid, &self.kernel, handover, self.board.file(), self.report.is_strict);
        self.waits.kernel_timers.forget(pid);
        self.forget(pid);
        if let Some(reason) = reason {
            self.report.complain(pid, &reason);
        }
        if let Some(status) = ended {
            self.report.ended_early(pid, status);
        }
    }

    /// Removes a detached thread, and resumes the calls that waited for it.
    fn forget(&mut self, pid: i32) {
        if self.attached.remove(&pid).is_some() {
            self.calls.append(&mut self.waiting);
        }
    }
}

/// Returns the time until the first of some moments of the boot clock; `None` if there is none.
pub(crate) fn patience<const COUNT: usize>(moments: [Option<i128>; COUNT], now: i128) -> Option<Timespec> {
    let first = moments.into_iter().flatten().min()?;
    let Moment { seconds, nanos } = Moment::from_nanos((first - now).max(0));
    Some(Timespec { tv_sec: seconds, tv_nsec: nanos })
}
