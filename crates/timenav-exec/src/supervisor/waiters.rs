//! Interrupts threads that wait in the image after a clock change.
//!
//! A thread waits in the kernel for the remaining host time. After a change, the supervisor stops each waiting thread
//! briefly, and its system call returns a special number. The image then computes the remaining time again. The
//! supervisor retries threads that are about to wait. A thread that cannot be stopped reads the clock within a second.

use std::collections::HashMap;

use crate::kernel::ptrace::{self, Registers};
use crate::processes::is_there;

/// `CHANGED` in `image/waits.h`.
const CHANGED: i64 = -1000;
/// The results of a call that was interrupted: `EINTR`, and what the kernel turns into it or restarts.
const INTERRUPTED: [i64; 5] = [-4, -512, -513, -514, -516];
/// How often a running thread is tried again, every [`RETRY_NANOS`]. One that is about to wait runs for much less.
const TRIES_MAX: u32 = 50;
pub(crate) const RETRY_NANOS: i128 = 1_000_000;
/// Number of threads at which ended ones are first removed.
const TIDY_FROM: usize = 256;
/// The call number of a thread without a call that the kernel could restart.
const NO_CALL: u64 = u64::MAX;
const SYSCALL: [u8; 2] = [0x0f, 0x05];
const SIGNALS: [&str; 4] = ["SigPnd:", "ShdPnd:", "SigBlk:", "SigIgn:"];

struct Waiter {
    image: u64,
    /// The address at which it continues.
    waiting: u64,
    /// How often it was tried to interrupt it since the clock changed; `None` if it knows the clock.
    tries: Option<u32>,
}

/// The state of a thread, according to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Running,
    /// It is blocked, and will continue at this address.
    Blocked(u64),
    Exited,
}

#[derive(Default)]
pub(crate) struct Waiters {
    all: HashMap<i32, Waiter>,
    tidy_at: usize,
}

impl Waiters {
    /// Adds a thread that is sent to wait. It reads the clock afterward.
    pub(crate) fn add(&mut self, thread: i32, image: u64, waiting: u64) {
        self.all.insert(thread, Waiter { image, waiting, tries: None });
        if self.all.len() >= self.tidy_at.max(TIDY_FROM) {
            self.all.retain(|thread, _| is_there(*thread));
            self.tidy_at = 2 * self.all.len();
        }
    }

    /// Returns the address of the image in a program, if the thread has waited before.
    pub(crate) fn image(&self, thread: i32) -> Option<u64> {
        self.all.get(&thread).map(|waiter| waiter.image)
    }

    pub(crate) fn clock_has_changed(&mut self) {
        self.all.values_mut().for_each(|waiter| waiter.tries = Some(0));
    }

    /// Returns whether all waits are those of the current clock.
    pub(crate) fn are_current(&self) -> bool {
        self.all.values().all(|waiter| waiter.tries.is_none())
    }

    /// Returns the threads to interrupt, and forgets threads that no longer wait.
    pub(crate) fn take_stale(&mut self) -> Vec<i32> {
        let mut found = Vec::new();
        self.all.retain(|thread, waiter| {
            let Some(tries) = &mut waiter.tries else { return true };
            *tries += 1;
            match place(*thread) {
                Place::Blocked(at) if at == waiter.waiting => found.push(*thread),
                Place::Running if *tries < TRIES_MAX => {}
                Place::Running | Place::Blocked(_) | Place::Exited => return false,
            }
            *tries < TRIES_MAX
        });
        found
    }

    /// Forgets a thread that cannot be interrupted.
    pub(crate) fn leave(&mut self, thread: i32) {
        self.all.remove(&thread);
    }

    /// Lets the call of a stopped thread return, so that it waits again. Another call continues as if the thread had not
    /// been stopped. If the thread is about to handle a signal, that ends the call instead.
    pub(crate) fn interrupt(&mut self, thread: i32) {
        let Ok(found) = ptrace::registers(thread) else { return };
        if found.orig_rax == NO_CALL || !INTERRUPTED.contains(&found.rax.cast_signed()) || has_signal(thread) {
            return;
        }
        match self.all.get_mut(&thread).filter(|waiter| waiter.waiting == found.rip) {
            Some(waiter) => {
                let after = Registers { rax: CHANGED.cast_unsigned(), orig_rax: NO_CALL, ..found };
                if ptrace::set_registers(thread, &after).is_ok() {
                    waiter.tries = None;
                }
            }
            None if found.rax.cast_signed() == INTERRUPTED[0] => restart(thread, &found),
            // The kernel restarts it.
            None => {}
        }
    }
}

