//! A run of `timenav exec`: the process is divided, the supervisor starts the program, and the front waits for it.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{Pid, set_child_subreaper};

use crate::Refused;
use crate::attach::Kernel;
use crate::board::{Board, PAGE_NAME};
use crate::front::{Front, block_signals};
use crate::kernel::process::{self, Side, Signals};
use crate::report::{Report, quiet};
use crate::start::{start, start_traced};
use crate::supervisor::{Plan, Supervisor};
use crate::tracer::Tracer;
use crate::ways::{Obstacle, Way, allowed};

/// One of the two processes that a run consists of.
pub enum Half {
    /// The one that was called, which has only to wait.
    Front(Front),
    /// The one that supervises.
    Supervisor(Run),
}

/// A run whose program has not been started yet.
pub struct Run {
    front: OwnedFd,
    front_pid: i32,
    mask: Signals,
}

/// Divides this process in two. Call it before there are threads.
///
/// # Errors
/// This process is on the clock of another run; or the kernel says no.
pub fn divide() -> Result<Half, Refused> {
    let maps = std::fs::read_to_string("/proc/self/maps").map_err(Refused::Start)?;
    if maps.contains(&format!("/memfd:{PAGE_NAME}")) {
        return Err(Refused::Nested);
    }
    let (ours, theirs) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).map_err(io::Error::from)?;
    let (heeded, mask) = block_signals();
    let signals = heeded.descriptor()?;
    become_reaper();
    match process::fork()? {
        Side::Parent(supervisor) => Ok(Half::Front(Front { supervisor, socket: ours, signals })),
        Side::Child => {
            drop((ours, signals));
            mask.block();
            let front_pid = rustix::process::getppid().map_or(0, Pid::as_raw_pid);
            become_reaper();
            Ok(Half::Supervisor(Run { front: theirs, front_pid, mask }))
        }
    }
}

/// Makes orphans among the programs children of this process: it can trace them, and sees when they end.
fn become_reaper() {
    // Any id means yes; kernels that do not know it are older than what the rest needs.
    let _ = set_child_subreaper(Pid::from_raw(1));
}

impl Run {
    /// Starts the program, and supervises it and all that it starts until the last of them has ended. `follow` is run on a
    /// thread of its own, to keep the clock current.
    ///
    /// # Errors
    /// The program cannot be started under a filter, or the supervisor cannot go on.
    pub fn supervise(self, plan: &Plan<'_>, follow: impl FnOnce(Arc<Board>) + Send + 'static) -> Result<(), Refused> {
        let kernel = Kernel::look().ok_or(Refused::NoVdso)?;
        let allowed = allowed()?;
        let way = allowed.choose(plan.via).map_err(refused)?;
        // Told by a descriptor, and never by an interruption.
        let children = Signals::of(&[libc::SIGCHLD, libc::SIGTTOU, libc::SIGPIPE]);
        children.block();
        let children = Signals::of(&[libc::SIGCHLD]).descriptor()?;
        let front = (self.front, self.front_pid);
        match way {
            Way::Exec => {
                let started = start(plan.command, self.mask)?;
                detach_and_follow(plan, follow)?;
                let report = Report::begin(started.pid, front, plan.is_strict, plan.report);
                Supervisor::new(started.listener, kernel, &plan.board, report).run(&children)?;
            }
            Way::Trace => {
                (plan.report)(&allowed.sentence(plan.via));
                let started = start_traced(plan.command, self.mask)?;
                detach_and_follow(plan, follow)?;
                let report = Report::begin(started.pid, front, plan.is_strict, plan.report);
                Tracer::new(&started, kernel, &plan.board, report).run(&children)?;
            }
        }
        let _ = quiet();
        Ok(())
    }
}

/// Signals of the terminal are for the programs, and output of theirs is not held open. From here on there are threads.
fn detach_and_follow(plan: &Plan<'_>, follow: impl FnOnce(Arc<Board>) + Send + 'static) -> io::Result<()> {
    let _ = rustix::process::setsid();
    release_output();
    let board = Arc::clone(&plan.board);
    std::thread::Builder::new().name("clock".to_owned()).spawn(move || follow(board))?;
    Ok(())
}

fn refused(obstacle: Obstacle) -> Refused {
    match obstacle {
        Obstacle::Tracing(error) => Refused::NoTracing(error),
        Obstacle::Listening(error) => Refused::NoListener(error),
        Obstacle::Listened => Refused::Nested,
    }
}

/// Lets go of stdin and stdout, so that a pipe ends when the programs have closed it. Sentences go to stderr.
fn release_output() {
    let nothing = rustix::fs::open("/dev/null", rustix::fs::OFlags::RDWR, rustix::fs::Mode::empty());
    if let Ok(nothing) = nothing {
        let _ = rustix::stdio::dup2_stdin(&nothing);
        let _ = rustix::stdio::dup2_stdout(&nothing);
    }
}
