//! A minimal HTTP/1.1 client for the load generator: one persistent connection, one request at a time.
//!
//! It must use less processor time than the servers, so that they are the bottleneck.

use std::net::SocketAddr;

use anyhow::{Context, bail};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const FIELDS_MAX: usize = 64;
const ANSWER_BYTES_MAX: usize = 64 << 20;

pub(crate) struct Connection {
    stream: TcpStream,
    answer: Vec<u8>,
    head_bytes: usize,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await.with_context(|| format!("{address} cannot be reached"))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, answer: Vec::with_capacity(16 << 10), head_bytes: 0 })
    }

    /// Sends a request and reads the whole response. Returns its status.
    pub(crate) async fn exchange(&mut self, request: &[u8]) -> anyhow::Result<u16> {
        self.stream.write_all(request).await?;
        self.read_answer().await
    }

    /// Sends a request with a file as its body, and reads the whole response. Returns its status.
    pub(crate) async fn exchange_file(&mut self, head: &[u8], body: &mut tokio::fs::File) -> anyhow::Result<u16> {
        self.stream.write_all(head).await?;
        tokio::io::copy(body, &mut self.stream).await?;
        self.read_answer().await
    }

    /// Sends a request, and returns the JSON of a successful response.
    pub(crate) async fn json(
        &mut self,
        key: &str,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> anyhow::Result<Value> {
        let body = body.map(Value::to_string);
        let sent = self.exchange(&request(method, path, key, body.as_deref())).await;
        sent.and_then(|status| self.check(status)).with_context(|| format!("{method} {path}"))?;
        serde_json::from_slice(self.body()).with_context(|| format!("{method} {path} is not answered with JSON"))
    }

    /// Fails with the body of the last response if its status is not a success.
    pub(crate) fn check(&self, status: u16) -> anyhow::Result<()> {
        if !(200..300).contains(&status) {
            bail!("answered with {status}: {}", String::from_utf8_lossy(self.body()));
        }
        Ok(())
    }

    pub(crate) fn body(&self) -> &[u8] {
        self.answer.get(self.head_bytes..).unwrap_or_default()
    }

    pub(crate) fn answer(&self) -> &[u8] {
        &self.answer
    }

    async fn read_answer(&mut self) -> anyhow::Result<u16> {
        self.answer.clear();
        let head = loop {
            self.read_some().await?;
            if let Some(head) = parse_head(&self.answer)? {
                break head;
            }
        };
        self.head_bytes = head.bytes;
        let whole = head.bytes + head.body_bytes;
        if whole > ANSWER_BYTES_MAX {
            bail!("an answer of {whole} bytes is too large");
        }
        while self.answer.len() < whole {
            self.read_some().await?;
        }
        Ok(head.status)
    }

    async fn read_some(&mut self) -> anyhow::Result<()> {
        if self.stream.read_buf(&mut self.answer).await? == 0 {
            bail!("the server closed the connection in the middle of an answer");
        }
        Ok(())
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Head {
    status: u16,
    bytes: usize,
    body_bytes: usize,
}

/// Parses the head of a response. Returns `None` if it is incomplete.
fn parse_head(bytes: &[u8]) -> anyhow::Result<Option<Head>> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut response = httparse::Response::new(&mut fields);
    let httparse::Status::Complete(head_bytes) = response.parse(bytes)? else { return Ok(None) };
    let length = response.headers.iter().find(|field| field.name.eq_ignore_ascii_case("content-length"));
    let length = length.context("the answer does not say how long it is")?;
    let body_bytes = std::str::from_utf8(length.value)?.trim().parse()?;
    Ok(Some(Head { status: response.code.unwrap_or(0), bytes: head_bytes, body_bytes }))
}

pub(crate) fn request(method: &str, path: &str, key: &str, body: Option<&str>) -> Vec<u8> {
    let content = body.map(|body| format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len()));
    let (content, body) = (content.unwrap_or_default(), body.unwrap_or_default());
    format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n{content}\r\n{body}")
        .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn response_head_is_parsed_once_complete() {
        let answer = b"HTTP/1.1 201 Created\r\nContent-Length: 12\r\nx: y\r\n\r\nhello";
        assert_eq!(parse_head(answer).unwrap(), Some(Head { status: 201, bytes: 50, body_bytes: 12 }));
        assert_eq!(parse_head(&answer[..30]).unwrap(), None);
        assert!(parse_head(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
    }

    #[test]
    fn request_with_body_has_content_length() {
        let bytes = request("POST", "/v1/travel", "k", Some("{}"));
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.starts_with("POST /v1/travel HTTP/1.1\r\n"));
        assert!(text.ends_with("Content-Length: 2\r\n\r\n{}"));
        assert!(!String::from_utf8(request("GET", "/", "k", None)).unwrap().contains("Content"));
    }
}
