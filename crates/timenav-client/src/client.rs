use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Body, Certificate, Url};
use serde::de::DeserializeOwned;

use crate::error::{Error, Problem};
use crate::transport::request::Request;
use crate::transport::response::{Response, connection_error};
use crate::transport::retry::{Outcome, RetryPolicy, retry_after};

const URL_DEFAULT: &str = "http://127.0.0.1:8080";
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const RESPONSE_TIMEOUT: Duration = Duration::from_mins(1);
const URL: &str = "TIMENAV_URL";
const KEY: &str = "TIMENAV_API_KEY";
const TIMELINE: &str = "TIMENAV_TIMELINE";

/// Configuration of a client.
#[derive(Clone, Default)]
pub struct ClientBuilder {
    base_url: Option<String>,
    api_key: Option<String>,
    timeline_id: Option<String>,
    ca_certificates: Option<Vec<u8>>,
    timeout: Option<Duration>,
    retries: RetryPolicy,
    user_agent: Option<String>,
}

impl ClientBuilder {
    /// Sets the address of the service. Defaults to `http://127.0.0.1:8080`.
    #[must_use]
    pub fn base_url(mut self, base_url: impl Into<String>) -> Self {
        self.base_url = Some(base_url.into());
        self
    }

    /// Sets the API key.
    #[must_use]
    pub fn api_key(mut self, api_key: impl Into<String>) -> Self {
        self.api_key = Some(api_key.into());
        self
    }

    /// Sets the default timeline of calls. Defaults to the one that the key is bound to.
    #[must_use]
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        self.timeline_id = Some(timeline_id.into());
        self
    }

    /// Sets the certificates of the trusted certificate authorities, in PEM. Defaults to those of the machine.
    #[must_use]
    pub fn ca_certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.ca_certificates = Some(pem.into());
        self
    }

    /// Sets the response timeout. Defaults to one minute.
    #[must_use]
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the retry policy.
    #[must_use]
    pub const fn retries(mut self, retries: RetryPolicy) -> Self {
        self.retries = retries;
        self
    }

    /// Sets the `User-Agent` header.
    #[must_use]
    pub fn user_agent(mut self, name: impl Into<String>) -> Self {
        self.user_agent = Some(name.into());
        self
    }

    /// Returns the client. It connects on the first request.
    ///
    /// # Errors
    /// The key is missing, or a setting is invalid.
    pub fn build(self) -> Result<Client, Error> {
        let service = service_url(self.base_url.as_deref().unwrap_or(URL_DEFAULT))?;
        let key = self.api_key.ok_or_else(|| Error::Invalid(format!("there is no API key; set {KEY}")))?;
        let mut bearer = bearer(key.trim())?;
        bearer.set_sensitive(true);
        let ca_certificates = self.ca_certificates.as_deref().map(certificates).transpose()?;
        let user_agent =
            self.user_agent.unwrap_or_else(|| concat!("timenav-client/", env!("CARGO_PKG_VERSION")).to_owned());
        let is_plain = service.scheme() == "http";
        let new_builder = || {
            let builder = reqwest::Client::builder()
                .user_agent(user_agent.as_str())
                .default_headers(HeaderMap::from_iter([(AUTHORIZATION, bearer.clone())]))
                .connect_timeout(CONNECT_TIMEOUT)
                // The key must not reach other hosts.
                .redirect(reqwest::redirect::Policy::none());
            let is_local = is_loopback(&service);
            let builder = if is_local { builder.no_proxy() } else { builder };
            match &ca_certificates {
                Some(certificates) => builder.tls_certs_only(certificates.clone()),
                // Plain HTTP needs no certificates, and loading them takes longer than a request.
                None if is_local && is_plain => builder.tls_certs_only([]),
                None => builder,
            }
        };
        let http = match new_builder().build() {
            Ok(http) => http,
            // A machine without CA certificates, such as a minimal container, can still use plain HTTP.
            Err(_) if is_plain => new_builder().tls_certs_only([]).build().map_err(|error| build_error(&error))?,
            Err(error) => return Err(build_error(&error)),
        };
        let timeout = self.timeout.unwrap_or(RESPONSE_TIMEOUT);
        let timeline_id = self.timeline_id.map(Into::into);
        Ok(Client { http, service, timeline_id, timeout, retries: self.retries, firing: None })
    }
}

