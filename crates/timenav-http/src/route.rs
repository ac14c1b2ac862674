//! One row creates the route of an operation and its OpenAPI entry, so neither exists without the other.

use axum::routing::{MethodRouter, delete, get, patch, post};
use http::Method;
use timenav_engine::ReadOf;
#[cfg(feature = "schema")]
use utoipa::openapi::{RefOr, Schema};

use crate::handler::{Lookup, Operate, Operation, READ_LOG, READ_LOG_SAYS};
use crate::request::entity_tag::{IF_MATCH, THERE};
use crate::schema::ToSchema;
use crate::state::App;

/// All operations are served under each of these prefixes.
const PREFIXES: [&str; 2] = ["/v1", "/api/v1"];

/// A wire type: its name, its schema and the schemas that it references.
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

#[cfg(not(feature = "schema"))]
#[derive(Clone)]
pub(crate) struct WireType;

#[cfg(not(feature = "schema"))]
impl WireType {
    fn of<T: ToSchema>() -> Self {
        Self
    }
}

#[derive(Clone)]
pub(crate) enum Takes {
    Nothing,
    /// Parameters in the query string, a JSON body or both.
    Params(WireType),
    /// A JSON body that is not an object of parameters.
    Body(WireType),
    /// Parameters in the query string and a file as the body.
    File(WireType, Vec<&'static str>),
}

#[derive(Clone)]
pub(crate) enum Gives {
    Json(WireType),
    Stream(WireType, Messages),
    /// The first type as JSON, or server-sent events: `progress` with the second type, then `result` with the first.
    WithProgress(WireType, Box<WireType>),
    /// Text with this description, or this type as JSON.
    Text(&'static str, WireType),
    Bytes,
    File,
    Lines(&'static str),
}

#[derive(Clone)]
pub(crate) struct Messages {
    pub(crate) names: &'static [&'static str],
    pub(crate) id: &'static str,
    pub(crate) what: &'static str,
    /// Whether a message may consist of an id only.
    pub(crate) may_be_silent: bool,
}

/// One valid combination of parameters, for operations whose parameters cannot be combined freely.
#[derive(Clone, Default)]
pub(crate) struct Form {
    /// Required parameters.
    pub(crate) given: Vec<&'static str>,
    pub(crate) absent: Vec<&'static str>,
    /// Flags that must be false or absent.
    pub(crate) off: Vec<&'static str>,
    /// Optional parameters, each with its allowed values.
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

pub(crate) struct Heeded {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) kind: &'static str,
}

#[expect(clippy::struct_excessive_bools, reason = "each flag is independent")]
pub(crate) struct Route {
    pub(crate) method: Method,
    /// The path below the prefix.
    pub(crate) path: &'static str,
    /// Whether the operation is also served without a prefix.
    pub(crate) bare: bool,
    pub(crate) id: &'static str,
    pub(crate) tag: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) takes: Takes,
    pub(crate) gives: Gives,
    pub(crate) status: u16,
    /// Whether the created resource may exist already, which has a different status.
    pub(crate) or_there: bool,
    /// The valid combinations of parameters; empty if all may be combined.
    pub(crate) forms: Vec<Form>,
    /// Supported request headers, in addition to those of every operation.
    pub(crate) heeds: Vec<Heeded>,
    /// Error statuses, in addition to those of every operation with this method.
    pub(crate) refusals: Vec<&'static str>,
    pub(crate) tagged: bool,
    pub(crate) linked: bool,
    /// Headers of the successful response: name and description.
    pub(crate) tells: Vec<(&'static str, &'static str)>,
    /// Whether the operation needs no credentials.
    pub(crate) open: bool,
    /// Whether every request is carried out, regardless of its `Idempotency-Key`: the response is not stored.
    pub(crate) anew: bool,
    /// Whether a deletion stores its response for repeats with the same `Idempotency-Key`.
    pub(crate) stores_response: bool,
    operation: Operation,
}

impl Route {
    fn new(method: Method, path: &'static str, id: &'static str, summary: &'static str, operation: Operation) -> Self {
        Self {
            method,
            path,
            bare: false,
            id,
            tag: "",
            summary,
            takes: Takes::Nothing,
            gives: Gives::Json(WireType::of::<crate::response::answer::StatusBody>()),
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
            stores_response: false,
            operation,
        }
    }

    /// A read-only operation. `QUERY` has the same handler.
    pub(crate) fn lookup<A>(
        path: &'static str,
        id: &'static str,
        summary: &'static str,
        handler: impl Operate<A>,
    ) -> Self {
        Self::lookup_of(ReadOf::Content, path, id, summary, handler)
    }

