//! Incrementally maintained strongly connected components, of more than one node or with a self-edge.

use super::super::graph::{Graph, NEVER};
use super::super::names::Names;
use super::super::site::{Found, Map, NONE, Set, Site};
use super::ranks::Settled;
use super::search::reaches;
use super::{ranks, tarjan};

/// Events that cause each other in cycles.
#[derive(Debug, Default)]
pub(in super::super) struct Component {
    /// Sorted.
    pub(in super::super) members: Vec<u32>,
    /// A sum over the hashes of their ids.
    digest: u64,
    /// Number of edges into it from live events outside.
    entering: u64,
    /// The change that created it.
    made_in: u64,
}

/// All components, and the edges that close cycles.
#[derive(Debug, Default)]
pub(in super::super) struct Cycles {
    /// Edges (cause, effect) along which the rank does not increase. Every cycle has one.
    excess: Set<(u32, u32)>,
    /// By their smallest member.
    components: Map<u32, Component>,
    component_of: Map<u32, u32>,
    change: u64,
}

/// Which edges of a node are removed or added: only those to causes, or also those to effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Sides {
    Causes,
    Both,
}

impl Component {
    fn sites(&self) -> [(Site, bool); 2] {
        let (first, digest) = (self.members.first().copied().unwrap_or(NONE), self.digest);
        // An event that causes only itself is a cycle, but not a bootstrap.
        let is_bootstrap = self.entering == 0 && self.members.len() > 1;
        [(Site::Cycle { first, digest }, true), (Site::Bootstrap { first, digest }, is_bootstrap)]
    }
}

impl Cycles {
    pub(in super::super) fn of(&self, node: u32) -> Option<&Component> {
        self.component_of.get(&node).and_then(|first| self.components.get(first))
    }

    /// Prepares the removal of a node's live edges, while they still exist. Returns the members of its dissolved
    /// component, which must be searched again.
    pub(in super::super) fn cut(&mut self, graph: &Graph, found: &mut Found, node: u32, sides: Sides) -> Vec<u32> {
        if !self.excess.is_empty() {
            graph.live_causes(node).for_each(|cause| _ = self.excess.remove(&(cause, node)));
            if sides == Sides::Both {
                graph.live_effects(node).for_each(|effect| _ = self.excess.remove(&(node, effect)));
            }
        }
        if self.components.is_empty() {
            return Vec::new();
        }
        if sides == Sides::Both {
            for effect in graph.live_effects(node).filter(|effect| *effect != node) {
                if self.component_of.get(&effect) != self.component_of.get(&node) {
                    self.enter(found, effect, -1);
                }
            }
        }
        if let Some(&first) = self.component_of.get(&node) {
            return self.dissolve(found, first);
        }
        Vec::new()
    }

    fn enter(&mut self, found: &mut Found, node: u32, by: i64) {
        let Some(component) = self.component_of.get(&node).and_then(|first| self.components.get_mut(first)) else {
            return;
        };
        component.entering = component.entering.saturating_add_signed(by);
        let [_, (bootstrap, is_there)] = component.sites();
        found.toggle(bootstrap, is_there);
    }

    fn dissolve(&mut self, found: &mut Found, first: u32) -> Vec<u32> {
        let Some(component) = self.components.remove(&first) else { return Vec::new() };
        for (site, _) in component.sites() {
            found.toggle(site, false);
        }
        for member in &component.members {
            self.component_of.remove(member);
        }
        component.members
    }

    /// Processes edges after they were written, and searches the members of the dissolved component again.
    pub(in super::super) fn tie(
        &mut self,
        graph: &mut Graph,
        names: &Names,
        found: &mut Found,
        node: u32,
        (sides, dissolved): (Sides, &[u32]),
    ) {
        self.change += 1;
        let mut edges: Vec<(u32, u32)> = Vec::new();
        if graph.is_live(node) {
            if sides == Sides::Both {
                ranks::place(graph, node);
                edges.extend(graph.live_effects(node).filter(|&effect| effect != node).map(|effect| (node, effect)));
            }
            edges.extend(graph.live_causes(node).map(|cause| (cause, node)));
        }
        let goes_down = |&(cause, effect): &(u32, u32)| graph.rank(cause) >= graph.rank(effect);
        let down: Vec<(u32, u32)> = edges.iter().copied().filter(goes_down).collect();
        self.settle(graph, &down);
        self.look_again(graph, names, found, dissolved);
        if self.excess.is_empty() {
            return;
        }
        let highest = self.excess.iter().map(|(cause, _)| graph.rank(*cause)).max().unwrap_or(i64::MIN);
        let lowest = self.excess.iter().map(|(_, effect)| graph.rank(*effect)).min().unwrap_or(i64::MAX);
        for edge in edges {
            self.take_in(graph, names, found, edge, (lowest, highest));
        }
    }

