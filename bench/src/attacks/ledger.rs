use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;

use super::Verdict;
use super::attacker::Target;
use crate::load::count;
use crate::measure::setting::Setting;
use crate::service::block_on;

const ADDRESSES: u8 = 200;
const ATTEMPTS: usize = 50;
/// Maximum disk space per attempt, in bytes. A separate entry for each would take 500.
const BYTES_MOST: f64 = 100.0;

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Verdict>> {
    let target = Target::start(setting, "refusals", &[])?;
    let before = target.service.entries()?;
    let sent = block_on(async {
        let mut sent = 0;
        for number in 1..=ADDRESSES {
            for _ in 0..ATTEMPTS {
                attempt(target.address(), number).await?;
                sent += 1;
            }
        }
        Ok(sent)
    })?;
    let entries = target.service.entries()? - before;
    target.service.stop()?;
    Ok(vec![
        Verdict::new("ledger of a refused attempt of a stranger", entries * 500.0 / count(sent), BYTES_MOST, "bytes")
            .with_remark(format!("{entries:.0} entries for {sent} attempts from {ADDRESSES} addresses")),
    ])
}

async fn attempt(address: SocketAddr, number: u8) -> anyhow::Result<()> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::new(IpAddr::V4(Ipv4Addr::new(127, 0, 1, number)), 0))?;
    let mut stream = socket.connect(address).await?;
    stream.write_all(b"GET /v1/clock HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(())
}
