//! Shared code of the attacks: a service with users, and minimal requests.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::http::{Connection, request};
use crate::measure::setting::Setting;
use crate::service::Service;

pub(crate) const ANSWER_TIME_MAX: Duration = Duration::from_secs(20);

pub(crate) struct Target<'a> {
    pub(crate) service: Service<'a>,
    setting: &'a Setting,
    admin: String,
}

impl<'a> Target<'a> {
    pub(crate) fn start(setting: &'a Setting, name: &str, arguments: &[&str]) -> anyhow::Result<Self> {
        let data = setting.empty_folder(&format!("attack-{name}"))?;
        Self::of(setting, Service::start_anywhere(setting, &data, arguments, None)?)
    }

    /// Like [`Target::start`], with a limited number of file descriptors.
    pub(crate) fn start_with_descriptors(setting: &'a Setting, name: &str, descriptors: u32) -> anyhow::Result<Self> {
        let data = setting.empty_folder(&format!("attack-{name}"))?;
        Self::of(setting, Service::start_anywhere(setting, &data, &[], Some(descriptors))?)
    }

    pub(crate) fn again(self, arguments: &[&str]) -> anyhow::Result<Self> {
        let Self { service, setting, .. } = self;
        let data = service.stop()?;
        Self::of(setting, Service::start_anywhere(setting, &data, arguments, None)?)
    }

    fn of(setting: &'a Setting, service: Service<'a>) -> anyhow::Result<Self> {
        let admin = service.key()?;
        Ok(Self { service, setting, admin })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.service.address()
    }

    pub(crate) fn admin(&self) -> &str {
        &self.admin
    }

    /// Creates a user who is not an operator and administers a timeline of the same name, and returns their key.
    pub(crate) async fn user(&self, name: &str) -> anyhow::Result<String> {
        let mut connection = Connection::open(self.address()).await?;
        let lists = json!({ "timeline_id": name, "permissions": { "admin": [name, "admin"] } });
        for (path, body) in [
            ("/v1/users", json!({ "user_id": name })),
            ("/timelines", json!({ "timeline_id": name })),
            ("/v1/set-access-control", lists),
        ] {
            ask(&mut connection, &self.admin, "POST", path, Some(&body)).await?;
        }
        self.api_key(name, name).await
    }

    pub(crate) async fn api_key(&self, user: &str, timeline: &str) -> anyhow::Result<String> {
        let mut connection = Connection::open(self.address()).await?;
        let body = json!({ "user_id": user, "timeline_id": timeline });
        let made = ask(&mut connection, &self.admin, "POST", "/v1/api-keys", Some(&body)).await?;
        made["api_key"].as_str().map(str::to_owned).context("the answer holds no key")
    }
}

pub(crate) async fn ask(
    connection: &mut Connection,
    key: &str,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> anyhow::Result<Value> {
    let requested = connection.json(key, method, path, body);
    timeout(ANSWER_TIME_MAX, requested).await.with_context(|| format!("{method} {path} is not answered"))?
}

/// Sends one request on a new connection and reads the whole response. Returns its status and length in bytes.
pub(crate) async fn fetch(
    address: SocketAddr,
    key: &str,
    method: &str,
    path: &str,
    body: Option<&str>,
) -> anyhow::Result<(u16, usize)> {
    let mut stream = TcpStream::connect(address).await?;
    let text = request(method, path, key, body);
    let text = String::from_utf8(text)?.replacen("Host: localhost", "Host: localhost\r\nConnection: close", 1);
    stream.write_all(text.as_bytes()).await?;
    let (mut bytes, mut buffer, mut head) = (0, vec![0; 64 << 10], Vec::new());
    loop {
        let count = stream.read(&mut buffer).await?;
        if count == 0 {
            return Ok((status(&head)?, bytes));
        }
        if head.len() < 16 {
            head.extend_from_slice(&buffer[..count.min(16)]);
        }
        bytes += count;
    }
}

pub(crate) fn status(head: &[u8]) -> anyhow::Result<u16> {
    let status = head.get(9..12).and_then(|digits| std::str::from_utf8(digits).ok());
    status.and_then(|digits| digits.parse().ok()).context("the answer has no status")
}

/// Returns status and latency of a request that should be fast, or `None` without a response.
pub(crate) async fn answered(address: SocketAddr, key: &str, path: &str) -> Option<(u16, Duration)> {
    let watch = crate::measure::wall_clock::Stopwatch::start();
    let request = timeout(ANSWER_TIME_MAX, fetch(address, key, "GET", path, None)).await;
    request.ok()?.ok().map(|(status, _)| (status, watch.elapsed()))
}

/// Gives the service time to do what it does with an attack.
pub(crate) async fn watched_for(time: Duration) {
    let _ = timeout(time, std::future::pending::<()>()).await;
}
