//! Pins the measured programs to one core, and the load generator to another.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The assigned cores. Nothing is pinned on a machine with one core.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cores {
    /// For the service and for every floor.
    pub(crate) measured: Option<usize>,
    pub(crate) load: Option<usize>,
}

impl Cores {
    /// Returns the first two cores that this process may use.
    pub(crate) fn of_this_machine() -> Self {
        let allowed = sched_getaffinity(None).ok();
        let mut usable = (0..CpuSet::MAX_CPU).filter(|core| allowed.as_ref().is_some_and(|set| set.is_set(*core)));
        match (usable.next(), usable.next()) {
            (Some(measured), Some(load)) => Self { measured: Some(measured), load: Some(load) },
            _ => Self { measured: None, load: None },
        }
    }

    /// Runs some work in a separate thread on the measured core.
    pub(crate) fn measured<T: Send>(self, work: impl FnOnce() -> T + Send) -> T {
        on_core(self.measured, work)
    }
}

/// Runs some work in a separate thread on one core. Its child processes inherit the affinity.
pub(crate) fn on_core<T: Send>(core: Option<usize>, work: impl FnOnce() -> T + Send) -> T {
    let pinned = move || {
        if let Some(core) = core {
            let mut set = CpuSet::new();
            set.set(core);
            // Without pinning, the measurement is noisier but still valid.
            let _ = sched_setaffinity(None, &set);
        }
        work()
    };
    std::thread::scope(|scope| match scope.spawn(pinned).join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}
