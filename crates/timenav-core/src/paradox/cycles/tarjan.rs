//! Strongly connected components, without recursion: in real graphs, paths can be as long as the graph is large.

use super::super::site::NONE;

/// Finds the components of a graph with that many nodes, and reports each once, causes before effects. `next` returns
/// the n-th predecessor of a node.
///
/// Source: Tarjan, Depth-first search and linear graph algorithms (1972), over edges from effect to cause, with the
/// call stack as an array.
pub(super) fn components(nodes_count: u32, next: impl Fn(u32, u32) -> Next, mut tell: impl FnMut(&mut [u32])) {
    let mut search = Search {
        order: vec![NONE; nodes_count as usize],
        low: vec![NONE; nodes_count as usize],
        open: Vec::new(),
        calls: Vec::new(),
        seen: 0,
    };
    for root in 0..nodes_count {
        if search.order[root as usize] == NONE {
            search.from(root, &next, &mut tell);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Node(u32),
    /// None with this number, but there may be more.
    Skip,
    End,
}

struct Search {
    /// When each node was first visited; `NONE` if it was not, `REPORTED` if its component has been reported.
    order: Vec<u32>,
    low: Vec<u32>,
    open: Vec<u32>,
    calls: Vec<(u32, u32)>,
    seen: u32,
}

/// Marks nodes whose component has been reported.
const REPORTED: u32 = NONE - 1;

impl Search {
    fn from(&mut self, root: u32, next: &impl Fn(u32, u32) -> Next, tell: &mut impl FnMut(&mut [u32])) {
        self.open(root);
        while let Some((node, number)) = self.calls.last_mut() {
            let (node, at) = (*node, *number);
            *number += 1;
            match next(node, at) {
                Next::Skip => {}
                Next::Node(target) => match self.order[target as usize] {
                    NONE => self.open(target),
                    REPORTED => {}
                    seen => self.low[node as usize] = self.low[node as usize].min(seen),
                },
                Next::End => {
                    self.calls.pop();
                    let low = self.low[node as usize];
                    if let Some((caller, _)) = self.calls.last() {
                        let caller = *caller as usize;
                        self.low[caller] = self.low[caller].min(low);
                    }
                    if low == self.order[node as usize] {
                        self.close(node, tell);
                    }
                }
            }
        }
    }

    fn open(&mut self, node: u32) {
        self.order[node as usize] = self.seen;
        self.low[node as usize] = self.seen;
        self.seen += 1;
        self.open.push(node);
        self.calls.push((node, 0));
    }

    fn close(&mut self, node: u32, tell: &mut impl FnMut(&mut [u32])) {
        let from = self.open.iter().rposition(|&open| open == node).unwrap_or(0);
        let members = &mut self.open[from..];
        for member in members.iter() {
            self.order[*member as usize] = REPORTED;
        }
        tell(members);
        self.open.truncate(from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(nodes_count: u32, edges: &[(u32, u32)], expected: &[&[u32]]) {
        let next = |node: u32, number: u32| {
            let mut to = edges.iter().filter(|(from, _)| *from == node);
            to.nth(number as usize).map_or(Next::End, |(_, to)| Next::Node(*to))
        };
        let mut found = Vec::new();
        components(nodes_count, next, |members| {
            members.sort_unstable();
            found.push(members.to_vec());
        });
        assert_eq!(found, expected);
    }

    #[test]
    fn components_are_in_topological_order() {
        check(3, &[(2, 1), (1, 0)], &[&[0], &[1], &[2]]);
        check(4, &[(0, 1), (1, 2), (2, 0), (3, 0)], &[&[0, 1, 2], &[3]]);
        check(5, &[(0, 1), (1, 0), (2, 3), (3, 2), (1, 2)], &[&[2, 3], &[0, 1], &[4]]);
        check(1, &[(0, 0)], &[&[0]]);
    }

    #[test]
    fn deep_graph_does_not_overflow_the_stack() {
        let nodes_count = 1_000_000;
        let next = |node: u32, number: u32| match number {
            0 => Next::Node((node + 1) % nodes_count),
            _ => Next::End,
        };
        let mut sizes = Vec::new();
        components(nodes_count, next, |members| sizes.push(members.len()));
        assert_eq!(sizes, [1_000_000]);
    }
}