    pub(crate) fn lookup_of<A>(
        object: ReadOf,
        path: &'static str,
        id: &'static str,
        summary: &'static str,
        handler: impl Operate<A>,
    ) -> Self {
        let operation = Operation::lookup(Lookup::Of(object), handler);
        Self::new(Method::GET, path, id, summary, operation).has_response_header(READ_LOG, READ_LOG_SAYS)
    }

    /// A read-only operation without an entry in a ledger.
    pub(crate) fn lookup_unlogged<A>(
        path: &'static str,
        id: &'static str,
        summary: &'static str,
        handler: impl Operate<A>,
    ) -> Self {
        Self::new(Method::GET, path, id, summary, Operation::lookup(Lookup::Unlogged, handler))
    }

    /// A read-only operation whose parameters may be too long for a query string.
    pub(crate) fn lookup_by_post<A>(
        path: &'static str,
        id: &'static str,
        summary: &'static str,
        handler: impl Operate<A>,
    ) -> Self {
        let operation = Operation::lookup(Lookup::Of(ReadOf::Content), handler);
        Self::new(Method::POST, path, id, summary, operation).has_response_header(READ_LOG, READ_LOG_SAYS)
    }

    pub(crate) fn change<A>(
        path: &'static str,
        id: &'static str,
        summary: &'static str,
        handler: impl Operate<A>,
    ) -> Self {
        Self::new(Method::POST, path, id, summary, Operation::new(handler))
    }

    pub(crate) fn alteration<A>(
        path: &'static str,
        id: &'static str,
        summary: &'static str,
        handler: impl Operate<A>,
    ) -> Self {
        Self::new(Method::PATCH, path, id, summary, Operation::new(handler))
    }

    pub(crate) fn removal<A>(
        path: &'static str,
        id: &'static str,
        summary: &'static str,
        handler: impl Operate<A>,
    ) -> Self {
        Self::new(Method::DELETE, path, id, summary, Operation::new(handler))
    }

    pub(crate) fn takes<T: ToSchema>(mut self) -> Self {
        self.takes = Takes::Params(WireType::of::<T>());
        self
    }

    pub(crate) fn takes_body<T: ToSchema>(mut self) -> Self {
        self.takes = Takes::Body(WireType::of::<T>());
        self
    }

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

    pub(crate) const fn or_there(mut self) -> Self {
        self.or_there = true;
        self
    }

    pub(crate) fn either(self, one: &'static str, other: &'static str) -> Self {
        let alone = |given, absent| Form::default().with(given).without(absent);
        self.form(alone(one, other)).form(alone(other, one))
    }

    pub(crate) fn form(mut self, form: Form) -> Self {
        self.forms.push(form);
        self
    }

    pub(crate) fn heeds(mut self, name: &'static str, description: &'static str, kind: &'static str) -> Self {
        self.heeds.push(Heeded { name, description, kind });
        self
    }

    pub(crate) fn heeds_if_match(mut self, description: &'static str) -> Self {
        self.refusals.push("412");
        self.heeds(IF_MATCH, description, "entity-tags")
    }

    /// Makes the operation conditional on an existing timeline with `If-Match: *`. Timelines have no tags.
    pub(crate) fn heeds_if_there(self) -> Self {
        self.heeds(IF_MATCH, THERE, "entity-tags")
    }

    /// Declares 409 for a lookup: its result may be too large.
    pub(crate) fn conflicts(mut self) -> Self {
        self.refusals.push("409");
        self
    }

    pub(crate) const fn tagged(mut self) -> Self {
        self.tagged = true;
        self
    }

    pub(crate) const fn linked(mut self) -> Self {
        self.linked = true;
        self
    }

    pub(crate) fn has_response_header(mut self, name: &'static str, description: &'static str) -> Self {
        self.tells.push((name, description));
        self
    }

    pub(crate) const fn stores_response(mut self) -> Self {
        self.stores_response = true;
        self
    }

    pub(crate) const fn anew(mut self) -> Self {
        self.anew = true;
        self
    }

    pub(crate) const fn open(mut self) -> Self {
        self.open = true;
        self
    }

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
        let operation = self.operation.clone().heeding(heeds_if_match);
        match self.method {
            Method::GET => get(operation),
            Method::PATCH => patch(operation),
            Method::DELETE => delete(operation),
            _ => post(operation),
        }
    }

    pub(crate) fn paths(&self) -> Vec<String> {
        let bare = self.bare.then(|| self.path.to_owned());
        PREFIXES.iter().map(|prefix| format!("{prefix}{}", self.path)).chain(bare).collect()
    }

    pub(crate) fn documented_path(&self) -> String {
        // OpenAPI has no path parameter that spans several segments, so the wildcard is documented as a plain name.
        let path = self.path.replace("{*", "{");
        if self.bare { path } else { format!("{}{path}", PREFIXES[0]) }
    }
}
