//! The supervisor without a listener: it traces all programs for as long as they run.
//!
//! The filter reports to the tracer instead of a listener. If the kernel does not accept a filter, the tracer sees
//! every call and evaluates the rules itself. A thread is stopped only until it is answered: sleeps until a date are
//! redirected to a routine of the image, so that signals reach the thread. Signals are forwarded unchanged.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags};

use crate::attach::{Handover, Kernel, WIDE_CODE, put_on};
use crate::board::Board;
use crate::filter::{I386, UNTRACED, Verdict, X86_64, filter_for_tracer, verdict};
use crate::kernel::process::{self, boot_now};
use crate::kernel::ptrace::{self, EVENT_STOP, Options, Registers};
use crate::kernel::seccomp::{Answering, Call, Instruction};
use crate::report::{Hidden, Report, is_alone};
use crate::start::StartedTraced;
use crate::supervisor::all_waits::AllWaits;
use crate::supervisor::answers::{Answer, Fault, answer_call};
use crate::supervisor::{CALL_STOP, patience, waits};

/// No call: the kernel executes none, and changes no register.
const NO_CALL: u64 = u64::MAX;

/// `getpid` of 32-bit programs.
const NARROW_GETPID: u64 = 20;

/// The state of a thread that is not simply running.
enum Stage {
    /// In an unmodified call. Its exit will be reported.
    Calling,
    /// In a harmless call, after which it gets these registers.
    Replaced(Box<Registers>),
    /// In an `execve`.
    Executing,
    /// It has executed a program, and the call has not returned.
    Executed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reply {
    GoOn,
    Value(i64),
}

/// A thread stopped at a call, which cannot disappear except by being killed.
struct Held(Cell<Reply>);

impl Answering for Held {
    fn answer(&self, _: u64, value: i64) -> bool {
        self.0.set(Reply::Value(value));
        true
    }

    fn let_go_on(&self, _: u64) -> bool {
        self.0.set(Reply::GoOn);
        true
    }

    fn is_waiting(&self, _: u64) -> bool {
        true
    }
}

pub(crate) struct Tracer<'a> {
    board: &'a Board,
    kernel: Kernel,
    report: Report<'a>,
    /// The rules, if they are evaluated here; `None` if the kernel does.
    rules: Option<Vec<Instruction>>,
    stages: HashMap<i32, Stage>,
    waits: AllWaits,
    /// Threads that are stopped because the clock has changed.
    interrupted: HashSet<i32>,
}

impl<'a> Tracer<'a> {
    pub(crate) fn new(started: &StartedTraced, kernel: Kernel, board: &'a Board, report: Report<'a>) -> Self {
        let rules = (!started.is_filtered).then(|| filter_for_tracer(board.sleeps().are_virtual()));
        if rules.is_some() {
            report.are_bound();
        }
        Self {
            board,
            kernel,
            report,
            rules,
            stages: HashMap::new(),
            waits: AllWaits::new(board, started.is_filtered),
            interrupted: HashSet::new(),
        }
    }

    pub(crate) fn run(mut self, children: &OwnedFd) -> io::Result<()> {
        let mut changes = self.board.changes();
        loop {
            while process::arrived(children).is_some() {}
            while let Some((pid, status)) = process::wait(-1, false) {
                self.handle_status(pid, status);
            }
            self.waits.look_at_rings(false, &mut self.report);
            let next_alarm = self.waits.alarms.ring(self.board);
            self.interrupt_waiters();
            if self.waits.are_current() {
                self.board.note_read(changes);
            }
            if self.report.is_over() && is_alone() {
                return Ok(());
            }
            let mut polled = vec![
                PollFd::new(children, PollFlags::IN),
                PollFd::from_borrowed_fd(self.board.changed(), PollFlags::IN),
            ];
            polled.extend(self.report.front().map(|front| PollFd::from_borrowed_fd(front, PollFlags::empty())));
            let now = boot_now().nanos_in_all();
            let patience = patience([next_alarm, self.waits.retry(now), self.waits.rings.next_look()], now);
            process::poll(&mut polled, patience.as_ref())?;
            let is_changed = polled[1].revents().contains(PollFlags::IN);
            if polled.get(2).is_some_and(|front| !front.revents().is_empty()) {
                self.report.front_has_exited();
            }
            if is_changed {
                changes = self.waits.clock_has_changed(self.board, &mut self.report);
            }
        }
    }

