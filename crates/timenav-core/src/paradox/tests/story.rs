//! A short notation for histories, and the records they make.

use crate::clock::{Clock, ClockCommand, ClockMoved, decide};
use crate::event::{Assertion, Cause, CauseKind, EventDraft, Precision};
use crate::ids::{AnchorId, EventId};
use crate::paradox::{
    AnchorSet, Cancelled, Delta, Intervention, Kind, Paradox, Record, Settings, Stamp, TimerRecord, Version,
    VersionOrigin, View,
};
use crate::place::{Geo, Point};
use crate::time::{Instant, Virtual, Wall, Zone, parse_timestamp};

#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "most records of a history are versions")]
pub(super) enum Fact {
    Version { id: EventId, stamp: Stamp, draft: EventDraft, origin: VersionOrigin },
    Cancelled { id: EventId, stamp: Stamp, by: Option<EventId> },
    Intervention { id: EventId, stamp: Stamp, time: Instant<Virtual>, on: EventId, negates: bool, causes: Vec<Cause> },
    Anchor { id: AnchorId, position: u64, timestamp: Instant<Virtual>, is_fixed: bool },
    Clock { position: u64, moved: ClockMoved },
    Timers(TimerRecord<'static>),
}

impl Fact {
    pub(super) fn record(&self) -> Record<'_> {
        match self {
            Self::Version { id, stamp, draft, origin } => {
                Record::Version(Version { event_id: id, stamp: *stamp, draft, origin: *origin })
            }
            Self::Cancelled { id, stamp, by } => {
                Record::Cancelled(Cancelled { event_id: id, stamp: *stamp, intervention_id: by.as_ref() })
            }
            Self::Intervention { id, stamp, time, on, negates, causes } => Record::Intervention(Intervention {
                intervention_id: id,
                stamp: *stamp,
                time: *time,
                event_id: on,
                negates: *negates,
                causes,
            }),
            Self::Anchor { id, position, timestamp, is_fixed } => Record::AnchorSet(AnchorSet {
                anchor_id: id,
                position: *position,
                timestamp: *timestamp,
                is_fixed: *is_fixed,
            }),
            Self::Timers(record) => Record::Timers(*record),
            Self::Clock { position, moved } => Record::ClockMoved { position: *position, moved },
        }
    }
}

pub(super) struct Story {
    pub(super) log: Vec<Fact>,
    pub(super) view: View,
    settings: Settings,
    /// What the clock shows; the host records one record per second.
    pub(super) now: Instant<Virtual>,
    pub(super) last: Delta,
}

pub(super) fn at(text: &str) -> Instant<Virtual> {
    parse_timestamp(text).unwrap()
}

pub(super) fn id(text: &str) -> EventId {
    EventId::new(text).unwrap()
}

pub(super) fn event(time: &str) -> EventDraft {
    EventDraft::at(at(time), "")
}

pub(super) trait DraftExt: Sized {
    fn until(self, end: &str) -> Self;
    fn precisely(self, precision: Precision) -> Self;
    fn because_of(self, causes: &[&str]) -> Self;
    fn maybe_because_of(self, causes: &[&str]) -> Self;
    fn by(self, actor: &str) -> Self;
    fn in_place(self, lat: f64, lon: f64) -> Self;
    fn asserting(self, subject: &str, predicate: &str, value: &str) -> Self;
    fn saying(self, description: &str) -> Self;
}

pub(super) fn causes(ids: &[&str], kind: CauseKind) -> Vec<Cause> {
    ids.iter().map(|text| Cause { event_id: id(text), kind }).collect()
}

impl DraftExt for EventDraft {
    fn until(self, end: &str) -> Self {
        Self { end_time: Some(at(end)), ..self }
    }
    fn precisely(self, precision: Precision) -> Self {
        Self { precision: Some(precision), ..self }
    }
    fn because_of(mut self, ids: &[&str]) -> Self {
        self.causes.extend(causes(ids, CauseKind::Requires));
        self
    }
    fn maybe_because_of(mut self, ids: &[&str]) -> Self {
        self.causes.extend(causes(ids, CauseKind::Contributes));
        self
    }
    fn by(mut self, actor: &str) -> Self {
        self.actors.push(actor.to_owned());
        self
    }
    fn in_place(self, lat: f64, lon: f64) -> Self {
        Self { geo: Some(Geo { point: Point::new(lat, lon).unwrap(), radius_m: None }), ..self }
    }
    fn asserting(mut self, subject: &str, predicate: &str, value: &str) -> Self {
        let (subject, predicate) = (subject.to_owned(), predicate.to_owned());
        self.asserts.push(Assertion { subject, predicate, value: format!("{value:?}") });
        self
    }
    fn saying(self, description: &str) -> Self {
        Self { description: description.to_owned(), ..self }
    }
}

