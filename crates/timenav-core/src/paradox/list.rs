use std::cmp::Ordering;

use super::kinds::{Grade, Kind};
use super::report::Paradox;
use super::site::{Map, Site};
use super::view::View;
use crate::ids::EventId;

/// The classification of a paradox, available without its details.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heading {
    pub kind: Kind,
    pub grade: Grade,
    pub is_observation: bool,
}

/// Some of the paradoxes of a view, ordered by the position of the first record that shows them, then by code, then by
/// ids. Details are computed on request.
#[derive(Debug)]
pub struct List<'a> {
    view: &'a View,
    sites: Vec<(u64, Kind, Site)>,
}

impl List<'_> {
    #[must_use]
    pub const fn len(&self) -> usize {
        self.sites.len()
    }

    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.sites.is_empty()
    }

    #[must_use]
    pub fn page(&self, skip: usize, items_max: usize) -> Vec<Paradox> {
        self.sites.iter().skip(skip).take(items_max).map(|(.., site)| self.view.describe(*site)).collect()
    }

    #[must_use]
    pub fn all(&self) -> Vec<Paradox> {
        self.page(0, usize::MAX)
    }
}

impl View {
    #[must_use]
    pub fn list(&self, filter: impl Fn(Heading) -> bool) -> List<'_> {
        self.sorted(self.found.iter().filter(|site| filter(self.heading(*site))))
    }

    /// Returns the paradoxes that an event or intervention is part of and `filter` accepts.
    #[must_use]
    pub fn touching(&self, event_id: &EventId, filter: impl Fn(Heading) -> bool) -> List<'_> {
        let Some(node) = self.ids.find(event_id.as_str().as_bytes()) else {
            return List { view: self, sites: Vec::new() };
        };
        self.sorted(self.found.iter().filter(|site| self.touches(*site, node) && filter(self.heading(*site))))
    }

    /// Returns for each event the kinds of paradox that it is part of, ordered by code and unique.
    #[must_use]
    pub fn marks(&self, event_ids: &[EventId], filter: impl Fn(Heading) -> bool) -> Vec<Vec<Kind>> {
        let numbered = event_ids.iter().enumerate();
        let numbered = numbered.filter_map(|(at, id)| Some((self.ids.find(id.as_str().as_bytes())?, at)));
        let places: Map<u32, usize> = numbered.collect();
        let mut marks = vec![Vec::new(); event_ids.len()];
        for site in self.found.iter().filter(|site| filter(self.heading(*site))) {
            let mut mark = |node: &u32| {
                if let Some(&at) = places.get(node) {
                    marks[at].push(site.kind().0);
                }
            };
            match site {
                Site::Cycle { .. } | Site::Bootstrap { .. } => {
                    places.keys().filter(|node| self.touches(site, **node)).for_each(mark);
                }
                _ => self.nodes_of(site).iter().flatten().for_each(&mut mark),
            }
        }
        for marks in &mut marks {
            marks.sort_unstable();
            marks.dedup();
        }
        marks
    }

    #[must_use]
    pub fn count(&self, kind: Kind, grade: Grade) -> u64 {
        self.found.count(kind, grade)
    }

    /// Returns all non-zero counts by kind and grade, ordered by code.
    #[must_use]
    pub fn counts(&self) -> Vec<(Kind, Grade, u64)> {
        let pairs = Kind::ALL.into_iter().flat_map(|kind| Grade::ALL.map(|grade| (kind, grade)));
        let counted = pairs.map(|(kind, grade)| (kind, grade, self.count(kind, grade)));
        counted.filter(|(.., count)| *count > 0).collect()
    }

    pub(super) fn describe_all(&self, sites: Vec<Site>) -> Vec<Paradox> {
        if sites.is_empty() { Vec::new() } else { self.sorted(sites.into_iter()).all() }
    }

    fn sorted(&self, sites: impl Iterator<Item = Site>) -> List<'_> {
        let mut sites: Vec<(u64, Kind, Site)> =
            sites.map(|site| (self.positions(site).0, site.kind().0, site)).collect();
        sites.sort_unstable_by(|(position, kind, site), (other_position, other_kind, other)| {
            (position, kind).cmp(&(other_position, other_kind)).then_with(|| self.compare(*site, *other))
        });
        List { view: self, sites }
    }

    fn compare(&self, site: Site, other: Site) -> Ordering {
        let ids = |site: Site| self.nodes_of(site).map(|node| node.map(|node| self.ids.text(node)));
        ids(site).cmp(&ids(other)).then_with(|| site.cmp(&other))
    }

    fn touches(&self, site: Site, node: u32) -> bool {
        match site {
            Site::Cycle { first, .. } | Site::Bootstrap { first, .. } => {
                self.cycles.of(node).is_some_and(|component| component.members.first() == Some(&first))
            }
            _ => self.nodes_of(site).contains(&Some(node)),
        }
    }

    fn heading(&self, site: Site) -> Heading {
        let (kind, grade) = site.kind();
        Heading { kind, grade, is_observation: kind.is_observation() && !self.is_overdue(site) }
    }

    fn nodes_of(&self, site: Site) -> [Option<u32>; 2] {
        match site {
            Site::Early { cause, effect, .. } | Site::Orphan { cause, effect } | Site::Dangling { cause, effect } => {
                [Some(cause), Some(effect)]
            }
            Site::Cycle { first, .. } | Site::Bootstrap { first, .. } => [Some(first), None],
            Site::Grandfather { intervention, event } => [Some(event), Some(intervention)],
            Site::Apart { pair, .. }
            | Site::Contradiction { pair, .. }
            | Site::Duplicate { pair, .. }
            | Site::Repeat { pair, .. } => pair.map(Some),
            Site::Late { event, previous, .. } => [Some(previous), Some(event)],
            Site::Broken { event, .. }
            | Site::Future { event }
            | Site::Inverted { event }
            | Site::Unlinked { event } => [Some(event), None],
            Site::Gap { source, after, before } => self.sequences.ends(source, after, before),
            Site::Jump { .. } => [None; 2],
        }
    }

    /// Returns the positions of the first and the last record that show a paradox.
    pub(super) fn positions(&self, site: Site) -> (u64, u64) {
        let mut span = (u64::MAX, 0);
        let mut add = |position: u64| span = (span.0.min(position), span.1.max(position));
        match site {
            Site::Jump { number, .. } => {
                self.jumps.get(number as usize).iter().for_each(|jump| jump.positions.into_iter().for_each(&mut add));
            }
            Site::Cycle { first, .. } | Site::Bootstrap { first, .. } => {
                let members = self.cycles.of(first).map_or(&[][..], |component| &component.members);
                for member in members {
                    add(self.graph.position(*member));
                }
            }
            Site::Grandfather { intervention, event } => {
                self.path(event, intervention).into_iter().for_each(|node| add(self.graph.position(node)));
            }
            _ => {
                if let Site::Early { cause, effect, .. } | Site::Orphan { cause, effect } = site
                    && let Some(node) = self.firing_of(cause, effect)
                {
                    self.firings.positions(node).for_each(&mut add);
                }
                for node in self.nodes_of(site).into_iter().flatten().filter(|node| self.graph.is_known(*node)) {
                    add(self.graph.position(node));
                    self.graph.rare(node).and_then(|rare| rare.cancelled).into_iter().for_each(|(at, _)| add(at));
                }
            }
        }
        if let Site::Broken { anchor, .. } = site {
            self.anchors.get(anchor).into_iter().for_each(|anchor| add(anchor.position));
        }
        (span.0.min(span.1), span.1)
    }
}
