//! Events that cause each other in a cycle (P02), and cycles without an outside cause (P03).
//!
//! Every node has a rank, initially its time. Ranks increase along every edge that closes no cycle. An edge from a
//! lower to a higher rank can therefore only close a cycle together with a decreasing edge, and only then a search is
//! needed. Histories are mostly recorded forward in time, so almost all edges need no search. An effect that is not
//! later than its cause is *raised* above it, and its own effects as far as necessary, like the corrected commit dates
//! of git.

mod components;
mod ranks;
mod search;
mod tarjan;

pub(super) use components::{Cycles, Sides};
pub(super) use search::{nearest_path, reaches, shortest_cycle};
