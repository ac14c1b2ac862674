use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;

use super::operation::hides;
use super::scope::Scope;
use crate::client::Caller;
use crate::wiring::ports::counted;

/// Maximum number of leased firings to remember: as many as one call can claim.
const FIRINGS_HELD_MAX: usize = 1_000;

pub(super) struct Session {
    pub(super) scope: Scope,
    pub(super) caller: Caller,
    /// The only timeline that the agent may use, if it is pinned.
    pub(super) pinned: Option<String>,
    held: Mutex<Vec<String>>,
    /// When the last response was sent, by the boot clock.
    answered: Mutex<Duration>,
}

impl Session {
    pub(super) fn new(scope: Scope, caller: Caller, pinned: Option<String>) -> Self {
        Self { scope, caller, pinned, held: Mutex::default(), answered: Mutex::new(counted()) }
    }

    pub(super) fn is_hidden(&self, name: &str) -> bool {
        self.pinned.is_some() && hides(name)
    }

    pub(super) fn claimed(&self, firings: &Value) {
        let mut held = self.held.lock();
        for firing in firings.as_array().into_iter().flatten() {
            let id = firing["firing_id"].as_str().unwrap_or_default();
            if held.len() < FIRINGS_HELD_MAX && !held.iter().any(|known| known == id) {
                held.push(id.to_owned());
            }
        }
    }

    pub(super) fn settled(&self, firing_ids: &Value) {
        let done: Vec<&str> = firing_ids.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        self.held.lock().retain(|id| !done.contains(&id.as_str()));
    }

    pub(super) fn held_firing(&self) -> Option<String> {
        self.held.lock().last().cloned()
    }

    /// Returns the host time since the last response.
    pub(super) fn thought(&self) -> Duration {
        counted().saturating_sub(*self.answered.lock())
    }

    pub(super) fn answer(&self) {
        *self.answered.lock() = counted();
    }
}
