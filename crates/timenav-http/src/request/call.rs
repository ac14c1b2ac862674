//! The arguments of most handlers: an authenticated request with its parameters.

use http::HeaderMap;
use serde::de::DeserializeOwned;
use timenav_engine::{Caller, Idempotency};

use crate::handler::{Argument, Incoming};
use crate::request::auth::Authenticated;
use crate::request::idempotency::Idempotent;
use crate::request::params::Params;
use crate::response::problem::Failure;
use crate::state::App;

/// A request that changes nothing.
pub(crate) struct Read<T> {
    pub(crate) app: App,
    pub(crate) caller: Caller,
    pub(crate) request: T,
}

/// A request that may change something. Its `Idempotency-Key` is checked even if the operation does not use it. It takes
/// the headers, so arguments after it find none.
pub(crate) struct Change<T> {
    pub(crate) app: App,
    pub(crate) caller: Caller,
    pub(crate) idempotency: Option<Idempotency>,
    pub(crate) headers: HeaderMap,
    pub(crate) request: T,
}

impl<T: DeserializeOwned> Argument for Read<T> {
    fn extract(incoming: &mut Incoming) -> Result<Self, Failure> {
        let Authenticated(caller) = Authenticated::extract(incoming)?;
        let Params(request) = Params::extract(incoming)?;
        Ok(Self { app: incoming.app.clone(), caller, request })
    }
}

impl<T: DeserializeOwned> Argument for Change<T> {
    fn extract(incoming: &mut Incoming) -> Result<Self, Failure> {
        let Authenticated(caller) = Authenticated::extract(incoming)?;
        let Idempotent(idempotency) = Idempotent::extract(incoming)?;
        let Params(request) = Params::extract(incoming)?;
        let headers = std::mem::take(&mut incoming.parts.headers);
        Ok(Self { app: incoming.app.clone(), caller, idempotency, headers, request })
    }
}
