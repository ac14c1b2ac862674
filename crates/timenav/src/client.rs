mod call;
#[cfg_attr(not(feature = "mcp"), expect(dead_code, reason = "only `timenav mcp` uses all of it"))]
mod caller;
mod create_option;
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
pub(crate) use caller::{ApiRequest, Caller};
#[cfg(feature = "mcp")]
pub(crate) use caller::{Reply, Watch};
pub(crate) use create_option::CreateOption;
pub(crate) use event_stream::{BlockingEventStream, BlockingWatch, ServerEvent, Sign};
use options::pem;
pub(crate) use options::{ServiceOptions, TimelineOptions, authorities, built, is_this_machine, service_url};
use read_ahead::read_ahead;
use serde_json::{Map, Value};
pub(crate) use target::Target;
use timenav_client::header::{CONTENT_ENCODING, HeaderMap, IF_MATCH};
use timenav_client::{Body, Method, Request, Response, RetryPolicy};
use timenav_import::Packing;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio_stream::wrappers::ReceiverStream;
pub(crate) use waiting::Interrupt;

use crate::exit::{Failure, Problem};
use crate::output::{self, OutputFormat, Records, Table};
use crate::wiring::surroundings::Surroundings;

/// One retry, if the response is lost or the service is not ready.
const RETRIES: RetryPolicy = RetryPolicy { attempts: 2, wait_max: Duration::from_millis(300) };
const ONCE: RetryPolicy = RetryPolicy { attempts: 1, ..RETRIES };
/// The exit code of a process that was ended by Ctrl-C, by shell convention.
pub(crate) const INTERRUPTED_EXIT: i32 = 130;

pub(crate) struct Client {
    runtime: Runtime,
    api: timenav_client::Client,
    target: Target,
    format: OutputFormat,
    /// State of tabular output for programs: the rows may come in several responses.
    rows: RefCell<Table>,
}

pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) value: Value,
}

