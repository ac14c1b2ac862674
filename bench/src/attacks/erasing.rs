use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::Verdict;
use super::attacker::{Target, ask};
use super::readers::writes;
use crate::http::Connection;
use crate::measure::setting::Setting;
use crate::service::block_on;

const BATCH: usize = 1_000;
/// How long the slowest hundredth of others' writes may take meanwhile, in milliseconds.
const WRITE_MILLIS_MOST: f64 = 100.0;

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Verdict>> {
    let target = Target::start(setting, "erasing", &[])?;
    let batches = if setting.quick { 10 } else { 60 };
    let (eraser, writer) = block_on(async {
        let (eraser, writer) = (target.user("eraser").await?, target.user("writer").await?);
        let mut connection = Connection::open(target.address()).await?;
        ask(&mut connection, &writer, "POST", "/timelines", Some(&json!({ "timeline_id": "theirs" }))).await?;
        for batch in 0..batches {
            let event = |id: &str| json!({ "event_id": id, "time": "2030-01-01T00:00:00Z" });
            let events: Value = ids(batch).iter().map(|id| event(id)).collect();
            ask(&mut connection, &eraser, "POST", "/v1/events?timeline_id=erased", Some(&events)).await?;
        }
        Ok((eraser, writer))
    })?;
    let (address, is_over) = (target.address(), AtomicBool::new(false));
    let (slowest, missing) = std::thread::scope(|scope| {
        let erasing = scope.spawn(|| {
            block_on(async {
                let mut connection = Connection::open(address).await?;
                let mut missing = 0;
                for batch in (0..batches).take_while(|_| !is_over.load(Ordering::Relaxed)) {
                    let body = json!({ "timeline_id": "erased", "event_ids": ids(batch) });
                    ask(&mut connection, &eraser, "POST", "/v1/erase-events", Some(&body)).await?;
                    missing += BATCH;
                }
                Ok(missing)
            })
        });
        let slowest = writes(address, &writer, setting.measure_time);
        is_over.store(true, Ordering::Relaxed);
        let missing = erasing.join().map_err(|_| anyhow::anyhow!("the eraser panicked"))??;
        anyhow::Ok((slowest?, missing))
    })?;
    target.service.stop()?;
    Ok(vec![
        Verdict::new(
            format!("a write beside the erasing of {} events", batches * BATCH),
            slowest / 1e3,
            WRITE_MILLIS_MOST,
            "ms p99",
        )
        .with_remark(format!("{missing} erased meanwhile")),
    ])
}

fn ids(batch: usize) -> Vec<String> {
    (batch * BATCH..(batch + 1) * BATCH).map(|number| format!("event-{number}")).collect()
}
