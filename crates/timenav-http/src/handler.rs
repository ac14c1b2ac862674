//! A handler is an async function of [`Argument`]s. Extraction never waits, so each handler compiles to one future
//! instead of one per extractor, and the router sees a single type.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::handler::Handler;
use axum::response::{IntoResponse, Response};
use futures_util::future::BoxFuture;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use timenav_engine::{Caller, ReadLog, ReadOf};

use crate::request::entity_tag::check_conditions;
use crate::response::compression::{accepted, compressed};
use crate::response::problem::Failure;
use crate::state::App;

pub(crate) struct Incoming {
    pub(crate) app: App,
    pub(crate) parts: Parts,
    /// Empty if the body was read before the handler runs.
    body: Body,
}

pub(crate) trait Argument: Sized {
    fn extract(incoming: &mut Incoming) -> Result<Self, Failure>;
}

pub(crate) trait Operate<A>: Clone + Send + Sync + 'static {
    fn operate(&self, incoming: Incoming) -> BoxFuture<'static, Response>;
}

/// A type-erased handler of an operation.
#[derive(Clone)]
pub(crate) struct Operation {
    run: Arc<dyn Fn(Incoming) -> BoxFuture<'static, Response> + Send + Sync>,
    /// What it reads, if it changes nothing. The response to a change is always sent.
    lookup: Option<Lookup>,
    heeds_if_match: bool,
}

#[derive(Clone, Copy)]
pub(crate) enum Lookup {
    Of(ReadOf),
    /// A read without an entry in any ledger.
    Unlogged,
}

/// Response header: how a successful read is logged.
pub(crate) const READ_LOG: &str = "Timenav-Read-Log";
pub(crate) const READ_LOG_SAYS: &str =
    "How this read is logged: `durable` before the response, `buffered` about 20 ms after it, or `none`";
const READ_LOG_NAME: HeaderName = HeaderName::from_static("timenav-read-log");

impl Operation {
    pub(crate) fn new<A>(handler: impl Operate<A>) -> Self {
        Self { run: Arc::new(move |incoming| handler.operate(incoming)), lookup: None, heeds_if_match: false }
    }

    pub(crate) fn lookup<A>(lookup: Lookup, handler: impl Operate<A>) -> Self {
        Self { lookup: Some(lookup), ..Self::new(handler) }
    }

    pub(crate) fn heeding(self, if_match: bool) -> Self {
        Self { heeds_if_match: if_match, ..self }
    }
}

impl Handler<(), App> for Operation {
    type Future = BoxFuture<'static, Response>;

    fn call(self, request: Request, app: App) -> Self::Future {
        let (parts, body) = request.into_parts();
        if let Err(failure) = check_conditions(self.heeds_if_match, &parts) {
            return Box::pin(std::future::ready(failure.into_response()));
        }
        let Some(lookup) = self.lookup else { return (self.run)(Incoming { app, parts, body }) };
        let (rooms, read_log) = (Arc::clone(&app.rooms), read_log(&app, lookup));
        let user_id = parts.extensions.get::<Caller>().map(|caller| caller.user_id.clone());
        let accepted = accepted(&parts.headers);
        let response = (self.run)(Incoming { app, parts, body });
        Box::pin(async move {
            let mut response = response.await;
            if let Some(user_id) = user_id {
                if let Some(read_log) = read_log.filter(|_| response.status().is_success()) {
                    response.headers_mut().insert(READ_LOG_NAME, HeaderValue::from_static(read_log));
                }
                response = rooms.hold_response(user_id, response).await.unwrap_or_else(Failure::into_response);
            }
            compressed(accepted, response).await
        })
    }
}

fn read_log(app: &App, lookup: Lookup) -> Option<&'static str> {
    let Lookup::Of(object) = lookup else { return None };
    Some(match app.engine.read_log_of(object) {
        Some(ReadLog::Durable) => "durable",
        Some(ReadLog::Buffered) => "buffered",
        None => "none",
    })
}

macro_rules! operate {
    ($($argument:ident)*) => {
        impl<F, O, R, $($argument,)*> Operate<($($argument,)*)> for F
        where
            F: Fn($($argument,)*) -> O + Clone + Send + Sync + 'static,
            O: Future<Output = R> + Send + 'static,
            R: IntoResponse,
            $($argument: Argument,)*
        {
            #[expect(non_snake_case, reason = "the type of the argument is its name")]
            fn operate(&self, mut incoming: Incoming) -> BoxFuture<'static, Response> {
                $(
                    let $argument = match $argument::extract(&mut incoming) {
                        Ok(argument) => argument,
                        Err(failure) => return Box::pin(std::future::ready(failure.into_response())),
                    };
                )*
                let outcome = self($($argument,)*);
                Box::pin(async { outcome.await.into_response() })
            }
        }
    };
}
operate!(A1);
operate!(A1 A2);
operate!(A1 A2 A3);
operate!(A1 A2 A3 A4);
operate!(A1 A2 A3 A4 A5);
operate!(A1 A2 A3 A4 A5 A6);

impl Argument for State<App> {
    fn extract(incoming: &mut Incoming) -> Result<Self, Failure> {
        Ok(Self(incoming.app.clone()))
    }
}

impl Argument for HeaderMap {
    fn extract(incoming: &mut Incoming) -> Result<Self, Failure> {
        Ok(incoming.parts.headers.clone())
    }
}

impl Argument for Uri {
    fn extract(incoming: &mut Incoming) -> Result<Self, Failure> {
        Ok(incoming.parts.uri.clone())
    }
}

impl Argument for Method {
    fn extract(incoming: &mut Incoming) -> Result<Self, Failure> {
        Ok(incoming.parts.method.clone())
    }
}

/// The unread body. A second extraction is empty.
impl Argument for Body {
    fn extract(incoming: &mut Incoming) -> Result<Self, Failure> {
        Ok(std::mem::take(&mut incoming.body))
    }
}

/// A value that a layer may have added to the request.
impl<T: Clone + Send + Sync + 'static> Argument for Option<Extension<T>> {
    fn extract(incoming: &mut Incoming) -> Result<Self, Failure> {
        Ok(incoming.parts.extensions.get::<T>().cloned().map(Extension))
    }
}
