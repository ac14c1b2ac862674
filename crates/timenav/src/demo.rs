//! The timeline `demo` with well-known history for new users. It includes a document that names a city before it was
//! founded, which is a paradox; an anchor; a fork on which a shot was never fired; and timers, on queues without
//! listeners.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Context as _, bail};
use timenav_core::as_of::AsOf;
use timenav_core::event::EventDraft;
use timenav_core::ids::{EventId, QueueId, TimelineId, TimerId};
use timenav_core::intervention::Effect;
use timenav_core::time::parse_timestamp;
use timenav_core::timers::{Misfire, Repeating, RuleSource, Schedule};
use timenav_engine::{AnchorRequest, Caller, Delivery, Engine, InterventionRequest, OnParadox, Refusal, TimerRequest};
use timenav_import::{Format, Item, Mapping, read};

use crate::key_files::read_api_key;

const TIMELINE: &str = "demo";

const HISTORY: &str = include_str!("../../../examples/demo-history.ndjson");

/// The fork: what if there had been no war to begin?
const FORK: &str = "demo-no-sarajevo";

/// The time of the anchor from which the fork begins.
const EVE: &str = "1914-06-27T00:00:00Z";

/// The event that is canceled on the fork, the time, and the intervention.
const CANCELED: (&str, &str, &str) =
    ("sarajevo-assassination-1914", "1914-06-28T00:00:00Z", "cancel: the driver does not take the wrong turn");

/// The event that only happens on the fork.
const INSTEAD: &str = r#"{"event_id": "franz-ferdinand-returns-1914", "time": "1914-07-01T00:00:00Z",
    "precision": "day", "name": "Franz Ferdinand returns to Vienna",
    "description": "On this fork nobody was shot in Sarajevo, and the heir to the throne came home.",
    "location": "Vienna, Austria", "geo": {"lat": 48.2082, "lon": 16.3738}, "actors": ["franz-ferdinand"],
    "attributes": {"topic": "politics"}, "source": "demo"}"#;

