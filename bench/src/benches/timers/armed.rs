//! The cost of very many armed timers that are not due: memory, start time, and latency of clock changes.

use std::path::Path;

use serde_json::{Value, json};

use super::listener::{Talker, moment};
use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::{Rounds, Spread};
use crate::measure::setting::Setting;
use crate::measure::wall_clock::Stopwatch;
use crate::service::Service;

const TIMERS_PER_TIMELINE: u64 = 100_000;
/// Clock changes per measurement, and warm-up changes before them.
const CHANGES: (u64, u64) = (500, 50);

struct Look {
    start_millis: f64,
    change_micros: f64,
    megabytes: f64,
}

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let timelines = if setting.quick { 1 } else { 10 };
    let armed = setting.cached_folder(&format!("timers-armed-{timelines}-v1"), |folder| {
        let service = Service::start(setting, folder, &[])?;
        for timeline in 0..timelines {
            Talker::of(setting, &service)?
                .run(async |talker| arm(talker, &named(timeline), TIMERS_PER_TIMELINE).await)?;
        }
        service.stop()?;
        Ok(())
    })?;
    let none = setting.empty_folder("timers-none")?;
    let service = Service::start(setting, &none, &[])?;
    Talker::of(setting, &service)?.run(async |talker| arm(talker, &named(0), 0).await)?;
    service.stop()?;
    let (mut start, mut memory) = (Rounds::default(), Rounds::default());
    let change = Rounds::measure(
        setting,
        || look(setting, &none).map(|look| look.record(&mut start.floor, &mut memory.floor)),
        || look(setting, &armed).map(|look| look.record(&mut start.subject, &mut memory.subject)),
    );
    let change = change?;
    let number = timelines * TIMERS_PER_TIMELINE;
    let finding = |what: &str, unit, rounds, ratio_goal, floor| {
        Finding::new(format!("timers-armed-{number}-{what}"), unit, rounds, ratio_goal, floor)
    };
    Ok(vec![
        finding("memory", Unit::Megabytes, memory, Goal::MoreAtMost(50.0), "the same service without timers"),
        finding("start", Unit::Millis, start, Goal::AtMost(1.5), "the start of the same service without timers"),
        finding("change", Unit::Micros, change, Goal::AtMost(1.2), "the same change of a clock without timers"),
    ])
}

fn named(timeline: u64) -> String {
    format!("timers-{timeline}")
}

/// Pauses the clock of a timeline, and sets timers far in the future.
async fn arm(talker: &Talker, timeline: &str, timers: u64) -> anyhow::Result<()> {
    let mut line = talker.line().await?;
    line.post("/v1/pause-time", &json!({ "timeline_id": timeline })).await?;
    line.post("/v1/travel", &json!({ "timeline_id": timeline, "destination_time": moment(0) })).await?;
    let timeline = timeline.to_owned();
    let far = 1_000_000;
    let timer = move |number: u64| -> Value {
        json!({ "timeline_id": timeline, "at": moment(far + number), "payload": { "invoice": number } })
    };
    talker.set_timers((0..timers).map(timer)).await
}

/// Starts the service and moves the clock back and forth before the first timer.
fn look(setting: &Setting, data: &Path) -> anyhow::Result<Look> {
    let watch = Stopwatch::start();
    let service = Service::start(setting, data, &[])?;
    service.wait_until_ready()?;
    let start_millis = watch.micros() / 1e3;
    let change_micros = Talker::of(setting, &service)?.run(async |talker| {
        let mut line = talker.line().await?;
        let mut micros = Vec::new();
        for number in 0..CHANGES.0 + CHANGES.1 {
            let travel = json!({ "timeline_id": named(0), "destination_time": moment(1 + number) });
            let watch = Stopwatch::start();
            line.post("/v1/travel", &travel).await?;
            if number >= CHANGES.1 {
                micros.push(watch.micros());
            }
        }
        Ok(Spread::of(&micros).median)
    })?;
    let megabytes = service.resident_megabytes()?;
    service.stop()?;
    Ok(Look { start_millis, change_micros, megabytes })
}

impl Look {
    /// Records the other figures, and returns the latency of a change.
    fn record(self, start: &mut Vec<f64>, memory: &mut Vec<f64>) -> f64 {
        start.push(self.start_millis);
        memory.push(self.megabytes);
        self.change_micros
    }
}
