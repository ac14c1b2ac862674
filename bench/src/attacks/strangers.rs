use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context as _;
use bytes::Bytes;
use futures_util::future::poll_fn;
use h2::SendStream;
use h2::client::SendRequest;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::Verdict;
use super::attacker::Target;
use crate::measure::setting::Setting;
use crate::service::block_on;

/// Streams per connection: the usual default of services, or less if the service limits them.
pub(super) const STREAMS: usize = 100;
const SOCKETS: usize = 200;
/// Length of a body in bytes. The last byte is never sent.
const BODY_BYTES: usize = 4_000_000;
/// How long the service may take to accept more of a body. After that it is considered to be holding it back.
const SEND_TIME_MAX: Duration = Duration::from_secs(3);
const STRANGERS_MEGABYTES_MOST: f64 = 64.0;
/// Maximum memory for one user, in megabytes: `buffered_body_bytes_max`, and the data parsed from it.
const USER_MEGABYTES_MOST: f64 = 300.0;

pub(super) struct Multiplexed {
    requests: SendRequest<Bytes>,
    _driver: JoinHandle<()>,
    held: Vec<(SendStream<Bytes>, h2::client::ResponseFuture)>,
}

impl Multiplexed {
    pub(super) async fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        let (requests, connection) = h2::client::handshake(stream).await?;
        let driver = tokio::spawn(async move {
            // If the service closes the connection, the attack has failed.
            let _ = connection.await;
        });
        Ok(Self { requests, _driver: driver, held: Vec::new() })
    }

    pub(super) async fn begin(
        &mut self,
        path: &str,
        key: Option<&str>,
        length: usize,
        first: &'static [u8],
    ) -> anyhow::Result<()> {
        let request = http::Request::post(format!("http://localhost{path}"))
            .header("content-type", "application/json")
            .header("content-length", length);
        let request =
            key.into_iter().fold(request, |request, key| request.header("authorization", format!("Bearer {key}")));
        // The service does not allow more streams.
        let Ok(Ok(())) =
            timeout(Duration::from_millis(200), poll_fn(|context| self.requests.poll_ready(context))).await
        else {
            return Ok(());
        };
        let Ok((response, mut body)) = self.requests.send_request(request.body(())?, false) else { return Ok(()) };
        let _ = body.send_data(Bytes::from_static(first), false);
        self.held.push((body, response));
        Ok(())
    }

    /// Sends as much of all bodies as the service accepts, except for their last bytes. Returns the bytes sent.
    async fn flood(&mut self, bytes: usize) -> usize {
        let part = Bytes::from(vec![b' '; 16 << 10]);
        let all = self.held.iter_mut().map(|(body, _)| send(body, &part, bytes));
        futures_util::future::join_all(all).await.into_iter().sum()
    }
}

/// Repeats a part of a body for as long as the service accepts it.
async fn send(body: &mut SendStream<Bytes>, part: &Bytes, bytes: usize) -> usize {
    let (mut left, mut sent) = (bytes, 0);
    body.reserve_capacity(left);
    while left > part.len() {
        // `poll_capacity` reports only growth, so remaining capacity is used first.
        let granted = match body.capacity() {
            0 => timeout(SEND_TIME_MAX, poll_fn(|context| body.poll_capacity(context))).await,
            granted => Ok(Some(Ok(granted))),
        };
        let Ok(Some(Ok(granted))) = granted else { break };
        let size = granted.min(part.len()).min(left - 1);
        if body.send_data(part.slice(..size), false).is_err() {
            break;
        }
        (left, sent) = (left - size, sent + size);
    }
    sent
}

pub(crate) fn bodies(setting: &Setting) -> anyhow::Result<Vec<Verdict>> {
    let mut verdicts = Vec::new();
    for (who, most) in [("strangers", STRANGERS_MEGABYTES_MOST), ("one user", USER_MEGABYTES_MOST)] {
        let is_user = who == "one user";
        for is_multiplexed in [true, false] {
            let target = Target::start(setting, "bodies", &[])?;
            let key = is_user.then(|| target.admin().to_owned());
            let before = target.service.resident_megabytes()?;
            let (sent, held) = block_on(async {
                let address = target.address();
                let sent = if is_multiplexed {
                    multiplexed(address, key.as_deref()).await?
                } else {
                    sockets(address, key.as_deref()).await?
                };
                anyhow::Ok((sent.0, (sent.1, target.service.resident_megabytes()?)))
            })?;
            let form = if is_multiplexed { "one connection" } else { "200 connections" };
            verdicts.push(
                Verdict::new(format!("bodies of {who}, {form}"), held.1 - before, most, "MB more")
                    .with_remark(format!("{:.0} MB sent on {} requests", super::readers::megabytes(sent), held.0)),
            );
            target.service.stop()?;
        }
    }
    Ok(verdicts)
}

/// Sends bodies on one connection. Returns the number of bytes and requests accepted.
async fn multiplexed(address: SocketAddr, key: Option<&str>) -> anyhow::Result<(usize, usize)> {
    let mut connection = Multiplexed::open(address).await?;
    for _ in 0..STREAMS {
        connection.begin("/v1/events", key, BODY_BYTES, b"[").await?;
    }
    let sent = connection.flood(BODY_BYTES).await;
    Ok((sent, connection.held.len()))
}

async fn sockets(address: SocketAddr, key: Option<&str>) -> anyhow::Result<(usize, usize)> {
    let authorization = key.map(|key| format!("Authorization: Bearer {key}\r\n")).unwrap_or_default();
    let head = format!(
        "POST /v1/events HTTP/1.1\r\nHost: localhost\r\n{authorization}Content-Type: application/json\r\n\
         Content-Length: {BODY_BYTES}\r\n\r\n["
    );
    let part = vec![b' '; 64 << 10];
    let one = async || {
        let mut stream = TcpStream::connect(address).await.context("no connection is taken")?;
        stream.write_all(head.as_bytes()).await?;
        let mut sent = 0;
        while sent + part.len() < BODY_BYTES - 1 {
            match timeout(SEND_TIME_MAX, stream.write(&part)).await {
                Ok(Ok(bytes)) if bytes > 0 => sent += bytes,
                _ => break,
            }
        }
        anyhow::Ok((stream, sent))
    };
    let all = futures_util::future::join_all((0..SOCKETS).map(|_| one())).await;
    let taken: Vec<_> = all.into_iter().filter_map(Result::ok).collect();
    Ok((taken.iter().map(|(_, sent)| sent).sum(), taken.len()))
}
