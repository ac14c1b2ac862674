//! A call: a request with a typed response that is sent when it is awaited.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;

use reqwest::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::client::Client;
use crate::error::Error;
use crate::transport::arguments::{ClockDuration, EntityTag};
use crate::transport::request::Request;
use crate::transport::response::Response;

/// The response of a call, as a future.
pub type CallFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// A request that is being built. `.await` sends it and parses the response as `T`.
///
/// `O` is the operation, if its options differ from those of other operations with the same response.
#[must_use = "a call is sent when it is awaited"]
pub struct Call<'a, T, O = ()> {
    client: &'a Client,
    request: Request,
    parameters: Map<String, Value>,
    /// Whether parameters are sent in the query instead of the body.
    is_query: bool,
    /// The body of a request whose parameters are sent in the query.
    content: Option<Value>,
    invalid: Option<String>,
    shape: PhantomData<fn() -> (T, O)>,
}

impl Client {
    /// Returns a call of any operation. `parameters` is an object that is sent as the query of a GET or a DELETE, and
    /// as the body of other methods. A body that is not an object is sent as is. `()` means no parameters.
    ///
    /// All methods except GET and DELETE get an idempotency key. The timeline of the client is not added, because not
    /// every operation takes one.
    ///
    /// ```no_run
    /// # async fn example(client: timenav_client::Client) -> Result<(), timenav_client::Error> {
    /// use serde_json::{Value, json};
    /// use timenav_client::Method;
    ///
    /// let followers: Value = client.request(Method::GET, &["v1", "followers"], json!({ "timeline_id": "main" })).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn request<T>(&self, method: Method, path: &[&str], parameters: impl Serialize) -> Call<'_, T> {
        let is_query = method == Method::GET || method == Method::DELETE;
        let request = Request::new(method, path);
        let request = if is_query { request } else { request.with_idempotency_key() };
        let mut call = Call::new(self, request, is_query);
        match call.value("the parameters", parameters) {
            Value::Object(parameters) => call.parameters = parameters,
            Value::Null => {}
            _ if is_query => call.invalid = Some("the parameters of a query must be an object".to_owned()),
            content => (call.is_query, call.content) = (true, Some(content)),
        }
        call
    }

    pub(crate) fn get<T>(&self, path: &[&str]) -> Call<'_, T> {
        Call::new(self, Request::get(path), true)
    }

    /// Returns a call with an idempotency key, whose parameters are sent in the body.
    pub(crate) fn post<T, O>(&self, path: &[&str]) -> Call<'_, T, O> {
        Call::new(self, Request::post(path), false)
    }
}

impl<'a, T, O> Call<'a, T, O> {
    pub(crate) fn new(client: &'a Client, request: Request, is_query: bool) -> Self {
        let is_segment = |part: &String| !matches!(part.as_str(), "" | "." | "..");
        let wrong = request.path.iter().find(|part| !is_segment(part));
        let invalid = wrong.map(|part| format!("{part:?} is not a valid path segment"));
        let (parameters, shape) = (Map::new(), PhantomData);
        Self { client, request, parameters, is_query, content: None, invalid, shape }
    }

    /// Sets the timeline to that of the client, if it has one.
    pub(crate) fn on_default_timeline(self) -> Self {
        match self.client.timeline_id() {
            Some(timeline_id) => self.set("timeline_id", timeline_id),
            None => self,
        }
    }

    /// Sets a body. The parameters are sent in the query.
    pub(crate) fn content(mut self, content: impl Serialize) -> Self {
        self.content = Some(self.value("the body", content));
        self.is_query = true;
        self
    }

    pub(crate) fn without_timeout(mut self) -> Self {
        self.request = self.request.without_timeout();
        self
    }

    /// Sets a parameter that has no method of its own.
    pub fn set(mut self, name: &str, value: impl Serialize) -> Self {
        let value = self.value(name, value);
        self.parameters.insert(name.to_owned(), value);
        self
    }

    /// Sets the timeline. Defaults to that of the client.
    pub fn timeline_id(self, timeline_id: &str) -> Self {
        self.set("timeline_id", timeline_id)
    }

    /// Sets the idempotency key. A request repeated with the same key within 24 hours gets the same response.
    pub fn idempotency_key(self, key: &str) -> Self {
        self.header("idempotency-key", key)
    }

    /// Makes the request conditional on a version, which for a clock is its generation.
    pub fn if_match(self, tag: impl Into<EntityTag>) -> Self {
        let tag: EntityTag = tag.into();
        self.header("if-match", &tag.0)
    }

    fn header(mut self, name: &str, value: &str) -> Self {
        match self.request.clone().header(name, value) {
            Ok(request) => self.request = request,
            Err(error) => self.invalid = Some(error.to_string()),
        }
        self
    }

    fn value(&mut self, name: &str, value: impl Serialize) -> Value {
        serde_json::to_value(value).unwrap_or_else(|error| {
            self.invalid = Some(format!("{name}: {error}"));
            Value::Null
        })
    }

    pub(crate) fn add_attribute(&mut self, key: &str, value: String) {
        let attributes = self.parameters.entry("attribute").or_insert_with(|| Map::new().into());
        let values = attributes
            .as_object_mut()
            .map(|attributes| attributes.entry(key).or_insert_with(|| Vec::<Value>::new().into()));
        if let Some(values) = values.and_then(Value::as_array_mut) {
            values.push(value.into());
        }
    }

