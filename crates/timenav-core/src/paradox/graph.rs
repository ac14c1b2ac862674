//! The current state, in compact arrays: a node for each id that was recorded or named, and an edge for each cause.
//!
//! The causes of a node are adjacent; its effects are a linked list through the edges. Both are found without
//! searching. A million nodes with three million edges take 120 MB.

use super::site::{Map, NONE};
use crate::event::Precision;
use crate::paradox::rules::uncertain::{Stretch, Uncertain};
use crate::time::{Instant, Virtual};

/// The current state of one event or intervention.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "flags of one record; the graph keeps them as bits")]
pub(super) struct Row {
    /// Whether it was ever recorded.
    pub(super) is_known: bool,
    /// Whether it is not canceled.
    pub(super) is_live: bool,
    pub(super) is_intervention: bool,
    /// Whether its versions do not form a valid sequence.
    pub(super) is_unlinked: bool,
    pub(super) time: Instant<Virtual>,
    pub(super) end: Option<Instant<Virtual>>,
    pub(super) precision: Option<Precision>,
    pub(super) position: u64,
    pub(super) content: u64,
    pub(super) place: u32,
    pub(super) source: u32,
    /// Its causes, and whether it requires each.
    pub(super) causes: Vec<(u32, bool)>,
    pub(super) actors: Vec<u32>,
    /// Its assertions: the thing and the value.
    pub(super) asserts: Vec<[u32; 2]>,
    pub(super) rare: Rare,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Rare {
    /// The hash of actors, kind and name, if it can have probable duplicates.
    pub(super) who: Option<u64>,
    pub(super) sequence: Option<u64>,
    /// What the clock showed when it was recorded, if that was before its time.
    pub(super) future: Option<Instant<Virtual>>,
    /// Host time of the recording, if one of its causes was not recorded yet.
    pub(super) waiting_since: Option<i64>,
    /// The position at which it was canceled, and the intervention.
    pub(super) cancelled: Option<(u64, u32)>,
}

impl Row {
    /// Returns the state of an id that was named and never recorded.
    pub(super) fn unknown() -> Self {
        Self {
            is_known: false,
            is_live: false,
            is_intervention: false,
            is_unlinked: false,
            time: Instant::EPOCH,
            end: None,
            precision: None,
            position: 0,
            content: 0,
            place: NONE,
            source: NONE,
            causes: Vec::new(),
            actors: Vec::new(),
            asserts: Vec::new(),
            rare: Rare::default(),
        }
    }
}

/// The start of nodes that are not live: before all times.
pub(super) const NEVER: i64 = i64::MIN;

const KNOWN: u8 = 1;
const LIVE: u8 = 2;
const INTERVENTION: u8 = 4;
const UNLINKED: u8 = 8;
const ENDS: u8 = 16;
const IS_RARE: u8 = 32;

#[derive(Clone, Debug)]
struct Node {
    time: Instant<Virtual>,
    end: Instant<Virtual>,
    /// Larger than that of every live cause, except along edges that close a cycle.
    rank: i64,
    position: u64,
    content: u64,
    place: u32,
    source: u32,
    causes_at: u32,
    /// The first edge to an effect.
    effects: u32,
    details_at: u32,
    causes_count: u16,
    flags: u8,
    precision: Option<Precision>,
}

/// Flag of an edge: the effect requires the cause. More than 2³¹ nodes do not fit in memory.
const REQUIRES: u32 = 1 << 31;

#[derive(Clone, Copy, Debug)]
struct Edge {
    cause: u32,
    effect: u32,
    next: u32,
    previous: u32,
}

#[derive(Debug, Default)]
pub(super) struct Graph {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    edges_unused: usize,
    /// For each node with actors or assertions: the number of each, followed by the items.
    details: Vec<u32>,
    details_unused: usize,
    rare: Map<u32, Rare>,
}

impl Graph {
    /// Creates nodes for the first `count` ids.
    pub(super) fn grow(&mut self, count: usize) {
        if self.nodes.len() < count {
            let node = Node {
                time: Instant::EPOCH,
                end: Instant::EPOCH,
                rank: 0,
                position: 0,
                content: 0,
                place: NONE,
                source: NONE,
                causes_at: 0,
                effects: NONE,
                details_at: NONE,
                causes_count: 0,
                flags: 0,
                precision: None,
            };
            self.nodes.resize(count, node);
        }
    }

