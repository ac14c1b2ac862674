//! Everything put together.

use std::num::NonZeroU32;
use std::sync::Arc;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use timenav_core::ids::UserId;
use timenav_engine::{Engine, Seldom};
use tokio_util::sync::CancellationToken;

use crate::body::Rooms;
use crate::connections::ConnectionCounts;
use crate::metrics::Metrics;
use crate::rate::Rates;
use crate::refusals::Refusals;
use crate::route::Route;
use crate::shares::Shares;
use crate::v1::import::{IMPORTS_PER_USER_MAX, IMPORTS_RUNNING_MAX};
use crate::v1::stream::{STREAMS_MAX, STREAMS_PER_USER_MAX};
use crate::{auth, console, finish, host, service, v1};

/// What the process tells the HTTP layer.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// Cancelled when the service stops: streams end then.
    pub closing: CancellationToken,
    /// The version of the service.
    pub version: &'static str,
    /// Whether clients speak to the service by HTTPS.
    pub encrypted: bool,
    /// The origin under which browsers reach the service through a proxy that ends TLS, such as `https://time.test`.
    pub public_origin: Option<String>,
    /// Whether people may log in over plain HTTP from other machines.
    pub insecure_log_in: bool,
    /// Requests that one user may make in a minute; as many as they like where there is none.
    pub requests_per_minute: Option<NonZeroU32>,
    /// What becomes of connections.
    pub connections: Arc<ConnectionCounts>,
    /// Limits that connections have, by name. Whoever accepts them enforces these.
    pub connection_limits: Vec<(&'static str, u64)>,
}

impl HttpOptions {
    /// Returns whether browsers speak to the service by HTTPS, its own or that of a proxy.
    pub(crate) const fn is_secure(&self) -> bool {
        self.encrypted || self.public_origin.is_some()
    }
}

/// What every handler can reach.
#[derive(Clone)]
pub(crate) struct App {
    pub(crate) engine: Engine,
    pub(crate) options: Arc<HttpOptions>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) rates: Arc<Rates>,
    /// When it was last told that a request could not be carried out.
    pub(crate) unavailable: Arc<Seldom>,
    pub(crate) refusals: Arc<Refusals>,
    pub(crate) rooms: Arc<Rooms>,
    /// Requests that are being answered.
    pub(crate) requests: Arc<Shares<UserId>>,
    /// Files that are being imported.
    pub(crate) imports: Arc<Shares<UserId>>,
    /// Streams that somebody listens to.
    pub(crate) streams: Arc<Shares<UserId>>,
}

/// Requests of one user that may be answered at the same moment.
pub(crate) const REQUESTS_AT_ONCE_PER_USER_MAX: usize = 256;

/// Prefixes under which every operation is served by the same handler.
pub(crate) const PREFIXES: [&str; 2] = ["/v1", "/api/v1"];

/// Returns every operation, by its path without prefix.
pub(crate) fn operations() -> Vec<Route> {
    let mut routes = v1::clock::routes();
    routes.extend(v1::stream::routes());
    routes.extend(v1::anchors::routes());
    routes.extend(v1::events::routes());
    routes.extend(v1::event_history::routes());
    routes.extend(v1::scan_events::routes());
    routes.extend(v1::paradoxes::routes());
    routes.extend(v1::check_timeline::routes());
    routes.extend(v1::import::routes());
    routes.extend(v1::export::routes());
    routes.extend(v1::data::routes());
    routes.extend(v1::timelines::routes());
    routes.extend(v1::timelines_diff::routes());
    routes.extend(v1::proofs::routes());
    routes.extend(v1::tampering::routes());
    routes.extend(v1::tiles::routes());
    routes.extend(v1::access_control::routes());
    routes.extend(v1::restrictions::routes());
    routes.extend(v1::access_logs::routes());
    routes.extend(v1::users::routes());
    routes.extend(v1::api_keys::routes());
    routes.extend(v1::sessions::routes());
    routes.extend(v1::limits::routes());
    routes
}

/// Returns the whole service, ready to be served.
pub fn router(engine: Engine, options: HttpOptions) -> Router {
    let app = App {
        rates: Arc::new(Rates::new(&engine, options.requests_per_minute)),
        refusals: Arc::new(Refusals::new(engine.clone(), options.closing.clone())),
        rooms: Arc::new(Rooms::new()),
        requests: Shares::new(usize::MAX, REQUESTS_AT_ONCE_PER_USER_MAX),
        imports: Shares::new(IMPORTS_RUNNING_MAX, IMPORTS_PER_USER_MAX),
        streams: Shares::new(STREAMS_MAX, STREAMS_PER_USER_MAX),
        unavailable: Arc::default(),
        engine,
        options: Arc::new(options),
        metrics: Arc::new(Metrics::new()),
    };
    let (mut for_callers, mut for_anybody) = (Router::new(), Router::new());
    for route in operations() {
        for path in route.paths() {
            let router = if route.open { &mut for_anybody } else { &mut for_callers };
            *router = std::mem::take(router).route(&path, route.method_router());
        }
    }
    let for_callers = for_callers.route_layer(from_fn_with_state(app.clone(), auth::identify));
    let for_anybody = for_anybody.route_layer(from_fn_with_state(app.clone(), auth::identify_if_shown));
    let router = for_callers
        .merge(for_anybody)
        .merge(service::routes())
        .merge(console::routes())
        .fallback(finish::no_route)
        .method_not_allowed_fallback(finish::no_method)
        .layer(from_fn(finish::note_route))
        .with_state(app.clone());
    // These wrap the router instead of its routes: the router sets `Allow` outside its layers, and
    // must see GET where QUERY was sent.
    let outermost = tower::ServiceBuilder::new()
        .layer(from_fn_with_state(app, finish::finish))
        .layer(from_fn(host::one_host))
        .layer(from_fn(finish::query_as_get));
    Router::new().fallback_service(outermost.service(router))
}
