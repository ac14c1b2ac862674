//! What an agent works with, and what is known of it.

use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;

use super::operation::hides;
use super::scope::Scope;
use crate::client::Caller;
use crate::doors::counted;

/// Firings that are remembered as being in the hands of the agent: as many as can be claimed in one call.
const FIRINGS_HELD_MAX: usize = 1_000;

/// What an agent works with, and what is known of it.
pub(super) struct Session {
    pub(super) scope: Scope,
    pub(super) caller: Caller,
    /// The one timeline that the agent works on, if it is kept to one.
    pub(super) pinned: Option<String>,
    held: Mutex<Vec<String>>,
    /// When the last answer went out, by the boot clock.
    answered: Mutex<Duration>,
}

impl Session {
    pub(super) fn new(scope: Scope, caller: Caller, pinned: Option<String>) -> Self {
        Self { scope, caller, pinned, held: Mutex::default(), answered: Mutex::new(counted()) }
    }

    /// Returns whether an argument is not for an agent that is kept to a timeline.
    pub(super) fn is_hidden(&self, name: &str) -> bool {
        self.pinned.is_some() && hides(name)
    }

    /// Remembers firings that the agent was handed.
    pub(super) fn claimed(&self, firings: &Value) {
        let mut held = self.held.lock();
        for firing in firings.as_array().into_iter().flatten() {
            let id = firing["firing_id"].as_str().unwrap_or_default();
            if held.len() < FIRINGS_HELD_MAX && !held.iter().any(|known| known == id) {
                held.push(id.to_owned());
            }
        }
    }

    /// Forgets firings that the agent is done with.
    pub(super) fn settled(&self, firing_ids: &Value) {
        let done: Vec<&str> = firing_ids.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        self.held.lock().retain(|id| !done.contains(&id.as_str()));
    }

    /// Returns a firing that the agent works on.
    pub(super) fn held_firing(&self) -> Option<String> {
        self.held.lock().last().cloned()
    }

    /// Returns the host time that has passed since the agent was last answered.
    pub(super) fn thought(&self) -> Duration {
        counted().saturating_sub(*self.answered.lock())
    }

    /// Remembers that the agent was answered.
    pub(super) fn answer(&self) {
        *self.answered.lock() = counted();
    }
}