    /// Stops threads that wait by a clock that has changed, or whose process has timers.
    fn interrupt_waiters(&mut self) {
        for thread in self.waits.take_stale() {
            match ptrace::interrupt(thread) {
                Ok(()) => {
                    self.interrupted.insert(thread);
                }
                Err(_) => self.waits.waiters.leave(thread),
            }
        }
    }

    fn handle_status(&mut self, pid: i32, status: i32) {
        if libc::WIFCONTINUED(status) {
            self.report.continued(pid);
        } else if !libc::WIFSTOPPED(status) {
            self.stages.remove(&pid);
            self.report.ended(pid, status);
        } else {
            self.stopped(pid, libc::WSTOPSIG(status), status >> 16);
        }
    }

    /// Handles a stop of a thread, and continues it unless it was stopped from outside.
    fn stopped(&mut self, pid: i32, signal: i32, event: i32) {
        match event {
            EVENT_STOP if matches!(signal, libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU) => {
                self.report.stopped(pid, signal);
                let _ = ptrace::leave_stopped(pid);
            }
            libc::PTRACE_EVENT_EXEC => {
                // A thread that executes a program takes the id of its process.
                if let Ok(former) = ptrace::event_message(pid) {
                    self.stages.remove(&former);
                }
                self.stages.insert(pid, Stage::Executed);
                self.go_on(pid, 0);
            }
            libc::PTRACE_EVENT_SECCOMP => {
                if let Ok(found) = ptrace::registers(pid) {
                    self.take(pid, &found);
                }
                self.go_on(pid, 0);
            }
            0 if signal == CALL_STOP => {
                self.call_stopped(pid);
                self.go_on(pid, 0);
            }
            EVENT_STOP if self.interrupted.remove(&pid) => {
                if let Some(status) = self.waits.interrupt(pid, self.board) {
                    self.stages.remove(&pid);
                    return self.report.ended(pid, status);
                }
                self.go_on(pid, 0);
            }
            0 => self.go_on(pid, signal),
            // It has started another thread or process, or is a new one, or was continued.
            _ => self.go_on(pid, 0),
        }
    }

    /// Continues a thread, reporting its calls only if necessary.
    fn go_on(&self, pid: i32, signal: i32) {
        let is_seen = self.rules.is_some() || self.stages.contains_key(&pid);
        // If it is gone, a separate event reports that.
        let _ = if is_seen { ptrace::go_on_to_call(pid, signal) } else { ptrace::go_on(pid, signal) };
    }

    /// Handles the entry or exit of a call.
    fn call_stopped(&mut self, pid: i32) {
        match self.stages.remove(&pid) {
            Some(Stage::Executed) => self.put_on(pid),
            Some(Stage::Executing) => self.unbind(pid),
            Some(Stage::Replaced(after)) => {
                let _ = ptrace::set_registers(pid, &after);
            }
            Some(Stage::Calling) => {}
            None => self.call_begins(pid),
        }
    }

    /// Evaluates the rules if the kernel does not.
    fn call_begins(&mut self, pid: i32) {
        let (Some(rules), Ok(found)) = (&self.rules, ptrace::registers(pid)) else { return };
        let architecture = if found.cs == WIDE_CODE { X86_64 } else { I386 };
        let call = call_of(pid, &found);
        self.stages.insert(pid, Stage::Calling);
        match verdict(rules, architecture, call.number.cast_unsigned(), &call.parameters) {
            Verdict::Allow => {}
            Verdict::Report => self.take(pid, &found),
            Verdict::Refuse => self.replace(pid, &found, with_value(&found, -i64::from(libc::EPERM))),
        }
    }

