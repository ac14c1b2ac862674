use super::cycles::shortest_cycle;
use super::kinds::{Grade, Kind};
use super::report::{Key, Paradox, Step, Witness};
use super::settings::{IMPACT_EVENTS_MAX, PATH_EVENTS_MAX};
use super::site::{NONE, Site};
use super::view::View;
use crate::event::CauseKind;
use crate::ids::EventId;
use crate::paradox::rules::firings::Firing;
use crate::paradox::rules::places::Place;
use crate::paradox::rules::uncertain::Uncertain;
use crate::time::{Instant, Span, Virtual};

impl View {
    pub(super) fn describe(&self, site: Site) -> Paradox {
        let (kind, grade) = site.kind();
        let (first, since) = self.positions(site);
        let witness = self.witness(site);
        let is_overdue = matches!(witness, Witness::Dangling { is_overdue: true, .. });
        let severity = kind.severity(grade);
        Paradox {
            kind,
            grade,
            severity: if is_overdue { super::kinds::Severity::Medium } else { severity },
            is_observation: kind.is_observation() && !is_overdue,
            events: witness.events(),
            explanation: witness.explain(kind, grade),
            key: key(site, &witness),
            witness,
            first,
            since,
        }
    }

    fn witness(&self, site: Site) -> Witness {
        match site {
            Site::Early { cause, effect, .. } => self.describe_early(cause, effect),
            Site::Cycle { first, .. } | Site::Bootstrap { first, .. } => self.describe_cycle(first),
            Site::Grandfather { intervention, event } => {
                let path = self.path(event, intervention);
                let ids = path.iter().take(PATH_EVENTS_MAX).map(|node| self.id(*node)).collect();
                let (event, intervention) = (self.id(event), self.id(intervention));
                Witness::Path { event, intervention, path: ids, length: path.len() }
            }
            Site::Orphan { cause, effect } => {
                let timer = self.firing_of(cause, effect).and_then(|node| self.firings.timer_detail(node));
                let cancelled = match &timer {
                    Some(_) => self.firings.get(cause).and_then(Firing::taken).map(|(position, _)| (position, NONE)),
                    None => self.graph.rare(cause).and_then(|rare| rare.cancelled),
                };
                Witness::Orphan {
                    effect: self.id(effect),
                    cause: self.id(cause),
                    cancelled_at: cancelled.map(|(position, _)| position),
                    intervention: cancelled.filter(|(_, by)| *by != NONE).map(|(_, by)| self.id(by)),
                    impact: self.count_descendants(effect, IMPACT_EVENTS_MAX),
                    timer,
                }
            }
            Site::Dangling { cause, effect } => {
                Witness::Dangling { effect: self.id(effect), cause: self.id(cause), is_overdue: self.is_overdue(site) }
            }
            Site::Apart { actor, pair, grade } => self.describe_distant(actor, pair, grade),
            Site::Contradiction { thing, pair, .. } => self.describe_contradiction(thing, pair),
            Site::Duplicate { pair, .. } => Witness::Duplicate { pair: self.id_pair(pair) },
            Site::Future { event } => {
                let clock_at = self.graph.rare(event).and_then(|rare| rare.future).unwrap_or(Instant::MIN);
                Witness::Future { event: self.id(event), time: self.graph.start(event).min, clock_at }
            }
            Site::Late { event, previous, micros } => {
                let (previous, event) = (self.id(previous), self.id(event));
                Witness::Late { previous, event, lateness: Span::from_micros(micros) }
            }
            Site::Jump { number, .. } => {
                let jump = &self.jumps[number as usize];
                Witness::Jump { positions: jump.positions, jumped: jump.what }
            }
            Site::Broken { anchor, event, .. } => self.describe_anchor(anchor, event),
            Site::Gap { source, after, before } => {
                Witness::Gap { source: self.source(source), first: after + 1, last: before - 1 }
            }
            Site::Repeat { source, pair } => {
                let sequence = self.graph.rare(pair[0]).and_then(|rare| rare.sequence).unwrap_or(0);
                Witness::Repeat { source: self.source(source), sequence, pair: self.id_pair(pair) }
            }
            Site::Inverted { event } => {
                let (time, end, _) = self.graph.times(event);
                Witness::Inverted { event: self.id(event), time, end: end.unwrap_or(time) }
            }
            Site::Unlinked { event } => Witness::Unlinked { event: self.id(event) },
        }
    }