    /// Returns the request without sending it, to inspect it or to send it with [`Client::send`].
    ///
    /// # Errors
    /// An argument is invalid.
    pub fn build(self) -> Result<Request, Error> {
        let Self { mut request, parameters, is_query, content, invalid, .. } = self;
        if let Some(invalid) = invalid {
            return Err(Error::Invalid(invalid));
        }
        let named = parameters.get("timeline_id").and_then(Value::as_str).or_else(|| timeline_in(&request.path));
        if let Some(timeline) = named.map(str::to_owned) {
            request = request.of_timeline(&timeline);
        }
        if let Some(Value::String(wait)) = parameters.get("wait") {
            request = request.extend_timeout(ClockDuration::from(wait.as_str()).duration_or_unknown());
        }
        match content {
            Some(content) => request = request.json(&content)?,
            None if !is_query => return request.json(&parameters),
            None => {}
        }
        for (name, value) in &parameters {
            match value {
                Value::Null => {}
                Value::Object(members) => {
                    for (key, value) in members {
                        let values = value.as_array().map_or_else(|| std::slice::from_ref(value), Vec::as_slice);
                        let name = format!("{name}.{key}");
                        request.query.extend(values.iter().map(|value| (name.clone(), in_query(value))));
                    }
                }
                value => request.query.push((name.clone(), in_query(value))),
            }
        }
        Ok(request)
    }

    /// Sends the call, and returns the response before its body is read, with its status and headers.
    ///
    /// # Errors
    /// The service does not respond, or rejects the request.
    pub async fn send(self) -> Result<Response, Error> {
        let client = self.client;
        client.send(self.build()?).await
    }
}

/// Returns the timeline in a path: `["timeline", "main", …]`.
fn timeline_in(path: &[String]) -> Option<&str> {
    let at = path.iter().position(|segment| segment == "timeline")?;
    path.get(at + 1).map(String::as_str)
}

fn in_query(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(several) => several.iter().map(in_query).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

impl<'a, T: DeserializeOwned + 'a, O: 'a> IntoFuture for Call<'a, T, O> {
    type Output = Result<T, Error>;
    type IntoFuture = CallFuture<'a, T>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.send().await?.json().await })
    }
}

impl<T, O> Clone for Call<'_, T, O> {
    fn clone(&self) -> Self {
        Self {
            client: self.client,
            request: self.request.clone(),
            parameters: self.parameters.clone(),
            is_query: self.is_query,
            content: self.content.clone(),
            invalid: self.invalid.clone(),
            shape: PhantomData,
        }
    }
}

impl<T, O> fmt::Debug for Call<'_, T, O> {
    /// Omits the parameters, which may contain a password.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut output = formatter.debug_struct("Call");
        output.field("method", &self.request.method).field("path", &self.request.path).finish_non_exhaustive()
    }
}

/// One page of a list. Implement it for your own type to use [`Call::pages`].
pub trait Page: DeserializeOwned {
    /// An item of the list.
    type Item;

    /// Returns the cursor of the next page; `None` on the last one.
    fn next_cursor(&self) -> Option<&str>;

    /// Returns the items of this page.
    fn into_items(self) -> Vec<Self::Item>;
}

impl<'a, T: Page + 'a, O: 'a> Call<'a, T, O> {
    /// Returns the pages of a list. [`Pages::next`] requests each one.
    pub fn pages(self) -> Pages<'a, T, O> {
        Pages { call: Some(self) }
    }
}

/// The pages of a list.
#[derive(Debug)]
#[must_use = "pages are requested by `next` or `all`"]
pub struct Pages<'a, T, O = ()> {
    /// The call for the next page; `None` after the last one.
    call: Option<Call<'a, T, O>>,
}

impl<'a, T: Page + 'a, O: 'a> Pages<'a, T, O> {
    /// Returns the next page; `None` after the last one. If it fails, the next call requests the same page again.
    ///
    /// # Errors
    /// The service does not respond, or rejects the request.
    pub async fn next(&mut self) -> Result<Option<T>, Error> {
        let Some(call) = &self.call else { return Ok(None) };
        let page: T = call.clone().await?;
        self.call = self.call.take().zip(page.next_cursor()).map(|(call, cursor)| call.set("cursor", cursor));
        Ok(Some(page))
    }

    /// Returns the items of all pages. A long list may exceed memory.
    ///
    /// # Errors
    /// The service does not respond, or rejects a request.
    pub async fn all(mut self) -> Result<Vec<T::Item>, Error> {
        let mut items = Vec::new();
        while let Some(page) = self.next().await? {
            items.extend(page.into_items());
        }
        Ok(items)
    }
}

macro_rules! page {
    ($page:ty, $items:ident: $item:ty) => {
        impl $crate::transport::call::Page for $page {
            type Item = $item;

            fn next_cursor(&self) -> Option<&str> {
                self.next_cursor.as_deref()
            }

            fn into_items(self) -> Vec<$item> {
                self.$items
            }
        }
    };
}

pub(crate) use page;
