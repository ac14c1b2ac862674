//! How a call becomes a request, and its answer a type.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::time::Duration;

use reqwest::Body;
use reqwest::Method;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::arguments::{EntityTag, Length};
use crate::client::Client;
use crate::error::Error;
use crate::request::Request;
use crate::response::{Events, Response};
use crate::sse::SentEvent;
use crate::watch::Watch;

/// How much longer an answer may take that waits for as long as only a calendar tells.
const WAIT_UNKNOWN: Duration = Duration::from_mins(1);
/// Stands for a value in a path.
const VALUE: &str = "{}";
/// Stands for a value that is several segments of a path.
const SEGMENTS: &str = "{/}";

/// A call that is under way.
pub type Sent<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// Where an operation takes the timeline that it acts on, if it may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timeline {
    /// It takes none, or has to be told.
    Nowhere,
    InQuery,
    InBody,
}

/// How an operation is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation {
    pub(crate) method: &'static str,
    pub(crate) path: &'static [&'static str],
    /// Whether an idempotency key makes it happen once.
    pub(crate) is_once: bool,
    pub(crate) has_body: bool,
    pub(crate) timeline: Timeline,
    /// Whether its answer may take as long as it takes.
    pub(crate) is_long: bool,
}

impl Operation {
    pub(crate) const fn new(method: &'static str, path: &'static [&'static str]) -> Self {
        Self { method, path, is_once: false, has_body: false, timeline: Timeline::Nowhere, is_long: false }
    }

    pub(crate) const fn once(self) -> Self {
        Self { is_once: true, ..self }
    }

    pub(crate) const fn body(self) -> Self {
        Self { has_body: true, ..self }
    }

    pub(crate) const fn timeline(self, timeline: Timeline) -> Self {
        Self { timeline, ..self }
    }

    pub(crate) const fn long(self) -> Self {
        Self { is_long: true, ..self }
    }
}

/// A call that is being put together.
#[derive(Clone)]
pub(crate) struct Call<'a> {
    client: &'a Client,
    operation: Operation,
    path: Vec<String>,
    query: Vec<(String, String)>,
    head: Vec<(&'static str, String)>,
    members: Map<String, Value>,
    /// The body of an operation that takes no members.
    whole: Option<Value>,
    longer: Duration,
    /// What cannot be sent, and why.
    wrong: Option<String>,
}

impl fmt::Debug for Call<'_> {
    /// Says where the call goes. What it says may be a password.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Call");
        shown.field("method", &self.operation.method).field("path", &self.path).finish_non_exhaustive()
    }
}

impl<'a> Call<'a> {
    pub(crate) fn new(client: &'a Client, operation: &Operation, values: &[&str]) -> Self {
        let (mut path, mut wrong) = (Vec::new(), None);
        let mut values = values.iter();
        for &segment in operation.path {
            if segment != VALUE && segment != SEGMENTS {
                path.push(segment.to_owned());
                continue;
            }
            let value = values.next().copied().unwrap_or_default();
            let parts: Vec<&str> = if segment == SEGMENTS { value.split('/').collect() } else { vec![value] };
            if parts.iter().any(|part| matches!(*part, "" | "." | "..")) {
                wrong = Some(format!("{value:?} cannot be part of a path"));
            }
            path.extend(parts.into_iter().map(str::to_owned));
        }
        Self {
            client,
            operation: *operation,
            path,
            query: Vec::new(),
            head: Vec::new(),
            members: Map::new(),
            whole: None,
            longer: Duration::ZERO,
            wrong,
        }
    }

    /// Adds a parameter to the query, in place of one of that name.
    pub(crate) fn query(&mut self, name: &str, value: impl Serialize) {
        self.query.retain(|(other, _)| other != name);
        let value = self.value(name, value);
        self.query.push((name.to_owned(), in_query(&value)));
    }

    /// Adds what an attribute has to be, beside others.
    pub(crate) fn query_attribute(&mut self, key: &str, value: String) {
        self.query.push((format!("attribute.{key}"), value));
    }

    /// Adds a member to the body, in place of one of that name.
    pub(crate) fn member(&mut self, name: &str, value: impl Serialize) {
        let value = self.value(name, value);
        self.members.insert(name.to_owned(), value);
    }

