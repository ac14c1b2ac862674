//! A run of `timenav exec`: the process is forked, the supervisor starts the program, and the front waits for it.

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
use crate::page::{Sleeps, Slot};
use crate::preload::{Folder, Keeper, is_named, listen, places};
use crate::processes::is_page;
use crate::report::{Report, quiet};
use crate::start::{NOT_EXECUTED, start, start_traced, start_with};
use crate::supervisor::Supervisor;
use crate::tracer::Tracer;
use crate::ways::{Allowed, Obstacle, Via, Way, allowed};

/// One of the two processes of a run.
pub enum Half {
    /// The original process, which only waits.
    Front(Front),
    Supervisor(Run),
}

pub struct Plan<'a> {
    pub command: &'a [OsString],
    pub board: Arc<Board>,
    pub chosen: Chosen,
    /// Why a library does not work for the program, if it does not.
    pub out_of_reach: Option<OutOfReach>,
    /// Waits, up to a limit, until the clock is followed as required before the program starts.
    pub until_followed: &'a dyn Fn(),
    pub report: &'a dyn Fn(&str),
}

/// The chosen way, and its prerequisites.
pub struct Chosen {
    allowed: Allowed,
    via: Via,
    way: Way,
    /// For programs that load a library, once there is a page.
    folder: Option<Folder>,
    is_strict: bool,
    sleeps: Sleeps,
}

impl Chosen {
    #[must_use]
    pub const fn way(&self) -> Way {
        self.way
    }

    /// Creates the page of a run, with the name of its timeline, the address of its service, and the first state of the
    /// clock. Also creates the files that programs load.
    ///
    /// # Errors
    /// The kernel has no sealed memory, or no `/proc`, or there is no space for a file.
    pub fn board(&mut self, timeline: &str, service: &str, first: Slot) -> io::Result<Board> {
        if self.way != Way::Preload {
            return Board::create((timeline, service), first, self.sleeps);
        }
        let folder = self.folder.insert(Folder::create()?);
        let file = folder.page(self.is_strict)?;
        Board::in_file(file.as_fd(), folder.page_to_read()?.into(), (timeline, service), (first, self.sleeps))
    }
}

/// Chooses how programs get the clock. With `is_strict`, programs that this does not work for are not started. Must be
/// called before there are threads.
///
/// # Errors
/// This system does not permit the requested way, or only one in which sleeps cannot be virtual.
pub fn choose(via: Via, is_strict: bool, sleeps: Sleeps) -> Result<Chosen, Refused> {
    let allowed = allowed()?;
    let way = allowed.choose(via).map_err(refused)?;
    if way == Way::Preload && sleeps.are_virtual() {
        return Err(Refused::NativeSleeps(allowed.obstacle(Way::Trace)));
    }
    Ok(Chosen { allowed, via, way, folder: None, is_strict, sleeps })
}

/// A run whose program has not been started yet.
pub struct Run {
    front: OwnedFd,
    front_pid: i32,
    mask: Signals,
}

/// Forks this process. Must be called before there are threads.
///
/// # Errors
/// This process is on the clock of another run, or the kernel rejects it.
pub fn divide() -> Result<Half, Refused> {
    let maps = std::fs::read_to_string("/proc/self/maps").map_err(Refused::Start)?;
    // A statically linked timenav has no page if others load a library, so the variable is checked too.
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

/// Makes orphaned programs children of this process, so that it can trace them and is notified when they end.
fn become_reaper() {
    // Any id enables it. Kernels without support are older than the other requirements.
    let _ = set_child_subreaper(Pid::from_raw(1));
}

impl Run {
    /// Starts the program, and supervises it and all its descendants until the last one has ended. `follow` runs on a
    /// separate thread and keeps the clock current.
    ///
    /// # Errors
    /// The program cannot be started under a filter, or the supervisor fails.
    pub fn supervise(self, plan: Plan<'_>, follow: impl FnOnce(Arc<Board>) + Send + 'static) -> Result<(), Refused> {
        // The folder exists until the last program has ended.
        let Plan { command, board, chosen, out_of_reach, until_followed, report } = plan;
        let Chosen { allowed, via, way, folder, is_strict, sleeps } = chosen;
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
        // Reported by a descriptor instead of a handler.
        let children = Signals::of(&[libc::SIGCHLD, libc::SIGTTOU, libc::SIGPIPE]);
        children.block();
        let children = Signals::of(&[libc::SIGCHLD]).descriptor()?;
        let front = (self.front, self.front_pid);
        let begin = |pid| {
            detach_and_follow(&board, follow)?;
            let report = Report::begin(pid, front, is_strict, report);
            until_followed();
            Ok::<_, Refused>(report)
        };
        match (way, &folder) {
            (Way::Exec, _) => {
                let kernel = Kernel::look().ok_or(Refused::NoVdso)?;
                let started = start(command, self.mask, sleeps.are_virtual())?;
                let report = begin(started.pid)?;
                Supervisor::new(started.listener, kernel, &board, report).run(&children)?;
            }
            (Way::Trace, _) => {
                let kernel = Kernel::look().ok_or(Refused::NoVdso)?;
                let started = start_traced(command, self.mask, sleeps.are_virtual())?;
                let report = begin(started.pid)?;
                Tracer::new(&started, kernel, &board, report).run(&children)?;
            }
            (Way::Preload, None) => return Err(refused(Obstacle::Folder(libc::ENOENT))),
            (Way::Preload, Some(folder)) => {
                let socket = listen(folder)?;
                let held = start_with(command, &folder.environment()?, self.mask)?;
                let report = begin(held.pid)?;
                // Signals from then on are for the program, so the front must know about it first.
                held.let_go()?;
                Keeper::new(socket, &board, report).run(&children)?;
            }
        }
        let _ = quiet();
        Ok(())
    }
}

/// Leaves the terminal's signals to the programs, and does not hold their output open. Starts a thread.
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

/// Closes stdin and stdout, so that a pipe ends when the programs have closed it. Messages go to stderr.
fn release_output() {
    let nothing = rustix::fs::open("/dev/null", rustix::fs::OFlags::RDWR, rustix::fs::Mode::empty());
    if let Ok(nothing) = nothing {
        let _ = rustix::stdio::dup2_stdin(&nothing);
        let _ = rustix::stdio::dup2_stdout(&nothing);
    }
}
