//! What the process tells the HTTP layer, and what every handler can reach.

use std::num::NonZeroU32;
use std::ops::Deref;
use std::sync::Arc;

use timenav_core::ids::UserId;
use timenav_engine::{Engine, Seldom};
use tokio_util::sync::CancellationToken;

use crate::body::Rooms;
use crate::connections::ConnectionCounts;
use crate::metrics::{Metrics, ProcessStats};
use crate::rate::Rates;
use crate::refusals::Refusals;
use crate::shares::Shares;
use crate::traces::Traces;

/// Requests of one user that may be answered at the same moment.
pub(crate) const REQUESTS_AT_ONCE_PER_USER_MAX: usize = 256;

/// What the process tells the HTTP layer.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// Cancelled when the service is about to stop: it still takes requests, and `/readyz` sends them elsewhere.
    pub draining: CancellationToken,
    /// Cancelled when the service stops: streams end then.
    pub closing: CancellationToken,
    /// The version of the service.
    pub version: &'static str,
    /// Whether clients speak to the service by HTTPS.
    pub encrypted: bool,
    /// The origin under which browsers reach the service through a proxy that ends TLS, such as `https://time.test`.
    pub public_origin: Option<String>,
    /// Whether people can log in over plain HTTP from other machines.
    pub insecure_log_in: bool,
    /// Requests that one user may make in a minute; as many as they like where there is none.
    pub requests_per_minute: Option<NonZeroU32>,
    /// Returns what the process uses now.
    pub process: fn() -> ProcessStats,
    /// What becomes of connections.
    pub connections: Arc<ConnectionCounts>,
    /// Where traces of requests go, if anywhere.
    pub traces: Option<Arc<dyn Traces>>,
    /// Limits that connections have, by name. Whoever accepts them enforces these.
    pub connection_limits: Vec<(&'static str, u64)>,
}

impl HttpOptions {
    /// Returns whether browsers speak to the service by HTTPS, its own or that of a proxy.
    pub(crate) const fn is_secure(&self) -> bool {
        self.encrypted || self.public_origin.is_some()
    }
}

/// What every handler can reach. Each layer has a copy, and gives one to each request: so it is one pointer.
#[derive(Clone)]
pub(crate) struct App(Arc<Reach>);

impl App {
    pub(crate) fn new(reach: Reach) -> Self {
        Self(Arc::new(reach))
    }
}

impl Deref for App {
    type Target = Reach;

    fn deref(&self) -> &Reach {
        &self.0
    }
}

/// What [`App`] leads to.
pub(crate) struct Reach {
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
