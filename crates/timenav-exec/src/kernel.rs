//! Kernel interfaces without a safe wrapper: tracing, seccomp listeners, forks, shared memory.
//!
//! The only module of the project with unsafe code. Each function is one call, checks the result, and makes no
//! decisions. All decisions are outside, in safe code.

#![expect(unsafe_code, reason = "these calls have no safe wrapper in rustix; each says why it is sound")]

pub(crate) mod mapping;
pub(crate) mod process;
pub(crate) mod ptrace;
pub(crate) mod seccomp;
#[cfg(test)]
mod image_in_memory;

/// Returns the result of a call that reports errors as −1.
fn checked(result: i64) -> std::io::Result<i64> {
    if result == -1 { Err(std::io::Error::last_os_error()) } else { Ok(result) }
}
