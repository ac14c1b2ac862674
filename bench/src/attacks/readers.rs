//! Thirteen kinds of heavy readers, each with a concurrent client that writes to its own timeline.
//!
//! The readers run on a thread with low priority. Otherwise they would take the processors away from the service on
//! this machine, instead of sharing the service.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::json;

use super::Verdict;
use super::attacker::{Target, ask, fetch};
use crate::history::{Format, History};
use crate::http::{Connection, request};
use crate::load::count;
use crate::measure::interrupt;
use crate::measure::rounds::percentile_99;
use crate::measure::setting::Setting;
use crate::measure::wall_clock::{Stopwatch, pause};
use crate::service::block_on;

/// Maximum ratio of the 99th percentile of write latency with a heavy reader to the one without.
const RATIO_MOST: f64 = 3.0;
const TIMELINES: usize = 20_000;
const WARM_TIME: Duration = Duration::from_millis(500);

struct Reader {
    name: &'static str,
    connections: usize,
    request: fn(usize) -> (&'static str, String, Option<String>),
}

const EVERYTHING: &str = "time_range=../..";

fn get(path: String) -> (&'static str, String, Option<String>) {
    ("GET", path, None)
}

const READERS: [Reader; 13] = [
    Reader {
        name: "exports as NDJSON",
        connections: 8,
        request: |_| get("/v1/export-events?timeline_id=main&format=ndjson".to_owned()),
    },
    Reader {
        name: "places that nothing is called",
        connections: 16,
        request: |number| {
            let place = format!("Nowhereborough-under-Lyme-on-Sea{number}");
            get(format!("/v1/monitor-events?timeline_id=main&location={place}&{EVERYTHING}"))
        },
    },
    Reader {
        name: "timelines, of which none is theirs",
        connections: 4,
        request: |_| get("/timelines?limit=1".to_owned()),
    },
    Reader {
        name: "events of a country",
        connections: 16,
        request: |_| get(format!("/v1/monitor-events?timeline_id=main&location=Australia&{EVERYTHING}&limit=1000")),
    },
    Reader {
        name: "events of a box where nothing is",
        connections: 64,
        request: |_| get(format!("/v1/monitor-events?timeline_id=main&location=bbox:-179,-89,179,-70&{EVERYTHING}")),
    },
    Reader {
        name: "pages of a thousand events",
        connections: 16,
        request: |_| get(format!("/v1/monitor-events?timeline_id=main&location=*&{EVERYTHING}&limit=1000")),
    },
    Reader {
        name: "events with a summary",
        connections: 8,
        request: |_| {
            let body = r#"{"timeline_id":"main","location":"*","time_range":"../..","limit":1}"#;
            ("POST", "/v1/scan-events".to_owned(), Some(body.to_owned()))
        },
    },
    Reader {
        name: "paradoxes, otherwise each time",
        connections: 8,
        request: |number| {
            get(format!("/v1/monitor-paradox?timeline_id=main&{EVERYTHING}&limit=1&speed_kmh={}", 100 + number))
        },
    },
    Reader {
        name: "names that nothing has",
        connections: 16,
        request: |number| get(format!("/v1/check-timeline?timeline_id=main&significant_event=nothing-of-{number}")),
    },
    Reader {
        name: "an access log, of somebody who is not in it",
        connections: 16,
        request: |_| get(format!("/v1/access-logs?timeline_id=logged&{EVERYTHING}&user_id=nobody")),
    },
    Reader {
        name: "differences between forks",
        connections: 8,
        request: |_| get("/timelines/diff?base=logged&compare=fork&limit=1".to_owned()),
    },
    Reader {
        name: "moments of a rare rule with a count",
        connections: 4,
        request: |_| {
            let rule = "FREQ%3DYEARLY%3BBYWEEKNO%3D53%3BBYDAY%3DSU%3BCOUNT%3D10000";
            get(format!("/v1/timer-preview?timeline_id=main&limit=1&rule={rule}&starts=-009999-01-01T00:00:00Z"))
        },
    },
    Reader {
        name: "scans for tampering",
        connections: 8,
        request: |_| ("POST", "/v1/detect-tampering".to_owned(), Some(r#"{"timeline_id":"main"}"#.to_owned())),
    },
];

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Verdict>> {
    let target = Target::start(setting, "readers", &[])?;
    let events_count = if setting.quick { 20_000 } else { 200_000 };
    let file = setting.folder.join("attack-readers.ndjson");
    History::default().write(&file, Format::Ndjson, events_count)?;
    target.service.import(&file, Format::Ndjson)?;
    let (reader, writer) = block_on(prepare(&target))?;
    let address = target.address();
    let mut verdicts = Vec::new();
    for kind in &READERS {
        interrupt::check()?;
        let alone = writes(address, &writer, setting.measure_time)?;
        let (under_load, answers) =
            under_load(kind, address, &reader, || writes(address, &writer, setting.measure_time))?;
        verdicts.push(
            Verdict::new(format!("{} ({})", kind.name, kind.connections), under_load / alone, RATIO_MOST, "× p99")
                .with_remark(format!("{:.2} of {:.2} ms; {answers} answers", under_load / 1e3, alone / 1e3)),
        );
    }
    target.service.stop()?;
    Ok(verdicts)
}

/// Creates a reader, a writer and data to read. Returns the keys of both.
async fn prepare(target: &Target<'_>) -> anyhow::Result<(String, String)> {
    let (reader, writer) = (target.user("reader").await?, target.user("writer").await?);
    let mut connection = Connection::open(target.address()).await?;
    let lists = json!({ "timeline_id": "main", "permissions": { "read": ["reader"] } });
    ask(&mut connection, target.admin(), "POST", "/v1/set-access-control", Some(&lists)).await?;
    for (key, name) in [(&writer, "theirs"), (&reader, "logged")] {
        ask(&mut connection, key, "POST", "/timelines", Some(&json!({ "timeline_id": name }))).await?;
    }
    for number in 0..20_000 {
        let path = if number % 2 == 0 { "/v1/pause-time" } else { "/v1/resume-time" };
        ask(&mut connection, &reader, "POST", path, Some(&json!({ "timeline_id": "logged" }))).await?;
        if number == 2_000 {
            let fork = json!({ "timeline_id": "fork", "fork_of": "logged" });
            ask(&mut connection, &reader, "POST", "/timelines", Some(&fork)).await?;
        }
    }
    for number in 0..TIMELINES {
        let body = json!({ "timeline_id": format!("t{number}") });
        ask(&mut connection, target.admin(), "POST", "/timelines", Some(&body)).await?;
    }
    Ok((reader, writer))
}

/// Writes sequentially for some time, and returns the 99th percentile of the latency in microseconds.
pub(super) fn writes(address: SocketAddr, key: &str, time: Duration) -> anyhow::Result<f64> {
    let travel = |minute: usize| {
        let body = format!(r#"{{"timeline_id":"theirs","destination_time":"2030-01-01T00:{:02}:00Z"}}"#, minute % 60);
        request("POST", "/v1/travel", key, Some(&body))
    };
    block_on(async {
        let mut connection = Connection::open(address).await?;
        let (watch, mut micros) = (Stopwatch::start(), Vec::new());
        while watch.elapsed() < time {
            let one = Stopwatch::start();
            let status = connection.exchange(&travel(micros.len())).await?;
            connection.check(status).context("a write")?;
            micros.push(one.micros());
        }
        Ok(percentile_99(&micros))
    })
}

/// Runs some work while others read. Returns its result, and the number of responses that the readers got.
fn under_load(
    kind: &Reader,
    address: SocketAddr,
    key: &str,
    work: impl FnOnce() -> anyhow::Result<f64>,
) -> anyhow::Result<(f64, usize)> {
    let (is_over, answers, number) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let reading = scope.spawn(|| {
            let _ = rustix::process::nice(19);
            block_on(async {
                let one = async || {
                    while !is_over.load(Ordering::Relaxed) {
                        let (method, path, body) = (kind.request)(number.fetch_add(1, Ordering::Relaxed));
                        let (status, _) = fetch(address, key, method, &path, body.as_deref()).await?;
                        match status {
                            200 => answers.fetch_add(1, Ordering::Relaxed),
                            // Rejected with the request to retry later, because of too many requests.
                            429 | 503 => 0,
                            other => bail!("{method} {path} is answered with {other}"),
                        };
                    }
                    anyhow::Ok(())
                };
                let all = (0..kind.connections).map(|_| one());
                tokio::select! {
                    ended = futures_util::future::try_join_all(all) => ended.map(|_| ()),
                    // A response that takes longer than the measurement is ignored.
                    () = over(&is_over) => Ok(()),
                }
            })
        });
        pause(WARM_TIME);
        let done = work();
        is_over.store(true, Ordering::Relaxed);
        reading.join().map_err(|_| anyhow::anyhow!("readers panicked"))??;
        Ok((done?, answers.load(Ordering::Relaxed)))
    })
}

async fn over(is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        let _ = tokio::time::timeout(Duration::from_millis(20), std::future::pending::<()>()).await;
    }
}

pub(super) fn megabytes(bytes: usize) -> f64 {
    count(bytes) / 1e6
}
