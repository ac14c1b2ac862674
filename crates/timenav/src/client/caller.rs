use std::time::Duration;

use timenav_client::header::{HeaderMap, HeaderName, HeaderValue};
use timenav_client::{EventStream, Method, Request};
use tokio::runtime::Runtime;

use super::{Client, ServerEvent};
use crate::exit::Failure;

/// Sends concurrent requests to one service with one key. Dropping a request closes its connection.
#[derive(Clone)]
pub(crate) struct Caller {
    api: timenav_client::Client,
}

#[derive(Clone)]
pub(crate) struct ApiRequest {
    pub(crate) method: Method,
    pub(crate) path: Vec<String>,
    pub(crate) query: Vec<(String, String)>,
    headers: HeaderMap,
    pub(crate) body: Option<String>,
    /// Time added to the default timeout.
    longer: Duration,
    /// Whether an idempotency key is sent, so that a retry does not repeat the request.
    is_once: bool,
}

pub(crate) enum Reply {
    Text(String),
    TooLong,
}

pub(crate) struct Watch {
    events: EventStream,
}

impl Client {
    pub(crate) fn caller(&self) -> Caller {
        Caller { api: self.api.clone() }
    }

    pub(crate) fn into_caller(self) -> (Runtime, Caller) {
        (self.runtime, Caller { api: self.api })
    }
}

impl ApiRequest {
    pub(crate) fn get(path: &[&str], query: Vec<(String, String)>) -> Self {
        Self {
            method: Method::GET,
            path: path.iter().map(|&segment| segment.to_owned()).collect(),
            query,
            headers: HeaderMap::new(),
            body: None,
            longer: Duration::ZERO,
            is_once: false,
        }
    }

    pub(crate) fn post(path: &[&str], body: &serde_json::Value) -> Self {
        Self { method: Method::POST, body: Some(body.to_string()), ..Self::get(path, Vec::new()) }
    }

    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Result<Self, Failure> {
        let value = HeaderValue::try_from(value).map_err(anyhow::Error::new)?;
        self.headers.insert(HeaderName::from_static(name), value);
        Ok(self)
    }

    pub(crate) const fn once(mut self) -> Self {
        self.is_once = true;
        self
    }

    pub(crate) const fn longer(mut self, longer: Duration) -> Self {
        self.longer = longer;
        self
    }

    fn request(&self) -> Result<Request, Failure> {
        let path: Vec<&str> = self.path.iter().map(String::as_str).collect();
        let request =
            Request::new(self.method.clone(), &path).headers(self.headers.clone()).extend_timeout(self.longer);
        let request = self.query.iter().fold(request, |request, (name, value)| request.query(name, value));
        let request = if self.is_once { request.with_idempotency_key() } else { request };
        match &self.body {
            Some(body) => Ok(request.body("application/json", body.as_str())?),
            None => Ok(request),
        }
    }
}

impl Caller {
    /// Reads up to `bytes_max` bytes of the response.
    pub(crate) async fn send(&self, request: &ApiRequest, bytes_max: usize) -> Result<Reply, Failure> {
        let mut response = self.api.send(request.request()?).await?;
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            if bytes.len().saturating_add(chunk.len()) > bytes_max {
                return Ok(Reply::TooLong);
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(Reply::Text(String::from_utf8(bytes).map_err(anyhow::Error::new)?))
    }

    /// Starts after the given id or now.
    pub(crate) async fn watch(
        &self,
        path: &[&str],
        query: &[(String, String)],
        after: Option<&str>,
    ) -> Result<Watch, Failure> {
        let request = ApiRequest::get(path, query.to_vec()).request()?;
        let mut request = request.header("accept", "text/event-stream")?.without_timeout();
        if let Some(id) = after {
            request = request.last_event_id(id)?;
        }
        Ok(Watch { events: self.api.send(request).await?.events() })
    }
}

impl Watch {
    /// Returns the next event, or `None` at the end of the stream. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Option<ServerEvent> {
        self.events.next().await.ok().flatten().map(ServerEvent::from)
    }
}
