//! A client of a running service, over HTTP like any other program.

mod call;
mod caller;
mod create_option;
mod event_parser;
mod event_stream;
mod options;
mod read_ahead;
mod target;
mod waiting;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub(crate) use call::Call;
pub(crate) use caller::{Asked, Caller, Reply, Watch};
pub(crate) use create_option::CreateOption;
use data_encoding::HEXLOWER;
use event_parser::EventParser;
pub(crate) use event_parser::ServerEvent;
pub(crate) use event_stream::{EventStream, Sign};
pub(crate) use options::{ServiceOptions, TimelineOptions, authorities, built, is_this_machine, service_url};
use read_ahead::read_ahead;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, IF_MATCH};
use reqwest::{Body, Method, RequestBuilder, Response, StatusCode, Url};
use serde_json::{Map, Value};
pub(crate) use target::Target;
use timenav_engine::Entropy as _;
use timenav_import::Packing;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio_stream::wrappers::ReceiverStream;
pub(crate) use waiting::Interrupt;

use crate::doors::OsEntropy;
use crate::exit::{Failure, Problem};
use crate::output::{self, OutputFormat, Records, Table};
use crate::surroundings::Surroundings;

/// How long a connection may take to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long an answer may take, except those to imports and streams.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(1);
/// The exit code of a process that Ctrl-C ended, as shells tell it.
const INTERRUPTED_EXIT: i32 = 130;

/// Talks to one service with one key. Each call waits for its answer.
pub(crate) struct Client {
    runtime: Runtime,
    http: reqwest::Client,
    target: Target,
    format: OutputFormat,
    /// What was printed of a table for programs: its rows may come in several answers.
    rows: RefCell<Table>,
}

/// What the service answered.
pub(crate) struct Answer {
    /// The answer as it came.
    pub(crate) text: String,
    /// What it says.
    pub(crate) value: Value,
}

impl Client {
    /// Returns a client that has found its key.
    ///
    /// # Errors
    /// There is no key, or none that can be sent.
    pub(crate) fn new(options: &ServiceOptions, surroundings: &Surroundings) -> Result<Self, Failure> {
        let format = options.output();
        let target = target::find(options, surroundings)?;
        let is_local = is_this_machine(&target.url);
        let mut bearer = HeaderValue::try_from(format!("Bearer {}", *target.key))
            .map_err(|_| Failure::NoKey("the API key has invalid characters".to_owned()))?;
        bearer.set_sensitive(true);
        let mut headers = HeaderMap::from_iter([(AUTHORIZATION, bearer)]);
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let authorities = target.ca.as_deref().map(authorities).transpose()?;
        let http = built(&target.url, || {
            let builder = reqwest::Client::builder()
                .user_agent(concat!("timenav/", env!("CARGO_PKG_VERSION")))
                .default_headers(headers.clone())
                .connect_timeout(CONNECT_TIMEOUT)
                .redirect(reqwest::redirect::Policy::none());
            let builder = if is_local { builder.no_proxy() } else { builder };
            match &authorities {
                Some(authorities) => builder.tls_certs_only(authorities.clone()),
                None => builder,
            }
        })?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(anyhow::Error::new)?;
        Ok(Self { runtime, http, target, format, rows: RefCell::default() })
    }

    /// Sends a GET.
    ///
    /// # Errors
    /// The service does not answer, or says no.
    pub(crate) fn get(&self, path: &[&str], query: &[(&str, String)]) -> Result<Answer, Failure> {
        self.ask(&Method::GET, &self.url(path, query), None, None)
    }

    /// Sends a GET that is answered with text.
    ///
    /// # Errors
    /// The service does not answer, or says no.
    pub(crate) fn get_text(&self, path: &[&str], query: &[(&str, String)]) -> Result<String, Failure> {
        let request = self.http.get(self.url(path, query)).timeout(ANSWER_TIMEOUT);
        self.send(request).and_then(|response| self.text(response))
    }

    /// Sends a POST that happens once, even if it has to be sent twice.
    ///
    /// # Errors
    /// The service does not answer, or says no.
    pub(crate) fn post(&self, path: &[&str], body: Map<String, Value>) -> Result<Answer, Failure> {
        self.post_text(path, &[], &Value::Object(body).to_string())
    }

