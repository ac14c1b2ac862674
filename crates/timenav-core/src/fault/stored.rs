use std::collections::BTreeMap;

use super::Fault;
use crate::ids::{FollowerName, UserId};

/// The faulty clocks of a timeline, per user and follower name. A fork inherits them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// The position of this timeline's newest entry about faults, if any.
    pub changed: Option<u64>,
    of: BTreeMap<(UserId, FollowerName), Fault>,
}

impl Faults {
    /// Returns the faults that a fork inherits.
    #[must_use]
    pub fn carried(of: impl IntoIterator<Item = ((UserId, FollowerName), Fault)>) -> Self {
        Self { changed: None, of: of.into_iter().collect() }
    }

    /// Returns the same faults, last changed at `changed`; `None` if they are inherited.
    #[must_use]
    pub fn since(self, changed: Option<u64>) -> Self {
        Self { changed, ..self }
    }

    /// Returns the fault of a user's followers of one name; `None` if their clock is correct.
    #[must_use]
    pub fn get(&self, whose: &(UserId, FollowerName)) -> Option<Fault> {
        self.of.get(whose).copied()
    }

    /// Returns all faults, ordered by user and name.
    pub fn iter(&self) -> impl Iterator<Item = (&(UserId, FollowerName), Fault)> {
        self.of.iter().map(|(whose, fault)| (whose, *fault))
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.of.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// Applies an entry: sets or removes a fault.
    pub fn set(&mut self, position: u64, whose: (UserId, FollowerName), fault: Option<Fault>) {
        self.changed = Some(position);
        match fault {
            Some(fault) => self.of.insert(whose, fault),
            None => self.of.remove(&whose),
        };
    }
}
