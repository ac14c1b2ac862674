//! Rate limits: failed attempts per network, requests per user, scans per user and network, logins per user and
//! address.
//!
//! Limits apply to users, not to their credentials: users can create any number of keys and sessions.
//!
//! The headers follow draft-ietf-httpapi-ratelimit-headers-10. Its syntax has changed between drafts, so only this file
//! writes them. Limits use the generic cell rate algorithm on host time, in memory.

use std::hash::Hash;
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::Clock;
use governor::middleware::StateInformationMiddleware;
use governor::state::keyed::DashMapStateStore;
use governor::{InsufficientCapacity, Quota, RateLimiter};
use http::{HeaderMap, HeaderName, HeaderValue};
use timenav_core::ids::UserId;
use timenav_core::time::{Instant, Wall};
use timenav_engine::Engine;

use crate::request::network::Network;

mod logins;

use self::logins::Logins;
pub(crate) use self::logins::{
    ADDRESS_LOGINS_PER_MINUTE_MAX, KNOWN_LOGINS_PER_MINUTE_MAX, LOGINS_PER_MINUTE_MAX, USER_LOGINS_PER_MINUTE_MAX,
};

/// Failed authentication attempts per network and minute. All may come at once.
pub(crate) const FAILED_ATTEMPTS_PER_MINUTE_MAX: u32 = 600;
/// Rejected unauthenticated requests per network and minute that get their own entry.
pub(crate) const NETWORK_REJECTIONS_LOGGED_PER_MINUTE_MAX: u32 = 120;
/// Rejected unauthenticated requests per minute, from all networks, that get their own entry.
pub(crate) const REJECTIONS_LOGGED_PER_MINUTE_MAX: u32 = 240;
/// Records of an import or batch that count as one request.
pub(crate) const RECORDS_PER_REQUEST_MAX: usize = 100;
pub(crate) const SCANS_PER_MINUTE_MAX: u32 = 60;
/// Tampering scans per network and minute, of all users.
pub(crate) const ADDRESS_SCANS_PER_MINUTE_MAX: u32 = 240;
/// Above this number of tracked keys, idle ones are removed.
const WATCHED_MAX: usize = 10_000;

const LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

struct HostTime {
    engine: Engine,
    began: Instant<Wall>,
}

impl Clock for HostTime {
    type Instant = Duration;

    fn now(&self) -> Duration {
        let micros = self.engine.now().since(self.began).micros();
        Duration::from_micros(u64::try_from(micros).unwrap_or(0))
    }
}

type Limiter<K> = RateLimiter<K, DashMapStateStore<K>, HostTime, StateInformationMiddleware>;

pub(crate) struct Rates {
    failed_attempts: Limiter<Network>,
    network_rejections_logged: Limiter<(RefusalKind, Option<Network>)>,
    rejections_logged: Limiter<RefusalKind>,
    requests: Option<Limiter<UserId>>,
    scans: Limiter<UserId>,
    address_scans: Limiter<Network>,
    logins: Logins,
}

/// Each kind of rejected request has its own limit of entries, so that one cannot hide the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RefusalKind {
    Login,
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Left {
    policy: &'static str,
    quota: u32,
    requests: u32,
    /// Seconds until the quota is full again or, if it is exhausted, until the next request is admitted.
    seconds: u64,
}

impl Rates {
    /// Creates the limiters. Requests per user are unlimited if `requests_per_minute` is `None`.
    pub(crate) fn new(engine: &Engine, requests_per_minute: Option<NonZeroU32>) -> Self {
        Self {
            failed_attempts: limiter(engine, per_minute(FAILED_ATTEMPTS_PER_MINUTE_MAX)),
            network_rejections_logged: limiter(engine, per_minute(NETWORK_REJECTIONS_LOGGED_PER_MINUTE_MAX)),
            rejections_logged: limiter(engine, per_minute(REJECTIONS_LOGGED_PER_MINUTE_MAX)),
            scans: limiter(engine, per_minute(SCANS_PER_MINUTE_MAX)),
            address_scans: limiter(engine, per_minute(ADDRESS_SCANS_PER_MINUTE_MAX)),
            logins: Logins::new(engine),
            requests: requests_per_minute.map(|per_minute| limiter(engine, per_minute)),
        }
    }

    /// Counts a failed authentication attempt. The error says how long to wait.
    pub(crate) fn failed_attempt(&self, network: Network) -> Result<Left, Left> {
        count(&self.failed_attempts, "failed-attempts", &network)
    }

