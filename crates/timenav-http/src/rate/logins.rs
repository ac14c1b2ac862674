//! With a quota per user alone, attackers could lock that user out. An address from which the user has logged in before
//! therefore has a separate quota that other addresses cannot exhaust.

use std::collections::HashMap;

use parking_lot::Mutex;
use timenav_core::ids::UserId;
use timenav_core::time::{Instant, Span, Wall};
use timenav_engine::Engine;

use crate::request::network::Network;

use super::{Left, Limiter, count, limiter, per_minute};

pub(crate) const LOGINS_PER_MINUTE_MAX: u32 = 10;
/// Login attempts per user and minute from an address where the user has logged in before.
pub(crate) const KNOWN_LOGINS_PER_MINUTE_MAX: u32 = 30;
/// Login attempts per address and minute, for all users.
pub(crate) const ADDRESS_LOGINS_PER_MINUTE_MAX: u32 = 60;
/// Login attempts per user and minute from all unknown addresses: more than a few addresses together can make.
pub(crate) const USER_LOGINS_PER_MINUTE_MAX: u32 = 120;

/// How long a successful login marks an address as known: one week.
const KNOWN_FOR: Span = Span::from_micros(7 * 24 * 3_600 * 1_000_000);
/// Maximum number of known addresses. Above it, the one with the oldest login is removed.
const KNOWN_MAX: usize = 10_000;

type Pair = (UserId, Option<Network>);

pub(super) struct Logins {
    engine: Engine,
    of_address: Limiter<Network>,
    of_pair: Limiter<Pair>,
    of_known_pair: Limiter<Pair>,
    of_user: Limiter<UserId>,
    known: Mutex<HashMap<Pair, Instant<Wall>>>,
}

impl Logins {
    pub(super) fn new(engine: &Engine) -> Self {
        Self {
            engine: engine.clone(),
            of_address: limiter(engine, per_minute(ADDRESS_LOGINS_PER_MINUTE_MAX)),
            of_pair: limiter(engine, per_minute(LOGINS_PER_MINUTE_MAX)),
            of_known_pair: limiter(engine, per_minute(KNOWN_LOGINS_PER_MINUTE_MAX)),
            of_user: limiter(engine, per_minute(USER_LOGINS_PER_MINUTE_MAX)),
            known: Mutex::default(),
        }
    }

    /// An unknown address exhausts its own quota before that of the user. The error says how long to wait.
    pub(super) fn count(&self, user_id: &UserId, network: Option<Network>) -> Result<Vec<Left>, Left> {
        let of_address =
            network.map(|network| count(&self.of_address, "address-logins", &network)).transpose()?.into_iter();
        let pair = (user_id.clone(), network);
        if self.is_known(&pair) {
            let of_both = count(&self.of_known_pair, "known-logins", &pair)?;
            return Ok(of_address.chain([of_both]).collect());
        }
        let of_both = count(&self.of_pair, "logins", &pair)?;
        let of_user = count(&self.of_user, "user-logins", user_id)?;
        Ok(of_address.chain([of_both, of_user]).collect())
    }

    fn is_known(&self, pair: &Pair) -> bool {
        let since = self.known.lock().get(pair).copied();
        since.and_then(|since| since.checked_add(KNOWN_FOR)).is_some_and(|until| self.engine.now() < until)
    }

    pub(super) fn let_in(&self, user_id: &UserId, network: Option<Network>) {
        // Without an address all clients would share one entry.
        let Some(network) = network else { return };
        let mut known = self.known.lock();
        known.insert((user_id.clone(), Some(network)), self.engine.now());
        if known.len() > KNOWN_MAX {
            let longest_ago = known.iter().min_by_key(|(_, since)| **since).map(|(pair, _)| pair.clone());
            longest_ago.and_then(|pair| known.remove(&pair));
        }
    }
}
