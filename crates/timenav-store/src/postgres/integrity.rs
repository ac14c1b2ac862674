//! What a scan reads, and what a damaged or forged database may hold.

pub(crate) mod ahead;
pub(crate) mod examination;
pub(crate) mod orphans;
pub(crate) mod scan;