/// A client of a service. Clones are cheap, and share connections.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    service: Url,
    timeline_id: Option<Arc<str>>,
    timeout: Duration,
    retries: RetryPolicy,
    firing: Option<Arc<str>>,
}

impl std::fmt::Debug for Client {
    /// Omits the key.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut output = formatter.debug_struct("Client");
        output.field("url", &self.service.as_str()).field("timeline_id", &self.timeline_id).finish_non_exhaustive()
    }
}

impl Client {
    /// Returns a builder with the default settings.
    #[must_use]
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    /// Creates a client from the environment variables `TIMENAV_URL`, `TIMENAV_API_KEY` and `TIMENAV_TIMELINE`.
    ///
    /// # Errors
    /// The key is missing, or a value is invalid.
    #[expect(clippy::disallowed_methods, reason = "the client reads the environment only here")]
    pub fn from_env() -> Result<Self, Error> {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let (base_url, api_key, timeline_id) = (set(URL), set(KEY), set(TIMELINE));
        ClientBuilder { base_url, api_key, timeline_id, ..ClientBuilder::default() }.build()
    }

    /// Returns the address of the service.
    #[must_use]
    pub fn base_url(&self) -> &str {
        self.service.as_str()
    }

    /// Returns the default timeline of calls; `None` if it is the one that the key is bound to.
    #[must_use]
    pub fn timeline_id(&self) -> Option<&str> {
        self.timeline_id.as_deref()
    }

    pub(crate) const fn timeout(&self) -> Duration {
        self.timeout
    }

    pub(crate) const fn retries(&self) -> RetryPolicy {
        self.retries
    }

    /// Returns a client with another default timeline.
    #[must_use]
    pub fn with_timeline(&self, timeline_id: impl Into<Arc<str>>) -> Self {
        Self { timeline_id: Some(timeline_id.into()), ..self.clone() }
    }

    /// Returns a client with another retry policy.
    #[must_use]
    pub fn with_retries(&self, retries: RetryPolicy) -> Self {
        Self { retries, ..self.clone() }
    }

    pub(crate) fn without_retries(&self) -> Self {
        self.with_retries(RetryPolicy { attempts: 1, ..self.retries })
    }

    /// Returns a client for the handler of a firing. Its requests carry the id of that firing.
    #[must_use]
    pub fn for_firing(&self, firing_id: impl Into<Arc<str>>) -> Self {
        Self { firing: Some(firing_id.into()), ..self.clone() }
    }

    /// Sends a request, and retries it according to the retry policy.
    ///
    /// # Errors
    /// The service does not respond, or rejects the request.
    pub async fn send(&self, request: Request) -> Result<Response, Error> {
        let (mut attempt, mut waited) = (1, Duration::ZERO);
        loop {
            let (outcome, error) = match self.attempt(&request, None).await {
                Ok(response) => return Ok(response),
                Err(failed) => failed,
            };
            let after = error.problem().and_then(|problem| problem.retry_after);
            let is_repeatable = request.is_repeatable();
            let Some(wait) = self.retries.wait(attempt, outcome, is_repeatable, (after, waited)) else {
                return Err(error);
            };
            pause(wait).await;
            attempt += 1;
            waited += wait;
        }
    }

    /// Sends a request and parses the JSON response.
    ///
    /// # Errors
    /// The service does not respond, rejects the request, or sends an unexpected response.
    pub async fn json<T: DeserializeOwned>(&self, request: Request) -> Result<T, Error> {
        self.send(request).await?.json().await
    }

    /// Sends a request with a streamed body, without retries.
    ///
    /// # Errors
    /// The service does not respond, or rejects the request.
    pub async fn upload(&self, request: Request, body: impl Into<Body>) -> Result<Response, Error> {
        self.attempt(&request, Some(body.into())).await.map_err(|(_, error)| error)
    }