    /// Sends a POST with a body that is JSON already.
    ///
    /// # Errors
    /// The service does not answer, or says no.
    pub(crate) fn post_text(&self, path: &[&str], query: &[(&str, String)], body: &str) -> Result<Answer, Failure> {
        self.ask(&Method::POST, &self.url(path, query), Some(body), None)
    }

    /// Sends a POST that changes nothing unless what it is about still has this tag.
    ///
    /// # Errors
    /// The service does not answer, or says no.
    pub(crate) fn post_if(
        &self,
        path: &[&str],
        body: Map<String, Value>,
        tag: Option<&str>,
    ) -> Result<Answer, Failure> {
        // An entity tag stands in quotation marks (RFC 9110 §8.8.3).
        let tag = tag.map(|tag| HeaderValue::try_from(format!("\"{tag}\""))).transpose().map_err(anyhow::Error::new)?;
        self.ask(&Method::POST, &self.url(path, &[]), Some(&Value::Object(body).to_string()), tag.as_ref())
    }

    /// Sends a POST that writes to a timeline, and creates it only where that was asked for.
    ///
    /// # Errors
    /// The service does not answer, or says no.
    pub(crate) fn write(
        &self,
        path: &[&str],
        query: &[(&str, String)],
        body: &str,
        create: CreateOption,
    ) -> Result<Answer, Failure> {
        let there = create.if_match();
        create.explain(self.ask(&Method::POST, &self.url(path, query), Some(body), there.as_ref()))
    }

    /// Sends a POST whose answer takes as long as it takes, and tells how far it has come: events
    /// named `progress` go to `tell`, the data of the one named `result` is the answer.
    ///
    /// # Errors
    /// The service does not answer, says no, or ends before the result.
    pub(crate) fn post_with_progress(
        &self,
        path: &[&str],
        body: &str,
        mut tell: impl FnMut(&Value),
    ) -> Result<Answer, Failure> {
        let request = self.http.post(self.url(path, &[])).header(CONTENT_TYPE, "application/json");
        let request = request.header(ACCEPT, "text/event-stream, application/json;q=0.5");
        let response = self.send(request.body(body.to_owned()))?;
        let is_stream = |kind: &HeaderValue| kind.as_bytes().starts_with(b"text/event-stream");
        if !response.headers().get(CONTENT_TYPE).is_some_and(is_stream) {
            return self.answer(response);
        }
        for event in self.events_of(response) {
            let ServerEvent { name, data, .. } = event?;
            match name.as_str() {
                "result" => return self.read(data),
                "error" => return Err(Failure::Problem(Problem::new(500, &data))),
                _ => tell(&serde_json::from_str(&data).unwrap_or_default()),
            }
        }
        Err(Failure::Unreachable {
            service: format!("at {}", self.target.url),
            detail: "the response ended before the result".to_owned(),
        })
    }

    /// Sends a DELETE.
    ///
    /// # Errors
    /// The service does not answer, or says no.
    pub(crate) fn delete(&self, path: &[&str], query: &[(&str, String)]) -> Result<Answer, Failure> {
        self.ask(&Method::DELETE, &self.url(path, query), None, None)
    }

    /// Sends a body of any length, once, while it is read. An answer that comes before its end, as
    /// to a wrong key, ends the reading.
    ///
    /// # Errors
    /// The service does not answer, or says no.
    pub(crate) fn upload(
        &self,
        path: &[&str],
        query: &[(&str, String)],
        content_type: &str,
        (packing, if_match): (Option<Packing>, Option<HeaderValue>),
        body: impl Read + Send + 'static,
    ) -> Result<Answer, Failure> {
        let url = self.url(path, query);
        let send = |body| {
            let mut request = self.http.post(url.clone()).header(CONTENT_TYPE, content_type).body(body);
            if let Some(packing) = packing {
                request = request.header(CONTENT_ENCODING, packing.as_str());
            }
            if let Some(value) = &if_match {
                request = request.header(IF_MATCH, value);
            }
            self.send(request).and_then(|response| self.answer(response))
        };
        let answer = send(Body::wrap_stream(ReceiverStream::new(read_ahead(body))));
        if matches!(answer, Err(Failure::Unreachable { .. })) {
            // A service that answers early and closes can cut the body off before its answer is
            // read. Whatever it had against the request, it has against one without a body.
            if let Err(Failure::Problem(problem)) = send(Body::default())
                && !problem.is_about_the_body()
            {
                return Err(Failure::Problem(problem));
            }
        }
        answer
    }