    /// Adds what an attribute has to be, beside others.
    pub(crate) fn member_attribute(&mut self, key: &str, value: String) {
        let attributes = self.members.entry("attribute").or_insert_with(|| Value::Object(Map::new()));
        if let Some(wanted) = attributes.as_object_mut().map(|attributes| attributes.entry(key).or_insert(Value::Null))
        {
            *wanted = match wanted.take() {
                Value::Null => value.into(),
                Value::Array(mut several) => {
                    several.push(value.into());
                    several.into()
                }
                one => vec![one, value.into()].into(),
            };
        }
    }

    /// Adds all members of an object to the body.
    pub(crate) fn members(&mut self, members: &Map<String, Value>) {
        self.members.extend(members.clone());
    }

    /// Sets the body of an operation that takes no members.
    pub(crate) fn whole(&mut self, body: impl Serialize) {
        self.whole = Some(self.value("the body", body));
    }

    /// Sets a field of the head.
    pub(crate) fn head(&mut self, name: &'static str, value: String) {
        self.head.retain(|(other, _)| *other != name);
        self.head.push((name, value));
    }

    pub(crate) fn if_match(&mut self, tag: EntityTag) {
        self.head("if-match", tag.0);
    }

    /// Gives the answer as much more time as the service was asked to wait.
    pub(crate) fn longer(&mut self, wait: &Length) {
        self.longer = wait.duration().unwrap_or(WAIT_UNKNOWN);
    }

    fn value(&mut self, name: &str, value: impl Serialize) -> Value {
        serde_json::to_value(value).unwrap_or_else(|error| {
            self.wrong = Some(format!("{name}: {error}"));
            Value::Null
        })
    }

    /// Returns the request.
    pub(crate) fn request(self) -> Result<Request, Error> {
        let Self { client, operation, path, mut query, head, mut members, whole, longer, wrong } = self;
        if let Some(wrong) = wrong {
            return Err(Error::Invalid(wrong));
        }
        let timeline = client.timeline_id();
        let is_named = query.iter().any(|(name, _)| name == "timeline_id") || members.contains_key("timeline_id");
        match (operation.timeline, timeline) {
            (Timeline::InQuery, Some(timeline)) if !is_named => {
                query.push(("timeline_id".to_owned(), timeline.to_owned()));
            }
            (Timeline::InBody, Some(timeline)) if !is_named => {
                members.insert("timeline_id".to_owned(), timeline.into());
            }
            _ => {}
        }
        let method = match operation.method {
            "GET" => Method::GET,
            "DELETE" => Method::DELETE,
            "PATCH" => Method::PATCH,
            _ => Method::POST,
        };
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let mut request = Request::new(method, &path);
        request.query = query;
        if operation.is_once {
            request = request.once();
        }
        for (name, value) in head {
            request = request.header(name, &value)?;
        }
        if let Some(whole) = whole {
            request = request.json(&whole)?;
        } else if operation.has_body {
            request = request.json(&members)?;
        }
        Ok(if operation.is_long { request.unbounded() } else { request.longer(longer) })
    }

    /// Sends the call, and reads an answer in JSON.
    pub(crate) fn json<T: DeserializeOwned>(self) -> Sent<'a, T> {
        let client = self.client;
        Box::pin(async move { client.json(self.request()?).await })
    }

    /// Sends the call, and reads the signed text that is answered.
    pub(crate) fn text(self) -> Sent<'a, String> {
        let client = self.client;
        Box::pin(async move { client.send(self.accepting("text/plain")?).await?.text().await })
    }

    /// Sends the call, and reads the bytes that are answered.
    pub(crate) fn bytes(self) -> Sent<'a, Vec<u8>> {
        let client = self.client;
        Box::pin(async move {
            let mut response = client.send(self.accepting("*/*")?).await?;
            let mut bytes = Vec::new();
            while let Some(more) = response.chunk().await? {
                bytes.extend(more);
            }
            Ok(bytes)
        })
    }

    /// Sends the call, and returns the answer as it comes.
    pub(crate) fn response(self) -> Sent<'a, Response> {
        let client = self.client;
        Box::pin(async move { client.send(self.accepting("*/*")?.unbounded()).await })
    }

    /// Sends the call, and returns messages until its end.
    pub(crate) fn events(self) -> Sent<'a, Events> {
        let client = self.client;
        Box::pin(async move {
            let accepted = self.accepting("text/event-stream, application/json;q=0.5")?;
            Ok(client.send(accepted.unbounded()).await?.events())
        })
    }

    /// Sends the call, and returns messages across lost connections.
    pub(crate) fn watch(self) -> Sent<'a, Watch<SentEvent>> {
        let client = self.client;
        Box::pin(async move { client.watch(self.request()?).await })
    }

    /// Sends the call with a body of any length.
    pub(crate) fn upload<T: DeserializeOwned>(self, content_type: &'static str, content: Body) -> Sent<'a, T> {
        let client = self.client;
        Box::pin(async move {
            let mut request = self.request()?;
            request.headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static(content_type));
            client.upload(request.unbounded(), content).await?.json().await
        })
    }

    fn accepting(self, kinds: &'static str) -> Result<Request, Error> {
        let mut request = self.request()?;
        request.headers.insert(ACCEPT, HeaderValue::from_static(kinds));
        Ok(request)
    }
}

