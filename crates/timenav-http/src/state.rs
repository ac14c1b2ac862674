use std::num::NonZeroU32;
use std::ops::Deref;
use std::sync::Arc;

use timenav_core::ids::UserId;
use timenav_engine::{Engine, RateLimitedLog};
use tokio_util::sync::CancellationToken;

use crate::connections::ConnectionCounts;
use crate::metrics::{Metrics, ProcessStats};
use crate::rate::Rates;
use crate::request::body::Rooms;
use crate::response::refusals::Refusals;
use crate::response::request_ids::RequestIds;
use crate::shares::Shares;
use crate::traces::Traces;

pub(crate) const REQUESTS_AT_ONCE_PER_USER_MAX: usize = 256;

#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// Canceled when the service is about to stop: it still accepts requests, but `/readyz` fails so that load
    /// balancers use other replicas.
    pub draining: CancellationToken,
    /// Canceled when the service stops: streams end then.
    pub closing: CancellationToken,
    pub version: &'static str,
    /// Whether the service itself terminates TLS.
    pub encrypted: bool,
    /// The public origin behind a proxy that terminates TLS, such as `https://time.test`.
    pub public_origin: Option<String>,
    /// Whether users can log in over plain HTTP from other machines.
    pub allow_insecure_login: bool,
    /// Requests per user and minute; unlimited if `None`.
    pub requests_per_minute: Option<NonZeroU32>,
    pub process: fn() -> ProcessStats,
    pub connections: Arc<ConnectionCounts>,
    pub traces: Option<Arc<dyn Traces>>,
    /// Connection limits by name. They are enforced by the process that accepts connections.
    pub connection_limits: Vec<(&'static str, u64)>,
}

impl HttpOptions {
    /// Returns whether browsers use HTTPS, terminated by the service or by a proxy.
    pub(crate) const fn is_secure(&self) -> bool {
        self.encrypted || self.public_origin.is_some()
    }
}

/// The state that handlers share. Every layer clones it for every request, so it is a single pointer.
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

pub(crate) struct Reach {
    pub(crate) engine: Engine,
    pub(crate) options: Arc<HttpOptions>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) request_ids: RequestIds,
    pub(crate) rates: Arc<Rates>,
    /// Limits how often unavailability is logged.
    pub(crate) unavailable: Arc<RateLimitedLog>,
    pub(crate) refusals: Arc<Refusals>,
    pub(crate) rooms: Arc<Rooms>,
    pub(crate) requests: Arc<Shares<UserId>>,
    pub(crate) imports: Arc<Shares<UserId>>,
    pub(crate) streams: Arc<Shares<UserId>>,
}
