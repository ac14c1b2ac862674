//! Holds: leases that keep a timeline's advances at the current instant without a firing.

use std::collections::BTreeMap;

use crate::ids::LeaseId;
use crate::limits::HOLDS_PER_TIMELINE_MAX;
use crate::time::{Instant, Wall};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    pub lease_id: LeaseId,
    pub owner: String,
    pub reason: String,
    pub until: Instant<Wall>,
}

impl Hold {
    /// Describes who holds an advance, and why.
    #[must_use]
    pub fn description(&self) -> String {
        format!("the hold `{}` of {}: {}", self.lease_id, self.owner, self.reason)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotHeld {
    /// The user has no such hold, or it has ended.
    NotTheirs,
    TooMany,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holds(BTreeMap<LeaseId, Hold>);

impl Holds {
    /// Adds a hold that was stored elsewhere.
    pub fn put(&mut self, hold: Hold) {
        self.0.insert(hold.lease_id.clone(), hold);
    }

    /// Adds a hold. With `renews`, its owner must already have it, and it must not have ended.
    ///
    /// # Errors
    /// Nothing changes.
    pub fn take(&mut self, hold: Hold, renews: bool, now: Instant<Wall>) -> Result<(), NotHeld> {
        if renews {
            self.check(&hold.lease_id, Some(&hold.owner), now)?;
        } else if self.active(now).count() >= HOLDS_PER_TIMELINE_MAX {
            return Err(NotHeld::TooMany);
        }
        self.put(hold);
        Ok(())
    }

    /// Releases a hold of `owner`; with `None`, regardless of its owner.
    ///
    /// # Errors
    /// There is no such hold.
    pub fn release(&mut self, lease_id: &LeaseId, owner: Option<&str>, now: Instant<Wall>) -> Result<(), NotHeld> {
        self.check(lease_id, owner, now)?;
        self.0.remove(lease_id);
        Ok(())
    }

    fn check(&self, lease_id: &LeaseId, owner: Option<&str>, now: Instant<Wall>) -> Result<(), NotHeld> {
        let is_theirs = |hold: &&Hold| owner.is_none_or(|owner| hold.owner == owner);
        let theirs = self.0.get(lease_id).filter(|hold| hold.until > now).filter(is_theirs);
        theirs.map(drop).ok_or(NotHeld::NotTheirs)
    }

    /// Returns the holds that have not ended.
    pub fn active(&self, now: Instant<Wall>) -> impl Iterator<Item = &Hold> {
        self.0.values().filter(move |hold| hold.until > now)
    }

    /// Removes the holds that have ended. Returns whether any are left.
    pub fn forget_ended(&mut self, now: Instant<Wall>) -> bool {
        self.0.retain(|_, hold| hold.until > now);
        !self.0.is_empty()
    }
}
