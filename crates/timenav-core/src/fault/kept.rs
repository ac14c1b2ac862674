//! Whose clock is wrong on a timeline.

use std::collections::BTreeMap;

use super::Fault;
use crate::ids::{FollowerName, UserId};

/// Whose clock is wrong on a timeline: of a user's followers of one name each. A fork begins with the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// The position of the newest entry of this timeline that says so; `None` where none does.
    pub changed: Option<u64>,
    of: BTreeMap<(UserId, FollowerName), Fault>,
}

impl Faults {
    /// Returns what a timeline begins with that goes on from another.
    #[must_use]
    pub fn carried(of: impl IntoIterator<Item = ((UserId, FollowerName), Fault)>) -> Self {
        Self { changed: None, of: of.into_iter().collect() }
    }

    /// Returns the same, last changed by another entry; by none where a fork begins with it.
    #[must_use]
    pub fn since(self, changed: Option<u64>) -> Self {
        Self { changed, ..self }
    }

    /// Returns what is wrong with the clock of a user's followers of one name; `None` where it is right.
    #[must_use]
    pub fn get(&self, whose: &(UserId, FollowerName)) -> Option<Fault> {
        self.of.get(whose).copied()
    }

    /// Returns all, in the order of users and names.
    pub fn iter(&self) -> impl Iterator<Item = (&(UserId, FollowerName), Fault)> {
        self.of.iter().map(|(whose, fault)| (whose, *fault))
    }

    /// Returns how many clocks are wrong.
    #[must_use]
    pub fn len(&self) -> usize {
        self.of.len()
    }

    /// Returns whether every clock is right.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// Takes what an entry says.
    pub fn set(&mut self, position: u64, whose: (UserId, FollowerName), fault: Option<Fault>) {
        self.changed = Some(position);
        match fault {
            Some(fault) => self.of.insert(whose, fault),
            None => self.of.remove(&whose),
        };
    }
}
