//! One operation: where it is, what it takes, what it answers, who handles it.
//!
//! The same row makes the route and its place in the OpenAPI document, so neither can be without
//! the other.

use axum::handler::Handler;
use axum::routing::{MethodRouter, delete, get, post};
use http::Method;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::app::{App, PREFIXES};

/// The name, the schema, and the schemas it refers to, of a type on the wire.
#[derive(Clone)]
pub(crate) struct WireType {
    pub(crate) name: String,
    pub(crate) schema: RefOr<Schema>,
    pub(crate) parts: Vec<(String, RefOr<Schema>)>,
}

impl WireType {
    fn of<T: ToSchema>() -> Self {
        let mut parts = Vec::new();
        T::schemas(&mut parts);
        Self { name: T::name().into_owned(), schema: <T as PartialSchema>::schema(), parts }
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
    File(WireType),
}

/// What an operation answers when all is well.
#[derive(Clone)]
pub(crate) enum Gives {
    Json(WireType),
    /// Server-sent events whose data is of this type.
    Stream(WireType),
    /// A signed note as text, or this as JSON.
    Note(WireType),
    /// Bytes.
    Bytes,
}

/// One operation.
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
    /// Whether it may answer that there were too many attempts.
    pub(crate) limited: bool,
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
            limited: false,
            handler,
        }
    }

    /// An operation that only looks. `QUERY` is served by the same handler.
    pub(crate) fn lookup<H, T>(path: &'static str, id: &'static str, summary: &'static str, handler: H) -> Self
    where
        H: Handler<T, App>,
        T: 'static,
    {
        Self::new(Method::GET, path, id, summary, get(handler))
    }

    /// An operation that changes something.
    pub(crate) fn change<H, T>(path: &'static str, id: &'static str, summary: &'static str, handler: H) -> Self
    where
        H: Handler<T, App>,
        T: 'static,
    {
        Self::new(Method::POST, path, id, summary, post(handler))
    }

    /// An operation that takes something away.
    pub(crate) fn removal<H, T>(path: &'static str, id: &'static str, summary: &'static str, handler: H) -> Self
    where
        H: Handler<T, App>,
        T: 'static,
    {
        Self::new(Method::DELETE, path, id, summary, delete(handler))
    }

    pub(crate) fn takes<T: ToSchema>(mut self) -> Self {
        self.takes = Takes::Params(WireType::of::<T>());
        self
    }

    pub(crate) fn takes_body<T: ToSchema>(mut self) -> Self {
        self.takes = Takes::Body(WireType::of::<T>());
        self
    }

    pub(crate) fn takes_file<T: ToSchema>(mut self) -> Self {
        self.takes = Takes::File(WireType::of::<T>());
        self
    }

    pub(crate) fn gives<T: ToSchema>(mut self) -> Self {
        self.gives = Gives::Json(WireType::of::<T>());
        self
    }

    pub(crate) fn streams<T: ToSchema>(mut self) -> Self {
        self.gives = Gives::Stream(WireType::of::<T>());
        self
    }

    pub(crate) fn gives_note<T: ToSchema>(mut self) -> Self {
        self.gives = Gives::Note(WireType::of::<T>());
        self
    }

    pub(crate) fn gives_bytes(mut self) -> Self {
        self.gives = Gives::Bytes;
        self
    }

    pub(crate) const fn created(mut self) -> Self {
        self.status = 201;
        self
    }

    /// Says that there may be too many attempts.
    pub(crate) const fn limited(mut self) -> Self {
        self.limited = true;
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
        self.handler.clone()
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
