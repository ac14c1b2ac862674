use std::time::Duration;

use reqwest::Method;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde::Serialize;

use crate::error::Error;
use crate::transport::host::idempotency_key;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

const TIMELINE: HeaderName = HeaderName::from_static("timenav-timeline");

/// A request to an operation of the API.
#[derive(Clone, Debug)]
pub struct Request {
    pub(crate) method: Method,
    /// The segments of the path below the service's address.
    pub(crate) path: Vec<String>,
    /// The path and query as one text, instead of `path` and `query`.
    pub(crate) target: Option<String>,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<Vec<u8>>,
    /// Additional time for the response; `None` for no timeout.
    pub(crate) timeout_extension: Option<Duration>,
}

impl Request {
    /// Returns a request with any method.
    #[must_use]
    pub fn new(method: Method, path: &[&str]) -> Self {
        Self {
            method,
            path: path.iter().map(|&segment| segment.to_owned()).collect(),
            target: None,
            query: Vec::new(),
            headers: HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]),
            body: None,
            timeout_extension: Some(Duration::ZERO),
        }
    }

    /// Returns a GET request. The path is given as segments: `["v1", "clock"]`.
    #[must_use]
    pub fn get(path: &[&str]) -> Self {
        Self::new(Method::GET, path)
    }

    /// Returns a request whose path and query are one text, such as `/v1/clock?timeline_id=main`, which is not escaped.
    ///
    /// # Errors
    /// It does not start with a slash.
    pub fn at(method: Method, target: &str) -> Result<Self, Error> {
        if !target.starts_with('/') {
            return Err(Error::Invalid("the path must start with `/`, as in /v1/clock".to_owned()));
        }
        Ok(Self { target: Some(target.to_owned()), ..Self::new(method, &[]) })
    }

    /// Returns a POST request with an idempotency key, so that it takes effect once even if it is repeated.
    #[must_use]
    pub fn post(path: &[&str]) -> Self {
        Self::new(Method::POST, path).with_idempotency_key()
    }

    /// Adds a parameter to the query.
    #[must_use]
    pub fn query(mut self, name: &str, value: impl Into<String>) -> Self {
        self.query.push((name.to_owned(), value.into()));
        self
    }

    /// Sets the body as JSON.
    ///
    /// # Errors
    /// It cannot be serialized.
    pub fn json(self, body: &impl Serialize) -> Result<Self, Error> {
        let bytes = serde_json::to_vec(body).map_err(|error| Error::Invalid(format!("the body: {error}")))?;
        self.body("application/json", bytes)
    }

    /// Sets the body and its content type.
    ///
    /// # Errors
    /// The content type is not a valid header value.
    pub fn body(mut self, content_type: &str, bytes: impl Into<Vec<u8>>) -> Result<Self, Error> {
        self.body = Some(bytes.into());
        self.header(CONTENT_TYPE.as_str(), content_type)
    }

    /// Sets a header.
    ///
    /// # Errors
    /// The name or the value is invalid.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, Error> {
        let wrong = |what: &str| Error::Invalid(format!("the {what} of the header {name:?} has invalid characters"));
        let name = HeaderName::try_from(name).map_err(|_| wrong("name"))?;
        let value = HeaderValue::try_from(value).map_err(|_| wrong("value"))?;
        self.headers.insert(name, value);
        Ok(self)
    }

    /// Sets several headers.
    #[must_use]
    pub fn headers(mut self, headers: HeaderMap) -> Self {
        self.headers.extend(headers);
        self
    }

    /// Adds a new idempotency key, so that the request takes effect once even if it is repeated.
    #[must_use]
    pub fn with_idempotency_key(mut self) -> Self {
        // The quotation marks are those of a structured field string (RFC 9651 §3.3.3). A UUID is a valid header value.
        if let Ok(key) = HeaderValue::try_from(format!("\"{}\"", idempotency_key())) {
            self.headers.insert(IDEMPOTENCY_KEY, key);
        }
        self
    }

    /// Adds a header with the timeline for load balancers, which do not read bodies. If the id is not a valid header
    /// value, the header is omitted, and the service rejects the id.
    pub(crate) fn of_timeline(mut self, timeline: &str) -> Self {
        if let Ok(timeline) = HeaderValue::try_from(timeline) {
            self.headers.insert(TIMELINE, timeline);
        }
        self
    }

    /// Resumes a stream after the message with this id.
    ///
    /// # Errors
    /// The id is invalid.
    pub fn last_event_id(self, last_event_id: &str) -> Result<Self, Error> {
        self.header("last-event-id", last_event_id)
    }

    /// Extends the response timeout by a duration.
    #[must_use]
    pub const fn extend_timeout(mut self, extension: Duration) -> Self {
        self.timeout_extension = Some(extension);
        self
    }

    /// Disables the response timeout, for example for a stream or a file.
    #[must_use]
    pub const fn without_timeout(mut self) -> Self {
        self.timeout_extension = None;
        self
    }

    /// Returns the method.
    #[must_use]
    pub const fn method(&self) -> &Method {
        &self.method
    }

    /// Returns the segments of the path below the service's address. Empty for a request created with [`Request::at`].
    #[must_use]
    pub fn path(&self) -> &[String] {
        &self.path
    }

    /// Returns the query parameters.
    #[must_use]
    pub fn query_pairs(&self) -> &[(String, String)] {
        &self.query
    }

    /// Returns the headers, without the API key.
    #[must_use]
    pub const fn header_map(&self) -> &HeaderMap {
        &self.headers
    }

    /// Returns the body, if it has one.
    #[must_use]
    pub fn body_bytes(&self) -> Option<&[u8]> {
        self.body.as_deref()
    }

    pub(crate) fn is_repeatable(&self) -> bool {
        self.method == Method::GET || self.headers.contains_key(IDEMPOTENCY_KEY)
    }
}

pub(crate) fn seconds_text(duration: Duration) -> String {
    match duration.as_millis() {
        0 => "0s".to_owned(),
        millis => format!("{}.{:03}s", millis / 1_000, millis % 1_000),
    }
}
