#[cfg(test)]
mod tests;

/// The rows of an event that follow from one entry. `V` is the caller's type of an event version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EventChange<V> {
    pub(crate) made: EventMade<V>,
    /// Whether the current version of this timeline ends.
    pub(crate) ends: bool,
    /// The change in the number of current events.
    pub(crate) count: i64,
    /// Whether the event was inherited from the parent timeline until now, and has rows of its own from here on.
    pub(crate) overrides: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EventMade<V> {
    Version(V),
    /// A row that hides an inherited event.
    Tombstone,
    Nothing,
    /// None any more: the payload was erased.
    Erased,
}

impl<V> EventChange<V> {
    /// `record_event`: the first version of an event.
    pub(crate) const fn recorded(version: V) -> Self {
        Self { made: EventMade::Version(version), ends: false, count: 1, overrides: false }
    }

    /// `correct_event`: replaces the current version.
    pub(crate) const fn corrected(version: V, inherited: bool) -> Self {
        Self { made: EventMade::Version(version), ends: !inherited, count: 0, overrides: inherited }
    }

    /// `manipulate_event` that changed the event. `after` is the new version; `None` if the event is now canceled.
    /// `previous_state` and `inherited` are fields of the payload.
    pub(crate) fn intervened(after: Option<V>, was_active: bool, inherited: bool) -> Self {
        let count = i64::from(after.is_some()) - i64::from(was_active);
        let made = match after {
            Some(version) => EventMade::Version(version),
            // The parent timeline still has the version, so a row of this timeline has to hide it.
            None if inherited => EventMade::Tombstone,
            None => EventMade::Nothing,
        };
        Self { made, ends: was_active && !inherited, count, overrides: inherited }
    }

    /// `manipulate_event` that changed nothing.
    pub(crate) const fn unchanged() -> Self {
        Self { made: EventMade::Nothing, ends: false, count: 0, overrides: false }
    }

    /// An entry whose payload was erased.
    pub(crate) const fn erased() -> Self {
        Self { made: EventMade::Erased, ends: false, count: 0, overrides: false }
    }

    pub(crate) const fn makes_row(&self) -> bool {
        matches!(self.made, EventMade::Version(_) | EventMade::Tombstone)
    }
}
