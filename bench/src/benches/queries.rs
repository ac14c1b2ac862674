//! Benchmarks of reads.

pub(crate) mod counts;
pub(crate) mod forks;
pub(crate) mod many_forks;
pub(crate) mod monitor;
pub(crate) mod places;
pub(crate) mod text_search;
pub(crate) mod year;
