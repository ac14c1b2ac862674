//! What a key with a horizon may ask for, and what it asks to see no further than.

use timenav_core::as_of::AsOf;

/// How something that can be asked for treats a key with a horizon. There is no default: who adds an operation decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HorizonUse {
    /// It is answered, and nothing beyond the horizon is in the answer.
    Honored,
    /// It is answered as everybody is, since nothing in the answer depends on what a timeline holds.
    NothingToHide,
    /// It is refused, whatever is asked for.
    Refused,
}

/// The horizon that a new key is to have. By default it has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HorizonRequest {
    /// Whether it ends at what the clock shows.
    pub until_clock: bool,
    /// The moment up to which the ledger of the key's timeline counts.
    pub known_at: Option<AsOf>,
}
