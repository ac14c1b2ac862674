//! Events that cause each other in a circle (P02), and circles that nothing else causes (P03).
//!
//! Every node has a rank, at first its time. Along every edge that closes no cycle the rank goes
//! up, so an edge from a lower to a higher rank closes none unless an edge that goes down is in
//! play: such an edge, and only such a one, needs a search. Histories are told forward in time, so
//! almost every edge is free. An effect that is not later than its cause is *raised* above it, and
//! what follows from it as far as it must be: the corrected time that git gives to its commits.

mod components;
mod ranks;
mod search;
mod tarjan;

pub(super) use components::{Cycles, Sides};
pub(super) use search::{nearest_path, reaches, shortest_cycle};
