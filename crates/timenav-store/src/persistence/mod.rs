//! Encodings of the engine's values that both backends share. These are pure functions without database access.

pub(crate) mod ahead;
pub(crate) mod blocks;
pub(crate) mod examination;
pub(crate) mod leaf;
pub(crate) mod moves;
pub(crate) mod names;
pub(crate) mod origins;
pub(crate) mod outcomes;
pub(crate) mod packed;
pub(crate) mod stretch;
pub(crate) mod values;
pub(crate) mod words;
