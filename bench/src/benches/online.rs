//! The cost of recording an event while a subscriber is notified at once of new and resolved paradoxes, against
//! recording it without a subscriber (goal 14).
//!
//! The measurement ends when the subscriber has processed the last event, so that no work is deferred.

use std::cell::Cell;
use std::sync::Arc;

use anyhow::Context;
use timenav_core::event::{Cause, CauseKind, EventDraft};
use timenav_engine::{LedgerStream, Topic, WatchLedger, WatchedParadoxes};
use tokio::sync::watch;

use crate::history::{History, mix};
use crate::load::count;
use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::Rounds;
use crate::measure::setting::Setting;
use crate::measure::wall_clock::Stopwatch;
use crate::ports::{self, Opened};

const ACTORS: u64 = 1_000;
/// Events tried as a possible cause. About one in two is suitable.
const CAUSES_TRIED: u64 = 32;

struct Subject {
    opened: Opened,
    events_count: u64,
    next: Cell<u64>,
    writes: u64,
}

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let events_count = if setting.quick { 10_000 } else { 100_000 };
    let folder = setting.empty_folder("paradox-online")?;
    ports::make_history(&folder, events_count)?;
    let writes = if setting.quick { 1_024 } else { 4_096 };
    let subject = Subject { opened: Opened::new(&folder)?, events_count, next: Cell::new(events_count), writes };
    let rounds = Rounds::measure(setting, || subject.measure(false), || subject.measure(true))?;
    Ok(vec![Finding::new(
        format!("paradox-online-{events_count}"),
        Unit::Micros,
        rounds,
        Goal::AtMost(1.25),
        "the same write without listeners",
    )])
}

impl Subject {
    /// Returns the time of one write, in microseconds.
    fn measure(&self, is_watched: bool) -> anyhow::Result<f64> {
        let writes = self.next.get()..self.next.get() + self.writes;
        self.next.set(writes.end);
        let Opened { runtime, engine, caller, .. } = &self.opened;
        runtime.block_on(async {
            let (sender, mut known) = watch::channel(0);
            let listener = if is_watched {
                let request = WatchLedger {
                    timeline: None,
                    topics: vec![Topic::Paradoxes],
                    paradoxes: WatchedParadoxes::default(),
                    filter: Arc::default(),
                    seen: None,
                };
                Some(tokio::spawn(listen(engine.watch_ledger(caller, request).await?, sender)))
            } else {
                None
            };
            let watch = Stopwatch::start();
            let mut last = 0;
            for number in writes.clone() {
                // The last one is a paradox, so that the listener is notified once it has processed all.
                let draft = self.draft(number, number + 1 == writes.end);
                let made = engine.record_events(caller, None, vec![draft], None).await?;
                last = made.ledger.position;
            }
            if let Some(listener) = listener {
                known.wait_for(|position| *position >= last).await.context("the stream ended")?;
                listener.abort();
            }
            Ok(watch.micros() / count(usize::try_from(self.writes)?))
        })
    }

    /// Returns an event with an actor and with a cause before it, or after it for a paradox.
    fn draft(&self, number: u64, is_paradox: bool) -> EventDraft {
        let mut draft = History { named: false }.draft(number);
        draft.actors = vec![format!("crew-{}", mix(number) % ACTORS)];
        let others = (0..CAUSES_TRIED).map(|attempt| mix(number ^ (attempt << 40)) % self.events_count);
        let mut others = others.map(|other| History::default().draft(other));
        let cause = others.find(|other| (other.time > draft.time) == is_paradox).and_then(|other| other.event_id);
        draft.causes.extend(cause.map(|event_id| Cause { event_id, kind: CauseKind::Requires }));
        draft
    }
}

async fn listen(mut stream: LedgerStream, sender: watch::Sender<u64>) {
    while let Some(message) = stream.next().await {
        sender.send_replace(message.position);
    }
}
