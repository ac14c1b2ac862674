//! Leases that hold advances of a timeline without a firing: while one lasts, the clock comes to no other instant.

use std::collections::BTreeMap;

use crate::ids::LeaseId;
use crate::limits::HOLDS_PER_TIMELINE_MAX;
use crate::time::{Instant, Wall};

/// Somebody holds the advances of a timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// Its name.
    pub lease_id: LeaseId,
    /// The user who holds them.
    pub owner: String,
    /// Why, in their words.
    pub reason: String,
    /// Until when, by the host.
    pub until: Instant<Wall>,
}

impl Hold {
    /// Says who holds an advance, and why.
    #[must_use]
    pub fn told(&self) -> String {
        format!("the lease `{}` of {}: {}", self.lease_id, self.owner, self.reason)
    }
}

/// Why a lease cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotHeld {
    /// They have none of that name any more, or never had.
    NotTheirs,
    /// There are as many as there may be.
    TooMany,
}

/// What holds the advances of one timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holds(BTreeMap<LeaseId, Hold>);

impl Holds {
    /// Puts in what is kept elsewhere.
    pub fn put(&mut self, hold: Hold) {
        self.0.insert(hold.lease_id.clone(), hold);
    }

    /// Begins to hold, or goes on where `renews`: then whoever owns the lease must still have it.
    ///
    /// # Errors
    /// Why not. Nothing has changed then.
    pub fn take(&mut self, hold: Hold, renews: bool, now: Instant<Wall>) -> Result<(), NotHeld> {
        if renews {
            self.check(&hold.lease_id, Some(&hold.owner), now)?;
        } else if self.standing(now).count() >= HOLDS_PER_TIMELINE_MAX {
            return Err(NotHeld::TooMany);
        }
        self.put(hold);
        Ok(())
    }

    /// Releases a lease of `owner`, or anybody's for `None`.
    ///
    /// # Errors
    /// There is no such lease.
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

    /// Returns those that have not ended.
    pub fn standing(&self, now: Instant<Wall>) -> impl Iterator<Item = &Hold> {
        self.0.values().filter(move |hold| hold.until > now)
    }

    /// Forgets those that have ended. Returns whether any is left.
    pub fn forget_ended(&mut self, now: Instant<Wall>) -> bool {
        self.0.retain(|_, hold| hold.until > now);
        !self.0.is_empty()
    }
}
