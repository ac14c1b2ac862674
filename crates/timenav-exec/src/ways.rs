//! The ways to put programs on a clock, and which of them this system permits. Probes this in a separate process.

use std::io;

use crate::error_text;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Via {
    /// The first one that this system permits, in the order of [`Way`].
    #[default]
    Auto,
    Only(Way),
}

/// How programs get the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The supervisor attaches to a program during `execve`, which a seccomp listener reports.
    Exec,
    /// The supervisor traces all programs for as long as they run.
    Trace,
    /// Programs load a library that overrides functions of the C library.
    Preload,
}

impl Way {
    /// All ways, the best first.
    pub const ALL: [Self; 3] = [Self::Exec, Self::Trace, Self::Preload];

    /// Returns the value of `--via`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exec => "exec",
            Self::Trace => "trace",
            Self::Preload => "preload",
        }
    }
}

/// What this system permits. Errors are kernel error numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowed {
    pub tracing: Result<(), i32>,
    /// Listening to the system calls that a filter reports.
    pub listening: Result<(), i32>,
    /// Installing a filter. Without one, tracing sees every system call.
    pub filtering: Result<(), i32>,
    /// A folder from which programs can load a library.
    pub preloading: Result<(), i32>,
}

/// Why a way is not possible. Errors are kernel error numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Obstacle {
    #[error("this system does not allow timenav to trace the programs that it starts ({})", error_text(*.0))]
    Tracing(i32),
    #[error("this system has no seccomp listener ({})", error_text(*.0))]
    Listening(i32),
    #[error("another program already listens to the system calls of this process")]
    Listened,
    #[error("programs cannot load a library from any folder ({})", error_text(*.0))]
    Folder(i32),
}

/// `EBUSY`, returned by the kernel if there is a listener already.
const BUSY: i32 = 16;

impl Allowed {
    /// Returns why a way is not possible; `None` if it is.
    #[must_use]
    pub const fn obstacle(&self, way: Way) -> Option<Obstacle> {
        match (way, self.tracing, self.listening, self.preloading) {
            (Way::Preload, .., Ok(())) => None,
            (Way::Preload, .., Err(error)) => Some(Obstacle::Folder(error)),
            (_, Err(error), ..) => Some(Obstacle::Tracing(error)),
            (Way::Exec, _, Err(BUSY), _) => Some(Obstacle::Listened),
            (Way::Exec, _, Err(error), _) => Some(Obstacle::Listening(error)),
            (Way::Exec | Way::Trace, Ok(()), ..) => None,
        }
    }

    /// Returns what to tell the user about a way; nothing for the best one.
    #[must_use]
    pub fn sentence(&self, way: Way, via: Via) -> Option<String> {
        let why = |better: Way| match (via, self.obstacle(better)) {
            (Via::Auto, Some(obstacle)) => format!(", because {obstacle}"),
            _ => String::new(),
        };
        match way {
            Way::Exec => None,
            Way::Trace => {
                let (why, slow) = (why(Way::Exec), self.slow());
                Some(format!("programs are traced{why}; debuggers do not work in them{slow}"))
            }
            Way::Preload => {
                let why = why(Way::Trace);
                Some(format!(
                    "programs get the clock from a preloaded library{why}; it does not reach programs that are \
                     statically linked, written in Go, or get privileges from their file"
                ))
            }
        }
    }

    /// Returns what to add if tracing sees every call.
    fn slow(&self) -> String {
        match self.filtering {
            Ok(()) => String::new(),
            Err(error) => format!(
                "; each of their system calls is slower, and they end if the supervisor is killed, because this system \
                 does not allow seccomp filters ({})",
                error_text(error)
            ),
        }
    }

    /// Returns why a way is used or not, given the chosen one.
    #[must_use]
    pub fn reason(&self, way: Way, chosen: Option<Way>) -> String {
        match (self.obstacle(way), chosen, way) {
            (Some(obstacle), ..) => obstacle.to_string(),
            (None, Some(chosen), _) if chosen != way => format!("it is possible; --via {} was chosen", chosen.name()),
            (None, _, Way::Exec) => "the supervisor attaches to a program only during its execve".to_owned(),
            (None, _, way) => self.sentence(way, Via::Only(way)).unwrap_or_default(),
        }
    }

