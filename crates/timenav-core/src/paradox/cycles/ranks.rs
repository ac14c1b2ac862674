//! Ranks: numbers that increase along every edge that closes no cycle.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::super::graph::Graph;
use super::super::site::{Map, Set};

/// Gives a new node the rank nearest to its time that fits between its neighbors, or else one above its causes.
pub(super) fn place(graph: &mut Graph, node: u32) {
    let own = graph.start_min(node);
    let others = |other: &u32| *other != node;
    let above = graph.live_causes(node).filter(others).map(|cause| graph.rank(cause) + 1).max();
    let below = graph.live_effects(node).filter(others).map(|effect| graph.rank(effect) - 1).min();
    let rank = above.map_or(own, |above| own.max(above));
    let rank = below.map_or(rank, |below| rank.min(below));
    let rank = above.map_or(rank, |above| rank.max(above));
    graph.set_rank(node, rank);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settled {
    /// The rank increases along the edge. That many nodes were raised.
    Up(usize),
    /// Impossible: the edge closes a cycle of edges along which ranks increase.
    Closes,
    TooMany,
}

/// Makes the rank increase along a new edge. On failure nothing changes.
pub(super) fn settle(
    graph: &mut Graph,
    excess: &Set<(u32, u32)>,
    (cause, effect): (u32, u32),
    nodes_max: usize,
) -> Settled {
    if cause == effect {
        return Settled::Closes;
    }
    let least = graph.rank(cause) + 1;
    if graph.rank(effect) >= least {
        return Settled::Up(0);
    }
    // In the order of old ranks, all nodes that a node must be above are done first, so each is processed once.
    let mut raised: Map<u32, i64> = Map::default();
    let mut waiting = BinaryHeap::new();
    raised.insert(effect, least);
    waiting.push(Reverse((graph.rank(effect), effect)));
    while let Some(Reverse((_, node))) = waiting.pop() {
        let least = raised.get(&node).map_or(i64::MIN, |rank| rank + 1);
        for next in graph.live_effects(node) {
            if graph.rank(next) >= least || (!excess.is_empty() && excess.contains(&(node, next))) {
                continue;
            }
            if next == cause {
                return Settled::Closes;
            }
            let known = raised.get(&next).copied();
            if known.is_none() {
                waiting.push(Reverse((graph.rank(next), next)));
            }
            if known.is_none_or(|known| known < least) {
                raised.insert(next, least);
            }
        }
        if raised.len() > nodes_max {
            return Settled::TooMany;
        }
    }
    let count = raised.len();
    for (node, rank) in raised {
        graph.set_rank(node, rank);
    }
    Settled::Up(count)
}
