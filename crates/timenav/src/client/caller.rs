//! Requests side by side: what a program sends that does several things at the same time.

use std::time::Duration;

use timenav_client::header::{HeaderMap, HeaderName, HeaderValue};
use timenav_client::{Events, Method, Request};
use tokio::runtime::Runtime;

use super::{Client, ServerEvent};
use crate::exit::Failure;

/// Sends requests to one service with one key, none of which waits for another. A request that is dropped closes its
/// connection.
#[derive(Clone)]
pub(crate) struct Caller {
    api: timenav_client::Client,
}

/// A request.
#[derive(Clone)]
pub(crate) struct Asked {
    pub(crate) method: Method,
    /// The path, in its segments.
    pub(crate) path: Vec<String>,
    pub(crate) query: Vec<(String, String)>,
    headers: HeaderMap,
    /// What is sent, in JSON.
    pub(crate) body: Option<String>,
    /// How much longer than others the answer may take.
    longer: Duration,
    /// Whether it is carried out once, even if it has to be sent twice.
    is_once: bool,
}

/// What the service answered.
pub(crate) enum Reply {
    /// All of it.
    Text(String),
    /// It is longer than it may be.
    TooLong,
}

/// Server-sent events, as they come.
pub(crate) struct Watch {
    events: Events,
}

impl Client {
    /// Returns what sends requests beside this client.
    pub(crate) fn caller(&self) -> Caller {
        Caller { api: self.api.clone() }
    }

    /// Returns what sends requests side by side, and what they run on.
    pub(crate) fn into_caller(self) -> (Runtime, Caller) {
        (self.runtime, Caller { api: self.api })
    }
}

impl Asked {
    /// Returns a request without a body.
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

    /// Returns a request with a body in JSON.
    pub(crate) fn post(path: &[&str], body: &serde_json::Value) -> Self {
        Self { method: Method::POST, body: Some(body.to_string()), ..Self::get(path, Vec::new()) }
    }

    /// Returns the request with a field in its head.
    ///
    /// # Errors
    /// The value has characters that no head may have.
    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Result<Self, Failure> {
        let value = HeaderValue::try_from(value).map_err(anyhow::Error::new)?;
        self.headers.insert(HeaderName::from_static(name), value);
        Ok(self)
    }

    /// Returns the request as one that is carried out once, even if it has to be sent twice.
    pub(crate) const fn once(mut self) -> Self {
        self.is_once = true;
        self
    }

    /// Returns the request with so much more time for its answer.
    pub(crate) const fn longer(mut self, longer: Duration) -> Self {
        self.longer = longer;
        self
    }

    fn request(&self) -> Result<Request, Failure> {
        let path: Vec<&str> = self.path.iter().map(String::as_str).collect();
        let request = Request::new(self.method.clone(), &path).headers(self.headers.clone()).longer(self.longer);
        let request = self.query.iter().fold(request, |request, (name, value)| request.query(name, value));
        let request = if self.is_once { request.once() } else { request };
        match &self.body {
            Some(body) => Ok(request.body("application/json", body.as_str())?),
            None => Ok(request),
        }
    }
}

impl Caller {
    /// Sends a request and returns the answer, of which no more than so many bytes are read.
    ///
    /// # Errors
    /// The service does not answer, or says no.
    pub(crate) async fn send(&self, asked: &Asked, bytes_max: usize) -> Result<Reply, Failure> {
        let mut response = self.api.send(asked.request()?).await?;
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            if bytes.len().saturating_add(chunk.len()) > bytes_max {
                return Ok(Reply::TooLong);
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(Reply::Text(String::from_utf8(bytes).map_err(anyhow::Error::new)?))
    }

    /// Opens a stream of server-sent events: what comes after the one of an id, or from now on.
    ///
    /// # Errors
    /// The service does not answer, or says no.
    pub(crate) async fn watch(
        &self,
        path: &[&str],
        query: &[(String, String)],
        after: Option<&str>,
    ) -> Result<Watch, Failure> {
        let request = Asked::get(path, query.to_vec()).request()?;
        let mut request = request.header("accept", "text/event-stream")?.unbounded();
        if let Some(id) = after {
            request = request.after(id)?;
        }
        Ok(Watch { events: self.api.send(request).await?.events() })
    }
}

impl Watch {
    /// Waits for the next event; `None` where the stream has ended. Nothing is lost where the waiting is given up.
    pub(crate) async fn next(&mut self) -> Option<ServerEvent> {
        self.events.next().await.ok().flatten().map(ServerEvent::from)
    }
}
