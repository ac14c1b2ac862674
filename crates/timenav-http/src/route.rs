//! One operation: where it is, what it takes, what it answers, who handles it.
//!
//! The same row makes the route and its place in the OpenAPI document, so neither can be without
//! the other.

use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::routing::{MethodRouter, delete, get, patch, post};
use http::Method;
#[cfg(feature = "schema")]
use utoipa::openapi::{RefOr, Schema};

use crate::compression::compressed;
use crate::entity_tag::{IF_MATCH, THERE, refuse_conditions};
use crate::handler::{Operate, Operation};
use crate::schema::ToSchema;
use crate::state::App;

/// Prefixes under which every operation is served by the same handler.
const PREFIXES: [&str; 2] = ["/v1", "/api/v1"];

/// The name, the schema, and the schemas it refers to, of a type on the wire.
#[cfg(feature = "schema")]
#[derive(Clone)]
pub(crate) struct WireType {
    pub(crate) name: String,
    pub(crate) schema: RefOr<Schema>,
    pub(crate) parts: Vec<(String, RefOr<Schema>)>,
}

#[cfg(feature = "schema")]
impl WireType {
    fn of<T: ToSchema>() -> Self {
        let mut parts = Vec::new();
        T::schemas(&mut parts);
        Self { name: T::name().into_owned(), schema: <T as utoipa::PartialSchema>::schema(), parts }
    }
}

/// A type on the wire, of which nothing is known.
#[cfg(not(feature = "schema"))]
#[derive(Clone)]
pub(crate) struct WireType;

#[cfg(not(feature = "schema"))]
impl WireType {
    fn of<T: ToSchema>() -> Self {
        Self
    }
}

