//! How far a key saw that earlier versions created: to what the clock showed, to what was known at one position.
//!
//! No key with a horizon works any more. It stays in what is kept, because ledgers and head statements sign it.

/// The horizon of a key. By default there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Horizon {
    /// Whether it ended at what the clock showed: `horizon: "clock"`.
    pub until_clock: bool,
    /// The last position of the timeline's ledger whose entries counted: `known_at`.
    pub known_at: Option<u64>,
}

impl Horizon {
    /// The word for a horizon that ended at what the clock showed.
    pub const CLOCK: &'static str = "clock";

    /// Returns whether there is none.
    #[must_use]
    pub const fn is_open(self) -> bool {
        !self.until_clock && self.known_at.is_none()
    }
}
