//! Streams of one user, as many as can be had.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::Verdict;
use super::attacker::{Target, block_on, status};
use crate::load::count;
use crate::setting::Setting;

/// Streams that are asked for.
const ASKED: usize = 2_000;
/// Megabytes that all of them may take.
const MEGABYTES_MOST: f64 = 60.0;

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
        for _ in 0..ASKED {
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
        Verdict {
            what: format!("memory of streams, {ASKED} asked for"),
            figure: megabytes,
            most: MEGABYTES_MOST,
            unit: "MB more",
            remark: format!("{taken} given: {:.1} kB each", megabytes * 1e3 / count(taken.max(1))),
        },
        Verdict {
            what: format!("threads of streams, {ASKED} asked for"),
            figure: more_threads,
            most: 32.0,
            unit: "more",
            remark: String::new(),
        },
    ])
}