/// What an operation takes besides what is in its path.
#[derive(Clone)]
pub(crate) enum Takes {
    Nothing,
    /// Parameters: in the query string, in a JSON body, or both.
    Params(WireType),
    /// A JSON body that is more than parameters.
    Body(WireType),
    /// Parameters in the query string, and a file as the body.
    File(WireType, Vec<&'static str>),
}

/// What an operation answers when all is well.
#[derive(Clone)]
pub(crate) enum Gives {
    Json(WireType),
    /// Server-sent events whose data is of this type.
    Stream(WireType, Messages),
    /// This as JSON, or server-sent events: `progress`, whose data is the second, and at last
    /// `result`, whose data is the first.
    WithProgress(WireType, Box<WireType>),
    /// Text that is this, in words, or this as JSON.
    Text(&'static str, WireType),
    /// Bytes.
    Bytes,
    /// A file of events in one of several formats.
    File,
    /// A file of lines of JSON that is this, in words.
    Lines(&'static str),
}

/// The messages of a stream.
#[derive(Clone)]
pub(crate) struct Messages {
    /// The events that they are named after.
    pub(crate) names: &'static [&'static str],
    /// What an id looks like, as a pattern.
    pub(crate) id: &'static str,
    /// What one message is, in words.
    pub(crate) what: &'static str,
    /// Whether one may have nothing but an id.
    pub(crate) may_be_silent: bool,
}

/// One form that the parameters of an operation may have, where not every one of them goes with every other.
#[derive(Clone, Default)]
pub(crate) struct Form {
    /// What is there.
    pub(crate) given: Vec<&'static str>,
    /// What is not.
    pub(crate) absent: Vec<&'static str>,
    /// Which switches are off, or not there.
    pub(crate) off: Vec<&'static str>,
    /// What may be there, and the words that it may be.
    pub(crate) words: Vec<(&'static str, &'static [&'static str])>,
}

impl Form {
    pub(crate) fn with(mut self, name: &'static str) -> Self {
        self.given.push(name);
        self
    }

    pub(crate) fn without(mut self, name: &'static str) -> Self {
        self.absent.push(name);
        self
    }

    pub(crate) fn off(mut self, name: &'static str) -> Self {
        self.off.push(name);
        self
    }

    pub(crate) fn only(mut self, name: &'static str, words: &'static [&'static str]) -> Self {
        self.words.push((name, words));
        self
    }
}

/// A field of a request's head.
pub(crate) struct Heeded {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    /// Which kind of text its value is, in the words of the OpenAPI document.
    pub(crate) kind: &'static str,
}

/// One operation.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, by its name")]
pub(crate) struct Route {
    pub(crate) method: Method,
    /// The path below the prefix.
    pub(crate) path: &'static str,
    /// Whether the operation is served without a prefix too.
    pub(crate) bare: bool,
    pub(crate) id: &'static str,
    pub(crate) tag: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) takes: Takes,
    pub(crate) gives: Gives,
    pub(crate) status: u16,
    /// Whether what it creates may be there already, which is another status.
    pub(crate) or_there: bool,
    /// The forms that parameters may have, if not all go with each other.
    pub(crate) forms: Vec<Form>,
    /// Fields of the request's head that are heeded, besides those that every operation heeds.
    pub(crate) heeds: Vec<Heeded>,
    /// Statuses that it is refused with, besides those of every operation of its method.
    pub(crate) refusals: Vec<&'static str>,
    /// Whether what it gives has an entity tag.
    pub(crate) tagged: bool,
    /// Whether its answer may link to the next page.
    pub(crate) linked: bool,
    /// Fields of the answer's head that are there when it is done, by name and what they say.
    pub(crate) tells: Vec<(&'static str, &'static str)>,
    /// Whether anybody may ask, who shows no credentials too.
    pub(crate) open: bool,
    /// Whether each request does it anew, whatever its `Idempotency-Key` is: nothing of the answer is kept.
    pub(crate) anew: bool,
    /// Whether taking something away keeps its answer for a repetition with the same `Idempotency-Key`.
    pub(crate) is_kept: bool,
    handler: MethodRouter<App>,
}

impl Route {
    fn new(
        method: Method,
        path: &'static str,
        id: &'static str,
        summary: &'static str,
        handler: MethodRouter<App>,
    ) -> Self {
        Self {
            method,
            path,
            bare: false,
            id,
            tag: "",
            summary,
            takes: Takes::Nothing,
            gives: Gives::Json(WireType::of::<crate::answer::StatusBody>()),
            status: 200,
            or_there: false,
            forms: Vec::new(),
            heeds: Vec::new(),
            refusals: Vec::new(),
            tagged: false,
            linked: false,
            tells: Vec::new(),
            open: false,
            anew: false,
            is_kept: false,
            handler,
        }
    }

    /// An operation that only looks. `QUERY` is served by the same handler.
    pub(crate) fn lookup<A>(
        path: &'static str,
        id: &'static str,
        summary: &'static str,
        handler: impl Operate<A>,
    ) -> Self {
        Self::new(Method::GET, path, id, summary, compressed(get(Operation::lookup(handler))))
    }

    /// An operation that only looks, with parameters that may be too long for a query string.
    pub(crate) fn lookup_by_post<A>(
        path: &'static str,
        id: &'static str,
        summary: &'static str,
        handler: impl Operate<A>,
    ) -> Self {
        Self::new(Method::POST, path, id, summary, compressed(post(Operation::lookup(handler))))
    }

    /// An operation that changes something.
    pub(crate) fn change<A>(
        path: &'static str,
        id: &'static str,
        summary: &'static str,
        handler: impl Operate<A>,
    ) -> Self {
        Self::new(Method::POST, path, id, summary, post(Operation::new(handler)))
    }

    /// An operation that changes a part of something.
    pub(crate) fn alteration<A>(
        path: &'static str,
        id: &'static str,
        summary: &'static str,
        handler: impl Operate<A>,
    ) -> Self {
        Self::new(Method::PATCH, path, id, summary, patch(Operation::new(handler)))
    }

    /// An operation that takes something away.
    pub(crate) fn removal<A>(
        path: &'static str,
        id: &'static str,
        summary: &'static str,
        handler: impl Operate<A>,
    ) -> Self {
        Self::new(Method::DELETE, path, id, summary, delete(Operation::new(handler)))
    }

    pub(crate) fn takes<T: ToSchema>(mut self) -> Self {
        self.takes = Takes::Params(WireType::of::<T>());
        self
    }

    pub(crate) fn takes_body<T: ToSchema>(mut self) -> Self {
        self.takes = Takes::Body(WireType::of::<T>());
        self
    }

    /// Says that the body is a file of one of these media types.
    pub(crate) fn takes_file<T: ToSchema>(mut self, types: Vec<&'static str>) -> Self {
        self.takes = Takes::File(WireType::of::<T>(), types);
        self
    }

    pub(crate) fn gives<T: ToSchema>(mut self) -> Self {
        self.gives = Gives::Json(WireType::of::<T>());
        self
    }

    pub(crate) fn streams<T: ToSchema>(mut self, messages: Messages) -> Self {
        self.gives = Gives::Stream(WireType::of::<T>(), messages);
        self
    }

    pub(crate) fn gives_text<T: ToSchema>(mut self, what: &'static str) -> Self {
        self.gives = Gives::Text(what, WireType::of::<T>());
        self
    }

    pub(crate) fn gives_with_progress<T: ToSchema, P: ToSchema>(mut self) -> Self {
        self.gives = Gives::WithProgress(WireType::of::<T>(), Box::new(WireType::of::<P>()));
        self
    }

    pub(crate) fn gives_bytes(mut self) -> Self {
        self.gives = Gives::Bytes;
        self
    }

    pub(crate) fn gives_file(mut self) -> Self {
        self.gives = Gives::File;
        self
    }

    pub(crate) fn gives_lines(mut self, what: &'static str) -> Self {
        self.gives = Gives::Lines(what);
        self
    }

    pub(crate) const fn created(mut self) -> Self {
        self.status = 201;
        self
    }

    /// Says that what it creates may be there already just so, which is no error.
    pub(crate) const fn or_there(mut self) -> Self {
        self.or_there = true;
        self
    }

    /// Says that of two parameters one is there, and not the other.
    pub(crate) fn either(self, one: &'static str, other: &'static str) -> Self {
        let alone = |given, absent| Form::default().with(given).without(absent);
        self.form(alone(one, other)).form(alone(other, one))
    }

    /// Says which form parameters may have, besides other forms.
    pub(crate) fn form(mut self, form: Form) -> Self {
        self.forms.push(form);
        self
    }

    /// Says that a field of the request's head is heeded.
    pub(crate) fn heeds(mut self, name: &'static str, description: &'static str, kind: &'static str) -> Self {
        self.heeds.push(Heeded { name, description, kind });
        self
    }

    /// Says that it is done only if what is there still has the tag of `If-Match`.
    pub(crate) fn heeds_if_match(mut self, description: &'static str) -> Self {
        self.refusals.push("412");
        self.heeds(IF_MATCH, description, "entity-tags")
    }

    /// Says that with `If-Match: *` it is done only if the timeline is there. A timeline has no tag that could differ.
    pub(crate) fn heeds_if_there(self) -> Self {
        self.heeds(IF_MATCH, THERE, "entity-tags")
    }

    /// Says that there may be too much of something for it, though it only looks.
    pub(crate) fn conflicts(mut self) -> Self {
        self.refusals.push("409");
        self
    }

    /// Says that what it gives has an entity tag.
    pub(crate) const fn tagged(mut self) -> Self {
        self.tagged = true;
        self
    }

    /// Says that its answer may link to the next page.
    pub(crate) const fn linked(mut self) -> Self {
        self.linked = true;
        self
    }

    /// Names a field of the answer's head.
    pub(crate) fn tells(mut self, name: &'static str, description: &'static str) -> Self {
        self.tells.push((name, description));
        self
    }

    /// Keeps the answer of a removal for repetitions with the same `Idempotency-Key`.
    pub(crate) const fn kept(mut self) -> Self {
        self.is_kept = true;
        self
    }

    /// Does it anew at each request, whatever its `Idempotency-Key` is.
    pub(crate) const fn anew(mut self) -> Self {
        self.anew = true;
        self
    }

    /// Lets anybody ask.
    pub(crate) const fn open(mut self) -> Self {
        self.open = true;
        self
    }

    /// Serves the operation without a prefix too.
    pub(crate) const fn bare(mut self) -> Self {
        self.bare = true;
        self
    }

    pub(crate) const fn tag(mut self, tag: &'static str) -> Self {
        self.tag = tag;
        self
    }

    pub(crate) fn method_router(&self) -> MethodRouter<App> {
        let heeds_if_match = self.heeds.iter().any(|heeded| heeded.name == IF_MATCH);
        let layer = from_fn(move |request: Request, next: Next| refuse_conditions(heeds_if_match, request, next));
        self.handler.clone().layer(layer)
    }

    /// Returns every path under which the operation is served.
    pub(crate) fn paths(&self) -> Vec<String> {
        let bare = self.bare.then(|| self.path.to_owned());
        PREFIXES.iter().map(|prefix| format!("{prefix}{}", self.path)).chain(bare).collect()
    }

    /// Returns the path under which the operation is documented.
    pub(crate) fn documented_path(&self) -> String {
        // OpenAPI has no parameter that spans several parts of a path; a name is a name.
        let path = self.path.replace("{*", "{");
        if self.bare { path } else { format!("{}{path}", PREFIXES[0]) }
    }
}
