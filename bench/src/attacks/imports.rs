use std::fmt::Write as _;
use std::net::SocketAddr;

use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::Verdict;
use super::attacker::{Target, answered, ask};
use super::strangers::{Multiplexed, STREAMS};
use crate::http::Connection;
use crate::measure::setting::Setting;
use crate::service::block_on;

const SOCKETS: usize = 540;
const MULTIPLEXED: usize = 3;
const PATH: &str = "/v1/import-events?format=ndjson&timeline_id=main";
const READ_MILLIS_MOST: f64 = 1_000.0;
/// Maximum memory in megabytes: `imports_running_max` have buffers, the others only a connection.
const MEGABYTES_MOST: f64 = 100.0;
/// Maximum number of threads of the imports: `imports_running_max`.
const THREADS_MOST: f64 = 64.0;

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Verdict>> {
    let mut verdicts = Vec::new();
    for (who, may) in [("of nobody", false), ("of a user", true)] {
        let target = Target::start(setting, "imports", &[])?;
        verdicts.extend(block_on(stall(&target, who, may))?);
        target.service.stop()?;
    }
    Ok(verdicts)
}

async fn stall(target: &Target<'_>, who: &str, may: bool) -> anyhow::Result<Vec<Verdict>> {
    let address = target.address();
    let key = target.user("importer").await?;
    if may {
        let lists = json!({ "timeline_id": "main", "permissions": { "write": ["importer"] } });
        let mut connection = Connection::open(address).await?;
        ask(&mut connection, target.admin(), "POST", "/v1/set-access-control", Some(&lists)).await?;
    }
    let before = target.service.resident_megabytes()?;
    let threads = target.service.threads()?;
    let mut held = Vec::new();
    for _ in 0..SOCKETS {
        held.push(stalled(address, &key).await?);
    }
    let mut multiplexed = Vec::new();
    for _ in 0..MULTIPLEXED {
        let mut connection = Multiplexed::open(address).await?;
        for _ in 0..STREAMS {
            connection.begin(PATH, Some(&key), 4_000_000, b"{").await?;
        }
        multiplexed.push(connection);
    }
    let mut slowest: f64 = 0.0;
    let mut remark = String::new();
    for path in ["/readyz", "/v1/anchors", "/v1/events/none"] {
        let request = answered(address, target.admin(), path).await;
        slowest = slowest.max(request.map_or(f64::INFINITY, |(_, time)| time.as_secs_f64() * 1e3));
        let status = request.map_or_else(|| "is not answered".to_owned(), |(status, _)| status.to_string());
        let _ = write!(remark, "{path} {status}; ");
    }
    let megabytes = target.service.resident_megabytes()? - before;
    let more_threads = target.service.threads()? - threads;
    drop((held, multiplexed));
    Ok(vec![
        Verdict::new(format!("slowest read beside stalled imports {who}"), slowest, READ_MILLIS_MOST, "ms")
            .with_remark(remark),
        Verdict::new(format!("memory of stalled imports {who}"), megabytes, MEGABYTES_MOST, "MB more")
            .with_remark(format!("{} imports", SOCKETS + MULTIPLEXED * STREAMS)),
        Verdict::new(format!("threads of stalled imports {who}"), more_threads, THREADS_MOST, "more"),
    ])
}

async fn stalled(address: SocketAddr, key: &str) -> anyhow::Result<TcpStream> {
    let mut stream = TcpStream::connect(address).await?;
    let head = format!(
        "POST {PATH} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\nContent-Type: application/x-ndjson\r\n\
         Content-Length: 4000000\r\n\r\n{{"
    );
    stream.write_all(head.as_bytes()).await?;
    Ok(stream)
}
