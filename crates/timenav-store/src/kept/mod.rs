//! How the engine's values are kept, whatever keeps them: pure functions that know no database.

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
pub(crate) mod tables;
pub(crate) mod values;
