//! Benchmarks on PostgreSQL.

pub(crate) mod growth_on_postgresql;
pub(crate) mod on_postgresql;
pub(crate) mod replicas;
