//! Requests, repetitions and responses.

use timenav_engine::{AnchorMarked, EventIntervened};

use crate::engine::timelines::whole_lives::Passing;
use crate::engine::timelines::whole_lives::accounts::{Asker, Errand, Made, Reply};
use crate::engine::timelines::whole_lives::erasing::Clearance;
use crate::engine::timelines::whole_lives::timers::TimerErrand;
use crate::engine::*;

const DAY_SECONDS: u32 = 86_400;

/// A request that can be repeated.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) on: TimelineId,
    pub(super) what: What,
    pub(super) number: usize,
    /// The caller, if not the first operator.
    pub(super) by: Option<Asker>,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    Record(Vec<EventDraft>),
    Import(Vec<EventDraft>),
    /// By the number of an import.
    UndoImport(usize, ImportId),
    Correct(EventDraft),
    Intervene(u8, Effect),
    Steer(ClockCommand, Passing),
    Anchor,
    Return(AnchorId, ReturnScope),
    Fork {
        name: TimelineId,
        at: Option<u64>,
        /// Sends the webhooks of inherited timers.
        sends: bool,
    },
    Retain(u32),
    Erase(u8),
    Clear(Clearance),
    End,
    Timer(TimerErrand),
    Account(Errand),
}

/// A response as a comparable text, and what the model needs to learn.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) summary: String,
    pub(super) replayed: bool,
    pub(super) anchor_id: Option<AnchorId>,
    pub(super) step: Option<(Clock, Instant<Virtual>, bool)>,
    pub(super) position: u64,
    pub(super) made: Made,
}

/// The result of repeating a request after its response was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine::timelines::whole_lives) enum Repetition {
    /// The stored response, found by its key.
    Answered,
    /// The object to delete does not exist.
    NotFound,
    /// It is executed again, and finds everything done.
    Anew,
}

impl What {
    /// Returns the required permissions, if others than the first operator send it too.
    pub(super) const fn demands(&self) -> Option<&'static [Demand]> {
        match self {
            Self::Record(_) | Self::Import(_) | Self::Correct(_) => Some(&[Demand::Record]),
            Self::Timer(TimerErrand::Set(..) | TimerErrand::Change(..) | TimerErrand::Cancel(_)) => {
                Some(&[Demand::Record])
            }
            Self::UndoImport(..) | Self::Intervene(..) => Some(&[Demand::Intervene]),
            Self::Steer(ClockCommand::SetRate(_), _) => Some(&[Demand::SetRate]),
            Self::Steer(..) | Self::Anchor | Self::Return(_, ReturnScope::Clock) => Some(&[Demand::Steer]),
            Self::Return(_, ReturnScope::All) => Some(&[Demand::Steer, Demand::Intervene]),
            Self::Retain(_) => Some(&[Demand::Administer]),
            Self::End => Some(&[Demand::Erase]),
            Self::Timer(TimerErrand::Done(_))
            | Self::Fork { .. }
            | Self::Erase(_)
            | Self::Clear(_)
            | Self::Account(_) => None,
        }
    }
}

impl Request {
    pub(super) const fn repetition(&self) -> Repetition {
        match &self.what {
            What::Import(_) => Repetition::Anew,
            What::Account(errand) => errand.repetition(),
            _ => Repetition::Answered,
        }
    }

