//! The floor of HTTP benchmarks: a handler that does nothing.

use std::io::Read;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use axum::Router;
use axum::http::header::{CONNECTION, CONTENT_LENGTH, DATE, TRANSFER_ENCODING};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use bytes::Bytes;
use clap::Args;

use crate::measure::setting::Setting;
use crate::running::Running;

const FIELDS_MAX: usize = 64;

/// Answers every request with the same bytes until its standard input ends.
#[derive(Args)]
pub(crate) struct BareServer {
    /// The answer, head and body, as it came from the service.
    #[arg(long)]
    answer: PathBuf,
}

impl BareServer {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let (head, body) = read_answer(&std::fs::read(&self.answer)?)?;
        let handler = move || async move { (head, body) };
        // On its single core it gets one worker, like the service.
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).await?;
            println!("listening on http://{}", listener.local_addr()?);
            let ended = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new()));
            let router = Router::new().route("/{*path}", axum::routing::any(handler));
            tokio::select! {
                served = async { axum::serve(listener, router).await } => served?,
                _ = ended => {}
            }
            anyhow::Ok(())
        })
    }
}

/// Parses a response. Headers that every server adds itself are left out.
fn read_answer(answer: &[u8]) -> anyhow::Result<(HeaderMap, Bytes)> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut response = httparse::Response::new(&mut fields);
    let httparse::Status::Complete(head_bytes) = response.parse(answer)? else {
        anyhow::bail!("the answer has no end of its head");
    };
    let mut head = HeaderMap::new();
    for field in response.headers.iter() {
        let name = HeaderName::from_bytes(field.name.as_bytes())?;
        if ![CONNECTION, CONTENT_LENGTH, DATE, TRANSFER_ENCODING].contains(&name) {
            head.append(name, HeaderValue::from_bytes(field.value)?);
        }
    }
    Ok((head, Bytes::copy_from_slice(&answer[head_bytes..])))
}

pub(crate) fn start(setting: &Setting, answer: &Path) -> anyhow::Result<(Running, SocketAddr)> {
    let mut command = Command::new(&setting.program);
    command.arg("bare-server").arg("--answer").arg(answer);
    let running = Running::start(&mut command, setting.cores.measured, &setting.folder.join("bare-server.log"))?;
    let address = running.wait_for_line("listening on http://")?;
    Ok((running, address.trim().parse().context("the bare server listens nowhere")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn response_is_parsed_into_headers_and_body() {
        let answer = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\ndate: today\r\nx-a: b\r\n\r\n{}";
        let (head, body) = read_answer(answer).unwrap();
        let names: Vec<&str> = head.keys().map(HeaderName::as_str).collect();
        assert_eq!(names, ["content-type", "x-a"]);
        assert_eq!(&*body, b"{}");
    }
}