    /// Opens a stream of server-sent events: what comes after the one of an id, or from now on.
    ///
    /// # Errors
    /// The service does not answer, or says no.
    pub(crate) fn stream(
        &self,
        path: &[&str],
        query: &[(&str, String)],
        after: Option<&str>,
    ) -> Result<EventStream<'_>, Failure> {
        let mut request = self.http.get(self.url(path, query)).header(ACCEPT, "text/event-stream");
        if let Some(id) = after {
            request = request.header("last-event-id", id);
        }
        let response = self.send(request)?;
        if !response.status().is_success() {
            return Err(self.answer(response).err().unwrap_or(Failure::OutputClosed));
        }
        Ok(self.events_of(response))
    }

    fn events_of(&self, response: Response) -> EventStream<'_> {
        EventStream { client: self, response, parser: EventParser::default() }
    }

    /// Downloads a file of any length, handing over its bytes as they come.
    ///
    /// # Errors
    /// The service does not answer, says no, or breaks off before the end.
    pub(crate) fn download(
        &self,
        path: &[&str],
        query: &[(&str, String)],
        each: &mut dyn FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let response = self.send(self.http.get(self.url(path, query)))?;
        if !response.status().is_success() {
            return Err(self.answer(response).err().unwrap_or(Failure::OutputClosed));
        }
        self.each_chunk(response, each)
    }

    fn each_chunk(
        &self,
        mut response: Response,
        each: &mut dyn FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        while let Some(bytes) = self.runtime.block_on(response.chunk()).map_err(|error| self.unreachable(&error))? {
            each(&bytes)?;
        }
        Ok(())
    }

    /// Shows an answer that is no list: as `human` tells it, or as programs want it.
    ///
    /// # Errors
    /// Stdout cannot be written.
    pub(crate) fn show(&self, answer: &Answer, human: impl FnOnce(&Value) -> String) -> Result<(), Failure> {
        let text = match self.format {
            OutputFormat::Table => human(&answer.value),
            OutputFormat::Json => output::pretty(&answer.text),
            OutputFormat::Ndjson => output::line(&answer.text),
            OutputFormat::Csv => self.rows.borrow_mut().row(&answer.value),
        };
        output::write(&text)
    }

    /// Shows an answer that is a list, or a page of one: as `human` tells it, or its records as programs want them.
    ///
    /// # Errors
    /// Stdout cannot be written.
    pub(crate) fn show_list(
        &self,
        page: &Answer,
        records: &Records,
        human: impl FnOnce(&Value) -> String,
    ) -> Result<(), Failure> {
        let text = match self.format {
            OutputFormat::Table => human(&page.value),
            OutputFormat::Json => output::pretty(&page.text),
            OutputFormat::Ndjson => records.lines(&page.text),
            OutputFormat::Csv => self.rows.borrow_mut().rows(records, &page.value),
        };
        output::write(&text)
    }

    /// Lets Ctrl-C end what is sent instead of the process, and returns whether it was pressed. A second one ends the process.
    ///
    /// # Errors
    /// Signals cannot be received.
    pub(crate) fn interruptible(&self) -> Result<Arc<AtomicBool>, Failure> {
        let pressed = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&pressed);
        let mut signals = {
            let _inside = self.runtime.enter();
            signal(SignalKind::interrupt()).map_err(anyhow::Error::new)?
        };
        self.runtime.spawn(async move {
            signals.recv().await;
            told.store(true, Ordering::Relaxed);
            output::note("interrupted; waiting for what was sent to be recorded (Ctrl-C again ends at once)");
            signals.recv().await;
            std::process::exit(INTERRUPTED_EXIT);
        });
        Ok(pressed)
    }

    /// Refuses to print a stream as a table for programs: its messages have not the same fields.
    ///
    /// # Errors
    /// That was asked for.
    pub(crate) fn expect_lines(&self) -> Result<(), Failure> {
        match self.format {
            OutputFormat::Csv => Err(anyhow::anyhow!("a stream has no rows; write --output ndjson").into()),
            OutputFormat::Table | OutputFormat::Json | OutputFormat::Ndjson => Ok(()),
        }
    }

    /// Returns which service is asked, and with which key.
    pub(crate) const fn target(&self) -> &Target {
        &self.target
    }

    /// Returns how answers are to be printed.
    pub(crate) const fn format(&self) -> OutputFormat {
        self.format
    }

    fn ask(
        &self,
        method: &Method,
        url: &Url,
        body: Option<&str>,
        if_match: Option<&HeaderValue>,
    ) -> Result<Answer, Failure> {
        let key = (*method == Method::POST).then(idempotency_key);
        let request = || {
            let request = self.request(method, url, body, key.as_deref());
            match if_match {
                Some(value) => request.header(IF_MATCH, value),
                None => request,
            }
        };
        let attempt = || self.runtime.block_on(async { request().send().await });
        let response = match attempt() {
            // Whether the first request arrived is unknown, so only what happens once is repeated.
            Err(error) if error.is_connect() || (*method != Method::DELETE && !error.is_timeout()) => attempt(),
            sent => sent,
        };
        self.answer(response.map_err(|error| self.unreachable(&error))?)
    }

    fn send(&self, request: RequestBuilder) -> Result<Response, Failure> {
        // Timers start when the request is made, so that has to happen inside the runtime.
        let response = self.runtime.block_on(async { request.send().await });
        response.map_err(|error| self.unreachable(&error))
    }

    fn request(&self, method: &Method, url: &Url, body: Option<&str>, key: Option<&str>) -> RequestBuilder {
        let mut request = self.http.request(method.clone(), url.clone()).timeout(ANSWER_TIMEOUT);
        if let Some(key) = key {
            // A structured field string, hence the quotes (RFC 9651 §3.3.3).
            request = request.header("idempotency-key", format!("\"{key}\""));
        }
        match body {
            Some(body) => request.header(CONTENT_TYPE, "application/json").body(body.to_owned()),
            None => request,
        }
    }

    fn text(&self, response: Response) -> Result<String, Failure> {
        let status = response.status();
        let text = self.runtime.block_on(response.text()).map_err(|error| self.unreachable(&error))?;
        told(status, text)
    }

    fn answer(&self, response: Response) -> Result<Answer, Failure> {
        self.text(response).and_then(|text| self.read(text))
    }

    fn read(&self, text: String) -> Result<Answer, Failure> {
        match serde_json::from_str(&text) {
            Ok(value) => Ok(Answer { text, value }),
            Err(_) => Err(anyhow::anyhow!("{} did not answer with JSON; is it timenav?", self.target.url).into()),
        }
    }

    /// Returns an address below the service's own, which may have a path where a proxy gives it one.
    fn url(&self, path: &[&str], query: &[(&str, String)]) -> Url {
        below(&self.target.url, path, query)
    }

    fn unreachable(&self, error: &reqwest::Error) -> Failure {
        unreachable(&self.target.url, error)
    }
}

