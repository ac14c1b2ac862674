//! How often a password is tried: from one address, for one user from there, and for one user from wherever.
//!
//! The quotas of a user would let strangers keep that user out. So an address from which the user was let in has a
//! quota of its own, which nobody spends who is somewhere else.

use std::collections::HashMap;

use parking_lot::Mutex;
use timenav_core::ids::UserId;
use timenav_core::time::{Instant, Span, Wall};
use timenav_engine::Engine;

use crate::network::Network;

use super::{Left, Limiter, count, limiter, per_minute};

/// Log-ins of one user that one address may try in a minute.
pub(crate) const LOG_INS_PER_MINUTE_MAX: u32 = 10;
/// Log-ins of one user that may be tried in a minute from an address from which they were let in before.
pub(crate) const KNOWN_LOG_INS_PER_MINUTE_MAX: u32 = 30;
/// Log-ins of whomever that one address may try in a minute.
pub(crate) const ADDRESS_LOG_INS_PER_MINUTE_MAX: u32 = 60;
/// Log-ins of one user that may be tried in a minute, from wherever: more than some addresses together can spend.
pub(crate) const USER_LOG_INS_PER_MINUTE_MAX: u32 = 120;

/// How long an address is known from which somebody was let in: a week.
const KNOWN_FOR: Span = Span::from_micros(7 * 24 * 3_600 * 1_000_000);
/// Addresses of users that are known. Beyond it, the one is forgotten from which nobody was let in for longest.
const KNOWN_MAX: usize = 10_000;

/// A user, and from where.
type Pair = (UserId, Option<Network>);

/// The quotas of log-ins.
pub(super) struct LogIns {
    engine: Engine,
    of_address: Limiter<Network>,
    of_pair: Limiter<Pair>,
    of_known_pair: Limiter<Pair>,
    of_user: Limiter<UserId>,
    /// Since when each address is known.
    known: Mutex<HashMap<Pair, Instant<Wall>>>,
}

impl LogIns {
    pub(super) fn new(engine: &Engine) -> Self {
        Self {
            engine: engine.clone(),
            of_address: limiter(engine, per_minute(ADDRESS_LOG_INS_PER_MINUTE_MAX)),
            of_pair: limiter(engine, per_minute(LOG_INS_PER_MINUTE_MAX)),
            of_known_pair: limiter(engine, per_minute(KNOWN_LOG_INS_PER_MINUTE_MAX)),
            of_user: limiter(engine, per_minute(USER_LOG_INS_PER_MINUTE_MAX)),
            known: Mutex::default(),
        }
    }

    /// Counts a password that is shown for a user. A stranger spends what is theirs before what is the user's. The
    /// error says how long to wait.
    pub(super) fn count(&self, user_id: &UserId, network: Option<Network>) -> Result<Vec<Left>, Left> {
        let of_address =
            network.map(|network| count(&self.of_address, "address-log-ins", &network)).transpose()?.into_iter();
        let pair = (user_id.clone(), network);
        if self.is_known(&pair) {
            let of_both = count(&self.of_known_pair, "known-log-ins", &pair)?;
            return Ok(of_address.chain([of_both]).collect());
        }
        let of_both = count(&self.of_pair, "log-ins", &pair)?;
        let of_user = count(&self.of_user, "user-log-ins", user_id)?;
        Ok(of_address.chain([of_both, of_user]).collect())
    }

    fn is_known(&self, pair: &Pair) -> bool {
        let since = self.known.lock().get(pair).copied();
        since.and_then(|since| since.checked_add(KNOWN_FOR)).is_some_and(|until| self.engine.now() < until)
    }

    /// Remembers that a user was let in from there.
    pub(super) fn let_in(&self, user_id: &UserId, network: Option<Network>) {
        // Without an address everybody would be in the same place.
        let Some(network) = network else { return };
        let mut known = self.known.lock();
        known.insert((user_id.clone(), Some(network)), self.engine.now());
        if known.len() > KNOWN_MAX {
            let longest_ago = known.iter().min_by_key(|(_, since)| **since).map(|(pair, _)| pair.clone());
            longest_ago.and_then(|pair| known.remove(&pair));
        }
    }
}