    fn describe_early(&self, cause: u32, effect: u32) -> Witness {
        let timer = self.firing_of(cause, effect).and_then(|node| self.firings.timer_detail(node));
        let requires = self.graph.requires(cause, effect);
        let cause_time =
            timer.as_ref().map_or_else(|| self.due(cause, requires), |timer| Uncertain::new(timer.due, None));
        let given: Instant<Virtual> = if cause_time.is_exact() { cause_time.min } else { self.time(cause) };
        Witness::Edge {
            cause: self.id(cause),
            effect: self.id(effect),
            cause_time,
            effect_time: self.graph.start(effect),
            gap: given.since(self.time(effect)),
            timer,
        }
    }

    fn describe_cycle(&self, first: u32) -> Witness {
        let members = self.cycles.of(first).map_or(&[][..], |component| &component.members);
        let cycle = shortest_cycle(&self.graph, members);
        let next = cycle.iter().cycle().skip(1);
        let step = |(&cause, &effect): (&u32, &u32)| Step {
            cause: self.id(cause),
            effect: self.id(effect),
            kind: if self.graph.requires(cause, effect) { CauseKind::Requires } else { CauseKind::Contributes },
            gap: self.time(effect).since(self.time(cause)),
        };
        Witness::Cycle {
            steps: cycle.iter().zip(next).take(PATH_EVENTS_MAX).map(step).collect(),
            length: cycle.len(),
            component_size: members.len(),
        }
    }

    fn describe_distant(&self, actor: u32, pair: [u32; 2], grade: Grade) -> Witness {
        let [one, other] = pair.map(|event| self.places.place(self.graph.place(event)));
        let [stretch, other_stretch] = pair.map(|event| self.graph.stretch(event));
        let (shortest, longest) = stretch.gap_micros(other_stretch);
        let gap = if grade == Grade::Definite { longest } else { shortest };
        let metres = match (one, other) {
            (Place::At { point, radius_m }, Place::At { point: other_point, radius_m: other_radius_m }) => {
                Some(point.distance_m(other_point) - radius_m - other_radius_m)
            }
            _ => None,
        };
        let names = match (one, other) {
            (Place::Named(name), Place::Named(other)) => {
                Some([name, other].map(|name| self.places.name(name).to_owned()))
            }
            _ => None,
        };
        let per_micro = crate::paradox::rules::pairs::metres(1.0, gap);
        let needed_kmh = metres.filter(|_| gap > 0).map(|metres| metres / per_micro * 3.6e6);
        Witness::Apart {
            actor: self.actors.text(actor).to_owned(),
            pair: self.id_pair(pair),
            metres,
            gap: Span::from_micros(gap),
            needed_kmh,
            names,
        }
    }

    fn describe_contradiction(&self, thing: u32, pair: [u32; 2]) -> Witness {
        let [one, other] = pair.map(|event| self.graph.stretch(event));
        let (from, until) = one.intersection(other);
        let bytes = self.things.bytes_of(thing);
        let (length, rest) =
            bytes.split_first_chunk().map_or((0, bytes), |(length, rest)| (u32::from_le_bytes(*length) as usize, rest));
        let (subject, predicate) = rest.split_at(length.min(rest.len()));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let value = |event: u32| {
            let value = self.graph.asserts(event).find(|[other, _]| *other == thing);
            value.map_or_else(String::new, |[_, value]| self.values.text(value).to_owned())
        };
        Witness::Contradiction {
            pair: self.id_pair(pair),
            subject: text(subject),
            predicate: text(predicate),
            values: pair.map(value),
            from,
            until,
        }
    }

    fn describe_anchor(&self, anchor: u32, event: u32) -> Witness {
        let cancelled = self.graph.rare(event).and_then(|rare| rare.cancelled).map(|(position, _)| position);
        let anchor = self.anchors.get(anchor).expect("a broken anchor was set");
        Witness::Anchor {
            anchor_id: anchor.id.clone(),
            timestamp: anchor.timestamp,
            event: self.id(event),
            changed_at: cancelled.unwrap_or_else(|| self.graph.position(event)),
        }
    }

    fn source(&self, source: u32) -> Option<String> {
        (source != NONE).then(|| self.sources.text(source).to_owned())
    }

