use std::sync::Arc;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use timenav_engine::Engine;

use crate::console;
use crate::metrics::Metrics;
use crate::operations::operations;
use crate::rate::Rates;
use crate::request::auth;
use crate::request::body::Rooms;
use crate::response::finish;
use crate::response::refusals::Refusals;
use crate::response::request_ids::RequestIds;
use crate::service;
use crate::shares::Shares;
use crate::state::{App, HttpOptions, REQUESTS_AT_ONCE_PER_USER_MAX, Reach};
use crate::v1::events::import::{IMPORTS_PER_USER_MAX, IMPORTS_RUNNING_MAX};
use crate::v1::streaming::{STREAMS_MAX, STREAMS_PER_USER_MAX};

/// Returns the router of the service and a router with only `/metrics`, `/healthz` and `/readyz`. With `metrics_apart`,
/// the service router has no `/metrics`.
pub fn routers(engine: Engine, options: HttpOptions, metrics_apart: bool) -> (Router, Router) {
    let operations = operations();
    let app = App::new(Reach {
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
        request_ids: RequestIds::default(),
    });
    let (mut for_callers, mut for_anybody) = (Router::new(), Router::new());
    for route in operations {
        for path in route.paths() {
            let router = if route.open { &mut for_anybody } else { &mut for_callers };
            *router = std::mem::take(router).route(&path, route.method_router());
        }
    }
    let for_callers = for_callers.route_layer(from_fn_with_state(app.clone(), auth::identify));
    let for_anybody = for_anybody.route_layer(from_fn_with_state(app.clone(), auth::identify_if_present));
    let others = service::routes()
        .merge(if metrics_apart { Router::new() } else { service::metrics_route() })
        .merge(console::routes());
    let router = for_callers.merge(for_anybody).merge(others.route_layer(from_fn(finish::note_route)));
    let metrics = service::probe_routes().merge(service::metrics_route()).route_layer(from_fn(finish::note_route));
    (finished(router, &app), finished(metrics, &app))
}

fn finished(router: Router<App>, app: &App) -> Router {
    let router =
        router.fallback(finish::no_route).method_not_allowed_fallback(finish::no_method).with_state(app.clone());
    // It wraps the router, which sets `Allow` outside its layers, and must see GET if QUERY was sent.
    let outermost = tower::ServiceBuilder::new().layer(from_fn_with_state(app.clone(), finish::finish));
    Router::new().fallback_service(outermost.service(router))
}
