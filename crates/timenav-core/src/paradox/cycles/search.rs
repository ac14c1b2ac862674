use std::collections::VecDeque;

use super::super::graph::Graph;
use super::super::settings::CYCLE_SEARCH_EDGES_MAX;
use super::super::site::{Map, Set};

/// Returns whether there is a path from one node to another. Searches from both ends alternately, so it is cheap if one
/// of them has few connections.
pub(in super::super) fn reaches(
    from: u32,
    to: u32,
    forward: impl Fn(u32, &mut Vec<u32>),
    backward: impl Fn(u32, &mut Vec<u32>),
) -> bool {
    if from == to {
        return true;
    }
    let (mut ahead, mut behind) = (Set::default(), Set::default());
    ahead.insert(from);
    behind.insert(to);
    let (mut ahead_open, mut behind_open) = (vec![from], vec![to]);
    let mut next = Vec::new();
    loop {
        // If one side is exhausted without meeting the other, there is no path.
        let Some(node) = ahead_open.pop() else { return false };
        forward(node, &mut next);
        for node in next.drain(..) {
            if behind.contains(&node) {
                return true;
            }
            if ahead.insert(node) {
                ahead_open.push(node);
            }
        }
        let Some(node) = behind_open.pop() else { return false };
        backward(node, &mut next);
        for node in next.drain(..) {
            if ahead.contains(&node) {
                return true;
            }
            if behind.insert(node) {
                behind_open.push(node);
            }
        }
    }
}

/// Returns a shortest path, including both ends, and the number of edges visited. Returns no path unless there is one
/// with fewer than `nodes_max` nodes. `next` appends the successors of a node.
pub(in super::super) fn nearest_path(
    from: u32,
    to: u32,
    nodes_max: usize,
    mut next: impl FnMut(u32, &mut Vec<u32>),
) -> (Option<Vec<u32>>, usize) {
    if from == to {
        return (Some(vec![from]), 0);
    }
    let mut predecessors: Map<u32, u32> = Map::default();
    predecessors.insert(from, from);
    let mut open = VecDeque::from([(from, 1_usize)]);
    let (mut ahead, mut looked_at) = (Vec::new(), 0);
    while let Some((node, length)) = open.pop_front() {
        if length + 1 >= nodes_max {
            break;
        }
        next(node, &mut ahead);
        looked_at += ahead.len();
        for next in ahead.drain(..) {
            if predecessors.contains_key(&next) {
                continue;
            }
            predecessors.insert(next, node);
            if next == to {
                let back =
                    std::iter::successors(Some(to), |node| predecessors.get(node).copied().filter(|_| *node != from));
                let mut path: Vec<u32> = back.collect();
                path.reverse();
                return (Some(path), looked_at);
            }
            open.push_back((next, length + 1));
        }
    }
    (None, looked_at)
}

/// Returns a shortest cycle of a component: nodes in order, each causing the next, and the last one the first.
///
/// Every cycle has an edge that does not go forward in time, so it is sufficient to close each of those. If this
/// exceeds the search limit, returns a short cycle instead.
pub(in super::super) fn shortest_cycle(graph: &Graph, members: &[u32]) -> Vec<u32> {
    let is_member = |node: &u32| members.binary_search(node).is_ok();
    let key = |node: u32| (graph.start_min(node), node);
    let mut best: Vec<u32> = Vec::new();
    let mut looked_at = 0;
    for &effect in members {
        for cause in graph.live_causes(effect).filter(is_member).filter(|&cause| key(effect) <= key(cause)) {
            if !best.is_empty() && (best.len() == 1 || looked_at > CYCLE_SEARCH_EDGES_MAX) {
                return best;
            }
            let nodes_max = if best.is_empty() { usize::MAX } else { best.len() };
            let (path, examined) = nearest_path(effect, cause, nodes_max, |node, ahead| {
                ahead.extend(graph.live_effects(node).filter(is_member));
                ahead.sort_unstable();
            });
            looked_at += examined;
            best = path.filter(|path| best.is_empty() || path.len() < best.len()).unwrap_or(best);
        }
    }
    best
}
