//! A program with tokio's intervals, which the table of schedulers starts from the test binary.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{AFTER_JUMP, AFTER_PAUSE, HOURLY, JUMPED, Jobs, MINUTELY};

/// Arguments of the test binary that run the program.
pub(super) const ARGUMENTS: [&str; 4] =
    ["programs::schedulers::ticks::tokio_intervals_record_jobs", "--exact", "--ignored", "--nocapture"];

#[expect(clippy::disallowed_methods, reason = "it shows the clock that it runs on")]
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64()
}

fn record(word: &str) {
    let mut file = OpenOptions::new().append(true).open("jobs").unwrap();
    file.write_all(format!("{word} {}\n", now()).as_bytes()).unwrap();
}

#[expect(clippy::disallowed_methods, reason = "the intervals are what is tested")]
async fn tick(jobs: &'static Jobs) {
    let first = jobs.due().next().unwrap();
    #[expect(clippy::cast_precision_loss, reason = "seconds of this century are exact")]
    let left = Duration::try_from_secs_f64(first as f64 - now()).unwrap_or_default();
    let every = Duration::from_secs(u64::try_from(jobs.every).unwrap().max(1));
    let mut interval = tokio::time::interval_at(tokio::time::Instant::now() + left, every);
    for _ in 0..jobs.count {
        interval.tick().await;
        record(jobs.letter);
    }
}

#[test]
#[ignore = "the table of schedulers runs it as a program"]
fn tokio_intervals_record_jobs() {
    if !std::path::Path::new("jobs").exists() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        record("ready");
        tokio::join!(tick(&MINUTELY), tick(&AFTER_PAUSE), tick(&HOURLY), tick(&JUMPED), tick(&AFTER_JUMP));
        std::future::pending::<()>().await;
    });
}
