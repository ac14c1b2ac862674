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
use http::{HeaderMap, Method, Uri};
use timenav_engine::Caller;

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
    /// Whether the operation only reads. The response to a change is always sent.
    is_lookup: bool,
}

impl Operation {
    pub(crate) fn new<A>(handler: impl Operate<A>) -> Self {
        Self { run: Arc::new(move |incoming| handler.operate(incoming)), is_lookup: false }
    }

    pub(crate) fn lookup<A>(handler: impl Operate<A>) -> Self {
        Self { is_lookup: true, ..Self::new(handler) }
    }
}

impl Handler<(), App> for Operation {
    type Future = BoxFuture<'static, Response>;

    fn call(self, request: Request, app: App) -> Self::Future {
        let (parts, body) = request.into_parts();
        let caller = parts.extensions.get::<Caller>().filter(|_| self.is_lookup);
        let Some(user_id) = caller.map(|caller| caller.user_id.clone()) else {
            return (self.run)(Incoming { app, parts, body });
        };
        let rooms = Arc::clone(&app.rooms);
        let response = (self.run)(Incoming { app, parts, body });
        Box::pin(
            async move { rooms.hold_response(user_id, response.await).await.unwrap_or_else(Failure::into_response) },
        )
    }
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
            #[expect(non_snake_case, reason = "an argument is named by its type")]
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
operate!(A1 A2 A3 A4 A5 A6 A7);

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