impl Client {
    /// Finds the key. Fails if the key is missing or is not valid in a header.
    pub(crate) fn new(options: &ServiceOptions, surroundings: &Surroundings) -> Result<Self, Failure> {
        let format = options.output();
        let target = target::find(options, surroundings)?;
        if !target.key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Failure::NoKey("the API key has invalid characters".to_owned()));
        }
        let mut api = timenav_client::Client::builder()
            .base_url(target.url.as_str())
            .api_key(target.key.as_str())
            .user_agent(concat!("timenav/", env!("CARGO_PKG_VERSION")))
            .retries(RETRIES);
        if let Some(path) = &target.ca {
            authorities(path)?;
            api = api.ca_certificates(pem(path)?);
        }
        let api = api.build().map_err(|error| unfit(error, &target))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(anyhow::Error::new)?;
        Ok(Self { runtime, api, target, format, rows: RefCell::default() })
    }

    pub(crate) fn get(&self, path: &[&str], query: &[(&str, String)]) -> Result<Answer, Failure> {
        self.ask(asking(Method::GET, path, query))
    }

    /// Returns the response and its entity tag, if it has one.
    pub(crate) fn get_tagged(
        &self,
        path: &[&str],
        query: &[(&str, String)],
    ) -> Result<(Answer, Option<String>), Failure> {
        let response = self.send(asking(Method::GET, path, query))?;
        let tag = response.entity_tag().map(str::to_owned);
        Ok((self.answer(response)?, tag))
    }

    pub(crate) fn get_text(&self, path: &[&str], query: &[(&str, String)]) -> Result<String, Failure> {
        self.send(asking(Method::GET, path, query)).and_then(|response| self.text(response))
    }

    /// Sends a POST with an idempotency key, so a retry does not repeat it.
    pub(crate) fn post(&self, path: &[&str], body: Map<String, Value>) -> Result<Answer, Failure> {
        self.post_text(path, &[], &Value::Object(body).to_string())
    }

    pub(crate) fn post_text(&self, path: &[&str], query: &[(&str, String)], body: &str) -> Result<Answer, Failure> {
        self.ask(posting(path, query, body)?)
    }

    pub(crate) fn post_if(
        &self,
        path: &[&str],
        body: Map<String, Value>,
        tag: Option<&str>,
    ) -> Result<Answer, Failure> {
        let mut request = posting(path, &[], &Value::Object(body).to_string())?;
        if let Some(tag) = tag {
            // An entity tag is quoted (RFC 9110 §8.8.3).
            request = request.header(IF_MATCH.as_str(), &format!("\"{tag}\""))?;
        }
        self.ask(request)
    }

    /// Sends a POST that writes to a timeline. A missing timeline is created only if the options allow it.
    pub(crate) fn write(
        &self,
        path: &[&str],
        query: &[(&str, String)],
        body: &str,
        create: CreateOption,
    ) -> Result<Answer, Failure> {
        create.explain(self.ask(posting(path, query, body)?.headers(create.if_match())))
    }

    /// Sends a POST with a streamed response and no timeout. `progress` events go to `tell`; the data of the `result`
    /// event is the response. Fails if the stream ends before that.
    pub(crate) fn post_with_progress(
        &self,
        path: &[&str],
        body: &str,
        mut tell: impl FnMut(&Value),
    ) -> Result<Answer, Failure> {
        let request = asking(Method::POST, path, &[]).body("application/json", body)?.without_timeout();
        let request = request.header("accept", "text/event-stream, application/json;q=0.5")?;
        let response = self.send(request)?;
        if !response.content_type().starts_with("text/event-stream") {
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
            was_sent: true,
        })
    }

    pub(crate) fn patch(&self, path: &[&str], body: Map<String, Value>) -> Result<Answer, Failure> {
        let body = Value::Object(body).to_string();
        self.ask(asking(Method::PATCH, path, &[]).with_idempotency_key().body("application/json", body)?)
    }

    pub(crate) fn delete(&self, path: &[&str], query: &[(&str, String)]) -> Result<Answer, Failure> {
        self.ask(asking(Method::DELETE, path, query))
    }

    /// Uploads without retries, while the body is read. A response before its end, such as for a wrong key, stops it.
    pub(crate) fn upload(
        &self,
        path: &[&str],
        query: &[(&str, String)],
        content_type: &str,
        (packing, if_match): (Option<Packing>, HeaderMap),
        body: impl Read + Send + 'static,
    ) -> Result<Answer, Failure> {
        let mut request = asking(Method::POST, path, query).header("content-type", content_type)?.without_timeout();
        if let Some(packing) = packing {
            request = request.header(CONTENT_ENCODING.as_str(), packing.as_str())?;
        }
        let request = request.headers(if_match);
        let send = |body: Body| {
            let sent = self.runtime.block_on(self.api.upload(request.clone(), body));
            sent.map_err(Failure::from).and_then(|response| self.answer(response))
        };
        let answer = send(Body::wrap_stream(ReceiverStream::new(read_ahead(body))));
        if matches!(answer, Err(Failure::Unreachable { .. })) {
            // A service that responds early and closes the connection can abort the upload before its response is read.
            // The same request without a body gets the same rejection.
            if let Err(Failure::Problem(problem)) = send(Body::default())
                && !problem.is_about_the_body()
            {
                return Err(Failure::Problem(problem));
            }
        }
        answer
    }

    /// Opens a stream of server-sent events, starting after the given id or now. The given headers are added.
    pub(crate) fn stream(
        &self,
        path: &[&str],
        query: &[(&str, String)],
        head: &[(&str, String)],
        after: Option<&str>,
    ) -> Result<BlockingEventStream<'_>, Failure> {
        let mut request = asking(Method::GET, path, query).header("accept", "text/event-stream")?.without_timeout();
        for (name, value) in head {
            request = request.header(name, value)?;
        }
        Ok(self.events_of(self.send(beginning(request, after)?)?))
    }

    /// Like [`Client::stream`], but reconnects.
    pub(crate) fn watch(
        &self,
        path: &[&str],
        query: &[(&str, String)],
        after: Option<&str>,
    ) -> Result<BlockingWatch<'_>, Failure> {
        let request = beginning(asking(Method::GET, path, query), after)?;
        let watch = self.runtime.block_on(self.api.watch(request))?;
        Ok(BlockingWatch { client: self, watch })
    }

    fn events_of(&self, response: Response) -> BlockingEventStream<'_> {
        BlockingEventStream { client: self, events: response.events() }
    }

    /// Downloads a file of any length in chunks. Fails if the download is incomplete.
    pub(crate) fn download(
        &self,
        path: &[&str],
        query: &[(&str, String)],
        each: &mut dyn FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.each_chunk(self.send(asking(Method::GET, path, query).without_timeout())?, each)
    }

    fn each_chunk(
        &self,
        mut response: Response,
        each: &mut dyn FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        while let Some(bytes) = self.runtime.block_on(response.chunk())? {
            each(&bytes)?;
        }
        Ok(())
    }

    /// Prints a response that is not a list, formatted by `human` or for programs.
    pub(crate) fn show(&self, answer: &Answer, human: impl FnOnce(&Value) -> String) -> Result<(), Failure> {
        let text = match self.format {
            OutputFormat::Table => human(&answer.value),
            OutputFormat::Json => output::pretty(&answer.text),
            OutputFormat::Ndjson => output::line(&answer.text),
            OutputFormat::Csv => self.rows.borrow_mut().row(&answer.value),
        };
        output::write(&text)
    }

    /// Prints a list or a page of one, formatted by `human` or as records for programs.
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

    /// Makes Ctrl-C set the returned flag and end the upload, not the process; a second Ctrl-C ends the process.
    pub(crate) fn interruptible(&self) -> Result<Arc<AtomicBool>, Failure> {
        let pressed = Arc::new(AtomicBool::new(false));
        let notifier = Arc::clone(&pressed);
        let mut signals = {
            let _inside = self.runtime.enter();
            signal(SignalKind::interrupt()).map_err(anyhow::Error::new)?
        };
        self.runtime.spawn(async move {
            signals.recv().await;
            notifier.store(true, Ordering::Relaxed);
            output::note("interrupted; waiting for the request to be recorded (press Ctrl-C again to stop at once)");
            signals.recv().await;
            std::process::exit(INTERRUPTED_EXIT);
        });
        Ok(pressed)
    }

    /// Rejects tabular output for a stream: its messages have different fields.
    pub(crate) fn expect_lines(&self) -> Result<(), Failure> {
        match self.format {
            OutputFormat::Csv => Err(anyhow::anyhow!("a stream has no rows; write --output ndjson").into()),
            OutputFormat::Table | OutputFormat::Json | OutputFormat::Ndjson => Ok(()),
        }
    }

    pub(crate) const fn target(&self) -> &Target {
        &self.target
    }

    pub(crate) const fn format(&self) -> OutputFormat {
        self.format
    }

    fn ask(&self, request: Request) -> Result<Answer, Failure> {
        self.send(request).and_then(|response| self.answer(response))
    }

    fn send(&self, request: Request) -> Result<Response, Failure> {
        Ok(self.runtime.block_on(self.api.send(request))?)
    }

    fn text(&self, response: Response) -> Result<String, Failure> {
        Ok(self.runtime.block_on(response.text())?)
    }

    fn answer(&self, response: Response) -> Result<Answer, Failure> {
        self.text(response).and_then(|text| self.read(text))
    }

    fn read(&self, text: String) -> Result<Answer, Failure> {
        match serde_json::from_str(&text) {
            Ok(value) => Ok(Answer { text, value }),
            Err(_) => Err(anyhow::anyhow!("{} did not respond with JSON; is it timenav?", self.target.url).into()),
        }
    }
}

fn beginning(request: Request, after: Option<&str>) -> Result<Request, Failure> {
    match after {
        Some(id) => Ok(request.last_event_id(id)?),
        None => Ok(request),
    }
}

fn asking(method: Method, path: &[&str], query: &[(&str, String)]) -> Request {
    query.iter().fold(Request::new(method, path), |request, (name, value)| request.query(name, value))
}

fn posting(path: &[&str], query: &[(&str, String)], body: &str) -> Result<Request, Failure> {
    Ok(asking(Method::POST, path, query).with_idempotency_key().body("application/json", body)?)
}

fn unfit(error: timenav_client::Error, target: &Target) -> Failure {
    let is_unchecked = target.url.scheme() == "https" && target.ca.is_none();
    let error = anyhow::Error::new(error);
    if is_unchecked { error.context("give the service's certificate with --ca").into() } else { error.into() }
}
