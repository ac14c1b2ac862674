//! Runs programs in any language on a virtual clock, by replacing the vDSO at each `execve`.
//!
//! A run consists of two processes in addition to the programs. The *front* is the process that was called, and
//! represents the first program: its exit code, stops and signals. The *supervisor* answers the calls that the
//! programs' seccomp filter reports. During an `execve` it attaches to the thread, maps the clock page and an image
//! that reads it, and sets the vDSO address on the new program's stack. Between two `execve` nothing is traced. If the
//! kernel has no listener, the supervisor traces the programs for as long as they run, and does the same at each
//! `execve`. If neither is permitted, programs load a library ([`ways`]).
//!
//! Supported on Linux on x86-64. Elsewhere only [`page`] is available, and runs are rejected.

#[cfg_attr(
    not(all(target_os = "linux", target_arch = "x86_64")),
    expect(dead_code, reason = "a page is written only where programs can be put on its clock")
)]
pub mod page;
pub mod inspect;
pub mod ways;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod vdso;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod image;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod kernel;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod board;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub mod processes;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod filter;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod attach;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod preload;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod start;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod front;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod report;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod supervisor;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod tracer;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod linux;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use board::Board;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use front::Front;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use kernel::process::boot_now;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use linux::{Chosen, Half, Plan, Run, choose, divide};

#[derive(Debug, thiserror::Error)]
pub enum Refused {
    #[error(
        "this process is on the clock of another `timenav exec`, and a program can be on one clock only; start the \
         command without a second `timenav exec`, or start both from outside"
    )]
    Nested,
    /// The kernel does not report system calls to a listener, and no other way was permitted.
    #[error(
        "--via exec: this system does not allow seccomp listeners ({}); leave out --via to trace programs instead, or \
         run timenav exec on Linux 5.9 or later, in a container whose profile allows \
         SECCOMP_FILTER_FLAG_NEW_LISTENER",
        error_text(*.0)
    )]
    NoListener(i32),
    #[error(
        "this system does not allow timenav to trace the programs that it starts (ptrace: {}), which --via exec and \
         --via trace need; leave out --via to load a library into programs instead, or allow it: with --cap-add \
         SYS_PTRACE for a container, with `sysctl kernel.yama.ptrace_scope=1` on a host, or by starting timenav \
         outside the debugger or sandbox",
        error_text(*.0)
    )]
    NoTracing(i32),
    #[error(
        "programs cannot load the clock library from any folder: {} is not writable, or does not allow execution ({}); \
         name another folder in TMPDIR",
        folders.join(", "),
        error_text(*error)
    )]
    NoFolder {
        folders: Vec<String>,
        /// The error of the last one.
        error: i32,
    },
    /// Only a library is possible, which does not see all waits.
    #[error(
        "--sleeps virtual needs --via exec or --via trace, because a preloaded library does not see the waits within \
         other libraries{}",
        .0.map_or_else(String::new, |obstacle| format!("; {obstacle}"))
    )]
    NativeSleeps(Option<ways::Obstacle>),
    #[error("the vDSO of this kernel cannot be read; if the kernel was started with vdso=0, start it without")]
    NoVdso,
    #[error("the program cannot be started: {0}")]
    Start(std::io::Error),
}

impl From<std::io::Error> for Refused {
    fn from(error: std::io::Error) -> Self {
        Self::Start(error)
    }
}

pub(crate) fn error_text(error: i32) -> String {
    let text = std::io::Error::from_raw_os_error(error).to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}
