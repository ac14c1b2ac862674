use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpSocket, TcpStream};

use super::Verdict;
use super::attacker::{ANSWER_TIME_MAX, Target, ask, watched_for};
use crate::http::{Connection, request};
use crate::measure::setting::Setting;
use crate::service::block_on;

/// HTTP/2 connections of a stranger, with [`STREAMS`] requests each.
const CONNECTIONS: usize = 60;
const STREAMS: usize = 100;
const PAGES: usize = 256;
const EVENTS: usize = 960;
const EVENT_BYTES: usize = 59 << 10;
const STRANGER_MEGABYTES_MOST: f64 = 200.0;
const USER_MEGABYTES_MOST: f64 = 300.0;

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Verdict>> {
    Ok(vec![documents(setting)?, pages(setting)?])
}

/// A stranger requests the OpenAPI document on many streams, with a window of zero bytes.
fn documents(setting: &Setting) -> anyhow::Result<Verdict> {
    let target = Target::start(setting, "documents", &[])?;
    let before = target.service.resident_megabytes()?;
    let (megabytes, requests) = block_on(async {
        let (mut held, mut requests) = (Vec::new(), 0);
        for _ in 0..CONNECTIONS {
            let Ok(stream) = TcpStream::connect(target.address()).await else { continue };
            let handshake = h2::client::Builder::new().initial_window_size(0).handshake::<_, Bytes>(stream).await;
            let Ok((mut sender, connection)) = handshake else { continue };
            tokio::spawn(async move {
                // The service may close the connection.
                let _ = connection.await;
            });
            for _ in 0..STREAMS {
                let Ok(ready) = tokio::time::timeout(ANSWER_TIME_MAX, sender.clone().ready()).await else { break };
                let Ok(ready) = ready else { break };
                sender = ready;
                let request = http::Request::get("http://localhost/openapi.json").body(())?;
                let Ok((response, _)) = sender.send_request(request, true) else { break };
                // The head comes, and the body does not: there is no window for it.
                if let Ok(Ok(response)) = tokio::time::timeout(ANSWER_TIME_MAX, response).await {
                    held.push(response);
                    requests += 1;
                }
            }
        }
        anyhow::Ok((target.service.resident_megabytes()? - before, requests))
    })?;
    target.service.stop()?;
    Ok(Verdict::new(
        format!("{requests} unread OpenAPI documents of a stranger"),
        megabytes,
        STRANGER_MEGABYTES_MOST,
        "MB more",
    ))
}

fn pages(setting: &Setting) -> anyhow::Result<Verdict> {
    let target = Target::start(setting, "pages", &[])?;
    let (megabytes, taken) = block_on(async {
        let user = target.user("reader").await?;
        let mut connection = Connection::open(target.address()).await?;
        let mut record = async |numbers: std::ops::Range<usize>| {
            let attributes = json!({ "text": "x".repeat(EVENT_BYTES) });
            let event = |number: usize| json!({ "event_id": format!("large-{number}"), "time": "2030-01-01T00:00:00Z", "attributes": attributes });
            let events: Value = numbers.map(event).collect();
            ask(&mut connection, &user, "POST", "/v1/events?timeline_id=large", Some(&events)).await
        };
        for first in (0..EVENTS).step_by(40) {
            record(first..first + 40).await?;
        }
        let before = target.service.resident_megabytes()?;
        let path = "/v1/monitor-events?timeline_id=large&location=*&time_range=../..&limit=1000";
        let mut held = Vec::new();
        for _ in 0..PAGES {
            if let Ok(stream) = unread(target.address(), &request("GET", path, &user, None)).await {
                held.push(stream);
            }
        }
        watched_for(Duration::from_secs(3)).await;
        anyhow::Ok((target.service.resident_megabytes()? - before, held.len()))
    })?;
    target.service.stop()?;
    Ok(Verdict::new(format!("{taken} unread pages of events of a user"), megabytes, USER_MEGABYTES_MOST, "MB more")
        .with_remark(format!("{EVENTS} events of {EVENT_BYTES} bytes")))
}

/// Sends a request from a socket that takes as little of the response as there can be.
async fn unread(address: SocketAddr, request: &[u8]) -> anyhow::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.set_recv_buffer_size(4_096)?;
    let mut stream = socket.connect(address).await?;
    stream.write_all(request).await?;
    Ok(stream)
}
