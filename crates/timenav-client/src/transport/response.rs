use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, ETAG};
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::transport::sse::{EventReader, ServerSentEvent};

/// A response whose body has not been read yet.
#[derive(Debug)]
pub struct Response {
    pub(crate) inner: reqwest::Response,
    pub(crate) service: Url,
}

impl Response {
    /// Returns the HTTP status, which is 2xx.
    #[must_use]
    pub fn http_status(&self) -> u16 {
        self.inner.status().as_u16()
    }

    /// Returns the media type of the body.
    #[must_use]
    pub fn content_type(&self) -> &str {
        self.inner.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Returns a header, such as `idempotency-replayed` or `x-request-id`.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.inner.headers().get(name)?.to_str().ok()
    }

    /// Returns the entity tag without quotation marks, if the response has one.
    #[must_use]
    pub fn entity_tag(&self) -> Option<&str> {
        let tag = self.inner.headers().get(ETAG)?.to_str().ok()?;
        Some(tag.trim_start_matches("W/").trim_matches('"'))
    }

    /// Returns the whole body.
    ///
    /// # Errors
    /// The connection is lost.
    pub async fn text(self) -> Result<String, Error> {
        self.inner.text().await.map_err(|error| connection_error(&self.service, &error))
    }

    /// Returns the next bytes of the body; `None` at its end.
    ///
    /// # Errors
    /// The connection is lost.
    pub async fn chunk(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let chunk = self.inner.chunk().await.map_err(|error| connection_error(&self.service, &error))?;
        Ok(chunk.map(Vec::from))
    }

    /// Parses the body as JSON.
    ///
    /// # Errors
    /// The connection is lost, or the body has an unexpected form.
    pub async fn json<T: DeserializeOwned>(self) -> Result<T, Error> {
        let service = self.service.to_string();
        let text = self.text().await?;
        serde_json::from_str(&text).map_err(|error| Error::UnexpectedResponse { service, detail: error.to_string() })
    }

    /// Reads the body as a stream of events.
    #[must_use]
    pub fn events(self) -> EventStream {
        EventStream { response: self, reader: EventReader::default() }
    }
}

/// The events of a stream, until it ends.
#[derive(Debug)]
pub struct EventStream {
    response: Response,
    reader: EventReader,
}

impl EventStream {
    /// Returns the next event; `None` at the end of the stream. Cancel-safe.
    ///
    /// # Errors
    /// The connection is lost.
    pub async fn next(&mut self) -> Result<Option<ServerSentEvent>, Error> {
        loop {
            if let Some(event) = self.reader.next_event() {
                return Ok(Some(event));
            }
            if !self.read_more().await? {
                return Ok(None);
            }
        }
    }

    /// Returns the newest id received, even without an event. To resume, pass it to
    /// [`Request::last_event_id`](crate::Request::last_event_id).
    #[must_use]
    pub fn last_id(&self) -> &str {
        self.reader.last_id()
    }

    /// Reads the next bytes, even if they do not complete an event, because they show that the connection is alive.
    /// Returns `false` at the end of the stream.
    ///
    /// # Errors
    /// The connection is lost.
    pub async fn read_more(&mut self) -> Result<bool, Error> {
        let Some(bytes) = self.response.chunk().await? else { return Ok(false) };
        self.reader.push(&bytes);
        Ok(true)
    }

    /// Returns the next event that has already been read.
    pub fn next_buffered(&mut self) -> Option<ServerSentEvent> {
        self.reader.next_event()
    }
}

pub(crate) fn connection_error(service: &Url, error: &reqwest::Error) -> Error {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let detail = scheme_mismatch(service, error).unwrap_or_else(|| cause.to_string());
    Error::Unreachable { service: service.to_string(), detail, was_sent: !error.is_connect() }
}

/// Explains a mismatch of http and https, which the libraries only report as unexpected bytes.
fn scheme_mismatch(url: &Url, error: &reqwest::Error) -> Option<String> {
    let text = format!("{error:?}");
    let other = |scheme: &str| format!("{scheme}{}", url.as_str().trim_start_matches(url.scheme()));
    match url.scheme() {
        "https" if text.contains("InvalidContentType") => {
            Some(format!("it does not use HTTPS; if plain HTTP is acceptable, write {}", other("http")))
        }
        "http" if text.contains("Parse(Version)") => {
            Some(format!("it does not use plain HTTP; write {}", other("https")))
        }
        _ => None,
    }
}