    /// Returns the way to use.
    ///
    /// # Errors
    /// None of the requested ways is possible. The error is that of the last one.
    pub fn choose(&self, via: Via) -> Result<Way, Obstacle> {
        let ways = match via {
            // The listener may be that of another run. A tracer would not see the calls that it answers.
            Via::Auto if self.obstacle(Way::Exec) == Some(Obstacle::Listened) => return Err(Obstacle::Listened),
            Via::Auto => &Way::ALL[..],
            Via::Only(Way::Exec) => &Way::ALL[..1],
            Via::Only(Way::Trace) => &Way::ALL[1..2],
            Via::Only(Way::Preload) => &Way::ALL[2..],
        };
        let mut last = Obstacle::Listened;
        for way in ways {
            match self.obstacle(*way) {
                None => return Ok(*way),
                Some(obstacle) => last = obstacle,
            }
        }
        Err(last)
    }
}

/// Probes what this system permits. Must be called before there are threads.
///
/// # Errors
/// No process can be started.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub fn allowed() -> io::Result<Allowed> {
    use rustix::net::{RecvFlags, SendFlags};

    use crate::filter::nothing;
    use crate::kernel::process::{self, Side};
    use crate::kernel::{ptrace, seccomp};
    use crate::preload;
    use crate::start::{number, pair};

    let (ours, theirs) = pair()?;
    match process::fork()? {
        Side::Child => {
            drop(ours);
            // Wait until the parent has tried to attach.
            let _ = rustix::net::recv(&theirs, &mut [0], RecvFlags::empty());
            let filtering = number(seccomp::install_for_tracer(&nothing()).err().as_ref());
            let listening = number(seccomp::install(&nothing()).err().as_ref());
            let bytes = [filtering.to_le_bytes(), listening.to_le_bytes()].concat();
            let _ = rustix::net::send(&theirs, &bytes, SendFlags::NOSIGNAL);
            process::exit_now(0)
        }
        Side::Parent(pid) => {
            drop(theirs);
            let tracing = number(ptrace::seize(pid).err().as_ref());
            let mut bytes = [0; 8];
            let _ = rustix::net::send(&ours, &[1], SendFlags::NOSIGNAL);
            let received = rustix::net::recv(&ours, &mut bytes, RecvFlags::empty());
            process::kill(pid, libc::SIGKILL);
            while process::wait(pid, true).is_some_and(|(_, status)| libc::WIFSTOPPED(status)) {}
            let error_at = |at: usize| match bytes[at..at + 4].try_into().map_or(libc::EIO, i32::from_le_bytes) {
                0 => Ok(()),
                error => Err(error),
            };
            // The system may kill a process for trying.
            let has_told = received.is_ok_and(|(count, _)| count == bytes.len());
            let [filtering, listening] = [0, 4].map(|at| if has_told { error_at(at) } else { Err(libc::EPERM) });
            let tracing = if tracing == 0 { Ok(()) } else { Err(tracing) };
            let preloading = preload::place().map(|_| ()).map_err(|error| number(Some(&error)));
            Ok(Allowed { tracing, listening, filtering, preloading })
        }
    }
}

/// Not supported on this system.
///
/// # Errors
/// Always.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub fn allowed() -> io::Result<Allowed> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_available_method_is_chosen() {
        let all = Allowed { tracing: Ok(()), listening: Ok(()), filtering: Ok(()), preloading: Ok(()) };
        let deaf = Allowed { listening: Err(22), ..all };
        let taken = Allowed { listening: Err(BUSY), ..all };
        let untraced = Allowed { tracing: Err(1), ..all };
        let bare = Allowed { preloading: Err(30), ..untraced };
        let [exec, trace, preload] = Way::ALL.map(Via::Only);
        for (allowed, via, expected) in [
            (all, Via::Auto, Ok(Way::Exec)),
            (all, exec, Ok(Way::Exec)),
            (all, trace, Ok(Way::Trace)),
            (all, preload, Ok(Way::Preload)),
            (deaf, Via::Auto, Ok(Way::Trace)),
            (deaf, exec, Err(Obstacle::Listening(22))),
            (deaf, trace, Ok(Way::Trace)),
            (taken, Via::Auto, Err(Obstacle::Listened)),
            (taken, exec, Err(Obstacle::Listened)),
            (untraced, Via::Auto, Ok(Way::Preload)),
            (untraced, exec, Err(Obstacle::Tracing(1))),
            (untraced, trace, Err(Obstacle::Tracing(1))),
            (untraced, preload, Ok(Way::Preload)),
            (bare, Via::Auto, Err(Obstacle::Folder(30))),
            (bare, preload, Err(Obstacle::Folder(30))),
        ] {
            assert_eq!(allowed.choose(via), expected, "{allowed:?} {via:?}");
        }
    }
}