    /// Raises the effects of edges above their causes. An edge for which this is impossible closes a cycle.
    fn settle(&mut self, graph: &mut Graph, edges: &[(u32, u32)]) {
        // Edges that have not been processed yet must not raise other nodes.
        self.excess.extend(edges);
        for &(cause, effect) in edges {
            self.excess.remove(&(cause, effect));
            if ranks::settle(graph, &self.excess, (cause, effect), usize::MAX) == Settled::Closes {
                self.excess.insert((cause, effect));
            }
        }
    }

    /// Finds the cycles that a new edge closes. A path back from its effect to its cause uses an edge along which ranks
    /// do not increase. Except for its two ends, it therefore stays between the ranks `lowest` and `highest`, the
    /// extremes of those edges.
    fn take_in(
        &mut self,
        graph: &Graph,
        names: &Names,
        found: &mut Found,
        (cause, effect): (u32, u32),
        (lowest, highest): (i64, i64),
    ) {
        let (from, to) = (self.component_of.get(&cause), self.component_of.get(&effect));
        if from.is_some() && from == to {
            return;
        }
        let (highest, lowest) = (highest.max(graph.rank(cause)), lowest.min(graph.rank(effect)));
        let forward = |node: u32, next: &mut Vec<u32>| {
            next.extend(graph.live_effects(node).filter(|&next| graph.rank(next) <= highest));
        };
        let backward = |node: u32, next: &mut Vec<u32>| {
            next.extend(graph.live_causes(node).filter(|&next| graph.rank(next) >= lowest));
        };
        if self.excess.contains(&(cause, effect)) || reaches(effect, cause, forward, backward) {
            let ahead = all_from(effect, |node, next| next.extend(graph.live_effects(node)));
            let within = |node: &u32| ahead.contains(node);
            let both = all_from(cause, |node, next| next.extend(graph.live_causes(node).filter(within)));
            self.make(graph, names, found, both.into_iter().collect());
        } else if self.of(effect).is_some_and(|component| component.made_in != self.change) {
            self.enter(found, effect, 1);
        }
    }

    fn make(&mut self, graph: &Graph, names: &Names, found: &mut Found, mut members: Vec<u32>) {
        members.sort_unstable();
        for member in &members {
            if let Some(&first) = self.component_of.get(member) {
                self.dissolve(found, first);
            }
        }
        let Some(&first) = members.first() else { return };
        let digest = members.iter().fold(0_u64, |sum, member| sum.wrapping_add(names.hash_of(*member)));
        for member in &members {
            self.component_of.insert(*member, first);
        }
        let is_outside = |cause: &u32| self.component_of.get(cause) != Some(&first);
        let entering = members.iter().map(|member| graph.live_causes(*member).filter(is_outside).count() as u64).sum();
        let component = Component { members, digest, entering, made_in: self.change };
        for (site, is_there) in component.sites() {
            found.toggle(site, is_there);
        }
        self.components.insert(first, component);
    }

    /// Finds the components among nodes after one of them lost edges.
    fn look_again(&mut self, graph: &mut Graph, names: &Names, found: &mut Found, members: &[u32]) {
        if members.is_empty() {
            return;
        }
        let local: Map<u32, u32> = members.iter().copied().zip(0..).collect();
        let next = |node: u32, number: u32| match graph.cause(members[node as usize], number) {
            None => tarjan::Next::End,
            Some(cause) => match local.get(&cause) {
                Some(&at) if graph.is_live(cause) && graph.is_live(members[node as usize]) => tarjan::Next::Node(at),
                _ => tarjan::Next::Skip,
            },
        };
        let mut circles: Vec<Vec<u32>> = Vec::new();
        tarjan::components(u32::try_from(members.len()).unwrap_or(NONE), next, |part| {
            let part: Vec<u32> = part.iter().map(|&at| members[at as usize]).collect();
            if is_circle(graph, &part) {
                circles.push(part);
            }
        });
        for circle in circles {
            self.make(graph, names, found, circle);
        }
        // Edges that no longer close a cycle are treated like all others.
        let freed: Vec<(u32, u32)> = self
            .excess
            .iter()
            .copied()
            .filter(|(cause, effect)| local.contains_key(cause) && local.contains_key(effect))
            .filter(|(cause, effect)| {
                self.component_of.get(cause) != self.component_of.get(effect) || self.of(*cause).is_none()
            })
            .collect();
        self.settle(graph, &freed);
    }

