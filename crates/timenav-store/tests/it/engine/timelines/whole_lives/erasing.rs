//! Erased contents: events by a query, by their age or one by one, and reads.

use super::accounts::{Made, Reply};
use crate::audit::lines;
use crate::engine::*;

/// A request to erase something.
#[derive(Clone, Debug)]
pub(super) enum Clearing {
    /// Events in effect between two seconds.
    Found(i64, i64),
    /// Events unchanged for this many days.
    Unchanged(i64),
    /// A single event, by the older operation.
    One(u8),
    /// The reads of an entry.
    Reads(Index),
}

/// An erasure with all drawn values, and its expected result.
#[derive(Clone, Debug)]
pub(super) enum Clearance {
    Events { which: WhichEvents, evaluated_at: u64, born: BTreeSet<usize> },
    One { event_id: String, born: usize },
    Reads { position: u64, erased: u64, left: u64 },
}

impl Clearing {
    /// Returns the selection, unless it names single events.
    pub(super) fn which(&self) -> Option<WhichEvents> {
        match self {
            Self::Found(from, to) => Some(WhichEvents::Found {
                location_text: "*".to_owned(),
                location: LocationQuery::Anywhere,
                range: TimeRange::new(Some(moment(from * SECOND)), Some(moment(to * SECOND))).unwrap(),
            }),
            Self::Unchanged(days) => {
                Some(WhichEvents::Unchanged { text: format!("P{days}D"), span: Span::from_micros(days * DAY) })
            }
            Self::One(_) | Self::Reads(_) => None,
        }
    }
}

impl Clearance {
    /// Makes the required dry run, which must find what the model has.
    pub(super) async fn look(
        home: &Home<'_>,
        on: &TimelineId,
        (which, born): (WhichEvents, BTreeSet<usize>),
    ) -> Option<Self> {
        let request = erasure(on, which.clone(), None);
        let foreseen = home.engine.preview_erasure(&home.admin, request).await.unwrap();
        assert_eq!(foreseen.events_count, born.len() as u64, "{on} {which:?}: {:?}", foreseen.event_ids);
        (!born.is_empty()).then_some(Self::Events { which, evaluated_at: foreseen.evaluated_at, born })
    }

    /// Picks an entry with reads of the first operator, if there is one.
    pub(super) async fn of_reads(home: &Home<'_>, on: &TimelineId, which: Index) -> Option<Self> {
        let lines = lines(&*home.store).await;
        let reads = lines.iter().filter(|line| line.timeline == on.as_str() && line.action == "read");
        let own: Vec<u64> = reads.clone().filter(|line| line.actor == "admin").map(|line| line.seq).collect();
        if own.is_empty() {
            return None;
        }
        let position = *which.get(&own);
        let erased = own.iter().filter(|seq| **seq == position).count() as u64;
        let others = reads.filter(|line| line.seq == position && !["admin", ""].contains(&line.actor.as_str()));
        Some(Self::Reads { position, erased, left: others.count() as u64 })
    }

    pub(super) async fn send(
        &self,
        home: &Home<'_>,
        on: &TimelineId,
        key: Option<Idempotency>,
    ) -> Result<Reply, Refusal> {
        let (engine, admin) = (&home.engine, &home.admin);
        let reply = |summary: String, position, replayed| Reply { summary, position, replayed, made: Made::Nothing };
        Ok(match self {
            Self::Events { which, evaluated_at, born } => {
                let request = erasure(on, which.clone(), Some(*evaluated_at));
                let made = engine.erase_events(admin, request, key).await?;
                assert_eq!((made.change.events_count, made.change.left), (born.len() as u64, 0), "{self:?}");
                let summary =
                    format!("{} {} {:?}", made.change.payloads_count, made.change.outcomes_count, made.ledger);
                reply(summary, made.ledger.position, made.replayed)
            }
            Self::One { event_id: id, .. } => {
                let request = ErasureRequest::Event(Some(on.clone()), event_id(id));
                let made = engine.erase_data(admin, request, key).await?;
                reply(format!("{} {:?}", made.change.position, made.ledger), made.ledger.position, made.replayed)
            }
            Self::Reads { position, erased, left } => {
                let which = WhichReads::Of("admin".to_owned());
                let request = ReadErasure { timeline: Some(on.clone()), position: *position, which };
                let made = engine.erase_reads(admin, request, key).await?;
                assert_eq!((made.change.erased, made.change.left), (*erased, *left), "{self:?}");
                reply(format!("{:?}", made.ledger), made.ledger.position, made.replayed)
            }
        })
    }

    pub(super) fn erased(&self) -> Vec<usize> {
        match self {
            Self::Events { born, .. } => born.iter().copied().collect(),
            Self::One { born, .. } => vec![*born],
            Self::Reads { .. } => Vec::new(),
        }
    }
}

fn erasure(on: &TimelineId, which: WhichEvents, evaluated_at: Option<u64>) -> EventErasure {
    EventErasure { timeline: Some(on.clone()), which, include_forks: true, evaluated_at }
}