/// Returns an address below that of a service.
fn below(base: &Url, path: &[impl AsRef<str>], query: &[(impl AsRef<str>, String)]) -> Url {
    let mut url = base.clone();
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(path);
    }
    if !query.is_empty() {
        url.query_pairs_mut().extend_pairs(query);
    }
    url
}

/// Says that a service did not answer, and why.
fn unreachable(service: &Url, error: &reqwest::Error) -> Failure {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let detail = spoken_otherwise(service, error).unwrap_or_else(|| cause.to_string());
    Failure::Unreachable { service: format!("at {service}"), detail }
}

/// Returns the text of an answer.
///
/// # Errors
/// The service says no.
fn told(status: StatusCode, text: String) -> Result<String, Failure> {
    if status.is_success() { Ok(text) } else { Err(Failure::Problem(Problem::new(status.as_u16(), &text))) }
}

/// Says that a service answers without encryption where https was expected, or the other way round. The libraries tell
/// of bytes that they do not understand.
fn spoken_otherwise(url: &Url, error: &reqwest::Error) -> Option<String> {
    let text = format!("{error:?}");
    let other = |scheme: &str| format!("{scheme}{}", url.as_str().trim_start_matches(url.scheme()));
    match url.scheme() {
        "https" if text.contains("InvalidContentType") => {
            Some(format!("it does not speak HTTPS there; if plain HTTP will do, write {}", other("http")))
        }
        "http" if text.contains("Parse(Version)") => {
            Some(format!("it does not speak plain HTTP there; write {}", other("https")))
        }
        _ => None,
    }
}

/// Returns a random version 4 UUID (RFC 9562 §5.4).
fn idempotency_key() -> String {
    let mut bytes = [0; 16];
    OsEntropy::new().fill(&mut bytes);
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = HEXLOWER.encode(&bytes);
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}
