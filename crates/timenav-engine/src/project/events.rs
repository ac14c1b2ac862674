//! What follows from an entry about an event.

#[cfg(test)]
mod tests;

/// The rows of an event that follow from one entry. `V` is a version of the event as its user has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EventChange<V> {
    pub(crate) made: EventMade<V>,
    /// Whether the version that stood on this timeline ends.
    pub(crate) ends: bool,
    /// By how much the number of standing events changes.
    pub(crate) count: i64,
    /// Whether the event was inherited from the parent timeline until now, and has rows of its own from here on.
    pub(crate) overrides: bool,
}

/// The row that an entry makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EventMade<V> {
    /// A version of the event.
    Version(V),
    /// One that says that an inherited event does not stand here.
    Tombstone,
    /// None.
    Nothing,
    /// None any more: the payload was erased.
    Erased,
}

impl<V> EventChange<V> {
    /// `record_event`: the first version of an event.
    pub(crate) const fn recorded(version: V) -> Self {
        Self { made: EventMade::Version(version), ends: false, count: 1, overrides: false }
    }

    /// `correct_event`: another version takes the place of the one that stood.
    pub(crate) const fn corrected(version: V, inherited: bool) -> Self {
        Self { made: EventMade::Version(version), ends: !inherited, count: 0, overrides: inherited }
    }

    /// `manipulate_event` that changed the event: `after` is how it stands now, if it does. `stood` and `inherited` are
    /// those of the payload.
    pub(crate) fn intervened(after: Option<V>, stood: bool, inherited: bool) -> Self {
        let count = i64::from(after.is_some()) - i64::from(stood);
        let made = match after {
            Some(version) => EventMade::Version(version),
            // On the parent timeline the version stands, so only a row here can say that it does not stand on this one.
            None if inherited => EventMade::Tombstone,
            None => EventMade::Nothing,
        };
        Self { made, ends: stood && !inherited, count, overrides: inherited }
    }

    /// `manipulate_event` that changed nothing.
    pub(crate) const fn unchanged() -> Self {
        Self { made: EventMade::Nothing, ends: false, count: 0, overrides: false }
    }

    /// An entry whose payload was erased.
    pub(crate) const fn erased() -> Self {
        Self { made: EventMade::Erased, ends: false, count: 0, overrides: false }
    }

    /// Returns whether the entry makes a row.
    pub(crate) const fn makes_row(&self) -> bool {
        matches!(self.made, EventMade::Version(_) | EventMade::Tombstone)
    }
}
