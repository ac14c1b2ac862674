use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

use super::Verdict;
use super::attacker::{Target, answered};
use crate::measure::setting::Setting;
use crate::measure::wall_clock::Stopwatch;
use crate::service::block_on;

const DESCRIPTORS: u32 = 1_024;
const SILENT: usize = 1_100;
const ATTACKER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 66));
const ANSWER_MILLIS_MOST: f64 = 1_000.0;
/// Maximum time until a silent connection is closed, in seconds: the value in `docs/limits.md`, and a little more.
const SILENCE_SECS_MOST: f64 = 75.0;
const WATCH_TIME_MAX: Duration = Duration::from_secs(100);

const BEGINNINGS: [(&str, &[u8]); 4] = [
    ("nothing", b""),
    ("half a preface", b"PRI * HTTP/2.0\r\n"),
    ("a preface", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"),
    (
        "half a frame of headers",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x40\x01\x04\x00\x00\x00\x01\x82",
    ),
];

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Verdict>> {
    let target = Target::start_with_descriptors(setting, "silence", DESCRIPTORS)?;
    let mut verdicts = vec![block_on(crowd(&target))?];
    if !setting.quick {
        verdicts.extend(block_on(wait(target.address()))?);
    }
    target.service.stop()?;
    Ok(verdicts)
}

/// Opens more connections than there are file descriptors, and sends a request of another client.
async fn crowd(target: &Target<'_>) -> anyhow::Result<Verdict> {
    let mut held = Vec::new();
    for _ in 0..SILENT {
        if let Ok(Ok(stream)) = timeout(Duration::from_millis(100), open(target.address())).await {
            held.push(stream);
        }
    }
    let request = answered(target.address(), target.admin(), "/healthz").await;
    let taken = target.service.descriptors()?;
    Ok(Verdict::new(
        format!("an answer beside {SILENT} silent connections"),
        request.map_or(f64::INFINITY, |(_, time)| time.as_secs_f64() * 1e3),
        ANSWER_MILLIS_MOST,
        "ms",
    )
    .with_remark(format!("{taken:.0} of {DESCRIPTORS} descriptors taken, {} connected", held.len())))
}

async fn wait(address: SocketAddr) -> anyhow::Result<Vec<Verdict>> {
    let one = async |(name, beginning): (&str, &[u8])| {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(beginning).await?;
        let (watch, mut buffer) = (Stopwatch::start(), [0; 1_024]);
        let closed = async { while !matches!(stream.read(&mut buffer).await, Ok(0) | Err(_)) {} };
        let is_closed = timeout(WATCH_TIME_MAX, closed).await.is_ok();
        anyhow::Ok(Verdict::new(
            format!("silence after {name}"),
            if is_closed { watch.elapsed().as_secs_f64() } else { f64::INFINITY },
            SILENCE_SECS_MOST,
            "s",
        ))
    };
    futures_util::future::join_all(BEGINNINGS.map(one)).await.into_iter().collect()
}

async fn open(address: SocketAddr) -> anyhow::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::new(ATTACKER, 0))?;
    Ok(socket.connect(address).await?)
}