    /// Sends it as the caller, whose key works.
    pub(super) async fn send(&self, home: &Home<'_>, caller: &Caller) -> Result<Answer, Refusal> {
        let engine = &home.engine;
        let key = digest(&format!("request {}", self.number));
        let key = Some(Idempotency { key, fingerprint: key });
        let on = self.on.clone();
        let named = Some(on.clone());
        Ok(match &self.what {
            What::Record(drafts) => {
                let made = engine.record_events(caller, named, drafts.clone(), key).await?;
                plain(format!("{:?} {:?}", made.event_ids, made.ledger), made.replayed, made.ledger.position)
            }
            What::Import(drafts) => import(engine, caller, (on, drafts)).await?,
            What::UndoImport(_, import) => {
                let made = engine.undo_import(caller, named, *import, key).await?;
                let summary = format!("{} {} {:?} {:?}", made.undone, made.skipped_changed, made.rest, made.ledger);
                let learned = Made::Undone((made.undone, made.skipped_changed));
                Answer { made: learned, ..plain(summary, made.replayed, made.ledger.position) }
            }
            What::Correct(draft) => {
                let made = engine.correct_event(caller, named, draft.clone(), None, key).await?;
                let summary = format!("{} {} {:?}", made.change.content, made.change.changed, made.ledger);
                plain(summary, made.replayed, made.ledger.position)
            }
            What::Intervene(event, effect) => {
                let made = engine
                    .manipulate_event(caller, named, intervention(&format!("e{event}"), effect.clone()), key)
                    .await?;
                let EventIntervened { intervention_id, before, after, .. } = made.change;
                let summary = format!("{intervention_id} {before:?} {after:?} {:?}", made.ledger);
                plain(summary, made.replayed, made.ledger.position)
            }
            What::Anchor => {
                let request = anchor_now();
                let made = engine.set_anchor(caller, named, request, key).await?;
                let AnchorMarked { anchor_id, timestamp } = made.change;
                let summary = format!("{anchor_id} {timestamp} {:?}", made.ledger);
                Answer { anchor_id: Some(anchor_id), ..plain(summary, made.replayed, made.ledger.position) }
            }
            What::Steer(command, passing) => {
                let Passing { settle, refire } = *passing;
                let change = ClockChange { settle, refire, ..ClockChange::from(command.clone()) };
                stepped(engine.change_clock(caller, named, change, key).await?)
            }
            What::Return(anchor_id, scope) => {
                stepped(engine.return_to_anchor(caller, named, anchor_id, *scope, key).await?)
            }
            What::Fork { name, at, sends } => {
                let at = at.map(AsOf::Position);
                let fork = NewTimeline { deliver_webhooks: *sends, ..name.clone().into() };
                let made = engine.fork_timeline(caller, fork, &on, at.as_ref(), key).await?;
                plain(format!("{:?} {:?}", made.change.expires_at, made.ledger), made.replayed, made.ledger.position)
            }
            What::Retain(days) => {
                let stored = RetentionPeriod::Seconds(days * DAY_SECONDS);
                let request = RetentionRequest { reads: stored, refusals: stored };
                let made = engine.set_retention(caller, on, request, key).await?;
                let summary = format!("{:?} {:?}", made.change.retention, made.ledger);
                plain(summary, made.replayed, made.ledger.position)
            }
            What::Erase(event) => erase(engine, caller, (on, *event), key).await?,
            What::End => {
                let end = engine.end_timeline(caller, on, key).await?;
                let summary = format!("{} {:?} {} {:?}", end.size, end.root, end.checkpoint, end.ledger);
                plain(summary, end.replayed, end.ledger.position)
            }
            What::Clear(clearance) => reply(clearance.send(home, &on, key).await?),
            What::Timer(errand) => reply(errand.send((engine, caller), &on, key).await?),
            What::Account(errand) => reply(errand.send(home, &on, key).await?),
        })
    }
}

/// Imports have no idempotency keys: each record is compared with known events.
async fn import(
    engine: &Engine,
    caller: &Caller,
    (on, drafts): (TimelineId, &[EventDraft]),
) -> Result<Answer, Refusal> {
    let made = engine.import_events(caller, &on, drafts.to_vec()).await?;
    let refused = made.refused.iter().map(|refused| refused.index).collect();
    let learned = Made::Import { taken: made.taken, refused };
    Ok(Answer { made: learned, ..plain(String::new(), false, made.ledger.position) })
}

async fn erase(
    engine: &Engine,
    caller: &Caller,
    (on, event): (TimelineId, u8),
    key: Option<Idempotency>,
) -> Result<Answer, Refusal> {
    let which = WhichEvents::Ids(vec![event_id(&format!("e{event}"))]);
    let erasure = EventErasure { timeline: Some(on), which, include_forks: true, evaluated_at: None };
    let made = engine.erase_events(caller, erasure, key).await?;
    assert_eq!((made.change.events_count, made.change.left), (1, 0), "e{event}");
    let summary = format!("{} {} {:?}", made.change.payloads_count, made.change.outcomes_count, made.ledger);
    Ok(plain(summary, made.replayed, made.ledger.position))
}

pub(super) fn plain(summary: String, replayed: bool, position: u64) -> Answer {
    Answer { summary, replayed, position, anchor_id: None, step: None, made: Made::Nothing }
}

fn reply(Reply { summary, position, replayed, made }: Reply) -> Answer {
    Answer { made, ..plain(summary, replayed, position) }
}

fn stepped(made: ClockStep) -> Answer {
    let summary = format!("{:?} {} {:?}", made.view, made.changed, made.ledger);
    let step = Some((made.view.clock, made.view.current_time, made.changed));
    Answer { step, ..plain(summary, made.replayed, made.ledger.position) }
}

pub(super) fn id_of(draft: &EventDraft) -> &str {
    draft.event_id.as_ref().expect("each has one").as_str()
}

pub(super) fn seconds_of(draft: &EventDraft) -> i64 {
    draft.time.micros() / 1_000_000
}
