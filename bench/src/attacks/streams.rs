use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::Verdict;
use super::attacker::{Target, ask, status, watched_for};
use crate::http::Connection;
use crate::load::count;
use crate::measure::setting::Setting;
use crate::service::block_on;

const REQUESTS: usize = 2_000;
const MEGABYTES_MOST: f64 = 60.0;
/// Streams of paradoxes, and how many equal events are recorded while all of them are read.
const PARADOX_STREAMS: usize = 200;
const EQUAL_EVENTS: usize = 4_000;
const PARADOX_MEGABYTES_MOST: f64 = 600.0;

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Verdict>> {
    let target = Target::start(setting, "streams", &[])?;
    let (before, threads) = (target.service.resident_megabytes()?, target.service.threads()?);
    let (taken, megabytes, more_threads) = block_on(async {
        let head = format!(
            "GET /v1/stream?timeline_id=main HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\
             Accept: text/event-stream\r\n\r\n",
            target.admin()
        );
        let mut streams = Vec::new();
        for _ in 0..REQUESTS {
            let Ok(mut stream) = TcpStream::connect(target.address()).await else { continue };
            stream.write_all(head.as_bytes()).await?;
            let mut answer = [0; 1_024];
            let bytes = stream.read(&mut answer).await?;
            if status(&answer[..bytes]).is_ok_and(|status| status == 200) {
                streams.push(stream);
            }
        }
        let megabytes = target.service.resident_megabytes()? - before;
        anyhow::Ok((streams.len(), megabytes, target.service.threads()? - threads))
    })?;
    target.service.stop()?;
    Ok(vec![
        Verdict::new(format!("memory of streams, {REQUESTS} asked for"), megabytes, MEGABYTES_MOST, "MB more")
            .with_remark(format!("{taken} given: {:.1} kB each", megabytes * 1e3 / count(taken.max(1)))),
        Verdict::new(format!("threads of streams, {REQUESTS} asked for"), more_threads, 32.0, "more"),
    ])
}

/// Streams of paradoxes on a timeline where every event is a paradox with every other.
pub(crate) fn paradoxes(setting: &Setting) -> anyhow::Result<Vec<Verdict>> {
    let target = Target::start(setting, "paradoxes", &[])?;
    let before = target.service.resident_megabytes()?;
    let (most, taken) = block_on(async {
        let user = target.user("listener").await?;
        let mut connection = Connection::open(target.address()).await?;
        ask(&mut connection, &user, "POST", "/timelines", Some(&json!({ "timeline_id": "equal" }))).await?;
        let head = format!(
            "GET /v1/stream?timeline_id=equal&topics=paradoxes HTTP/1.1\r\nHost: localhost\r\n\
             Authorization: Bearer {user}\r\nAccept: text/event-stream\r\n\r\n"
        );
        let mut taken = 0;
        for _ in 0..PARADOX_STREAMS {
            let mut stream = TcpStream::connect(target.address()).await?;
            stream.write_all(head.as_bytes()).await?;
            taken += 1;
            tokio::spawn(async move {
                let mut buffer = vec![0; 64 << 10];
                while stream.read(&mut buffer).await.is_ok_and(|bytes| bytes > 0) {}
            });
        }
        let event = json!({ "time": "2030-01-01T00:00:00Z", "location": "Paris", "actors": ["ada"] });
        let events: Value = std::iter::repeat_n(event, 100).collect();
        let mut most: f64 = 0.0;
        for _ in 0..EQUAL_EVENTS / 100 {
            ask(&mut connection, &user, "POST", "/v1/events?timeline_id=equal", Some(&events)).await?;
            most = most.max(target.service.resident_megabytes()?);
        }
        for _ in 0..20 {
            watched_for(Duration::from_millis(500)).await;
            most = most.max(target.service.resident_megabytes()?);
        }
        anyhow::Ok((most, taken))
    })?;
    target.service.stop()?;
    Ok(vec![
        Verdict::new(
            format!("memory of {taken} streams of paradoxes"),
            most - before,
            PARADOX_MEGABYTES_MOST,
            "MB more",
        )
        .with_remark(format!("{EQUAL_EVENTS} equal events")),
    ])
}
