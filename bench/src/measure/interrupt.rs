//! Handling of Ctrl-C and SIGTERM: stops all child processes before exiting.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::bail;
use tokio::signal::unix::{SignalKind, signal};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

pub(crate) fn listen() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (mut interrupt, mut terminate) = {
        let _guard = runtime.enter();
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?)
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        runtime.block_on(async {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        });
        INTERRUPTED.store(true, Ordering::Relaxed);
    })?;
    Ok(())
}

/// Fails after a signal. Called between measurements, which are short.
pub(crate) fn check() -> anyhow::Result<()> {
    if INTERRUPTED.load(Ordering::Relaxed) {
        bail!("interrupted");
    }
    Ok(())
}