/// Writes a value as a query has it.
fn in_query(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(several) => several.iter().map(in_query).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// One page of something.
pub trait Page: DeserializeOwned + Send {
    /// Returns what the next page is asked for with; `None` on the last one.
    fn next_cursor(&self) -> Option<&str>;
}

/// One page of a list.
pub trait List: Page {
    /// What is listed.
    type Item;

    /// Returns what is listed on this page.
    fn into_items(self) -> Vec<Self::Item>;
}

/// The pages of a list, one after the other.
#[derive(Debug)]
pub struct Pages<'a, P> {
    /// Asks for the next page; `None` after the last one.
    call: Option<Call<'a>>,
    page: PhantomData<fn() -> P>,
}

impl<'a, P: Page> Pages<'a, P> {
    pub(crate) const fn new(call: Call<'a>) -> Self {
        Self { call: Some(call), page: PhantomData }
    }

    /// Returns the next page; `None` after the last one. If it fails, the same page is asked for again.
    ///
    /// # Errors
    /// The service does not answer, or says no.
    pub async fn next(&mut self) -> Result<Option<P>, Error> {
        let Some(call) = &self.call else { return Ok(None) };
        let page: P = call.clone().json().await?;
        match (page.next_cursor(), &mut self.call) {
            (Some(cursor), Some(call)) if call.operation.method == "GET" => call.query("cursor", cursor),
            (Some(cursor), Some(call)) => call.member("cursor", cursor),
            _ => self.call = None,
        }
        Ok(Some(page))
    }
}

impl<P: List> Pages<'_, P> {
    /// Returns everything on all pages. A list may be longer than what fits into memory.
    ///
    /// # Errors
    /// The service does not answer, or says no.
    pub async fn all(mut self) -> Result<Vec<P::Item>, Error> {
        let mut items = Vec::new();
        while let Some(page) = self.next().await? {
            items.extend(page.into_items());
        }
        Ok(items)
    }
}

/// Has a call sent when it is awaited.
macro_rules! sent {
    ($call:ident, $answer:ty, upload $kind:literal) => {
        impl<'a> IntoFuture for $call<'a> {
            type Output = Result<$answer, Error>;
            type IntoFuture = Sent<'a, $answer>;

            fn into_future(self) -> Self::IntoFuture {
                self.call.upload($kind, self.content)
            }
        }

        sent!($call);
    };
    ($call:ident, $answer:ty, $how:ident) => {
        impl<'a> IntoFuture for $call<'a> {
            type Output = Result<$answer, Error>;
            type IntoFuture = Sent<'a, $answer>;

            fn into_future(self) -> Self::IntoFuture {
                self.call.$how()
            }
        }

        sent!($call);
    };
    ($call:ident) => {
        impl $call<'_> {
            /// Returns the request, to look at it or to send it with [`Client::send`]; without the content of a file.
            ///
            /// # Errors
            /// An argument cannot be sent.
            pub fn request(self) -> Result<Request, Error> {
                self.call.request()
            }
        }
    };
}

/// Has something read page by page.
macro_rules! page {
    ($page:ty) => {
        impl Page for $page {
            fn next_cursor(&self) -> Option<&str> {
                self.next_cursor.as_deref()
            }
        }
    };
    ($page:ty, $items:ident, $item:ty) => {
        page!($page);

        impl List for $page {
            type Item = $item;

            fn into_items(self) -> Vec<$item> {
                self.$items
            }
        }
    };
}

pub(crate) use {page, sent};