impl Story {
    pub(super) fn new() -> Self {
        Self::with(Settings::default())
    }

    pub(super) fn with(settings: Settings) -> Self {
        let now = at("2026-01-01T00:00:00Z");
        Self { log: Vec::new(), view: View::new(settings), settings, now, last: Delta::default() }
    }

    pub(super) fn stamp(&self) -> Stamp {
        let position = self.log.len() as u64;
        Stamp { position, recorded_at: self.host(), clock_at: self.now }
    }

    fn host(&self) -> Instant<Wall> {
        let micros = i64::try_from(self.log.len()).unwrap() * 1_000_000;
        Instant::from_micros(at("2026-01-01T00:00:00Z").micros() + micros).unwrap()
    }

    pub(super) fn append(&mut self, entry: Fact) {
        self.last = self.view.apply(&entry.record());
        self.log.push(entry);
        let records = self.log.iter().map(Fact::record);
        let keys = |view: &View| view.list(|_| true).all().into_iter().map(|paradox| paradox.key).collect::<Vec<_>>();
        assert_eq!(keys(&self.view), keys(&View::build(self.settings, records)));
    }

    fn version(&mut self, text: &str, draft: EventDraft, origin: VersionOrigin) {
        let (id, stamp) = (id(text), self.stamp());
        self.append(Fact::Version { id, stamp, draft, origin });
    }

    pub(super) fn record(&mut self, id: &str, draft: EventDraft) {
        self.version(id, draft, VersionOrigin::Recorded);
    }

    pub(super) fn correct(&mut self, id: &str, draft: EventDraft) {
        self.version(id, draft, VersionOrigin::Corrected);
    }

    pub(super) fn restore(&mut self, id: &str, draft: EventDraft) {
        self.version(id, draft, VersionOrigin::Restored);
    }

    pub(super) fn intervene(&mut self, intervention: &str, time: &str, on: &str, negates: bool, because_of: &[&str]) {
        let (stamp, causes) = (self.stamp(), causes(because_of, CauseKind::Requires));
        self.append(Fact::Intervention { id: id(intervention), stamp, time: at(time), on: id(on), negates, causes });
    }

    /// An intervention that removes an event, as the service records it.
    pub(super) fn prevent(&mut self, intervention: &str, time: &str, on: &str, because_of: &[&str]) {
        self.intervene(intervention, time, on, true, because_of);
        let stamp = self.stamp();
        self.append(Fact::Cancelled { id: id(on), stamp, by: Some(id(intervention)) });
    }

    pub(super) fn cancel(&mut self, text: &str) {
        let (id, stamp) = (id(text), self.stamp());
        self.append(Fact::Cancelled { id, stamp, by: None });
    }

    pub(super) fn anchor(&mut self, text: &str, timestamp: &str, is_fixed: bool) {
        let (id, position) = (AnchorId::new(text).unwrap(), self.log.len() as u64);
        self.append(Fact::Anchor { id, position, timestamp: at(timestamp), is_fixed });
    }

    pub(super) fn travel(&mut self, to: &str) {
        let clock = Clock::new(self.host());
        let command = ClockCommand::Travel { to: at(to), location: None };
        let moved = decide(&clock, &command, &Zone::utc(), self.host()).unwrap().unwrap();
        let paused = ClockMoved { moment: crate::clock::Moment { running: false, ..moved.moment }, ..moved };
        self.append(Fact::Clock { position: self.log.len() as u64, moved: paused });
        self.now = at(to);
    }

    pub(super) fn of(&self, kind: Kind) -> Vec<Paradox> {
        self.view.list(|heading| heading.kind == kind).all()
    }

    /// Compares the paradoxes, as `P01 definite a,b`. Observations are excluded.
    #[track_caller]
    pub(super) fn check(&self, expected: &[&str]) {
        assert_eq!(lines(&self.view.list(|heading| !heading.is_observation).all()), expected);
    }

    #[track_caller]
    pub(super) fn check_kind(&self, kind: Kind, expected: &[&str]) {
        assert_eq!(lines(&self.of(kind)), expected);
    }
}

pub(super) fn lines(paradoxes: &[Paradox]) -> Vec<String> {
    let line = |paradox: &Paradox| {
        let events: Vec<&str> = paradox.events.iter().map(EventId::as_str).collect();
        format!("{} {} {}", paradox.kind.code(), paradox.grade, events.join(","))
    };
    paradoxes.iter().map(line).collect()
}