    /// Finds everything in a complete graph. `starts` is [`Graph::starts`].
    pub(in super::super) fn build(&mut self, graph: &mut Graph, names: &Names, found: &mut Found, starts: &[i64]) {
        *self = Self::default();
        let start = |node: u32| starts[node as usize];
        let mut down: Vec<(u32, u32)> = Vec::new();
        for node in (0..graph.count()).filter(|node| start(*node) != NEVER) {
            let causes = graph.causes(node).map(|(cause, _)| cause);
            down.extend(causes.filter(|&cause| start(cause) >= start(node)).map(|cause| (cause, node)));
        }
        for (node, start) in (0..).zip(starts) {
            graph.set_rank(node, *start);
        }
        if self.settle_few(graph, &down) {
            return;
        }
        for (node, start) in (0..).zip(starts) {
            graph.set_rank(node, *start);
        }
        let next = |node: u32, number: u32| match graph.cause(node, number) {
            _ if start(node) == NEVER => tarjan::Next::End,
            None => tarjan::Next::End,
            Some(cause) if start(cause) == NEVER => tarjan::Next::Skip,
            Some(cause) => tarjan::Next::Node(cause),
        };
        let (mut circles, mut order): (Vec<Vec<u32>>, Vec<u32>) = (Vec::new(), Vec::new());
        order.reserve_exact(graph.count() as usize);
        tarjan::components(graph.count(), next, |part| {
            part.sort_unstable_by_key(|&node| (start(node), node));
            order.extend_from_slice(part);
            if is_circle(graph, part) {
                circles.push(part.to_vec());
            }
        });
        for circle in circles {
            self.make(graph, names, found, circle);
        }
        self.rank_all(graph, starts, &order);
    }

    /// Raises ranks along decreasing edges if that is cheap and they close no cycle. Returns whether this succeeded.
    fn settle_few(&mut self, graph: &mut Graph, down: &[(u32, u32)]) -> bool {
        let mut nodes_max = graph.count() as usize / 8 + 64;
        if down.len() > nodes_max {
            return false;
        }
        self.excess.extend(down);
        for edge in down {
            self.excess.remove(edge);
            match ranks::settle(graph, &self.excess, *edge, nodes_max) {
                Settled::Up(raised) => nodes_max = nodes_max.saturating_sub(raised),
                Settled::Closes | Settled::TooMany => {
                    self.excess.clear();
                    return false;
                }
            }
        }
        true
    }

    /// Assigns ranks to all nodes, causes first; within a component in the order of time.
    fn rank_all(&mut self, graph: &mut Graph, starts: &[i64], order: &[u32]) {
        let key = |node: u32| (starts[node as usize], node);
        for &node in order.iter().filter(|node| starts[**node as usize] != NEVER) {
            let circle = self.component_of.get(&node).copied();
            let mut rank = starts[node as usize];
            for (cause, _) in graph.causes(node) {
                let is_back =
                    circle.is_some() && self.component_of.get(&cause).copied() == circle && key(cause) >= key(node);
                if is_back {
                    self.excess.insert((cause, node));
                } else if starts[cause as usize] != NEVER {
                    rank = rank.max(graph.rank(cause) + 1);
                }
            }
            graph.set_rank(node, rank);
        }
    }
}

fn is_circle(graph: &Graph, members: &[u32]) -> bool {
    match members {
        [one] => graph.is_live(*one) && graph.live_causes(*one).any(|cause| cause == *one),
        _ => true,
    }
}

fn all_from(start: u32, next: impl Fn(u32, &mut Vec<u32>)) -> Set<u32> {
    let mut all = Set::default();
    all.insert(start);
    let (mut open, mut ahead) = (vec![start], Vec::new());
    while let Some(node) = open.pop() {
        next(node, &mut ahead);
        for node in ahead.drain(..) {
            if all.insert(node) {
                open.push(node);
            }
        }
    }
    all
}