    pub(crate) fn logs_refusal(&self, kind: RefusalKind, network: Option<Network>) -> bool {
        count(&self.network_rejections_logged, "rejections-logged", &(kind, network)).is_ok()
            && count(&self.rejections_logged, "rejections-logged", &kind).is_ok()
    }

    pub(crate) fn login(&self, user_id: &UserId, network: Option<Network>) -> Result<Vec<Left>, Left> {
        self.logins.count(user_id, network)
    }

    pub(crate) fn let_in(&self, user_id: &UserId, network: Option<Network>) {
        self.logins.let_in(user_id, network);
    }

    /// Counts a scan against the quotas of its user and network. The error says how long to wait.
    pub(crate) fn scan(&self, user_id: &UserId, network: Option<Network>) -> Result<Vec<Left>, Left> {
        let of_user = count(&self.scans, "scans", user_id)?;
        let of_network = network.map(|network| count(&self.address_scans, "address-scans", &network)).transpose()?;
        Ok(std::iter::once(of_user).chain(of_network).collect())
    }

    pub(crate) fn request(&self, user_id: &UserId) -> Result<Option<Left>, Left> {
        self.requests.as_ref().map(|requests| count(requests, "requests", user_id)).transpose()
    }

    /// Counts the records of a request beyond those that the request itself covers. The error says how long to wait.
    pub(crate) fn records(&self, user_id: &UserId, records: usize) -> Result<(), Left> {
        let Some(requests) = &self.requests else { return Ok(()) };
        let more = records.saturating_sub(1) / RECORDS_PER_REQUEST_MAX;
        let Some(more) = u32::try_from(more).ok().and_then(NonZeroU32::new) else { return Ok(()) };
        count_many(requests, "requests", user_id, more).map(|_| ())
    }
}

fn per_minute(max: u32) -> NonZeroU32 {
    NonZeroU32::new(max).unwrap_or(NonZeroU32::MIN)
}

fn limiter<K: Hash + Eq + Clone>(engine: &Engine, per_minute: NonZeroU32) -> Limiter<K> {
    let clock = HostTime { engine: engine.clone(), began: engine.now() };
    RateLimiter::dashmap_with_clock(Quota::per_minute(per_minute), clock).with_middleware()
}

fn count<K: Hash + Eq + Clone>(limiter: &Limiter<K>, policy: &'static str, key: &K) -> Result<Left, Left> {
    count_many(limiter, policy, key, NonZeroU32::MIN)
}

/// Counts `many` at once, capped at the quota.
fn count_many<K: Hash + Eq + Clone>(
    limiter: &Limiter<K>,
    policy: &'static str,
    key: &K,
    many: NonZeroU32,
) -> Result<Left, Left> {
    if limiter.len() > WATCHED_MAX {
        limiter.retain_recent();
    }
    let counted = limiter.check_key_n(key, many).or_else(|InsufficientCapacity(most)| {
        limiter.check_key_n(key, NonZeroU32::new(most).unwrap_or(NonZeroU32::MIN))
    });
    match counted {
        // Unreachable: a request for exactly the quota always fits.
        Err(InsufficientCapacity(quota)) => Err(Left { policy, quota, requests: 0, seconds: 1 }),
        Ok(Ok(state)) => {
            let (quota, requests) = (state.quota().burst_size().get(), state.remaining_burst_capacity());
            let missing = u64::from(quota - requests.min(quota));
            let seconds = (state.quota().replenish_interval() * u32::try_from(missing).unwrap_or(u32::MAX)).as_secs();
            Ok(Left { policy, quota, requests, seconds })
        }
        Ok(Err(not_until)) => {
            let wait = not_until.wait_time_from(limiter.clock().now());
            let quota = not_until.quota().burst_size().get();
            Err(Left { policy, quota, requests: 0, seconds: wait.as_secs() + 1 })
        }
    }
}

impl Left {
    pub(crate) const fn seconds(&self) -> u64 {
        self.seconds
    }

    pub(crate) const fn policy(&self) -> &'static str {
        self.policy
    }

    /// Adds the rate limit headers. Several quotas form one list (RFC 9651 §3.1).
    pub(crate) fn write(&self, headers: &mut HeaderMap) {
        let Self { policy, quota, requests, seconds } = self;
        let mut set = |name: HeaderName, text: String| {
            let before = headers.get(&name).and_then(|value| value.to_str().ok());
            let text = before.map_or_else(|| text.clone(), |before| format!("{before}, {text}"));
            if let Ok(value) = HeaderValue::try_from(text) {
                headers.insert(name, value);
            }
        };
        set(POLICY, format!("\"{policy}\";q={quota};w=60"));
        set(LIMIT, format!("\"{policy}\";r={requests};t={seconds}"));
    }
}
