//! How many requests come from one place: failed attempts of an address, requests of a key or session, scans
//! of both, log-ins of a user.
//!
//! Fields as in draft-ietf-httpapi-ratelimit-headers-10, which no other file writes: its syntax has
//! changed before. Counted on host time, in memory, by the generic cell rate algorithm.

use std::hash::Hash;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::Clock;
use governor::middleware::StateInformationMiddleware;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};
use http::{HeaderMap, HeaderName, HeaderValue};
use timenav_core::ids::UserId;
use timenav_core::time::{Instant, Wall};
use timenav_engine::{Credential, Engine};

mod log_ins;

use self::log_ins::LogIns;
pub(crate) use self::log_ins::{
    ADDRESS_LOG_INS_PER_MINUTE_MAX, KNOWN_LOG_INS_PER_MINUTE_MAX, LOG_INS_PER_MINUTE_MAX, USER_LOG_INS_PER_MINUTE_MAX,
};

/// Attempts without a valid key that one address may make in a minute, all at once or spread.
pub(crate) const FAILED_ATTEMPTS_PER_MINUTE_MAX: u32 = 600;
/// Scans for tampering that one key may ask for in a minute.
pub(crate) const SCANS_PER_MINUTE_MAX: u32 = 60;
/// Scans for tampering that may be asked for from one address in a minute, by whatever keys.
pub(crate) const ADDRESS_SCANS_PER_MINUTE_MAX: u32 = 240;
/// Addresses or keys in memory from which those that are at rest are forgotten.
const WATCHED_MAX: usize = 10_000;

const LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Host time since the service began, for the limiter.
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

/// The limits of this service.
pub(crate) struct Rates {
    failed_attempts: Limiter<IpAddr>,
    requests: Option<Limiter<Credential>>,
    scans: Limiter<Credential>,
    address_scans: Limiter<IpAddr>,
    log_ins: LogIns,
}

/// What is left of a quota, or that nothing is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Left {
    policy: &'static str,
    quota: u32,
    requests: u32,
    /// Seconds until the whole quota is there again, or until the next request is admitted.
    seconds: u64,
}

impl Rates {
    /// Returns limits on failed attempts and on scans, and on the requests of each key if asked.
    pub(crate) fn new(engine: &Engine, requests_per_minute: Option<NonZeroU32>) -> Self {
        Self {
            failed_attempts: limiter(engine, per_minute(FAILED_ATTEMPTS_PER_MINUTE_MAX)),
            scans: limiter(engine, per_minute(SCANS_PER_MINUTE_MAX)),
            address_scans: limiter(engine, per_minute(ADDRESS_SCANS_PER_MINUTE_MAX)),
            log_ins: LogIns::new(engine),
            requests: requests_per_minute.map(|per_minute| limiter(engine, per_minute)),
        }
    }

    /// Counts an attempt without a valid key. The error says how long to wait.
    pub(crate) fn failed_attempt(&self, address: IpAddr) -> Result<Left, Left> {
        count(&self.failed_attempts, "failed-attempts", &address)
    }

    /// Counts a password that is shown for a user. The error says how long to wait.
    pub(crate) fn log_in(&self, user_id: &UserId, address: Option<IpAddr>) -> Result<Vec<Left>, Left> {
        self.log_ins.count(user_id, address)
    }

    /// Remembers that a user was let in from an address.
    pub(crate) fn let_in(&self, user_id: &UserId, address: Option<IpAddr>) {
        self.log_ins.let_in(user_id, address);
    }

    /// Counts a scan, for its key and for its address. The error says how long to wait.
    pub(crate) fn scan(&self, key: &Credential, address: Option<IpAddr>) -> Result<Vec<Left>, Left> {
        let of_key = count(&self.scans, "scans", key)?;
        let of_address = address.map(|address| count(&self.address_scans, "address-scans", &address)).transpose()?;
        Ok(std::iter::once(of_key).chain(of_address).collect())
    }

    /// Counts a request of a key, where requests are counted. The error says how long to wait.
    pub(crate) fn request(&self, key: &Credential) -> Result<Option<Left>, Left> {
        self.requests.as_ref().map(|requests| count(requests, "requests", key)).transpose()
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
    if limiter.len() > WATCHED_MAX {
        limiter.retain_recent();
    }
    match limiter.check_key(key) {
        Ok(state) => {
            let (quota, requests) = (state.quota().burst_size().get(), state.remaining_burst_capacity());
            let missing = u64::from(quota - requests.min(quota));
            let seconds = (state.quota().replenish_interval() * u32::try_from(missing).unwrap_or(u32::MAX)).as_secs();
            Ok(Left { policy, quota, requests, seconds })
        }
        Err(not_until) => {
            let wait = not_until.wait_time_from(limiter.clock().now());
            let quota = not_until.quota().burst_size().get();
            Err(Left { policy, quota, requests: 0, seconds: wait.as_secs() + 1 })
        }
    }
}

impl Left {
    /// Returns after how many seconds to come back.
    pub(crate) const fn seconds(&self) -> u64 {
        self.seconds
    }

    /// Returns the name of the quota that was spent.
    pub(crate) const fn policy(&self) -> &'static str {
        self.policy
    }

    /// Tells the client what is left, behind what the answer says of other quotas: a field is a list (RFC 9651 §3.1).
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
