//! A run of `timenav exec`: the process is divided, the supervisor starts the program, and the front waits for it.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{Pid, set_child_subreaper};

use crate::Refused;
use crate::attach::Kernel;
use crate::board::Board;
use crate::front::{Front, block_signals};
use crate::inspect::OutOfReach;
use crate::kernel::process::{self, Side, Signals};
use crate::page::Slot;
use crate::preload::{Folder, Keeper, is_named, listen, places};
use crate::processes::is_page;
use crate::report::{Report, quiet};
use crate::start::{NOT_EXECUTED, start, start_traced, start_with};
use crate::supervisor::Supervisor;
use crate::tracer::Tracer;
use crate::ways::{Allowed, Obstacle, Via, Way, allowed};

/// One of the two processes that a run consists of.
pub enum Half {
    /// The one that was called, which has only to wait.
    Front(Front),
    /// The one that supervises.
    Supervisor(Run),
}

/// What is run, and how.
pub struct Plan<'a> {
    /// The program and its arguments.
    pub command: &'a [OsString],
    /// The clock.
    pub board: Arc<Board>,
    /// How programs get it.
    pub chosen: Chosen,
    /// Why a library does not reach the program, if it does not.
    pub out_of_reach: Option<OutOfReach>,
    /// Waits until the clock is followed as it is to be when the program begins, for a while at most.
    pub until_followed: &'a dyn Fn(),
    /// Where sentences for people go.
    pub report: &'a dyn Fn(&str),
}

/// The way that is gone, and what it needs.
pub struct Chosen {
    allowed: Allowed,
    via: Via,
    way: Way,
    /// For programs that load a library, once there is a page.
    folder: Option<Folder>,
    is_strict: bool,
}

impl Chosen {
    /// Returns the way.
    #[must_use]
    pub const fn way(&self) -> Way {
        self.way
    }

    /// Creates the page of a run, with the name of its timeline, the address of its service, and the first state of the
    /// clock. What programs load is created with it.
    ///
    /// # Errors
    /// The kernel has no sealed memory, or no `/proc`; or there is no room for a file.
    pub fn board(&mut self, timeline: &str, service: &str, first: Slot) -> io::Result<Board> {
        if self.way != Way::Preload {
            return Board::create((timeline, service), first);
        }
        let folder = self.folder.insert(Folder::create()?);
        let file = folder.page(self.is_strict)?;
        Board::in_file(file.as_fd(), folder.page_to_read()?.into(), (timeline, service), first)
    }
}

/// Chooses how programs get the clock. Programs that it cannot reach are not started if that is strict. Call it before
/// there are threads.
///
/// # Errors
/// This system does not allow what was asked for.
pub fn choose(via: Via, is_strict: bool) -> Result<Chosen, Refused> {
    let allowed = allowed()?;
    let way = allowed.choose(via).map_err(refused)?;
    Ok(Chosen { allowed, via, way, folder: None, is_strict })
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
    // A timenav that is linked statically has no page where others load a library, and would have one clock, say another.
    if is_named() || maps.lines().any(|line| line.split_whitespace().nth(5).is_some_and(is_page)) {
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
    pub fn supervise(self, plan: Plan<'_>, follow: impl FnOnce(Arc<Board>) + Send + 'static) -> Result<(), Refused> {
        // The folder is there until the last program has ended.
        let Plan { command, board, chosen, out_of_reach, until_followed, report } = plan;
        let Chosen { allowed, via, way, folder, is_strict } = chosen;
        if let Some(sentence) = allowed.sentence(way, via) {
            report(&sentence);
        }
        let name = command.first().map(|name| name.display().to_string()).unwrap_or_default();
        match out_of_reach.filter(|_| way == Way::Preload) {
            Some(reason) if is_strict => {
                report(&format!("`{name}` was not started: {reason}"));
                drop(folder);
                process::exit_now(NOT_EXECUTED);
            }
            Some(reason) => report(&format!("`{name}` runs on host time: {reason}")),
            None => {}
        }
        // Told by a descriptor, and never by an interruption.
        let children = Signals::of(&[libc::SIGCHLD, libc::SIGTTOU, libc::SIGPIPE]);
        children.block();
        let children = Signals::of(&[libc::SIGCHLD]).descriptor()?;
        let front = (self.front, self.front_pid);
        match (way, &folder) {
            (Way::Exec, _) => {
                let kernel = Kernel::look().ok_or(Refused::NoVdso)?;
                let started = start(command, self.mask)?;
                detach_and_follow(&board, follow)?;
                let report = Report::begin(started.pid, front, is_strict, report);
                until_followed();
                Supervisor::new(started.listener, kernel, &board, report).run(&children)?;
            }
            (Way::Trace, _) => {
                let kernel = Kernel::look().ok_or(Refused::NoVdso)?;
                let started = start_traced(command, self.mask)?;
                detach_and_follow(&board, follow)?;
                let report = Report::begin(started.pid, front, is_strict, report);
                until_followed();
                Tracer::new(&started, kernel, &board, report).run(&children)?;
            }
            (Way::Preload, None) => return Err(refused(Obstacle::Folder(libc::ENOENT))),
            (Way::Preload, Some(folder)) => {
                let socket = listen(folder)?;
                let held = start_with(command, &folder.environment()?, self.mask)?;
                detach_and_follow(&board, follow)?;
                let report = Report::begin(held.pid, front, is_strict, report);
                until_followed();
                // A signal that comes as soon as the program does something is for it: the front knows of it by then.
                held.let_go()?;
                Keeper::new(socket, &board, report).run(&children)?;
            }
        }
        let _ = quiet();
        Ok(())
    }
}

/// Signals of the terminal are for the programs, and output of theirs is not held open. From here on there are threads.
fn detach_and_follow(board: &Arc<Board>, follow: impl FnOnce(Arc<Board>) + Send + 'static) -> io::Result<()> {
    let _ = rustix::process::setsid();
    release_output();
    let board = Arc::clone(board);
    std::thread::Builder::new().name("clock".to_owned()).spawn(move || follow(board))?;
    Ok(())
}

fn refused(obstacle: Obstacle) -> Refused {
    match obstacle {
        Obstacle::Tracing(error) => Refused::NoTracing(error),
        Obstacle::Listening(error) => Refused::NoListener(error),
        Obstacle::Listened => Refused::Nested,
        Obstacle::Folder(error) => {
            Refused::NoFolder { folders: places().iter().map(|it| it.display().to_string()).collect(), error }
        }
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