    /// Returns the URL of a request, relative to the service's address, which may itself have a path.
    pub(crate) fn address(&self, request: &Request) -> Result<Url, Error> {
        if let Some(target) = &request.target {
            let url = format!("{}{target}", self.service.as_str().trim_end_matches('/'));
            return Url::parse(&url).map_err(|error| Error::Invalid(format!("{url} is not a valid URL: {error}")));
        }
        let mut url = self.service.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(&request.path);
        }
        if !request.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&request.query);
        }
        Ok(url)
    }

    async fn attempt(&self, request: &Request, body: Option<Body>) -> Result<Response, (Outcome, Error)> {
        let url = self.address(request).map_err(|error| (Outcome::Status(0), error))?;
        let mut sent = self.http.request(request.method.clone(), url).headers(request.headers.clone());
        if let Some(firing) = &self.firing {
            sent = sent.header("timenav-firing", &**firing);
        }
        if let Some(body) = body.or_else(|| request.body.clone().map(Body::from)) {
            sent = sent.body(body);
        }
        if let Some(timeout_extension) = request.timeout_extension {
            sent = sent.timeout(self.timeout.saturating_add(timeout_extension));
        }
        let lost = |error: &reqwest::Error| {
            let outcome = if error.is_connect() { Outcome::NotSent } else { Outcome::NoResponse };
            (outcome, connection_error(&self.service, error))
        };
        let response = sent.send().await.map_err(|error| lost(&error))?;
        let status = response.status();
        if status.is_success() {
            return Ok(Response { inner: response, service: self.service.clone() });
        }
        let head = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let (request_id, after) = (head("x-request-id"), head(RETRY_AFTER.as_str()));
        let text = response.text().await.map_err(|error| lost(&error))?;
        let after = after.as_deref().and_then(retry_after);
        let problem = Problem::of(status.as_u16(), text, request_id.as_deref(), after);
        Err((Outcome::Status(status.as_u16()), Error::Problem(Box::new(problem))))
    }
}

/// Sleeps for a duration of host time.
#[expect(clippy::disallowed_methods, reason = "nothing signals the time of the next attempt")]
pub(crate) async fn pause(duration: Duration) {
    tokio::time::sleep(duration).await;
}

fn service_url(text: &str) -> Result<Url, Error> {
    let wrong = |why: &str| {
        Error::Invalid(format!("the address of the service ({URL}) must be a URL such as {URL_DEFAULT}: {why}"))
    };
    let url = Url::parse(text.trim()).map_err(|error| wrong(&error.to_string()))?;
    let has_more = !url.username().is_empty() || url.password().is_some() || url.query().is_some();
    match url.scheme() {
        "http" | "https" if !has_more && url.fragment().is_none() => Ok(url),
        _ => Err(wrong("use HTTP or HTTPS, without credentials, query or fragment")),
    }
}

fn bearer(key: &str) -> Result<HeaderValue, Error> {
    if key.is_empty() {
        return Err(Error::Invalid(format!("the API key is empty; set {KEY} to an API key")));
    }
    let is_key = key.bytes().all(|byte| byte.is_ascii_graphic());
    // The error must not contain the key, because it may be logged.
    let wrong = || {
        Error::Invalid(
            "the API key contains invalid characters; an API key is `tnk_` and 36 letters and digits".to_owned(),
        )
    };
    if is_key { HeaderValue::try_from(format!("Bearer {key}")).map_err(|_| wrong()) } else { Err(wrong()) }
}

fn certificates(pem: &[u8]) -> Result<Vec<Certificate>, Error> {
    let found = Certificate::from_pem_bundle(pem).ok().filter(|found| !found.is_empty());
    found.ok_or_else(|| Error::Invalid("the CA certificates contain no PEM certificate".to_owned()))
}

fn build_error(error: &reqwest::Error) -> Error {
    let advice = "install CA certificates (on Debian, the package ca-certificates), or pass the service's own";
    Error::Invalid(format!("the HTTP client cannot be created: {error}; if certificates are missing, {advice}"))
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}