    fn id_pair(&self, pair: [u32; 2]) -> [EventId; 2] {
        pair.map(|node| self.id(node))
    }

    pub(super) fn id(&self, node: u32) -> EventId {
        // Only ids are ever added.
        EventId::new(self.ids.text(node)).expect("the id was parsed before")
    }
}

fn key(site: Site, witness: &Witness) -> Key {
    let (kind, grade) = site.kind();
    let mut parts = vec![kind.code().to_owned(), grade.as_str().to_owned()];
    let ids = |events: &[EventId]| events.iter().map(|event| event.as_str().to_owned()).collect::<Vec<_>>();
    match (site, witness) {
        (Site::Cycle { digest, .. } | Site::Bootstrap { digest, .. }, Witness::Cycle { component_size, .. }) => {
            parts.extend([component_size.to_string(), format!("{digest:016x}")]);
        }
        (_, Witness::Path { event, intervention, .. }) => parts.extend(ids(&[event.clone(), intervention.clone()])),
        (_, Witness::Orphan { cause, effect, .. }) => parts.extend(ids(&[cause.clone(), effect.clone()])),
        (_, Witness::Jump { positions, jumped }) => {
            let clock = if matches!(jumped, super::Jumped::Host { .. }) { "host" } else { "virtual" };
            parts.extend(positions.map(|position| position.to_string()));
            parts.push(clock.to_owned());
        }
        (_, Witness::Gap { source, first, last }) => {
            parts.extend([first.to_string(), last.to_string(), source.clone().unwrap_or_default()]);
        }
        (_, witness) => {
            let mut events = ids(&witness.events());
            if matches!(
                site,
                Site::Apart { .. } | Site::Contradiction { .. } | Site::Duplicate { .. } | Site::Repeat { .. }
            ) {
                // Such a pair is a set: the order does not matter.
                events.sort_unstable();
            }
            parts.extend(events);
            parts.extend(witness.detail());
        }
    }
    Key(parts.join("/"))
}

impl Witness {
    /// Returns the events and interventions that it names, in order.
    pub(super) fn events(&self) -> Vec<EventId> {
        match self {
            // An event that is its own cause is an effect of the firing with the same id.
            Self::Edge { cause, effect, .. } | Self::Orphan { cause, effect, .. } if cause == effect => {
                vec![effect.clone()]
            }
            Self::Edge { cause, effect, .. }
            | Self::Orphan { cause, effect, .. }
            | Self::Dangling { cause, effect, .. } => {
                vec![cause.clone(), effect.clone()]
            }
            Self::Cycle { steps, .. } => steps.iter().map(|step| step.cause.clone()).collect(),
            Self::Path { path, .. } => path.clone(),
            Self::Apart { pair, .. }
            | Self::Contradiction { pair, .. }
            | Self::Duplicate { pair }
            | Self::Repeat { pair, .. } => pair.to_vec(),
            Self::Late { previous, event, .. } => vec![previous.clone(), event.clone()],
            Self::Future { event, .. }
            | Self::Anchor { event, .. }
            | Self::Inverted { event, .. }
            | Self::Unlinked { event } => vec![event.clone()],
            Self::Jump { .. } | Self::Gap { .. } => Vec::new(),
        }
    }

    /// Returns what distinguishes this paradox from others of the same kind, grade and events.
    fn detail(&self) -> Vec<String> {
        match self {
            Self::Apart { actor, .. } => vec![actor.clone()],
            // The length of the subject separates it from the predicate.
            Self::Contradiction { subject, predicate, .. } => {
                vec![subject.len().to_string(), subject.clone(), predicate.clone()]
            }
            Self::Anchor { anchor_id, .. } => vec![anchor_id.as_str().to_owned()],
            Self::Unlinked { .. } => vec![Kind::IntervalInverted.code().to_owned()],
            Self::Repeat { source, sequence, .. } => vec![sequence.to_string(), source.clone().unwrap_or_default()],
            Self::Edge { .. }
            | Self::Cycle { .. }
            | Self::Path { .. }
            | Self::Orphan { .. }
            | Self::Dangling { .. }
            | Self::Duplicate { .. }
            | Self::Future { .. }
            | Self::Late { .. }
            | Self::Jump { .. }
            | Self::Gap { .. }
            | Self::Inverted { .. } => Vec::new(),
        }
    }
}