/// Makes a stopped thread begin its call again, which the kernel would end with `EINTR`.
fn restart(thread: i32, found: &Registers) {
    let (mut code, at) = ([0; SYSCALL.len()], found.rip - SYSCALL.len() as u64);
    if ptrace::read(thread, at, &mut code).is_ok() && code == SYSCALL {
        let again = Registers { rip: at, rax: found.orig_rax, orig_rax: NO_CALL, ..*found };
        let _ = ptrace::set_registers(thread, &again);
    }
}

/// Returns the state of a thread (`proc_pid_syscall(5)`).
fn place(thread: i32) -> Place {
    let Ok(text) = std::fs::read_to_string(format!("/proc/{thread}/syscall")) else { return Place::Exited };
    place_in(&text)
}

fn place_in(text: &str) -> Place {
    let last = text.split_whitespace().next_back().and_then(|word| word.strip_prefix("0x"));
    match last.map(|word| u64::from_str_radix(word, 16)) {
        Some(Ok(at)) => Place::Blocked(at),
        Some(Err(_)) | None => Place::Running,
    }
}

/// Returns whether a thread has a signal to handle.
fn has_signal(thread: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{thread}/status")).unwrap_or_default();
    has_signal_in(&status)
}

fn has_signal_in(status: &str) -> bool {
    let set = |name: &str| {
        let word = status.lines().find_map(|line| line.strip_prefix(name))?;
        u64::from_str_radix(word.trim(), 16).ok()
    };
    let [own, shared, blocked, ignored] = SIGNALS.map(|name| set(name).unwrap_or_default());
    (own | shared) & !blocked & !ignored != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_of_a_thread_is_parsed() {
        let waiting = "230 0x1 0x0 0x7ffc 0x0 0x0 0x7469 0x7ffcd0 0x7f5a3000\n";
        for (text, expected) in [
            (waiting, Place::Blocked(0x7f5a_3000)),
            ("-1 0x7ffcd0 0x55aa\n", Place::Blocked(0x55aa)),
            ("running\n", Place::Running),
            ("", Place::Running),
        ] {
            assert_eq!(place_in(text), expected, "{text}");
        }
        assert_eq!(place(i32::MAX), Place::Exited);
    }

    #[test]
    fn blocked_and_ignored_signals_end_no_wait() {
        let status = |own: &str, shared: &str, blocked: &str, ignored: &str| {
            format!("Name:\tx\nSigPnd:\t{own}\nShdPnd:\t{shared}\nSigBlk:\t{blocked}\nSigIgn:\t{ignored}\n")
        };
        for (own, shared, blocked, ignored, expected) in [
            ("0", "0", "0", "0", false),
            ("2000", "0", "0", "0", true),
            ("0", "2000", "0", "0", true),
            ("0", "2000", "2000", "0", false),
            ("0", "2000", "0", "2000", false),
        ] {
            assert_eq!(has_signal_in(&status(own, shared, blocked, ignored)), expected, "{own} {shared}");
        }
    }

    #[test]
    fn ended_threads_are_removed_without_a_clock_change() {
        let mut waiters = Waiters::default();
        let own = std::process::id().cast_signed();
        waiters.add(own, 0x1000, 0x2000);
        // The kernel gives out no such ids.
        for number in 0..10_000 {
            waiters.add(i32::MAX - number, 0x1000, 0x2000);
        }
        assert!(waiters.all.len() < 2 * TIDY_FROM, "{}", waiters.all.len());
        assert_eq!(waiters.image(own), Some(0x1000));
    }

    #[test]
    fn only_waiting_threads_are_kept_after_a_change() {
        let mut waiters = Waiters::default();
        waiters.add(i32::MAX, 0x1000, 0x2000);
        assert!(waiters.are_current());
        assert_eq!(waiters.image(i32::MAX), Some(0x1000));
        waiters.clock_has_changed();
        assert!(!waiters.are_current());
        assert_eq!(waiters.take_stale(), Vec::<i32>::new(), "it is gone");
        assert!(waiters.are_current());
    }
}