    /// Removes all nodes but the first `count`. The removed ones must have no edges.
    pub(super) fn truncate(&mut self, count: usize) {
        self.nodes.truncate(count);
    }

    pub(super) fn reserve(&mut self, nodes: usize, edges: usize) {
        self.nodes.reserve_exact(nodes);
        self.edges.reserve_exact(edges);
    }

    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.nodes.len()).unwrap_or(NONE)
    }

    pub(super) fn is_known(&self, node: u32) -> bool {
        self.has(node, KNOWN)
    }

    pub(super) fn is_live(&self, node: u32) -> bool {
        self.has(node, LIVE)
    }

    pub(super) fn is_intervention(&self, node: u32) -> bool {
        self.has(node, INTERVENTION)
    }

    pub(super) fn is_unlinked(&self, node: u32) -> bool {
        self.has(node, UNLINKED)
    }

    fn has(&self, node: u32, flag: u8) -> bool {
        self.nodes[node as usize].flags & flag != 0
    }

    pub(super) fn times(&self, node: u32) -> (Instant<Virtual>, Option<Instant<Virtual>>, Option<Precision>) {
        let Node { time, end, precision, flags, .. } = &self.nodes[node as usize];
        (*time, (flags & ENDS != 0).then_some(*end), *precision)
    }

    /// Returns the possible starts and ends.
    pub(super) fn stretch(&self, node: u32) -> Stretch {
        let (time, end, precision) = self.times(node);
        Stretch::new(time, end, precision)
    }

    pub(super) fn start(&self, node: u32) -> Uncertain {
        let Node { time, precision, .. } = self.nodes[node as usize];
        Uncertain::new(time, precision)
    }

    /// Returns the earliest possible start, in microseconds.
    pub(super) fn start_min(&self, node: u32) -> i64 {
        self.start(node).min.micros()
    }

    /// Returns the earliest possible start of each live node, in microseconds, and `NEVER` for others. Passes over all
    /// edges use this array, which is an eighth of the size of the nodes.
    pub(super) fn starts(&self) -> Vec<i64> {
        (0..self.count()).map(|node| if self.is_live(node) { self.start_min(node) } else { NEVER }).collect()
    }

    pub(super) fn is_exact(&self, node: u32) -> bool {
        self.nodes[node as usize].precision.is_none()
    }

    pub(super) fn rank(&self, node: u32) -> i64 {
        self.nodes[node as usize].rank
    }

    pub(super) fn set_rank(&mut self, node: u32, rank: i64) {
        self.nodes[node as usize].rank = rank;
    }

    pub(super) fn position(&self, node: u32) -> u64 {
        self.nodes[node as usize].position
    }

    pub(super) fn content(&self, node: u32) -> u64 {
        self.nodes[node as usize].content
    }

    pub(super) fn place(&self, node: u32) -> u32 {
        self.nodes[node as usize].place
    }

    pub(super) fn source(&self, node: u32) -> u32 {
        self.nodes[node as usize].source
    }

    pub(super) fn rare(&self, node: u32) -> Option<&Rare> {
        if self.has(node, IS_RARE) { self.rare.get(&node) } else { None }
    }

    pub(super) fn causes(&self, node: u32) -> impl Iterator<Item = (u32, bool)> {
        let Node { causes_at, causes_count, .. } = &self.nodes[node as usize];
        let at = *causes_at as usize;
        self.edges[at..at + usize::from(*causes_count)].iter().map(|edge| (edge.cause & !REQUIRES, edge.requires()))
    }

    pub(super) fn cause(&self, node: u32, number: u32) -> Option<u32> {
        let Node { causes_at, causes_count, .. } = &self.nodes[node as usize];
        (number < u32::from(*causes_count)).then(|| self.edges[(causes_at + number) as usize].cause & !REQUIRES)
    }

    pub(super) fn effects(&self, node: u32) -> impl Iterator<Item = (u32, bool)> {
        let mut at = self.nodes[node as usize].effects;
        std::iter::from_fn(move || {
            let edge = self.edges.get(at as usize)?;
            at = edge.next;
            Some((edge.effect, edge.requires()))
        })
    }

    pub(super) fn live_causes(&self, node: u32) -> impl Iterator<Item = u32> {
        self.causes(node).map(|(cause, _)| cause).filter(|&cause| self.is_live(cause))
    }

    pub(super) fn live_effects(&self, node: u32) -> impl Iterator<Item = u32> {
        self.effects(node).map(|(effect, _)| effect).filter(|&effect| self.is_live(effect))
    }

    pub(super) fn requires(&self, cause: u32, effect: u32) -> bool {
        self.causes(effect).any(|(other, requires)| other == cause && requires)
    }

    pub(super) fn actors(&self, node: u32) -> &[u32] {
        let Some((actors, _)) = self.details_of(node) else { return &[] };
        actors
    }

    pub(super) fn asserts(&self, node: u32) -> impl Iterator<Item = [u32; 2]> {
        let flat = self.details_of(node).map_or(&[][..], |(_, asserts)| asserts);
        flat.as_chunks().0.iter().copied()
    }

    fn details_of(&self, node: u32) -> Option<(&[u32], &[u32])> {
        let rest = self.details.get(self.nodes[node as usize].details_at as usize..)?;
        let [actors, asserts, rest @ ..] = rest else { return None };
        let (actors, rest) = rest.split_at(*actors as usize);
        Some((actors, &rest[..2 * *asserts as usize]))
    }

    pub(super) fn read(&self, node: u32) -> Row {
        let (time, end, precision) = self.times(node);
        Row {
            is_known: self.is_known(node),
            is_live: self.is_live(node),
            is_intervention: self.is_intervention(node),
            is_unlinked: self.is_unlinked(node),
            time,
            end,
            precision,
            position: self.position(node),
            content: self.content(node),
            place: self.place(node),
            source: self.source(node),
            causes: self.causes(node).collect(),
            actors: self.actors(node).to_vec(),
            asserts: self.asserts(node).collect(),
            rare: self.rare(node).cloned().unwrap_or_default(),
        }
    }

    /// Replaces the state of a node. Ranks are unchanged.
    pub(super) fn write(&mut self, node: u32, row: Row) {
        let has = |is: bool, flag: u8| if is { flag } else { 0 };
        let flags = has(row.is_known, KNOWN)
            | has(row.is_live, LIVE)
            | has(row.is_intervention, INTERVENTION)
            | has(row.is_unlinked, UNLINKED)
            | has(row.end.is_some(), ENDS)
            | has(row.rare != Rare::default(), IS_RARE);
        if self.has(node, IS_RARE) {
            self.rare.remove(&node);
        }
        self.write_causes(node, &row.causes);
        self.write_details(node, &row.actors, &row.asserts);
        let at = &mut self.nodes[node as usize];
        at.flags = flags;
        (at.time, at.end, at.precision) = (row.time, row.end.unwrap_or(Instant::EPOCH), row.precision);
        (at.position, at.content) = (row.position, row.content);
        (at.place, at.source) = (row.place, row.source);
        if flags & IS_RARE != 0 {
            self.rare.insert(node, row.rare);
        }
    }

    fn write_causes(&mut self, node: u32, causes: &[(u32, bool)]) {
        let before = usize::from(self.nodes[node as usize].causes_count);
        let first = self.nodes[node as usize].causes_at as usize;
        (first..first + before).for_each(|at| self.unlink(at));
        let at = if causes.len() <= before { first } else { self.edges.len() };
        self.edges_unused += if causes.len() <= before { before - causes.len() } else { before };
        for (offset, (cause, requires)) in causes.iter().enumerate() {
            let cause = cause | if *requires { REQUIRES } else { 0 };
            let edge = Edge { cause, effect: node, next: NONE, previous: NONE };
            if at + offset < self.edges.len() {
                self.edges[at + offset] = edge;
            } else {
                self.edges.push(edge);
            }
            self.link(at + offset);
        }
        // The edges that fit in memory can be numbered with 32 bits, and the causes of an event with 16.
        self.nodes[node as usize].causes_at = u32::try_from(at).unwrap_or(NONE);
        self.nodes[node as usize].causes_count = u16::try_from(causes.len()).unwrap_or(u16::MAX);
        if self.edges_unused > self.edges.len() / 2 + 1_024 {
            self.pack_edges();
        }
    }

    fn link(&mut self, at: usize) {
        let cause = (self.edges[at].cause & !REQUIRES) as usize;
        let number = u32::try_from(at).unwrap_or(NONE);
        let next = std::mem::replace(&mut self.nodes[cause].effects, number);
        self.edges[at].next = next;
        if let Some(next) = self.edges.get_mut(next as usize) {
            next.previous = number;
        }
    }

    fn unlink(&mut self, at: usize) {
        let Edge { cause, next, previous, .. } = self.edges[at];
        if let Some(next) = self.edges.get_mut(next as usize) {
            next.previous = previous;
        }
        match self.edges.get_mut(previous as usize) {
            Some(previous) => previous.next = next,
            None => self.nodes[(cause & !REQUIRES) as usize].effects = next,
        }
    }

    fn pack_edges(&mut self) {
        let old = std::mem::take(&mut self.edges);
        self.edges.reserve(old.len() - self.edges_unused);
        self.edges_unused = 0;
        for node in &mut self.nodes {
            let at = node.causes_at as usize;
            node.causes_at = u32::try_from(self.edges.len()).unwrap_or(NONE);
            node.effects = NONE;
            self.edges.extend_from_slice(&old[at..at + usize::from(node.causes_count)]);
        }
        for at in 0..self.edges.len() {
            self.edges[at].previous = NONE;
            self.link(at);
        }
    }

    fn write_details(&mut self, node: u32, actors: &[u32], asserts: &[[u32; 2]]) {
        let before = self.details_of(node).map_or(0, |(actors, asserts)| 2 + actors.len() + asserts.len());
        let count = if actors.is_empty() && asserts.is_empty() { 0 } else { 2 + actors.len() + 2 * asserts.len() };
        let fits = count > 0 && count <= before;
        self.details_unused += if fits { before - count } else { before };
        let count_of = |count: usize| u32::try_from(count).unwrap_or(NONE);
        let written = [count_of(actors.len()), count_of(asserts.len())];
        let written = written.iter().chain(actors).chain(asserts.as_flattened()).copied();
        if count == 0 {
            self.nodes[node as usize].details_at = NONE;
        } else if fits {
            let at = self.nodes[node as usize].details_at as usize;
            self.details[at..at + count].iter_mut().zip(written).for_each(|(slot, value)| *slot = value);
        } else {
            self.nodes[node as usize].details_at = count_of(self.details.len());
            self.details.extend(written);
        }
        if self.details_unused > self.details.len() / 2 + 1_024 {
            self.pack_details();
        }
    }

    fn pack_details(&mut self) {
        let old = std::mem::take(&mut self.details);
        self.details_unused = 0;
        for node in self.nodes.iter_mut().filter(|node| node.details_at != NONE) {
            let rest = &old[node.details_at as usize..];
            let count = 2 + rest[0] as usize + 2 * rest[1] as usize;
            node.details_at = u32::try_from(self.details.len()).unwrap_or(NONE);
            self.details.extend_from_slice(&rest[..count]);
        }
    }
}

impl Edge {
    const fn requires(self) -> bool {
        self.cause & REQUIRES != 0
    }
}
