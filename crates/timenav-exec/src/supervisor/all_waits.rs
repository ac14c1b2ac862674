//! Everything that programs wait for, regardless of how they are supervised.

use crate::board::Board;
use crate::kernel::seccomp::{Answering, Call};
use crate::report::{Hidden, Report};
use crate::supervisor::alarms::{self, Alarms};
use crate::supervisor::answers::Answered;
use crate::supervisor::kernel_timers::KernelTimers;
use crate::supervisor::rings::Rings;
use crate::supervisor::timers::Timers;
use crate::supervisor::waiters::{RETRY_NANOS, Waiters};
use crate::supervisor::waits::{Routine, Sent};

pub(crate) struct AllWaits {
    timers: Timers,
    pub(crate) alarms: Alarms,
    pub(crate) kernel_timers: KernelTimers,
    pub(crate) rings: Rings,
    routine: Option<Routine>,
    pub(crate) waiters: Waiters,
}

impl AllWaits {
    /// `has_filter` says whether programs get a filter from this run.
    pub(crate) fn new(board: &Board, has_filter: bool) -> Self {
        Self {
            timers: Timers::new(),
            alarms: Alarms::default(),
            kernel_timers: KernelTimers::default(),
            rings: Rings::new(board.sleeps()),
            routine: Routine::look(has_filter),
            waiters: Waiters::default(),
        }
    }

    /// Answers a call about a timer or an alarm. Returns whether it is one.
    pub(crate) fn answer(
        &mut self,
        call: &Call,
        board: &Board,
        line: &impl Answering,
        report: &mut Report<'_>,
    ) -> bool {
        let (what, answered) = match i64::from(call.number) {
            libc::SYS_timer_gettime => {
                self.kernel_timers.read(call, board, line);
                return true;
            }
            libc::SYS_timerfd_gettime => {
                self.timers.read(call, board, line);
                return true;
            }
            libc::SYS_timerfd_settime => ("a timer", self.timers.set(call, board, line)),
            _ if alarms::is_one(call) => ("an alarm", self.alarms.take(call, board, line)),
            _ => return false,
        };
        if let Answered::ByHost(hidden) = answered {
            report.complain_of_call(what, call.pid, hidden);
        }
        true
    }

    /// Returns how to redirect a thread that waits or sets a timer; `None` to leave the call to the kernel, as with
    /// invalid calls and waits of programs that are not on the clock.
    pub(crate) fn send(&mut self, call: &Call, board: &Board) -> Result<Option<Sent>, Hidden> {
        let known = self.waiters.image(call.pid);
        let sent = match &self.routine {
            Some(routine) if call.pid != 0 => routine.send(*call, board, known),
            Some(_) | None => Ok(None),
        };
        if i64::from(call.number) == libc::SYS_timer_settime && board.sleeps().are_virtual() {
            self.kernel_timers.set(call, sent.as_ref().ok().and_then(Option::as_ref), board);
        }
        sent
    }

    pub(crate) fn look_at_rings(&mut self, at_all: bool, report: &mut Report<'_>) {
        if let Some(pid) = self.rings.look(at_all) {
            report.complain_of_ring(pid);
        }
    }

    /// Applies a change of the clock. Returns the number of changes.
    pub(crate) fn clock_has_changed(&mut self, board: &Board, report: &mut Report<'_>) -> u64 {
        let changes = board.take_changes();
        self.waiters.clock_has_changed();
        self.kernel_timers.clock_has_changed(board);
        if self.timers.set_again(board) {
            report.complain_of_timers();
        }
        self.look_at_rings(true, report);
        changes
    }

    /// Returns whether waits and kernel timers are those of the current clock.
    pub(crate) fn are_current(&self) -> bool {
        self.waiters.are_current() && self.kernel_timers.are_current()
    }

    /// Returns when to try again to stop threads, given the boot clock.
    pub(crate) fn retry(&self, now: i128) -> Option<i128> {
        (!self.are_current()).then_some(now + RETRY_NANOS)
    }

    /// Returns the threads to stop: they wait by a clock that has changed, or their process has timers.
    pub(crate) fn take_stale(&mut self) -> Vec<i32> {
        let mut threads = self.waiters.take_stale();
        threads.extend(self.kernel_timers.take_stale());
        threads
    }

    /// Lets a stopped thread wait by the current clock. Returns its status if it has ended.
    pub(crate) fn interrupt(&mut self, thread: i32, board: &Board) -> Option<i32> {
        let status = self.kernel_timers.set_again(thread, board);
        if status.is_none() {
            self.waiters.interrupt(thread);
        }
        status
    }
}