    /// Handles a reported call before the kernel executes it.
    fn take(&mut self, pid: i32, found: &Registers) {
        let call = call_of(pid, found);
        if found.cs != WIDE_CODE {
            return self.execute(pid);
        }
        let held = Held(Cell::new(Reply::GoOn));
        if self.waits.answer(&call, self.board, &held, &mut self.report) {
            return self.reply(pid, found, &held);
        }
        match i64::from(call.number) {
            libc::SYS_clone => {
                // Its children must be traced too.
                let _ = ptrace::set_registers(pid, &Registers { rdi: found.rdi & !u64::from(UNTRACED), ..*found });
            }
            // Children would be on host time after an `execve`, or could not call it. As before Linux 5.3, callers can
            // use `clone`.
            libc::SYS_clone3 if is_untraced(&call) => {
                self.replace(pid, found, with_value(found, -i64::from(libc::ENOSYS)));
            }
            libc::SYS_clone3 => {}
            libc::SYS_io_uring_setup => self.waits.rings.add(pid),
            _ if waits::is_one(&call) => self.wait(&call, found),
            _ => match answer_call(&call, self.board, &held) {
                Some(Answer::Value(value)) => self.replace(pid, found, with_value(found, value)),
                Some(Answer::ByHost) => self.report.complain_of_call("a system call", pid, Hidden::Memory),
                None => self.execute(pid),
            },
        }
    }

    /// Redirects a thread that waits, or sets a timer, to the routine of the image.
    fn wait(&mut self, call: &Call, found: &Registers) {
        match self.waits.send(call, self.board) {
            Ok(Some(sent)) => {
                if self.board.sleeps().are_virtual() {
                    self.waits.waiters.add(call.pid, sent.image, sent.waiting);
                }
                self.replace(call.pid, found, sent.registers(found));
            }
            Err(hidden) => self.report.complain_of_call("a wait", call.pid, hidden),
            Ok(None) => {}
        }
    }

    fn reply(&mut self, pid: i32, found: &Registers, held: &Held) {
        if let Reply::Value(value) = held.0.get() {
            self.replace(pid, found, with_value(found, value));
        }
    }

    /// Keeps a thread from making its call, and sets the registers that it has afterward.
    fn replace(&mut self, pid: i32, found: &Registers, after: Registers) {
        if self.rules.is_none() {
            // The kernel executes no call.
            let _ = ptrace::set_registers(pid, &after);
            return;
        }
        // Here other filters still run, and may reject an invalid call number.
        let number = if found.cs == WIDE_CODE { libc::SYS_getpid.cast_unsigned() } else { NARROW_GETPID };
        let harmless = Registers { orig_rax: number, ..*found };
        let _ = ptrace::set_registers(pid, &harmless);
        self.stages.insert(pid, Stage::Replaced(Box::new(after)));
    }

    /// Lets a thread execute a program. Until the program is on the clock, it is killed if this process ends.
    fn execute(&mut self, pid: i32) {
        let _ = ptrace::set_options(pid, Options::TREE.bound());
        self.stages.insert(pid, Stage::Executing);
    }

    /// Puts a program on the clock before its first instruction.
    fn put_on(&mut self, pid: i32) {
        let file = self.board.file();
        let (reason, ended) = put_on(pid, &self.kernel, Handover::Socket, file, self.report.is_strict);
        if let Some(reason) = reason {
            self.report.complain(pid, &reason);
        }
        match ended {
            Some(status) => self.report.ended_early(pid, status),
            None => self.unbind(pid),
        }
        self.waits.kernel_timers.forget(pid);
    }

    fn unbind(&self, pid: i32) {
        if self.rules.is_none() {
            let _ = ptrace::set_options(pid, Options::TREE);
        }
    }
}

/// Returns whether a `clone3` starts a child that escapes the tracer.
fn is_untraced(call: &Call) -> bool {
    let mut flags = [0; 8];
    match ptrace::read(call.pid, call.parameters[0], &mut flags) {
        Ok(()) => u64::from_le_bytes(flags) & u64::from(UNTRACED) != 0,
        // If the flags cannot be read, it may.
        Err(error) => Fault::of(&error) == Fault::Hidden,
    }
}

fn call_of(pid: i32, found: &Registers) -> Call {
    let Registers { rdi, rsi, rdx, r10, r8, r9, .. } = *found;
    let number = u32::try_from(found.orig_rax & 0xffff_ffff).unwrap_or(u32::MAX).cast_signed();
    Call { id: 0, pid, number, parameters: [rdi, rsi, rdx, r10, r8, r9] }
}

/// Returns the registers of a thread after its call has returned a value.
const fn with_value(found: &Registers, value: i64) -> Registers {
    Registers { rax: value.cast_unsigned(), orig_rax: NO_CALL, ..*found }
}