enum When {
    At(&'static str),
    /// By an iCalendar rule from a start time, in UTC.
    Every(&'static str, &'static str),
    /// By a cron expression in a time zone.
    Cron(&'static str, &'static str),
}

/// Name, queue, schedule and payload. They are rare enough that an idle demo does not fill its ledger in a year.
const TIMERS: [(&str, &str, When, &str); 5] = [
    (
        "new-year",
        "greetings",
        When::Every("FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1", "2000-01-01T00:00:00Z"),
        r#"{"wish": "a happy new year"}"#,
    ),
    (
        "moon-landing-anniversary",
        "greetings",
        When::Every("FREQ=YEARLY", "1969-07-20T20:17:40Z"),
        r#"{"event_id": "moon-landing-1969"}"#,
    ),
    (
        "last-working-day",
        "payroll",
        When::Every("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "2000-01-31T16:00:00Z"),
        r#"{"run": "salaries"}"#,
    ),
    ("weekly-report", "reports", When::Cron("0 9 * * MON", "Europe/Paris"), r#"{"report": "history so far"}"#),
    ("halley-returns", "astronomy", When::At("2061-07-28T00:00:00Z"), r#"{"comet": "1P/Halley"}"#),
];

/// Creates and fills the timeline `demo`, unless it has history already. Uses the operator's key like any client.
pub(crate) async fn load(engine: &Engine, admin_key: &Path) -> anyhow::Result<()> {
    let key = match read_api_key(admin_key) {
        Ok(key) => key,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            bail!("the demo needs the operator's key in {}, and that file is gone", admin_key.display())
        }
        Err(error) => return Err(error).with_context(|| format!("the demo cannot read {}", admin_key.display())),
    };
    let Ok(caller) = engine.authenticate(&key) else {
        bail!("the demo needs the operator's key, and the one in {} no longer works", admin_key.display())
    };
    let timeline = TimelineId::new(TIMELINE)?;
    match engine.create_timeline(&caller, timeline.clone(), None).await {
        Ok(_) => {}
        Err(Refusal::AlreadyExists { .. }) => {
            let events_count = engine.timeline(&caller, &timeline).await?.state.head.events_count;
            // 0 if the process was stopped between creating the timeline and filling it.
            if events_count > 0 {
                return Ok(());
            }
        }
        Err(refusal) => return Err(refusal.into()),
    }
    let batch = engine.import_events(&caller, &timeline, drafts(HISTORY)?).await?;
    tracing::info!(events = batch.taken, "the timeline `{TIMELINE}` has {} events of history", batch.taken);
    fork(engine, &caller, &timeline).await?;
    set_timers(engine, &caller, &timeline).await
}

async fn fork(engine: &Engine, caller: &Caller, of: &TimelineId) -> anyhow::Result<()> {
    let eve = AnchorRequest {
        timestamp: Some(parse_timestamp(EVE)?),
        description: "The eve of Sarajevo".to_owned(),
        fixed: true,
    };
    let anchor = engine.set_anchor(caller, Some(of.clone()), eve, None).await?.change.anchor_id;
    let timeline = TimelineId::new(FORK)?;
    match engine.fork_timeline(caller, timeline.clone(), of, Some(&AsOf::Anchor(anchor)), None).await {
        Ok(_) => {}
        // A timeline with that name exists already and is not changed.
        Err(Refusal::AlreadyExists { .. }) => return Ok(()),
        Err(refusal) => return Err(refusal.into()),
    }
    let (event, time, words) = CANCELED;
    let canceled = InterventionRequest {
        event_id: EventId::new(event)?,
        action: words.to_owned(),
        effect: Effect::Cancel,
        time: parse_timestamp(time)?,
        causes: Vec::new(),
    };
    engine.intervene(caller, Some(timeline.clone()), canceled, OnParadox::Report, None).await?;
    let instead = drafts(&INSTEAD.replace('\n', " "))?;
    engine.record_events(caller, Some(timeline), instead, None).await?;
    Ok(())
}

async fn set_timers(engine: &Engine, caller: &Caller, timeline: &TimelineId) -> anyhow::Result<()> {
    for (name, queue, when, payload) in TIMERS {
        let request = TimerRequest {
            schedule: Some(when.schedule()?),
            deliver: Some(Delivery::Queue(QueueId::new(queue)?)),
            order_key: None,
            payload: Some(payload.into()),
        };
        engine.set_timer(caller, Some(timeline.clone()), (Some(TimerId::new(name)?), request), None).await?;
    }
    Ok(())
}

impl When {
    fn schedule(&self) -> anyhow::Result<Schedule> {
        let source = match *self {
            Self::At(moment) => return Ok(Schedule::At(parse_timestamp(moment)?)),
            Self::Every(rule, starts) => {
                RuleSource::Every { rule: rule.to_owned(), starts: parse_timestamp(starts)?, zone: "UTC".to_owned() }
            }
            Self::Cron(expression, zone) => {
                RuleSource::Cron { expression: expression.to_owned(), zone: zone.to_owned() }
            }
        };
        Ok(Schedule::Repeating(Box::new(Repeating::read(source, Misfire::All, false)?)))
    }
}

fn drafts(lines: &str) -> anyhow::Result<Vec<EventDraft>> {
    let mut drafts = Vec::new();
    let mut wrong = None;
    read(Format::Ndjson, &Mapping::default(), lines.as_bytes(), &mut |item: Item| match item.event {
        Ok(draft) => {
            drafts.push(draft);
            ControlFlow::Continue(())
        }
        Err(error) => {
            wrong = Some(format!("line {}: {error}", item.line));
            ControlFlow::Break(())
        }
    })?;
    match wrong {
        None => Ok(drafts),
        Some(wrong) => bail!("the demo's history: {wrong}"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use timenav_core::time::Virtual;

    use super::*;

    #[test]
    fn demo_history_is_valid_and_contains_its_causes() {
        let drafts = drafts(HISTORY).unwrap();
        assert!(drafts.len() >= 150);
        let ids: HashSet<_> = drafts.iter().filter_map(|draft| draft.event_id.clone()).collect();
        assert_eq!(ids.len(), drafts.len(), "each event has an id of its own");
        for draft in &drafts {
            for cause in &draft.causes {
                assert!(ids.contains(&cause.event_id), "{:?} is a cause and no event", cause.event_id);
            }
        }
    }

    #[test]
    fn demo_timers_are_valid_and_uniquely_named() {
        let names: HashSet<_> = TIMERS.iter().map(|(name, ..)| *name).collect();
        assert_eq!(names.len(), TIMERS.len());
        for (name, queue, when, payload) in &TIMERS {
            assert!(when.schedule().is_ok(), "{name}");
            assert!(TimerId::new(name).is_ok() && QueueId::new(queue).is_ok(), "{name}");
            assert!(serde_json::from_str::<serde_json::Value>(payload).unwrap().is_object(), "{name}");
        }
    }

    #[test]
    fn demo_fork_history_is_valid() {
        assert_eq!(drafts(&INSTEAD.replace('\n', " ")).unwrap().len(), 1);
        assert!(
            drafts(HISTORY)
                .unwrap()
                .iter()
                .any(|draft| { draft.event_id.as_ref().is_some_and(|id| id.as_str() == CANCELED.0) })
        );
        assert!([EVE, CANCELED.1].iter().all(|time| parse_timestamp::<Virtual>(time).is_ok()));
    }
}
