use std::num::NonZeroU32;

use super::ServeOptions;
use super::secs::{ConnectionSecs, Secs};
use crate::server::Bounds;
use crate::server::limits::{
    CONNECTION_IDLE_SECONDS_DEFAULT, CONNECTIONS_PER_ADDRESS_DEFAULT, HANDSHAKE_SECONDS_DEFAULT,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConnectionSettings {
    pub(crate) connections_max: Option<NonZeroU32>,
    pub(crate) connections_per_address_max: Option<NonZeroU32>,
    pub(crate) idle: ConnectionSecs,
    /// Timeout of the TLS handshake, and of the first bytes of a request.
    pub(crate) handshake: ConnectionSecs,
}

impl ConnectionSettings {
    pub(super) fn of(options: &ServeOptions) -> Self {
        Self {
            connections_max: options.connections_max,
            connections_per_address_max: options.connections_per_address_max,
            idle: options.connection_idle_secs.unwrap_or(Secs::of(CONNECTION_IDLE_SECONDS_DEFAULT)),
            handshake: options.handshake_secs.unwrap_or(Secs::of(HANDSHAKE_SECONDS_DEFAULT)),
        }
    }

    pub(crate) fn bounds(self, connections_max: u32) -> Bounds {
        let of_address = self.connections_per_address_max.map(NonZeroU32::get);
        let by_default = CONNECTIONS_PER_ADDRESS_DEFAULT.min(connections_max.div_ceil(2));
        Bounds {
            connections_max,
            connections_per_address_max: of_address.unwrap_or(by_default),
            idle: self.idle.duration(),
            handshake: self.handshake.duration(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_per_address_default_depends_on_the_total() {
        let bounds = |of_address, all| {
            let settings = ConnectionSettings {
                connections_max: None,
                connections_per_address_max: NonZeroU32::new(of_address),
                idle: Secs::of(1),
                handshake: Secs::of(1),
            };
            settings.bounds(all).connections_per_address_max
        };
        assert_eq!(bounds(0, 10_000), 1_024);
        assert_eq!(bounds(0, 896), 448);
        assert_eq!(bounds(0, 1), 1);
        assert_eq!(bounds(5_000, 10_000), 5_000);
    }
}
