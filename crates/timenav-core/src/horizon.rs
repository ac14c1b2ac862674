//! Horizons of legacy API keys: reads up to what the clock showed, and up to one ledger position.
//!
//! No key with a horizon is valid anymore. The field is kept because ledgers and head statements sign it.

/// The horizon of a key. The default is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Horizon {
    /// Whether reads ended at what the clock showed: `horizon: "clock"`.
    pub until_clock: bool,
    /// The last ledger position that the key could read: `known_at`.
    pub known_at: Option<u64>,
}

impl Horizon {
    pub const CLOCK: &'static str = "clock";

    #[must_use]
    pub const fn is_open(self) -> bool {
        !self.until_clock && self.known_at.is_none()
    }
}
