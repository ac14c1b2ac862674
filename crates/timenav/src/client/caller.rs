//! Requests side by side: what a program sends that does several things at the same time.

use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Response, StatusCode, Url};
use tokio::runtime::Runtime;

use super::event_parser::{EventParser, ServerEvent};
use super::{ANSWER_TIMEOUT, Client, below, idempotency_key, told, unreachable};
use crate::exit::Failure;

/// Sends requests to one service with one key, none of which waits for another. A request that is dropped closes its
/// connection.
#[derive(Clone)]
pub(crate) struct Caller {
    http: reqwest::Client,
    service: Url,
}

/// A request.
#[derive(Clone)]
pub(crate) struct Asked {
    pub(crate) method: Method,
    /// The path, in its segments.
    pub(crate) path: Vec<String>,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) headers: HeaderMap,
    /// What is sent, in JSON.
    pub(crate) body: Option<String>,
    /// How much longer than others the answer may take.
    pub(crate) longer: Duration,
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
    response: Response,
    parser: EventParser,
}

impl Client {
    /// Returns what sends requests side by side, and what they run on.
    pub(crate) fn into_caller(self) -> (Runtime, Caller) {
        (self.runtime, Caller { http: self.http, service: self.target.url })
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
    ///
    /// # Errors
    /// Never: a key has no characters that a head may not have.
    pub(crate) fn once(self) -> Result<Self, Failure> {
        // A structured field string, hence the quotes (RFC 9651 §3.3.3).
        self.with("idempotency-key", &format!("\"{}\"", idempotency_key()))
    }

    /// Returns the request with so much more time for its answer.
    pub(crate) const fn longer(mut self, longer: Duration) -> Self {
        self.longer = longer;
        self
    }

    fn may_be_repeated(&self) -> bool {
        self.method == Method::GET || self.headers.contains_key("idempotency-key")
    }
}

impl Caller {
    /// Sends a request and returns the answer, of which no more than so many bytes are read.
    ///
    /// # Errors
    /// The service does not answer, or says no.
    pub(crate) async fn send(&self, asked: &Asked, bytes_max: usize) -> Result<Reply, Failure> {
        let response = match self.attempt(asked).await {
            // Whether the first request arrived is unknown, so only what happens once is repeated.
            Err(error) if error.is_connect() || (asked.may_be_repeated() && !error.is_timeout()) => {
                self.attempt(asked).await
            }
            sent => sent,
        };
        let response = response.map_err(|error| unreachable(&self.service, &error))?;
        let status = response.status();
        match self.text(response, bytes_max).await? {
            Reply::Text(text) => told(status, text).map(Reply::Text),
            Reply::TooLong if status.is_success() => Ok(Reply::TooLong),
            Reply::TooLong => told(status, String::new()).map(Reply::Text),
        }
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
        let mut request = self.http.get(below(&self.service, path, query)).header(ACCEPT, "text/event-stream");
        if let Some(id) = after {
            request = request.header("last-event-id", id);
        }
        let response = request.send().await.map_err(|error| unreachable(&self.service, &error))?;
        let status = response.status();
        if status == StatusCode::OK {
            return Ok(Watch { response, parser: EventParser::default() });
        }
        let text = response.text().await.map_err(|error| unreachable(&self.service, &error))?;
        Err(told(status, text).err().unwrap_or_else(|| anyhow::anyhow!("no stream was answered").into()))
    }

    async fn attempt(&self, asked: &Asked) -> reqwest::Result<Response> {
        let url = below(&self.service, &asked.path, &asked.query);
        let mut request = self.http.request(asked.method.clone(), url).headers(asked.headers.clone());
        if let Some(body) = &asked.body {
            request = request.header(CONTENT_TYPE, "application/json").body(body.clone());
        }
        request.timeout(ANSWER_TIMEOUT.saturating_add(asked.longer)).send().await
    }

    async fn text(&self, mut response: Response, bytes_max: usize) -> Result<Reply, Failure> {
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| unreachable(&self.service, &error))? {
            if bytes.len().saturating_add(chunk.len()) > bytes_max {
                return Ok(Reply::TooLong);
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(Reply::Text(String::from_utf8(bytes).map_err(anyhow::Error::new)?))
    }
}

impl Watch {
    /// Waits for the next event; `None` where the stream has ended. Nothing is lost where the waiting is given up.
    pub(crate) async fn next(&mut self) -> Option<ServerEvent> {
        loop {
            if let Some(event) = self.parser.next_event() {
                return Some(event);
            }
            let bytes = self.response.chunk().await.ok().flatten()?;
            self.parser.take(&bytes);
        }
    }
}
