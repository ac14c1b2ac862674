//! Whose turn it is to do what takes memory and a core.

use std::sync::Arc;

use timenav_core::limits::{KEY_DERIVATIONS_MAX, KEY_DERIVATIONS_WAITING_MAX};
use timenav_engine::VaultError;
use tokio::sync::{Semaphore, oneshot};

/// The most that a thread can step back by (nice(2)).
#[cfg(target_os = "linux")]
const NICE_MOST: i32 = 19;

/// Turns at what is slow on purpose: so many at a time, and so many that wait. Whatever shares them, shares them all.
#[derive(Clone)]
pub struct Turns {
    /// Who may work.
    turns: Arc<Semaphore>,
    /// Who may work or wait for it.
    pub(crate) places: Arc<Semaphore>,
}

impl Default for Turns {
    fn default() -> Self {
        Self {
            turns: Arc::new(Semaphore::new(KEY_DERIVATIONS_MAX)),
            places: Arc::new(Semaphore::new(KEY_DERIVATIONS_MAX + KEY_DERIVATIONS_WAITING_MAX)),
        }
    }
}

impl Turns {
    /// Does the work in its turn, on a thread of its own that gives way to all others: an answer
    /// that takes nothing but a moment must not wait for somebody's passphrase.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, VaultError> + Send + 'static,
    ) -> Result<T, VaultError> {
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| VaultError::Busy)?;
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(|_| VaultError::Failed)?;
        let (answer, done) = oneshot::channel();
        let working = std::thread::Builder::new().name("sealing".to_owned()).spawn(move || {
            // Held until the work is done, even if nobody waits for it any more.
            let _held = (place, turn);
            give_way();
            let _ = answer.send(work());
        });
        working.map_err(|_| VaultError::Failed)?;
        done.await.map_err(|_| VaultError::Failed)?
    }
}

/// Lets every other thread go first from now on. Only Linux can do that for one thread.
fn give_way() {
    // Refused or not known here, the work takes the time it takes.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::nice(NICE_MOST);
}
