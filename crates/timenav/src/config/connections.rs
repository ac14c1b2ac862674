//! What settings say about connections: how many, and how long.

use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::Duration;

use serde::Deserialize;

use crate::server::Bounds;
use crate::server::limits::{
    CONNECTION_IDLE_SECONDS_DEFAULT, CONNECTION_SECONDS_MAX, CONNECTIONS_PER_ADDRESS_DEFAULT, HANDSHAKE_SECONDS_DEFAULT,
};

/// What flags and the environment say about connections.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct ConnectionOptions {
    /// Connections at the same time. [default: 10000, or as many as there are file descriptors for]
    ///
    /// Where there are so many, the one that has been idle longest makes room for a new one; if none is idle, the new
    /// one is closed at once. The service raises its limit of file descriptors as far as it may, and refuses to start
    /// where that is too low for the number given here.
    #[arg(long, env = "TIMENAV_CONNECTIONS_MAX", value_name = "COUNT")]
    pub(crate) connections_max: Option<NonZeroU32>,
    /// Connections of one address at the same time. [default: 1024, or half of all]
    ///
    /// More are closed at once. Of IPv6 a /64 network counts as one address. A proxy is one address too: behind one,
    /// give as many as it may open.
    #[arg(long, env = "TIMENAV_CONNECTIONS_PER_ADDRESS_MAX", value_name = "COUNT")]
    pub(crate) connections_per_address_max: Option<NonZeroU32>,
    /// How long a connection stays without anything happening on it, in seconds. [default: 60]
    ///
    /// Also how long the head of a request may take to arrive, and a client to take some of an answer.
    #[arg(long, env = "TIMENAV_CONNECTION_IDLE_SECS", value_name = "SECONDS")]
    pub(crate) connection_idle_secs: Option<ConnectionSecs>,
    /// How long a TLS handshake may take, and the first bytes of a request after it, in seconds. [default: 10]
    #[arg(long, env = "TIMENAV_HANDSHAKE_SECS", value_name = "SECONDS")]
    pub(crate) handshake_secs: Option<ConnectionSecs>,
}

impl ConnectionOptions {
    /// Returns what is said here, else what is said there.
    pub(super) fn or(self, other: Self) -> ConnectionSettings {
        let of = ConnectionSecs;
        ConnectionSettings {
            connections_max: self.connections_max.or(other.connections_max),
            connections_per_address_max: self.connections_per_address_max.or(other.connections_per_address_max),
            idle: self
                .connection_idle_secs
                .or(other.connection_idle_secs)
                .unwrap_or(of(CONNECTION_IDLE_SECONDS_DEFAULT)),
            handshake: self.handshake_secs.or(other.handshake_secs).unwrap_or(of(HANDSHAKE_SECONDS_DEFAULT)),
        }
    }
}

/// What counts for connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConnectionSettings {
    /// Connections at the same time, where that was said.
    pub(crate) connections_max: Option<NonZeroU32>,
    /// Connections of one address at the same time, where that was said.
    pub(crate) connections_per_address_max: Option<NonZeroU32>,
    /// How long a connection stays without anything happening on it.
    pub(crate) idle: ConnectionSecs,
    /// How long a TLS handshake may take, and the first bytes of a request.
    pub(crate) handshake: ConnectionSecs,
}

impl ConnectionSettings {
    /// Returns the bounds of a service that may have so many connections.
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

/// How long something on a connection may take, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "u32")]
pub(crate) struct ConnectionSecs(u32);

impl ConnectionSecs {
    fn duration(self) -> Duration {
        Duration::from_secs(self.0.into())
    }
}

impl TryFrom<u32> for ConnectionSecs {
    type Error = String;

    fn try_from(seconds: u32) -> Result<Self, String> {
        if (1..=CONNECTION_SECONDS_MAX).contains(&seconds) {
            Ok(Self(seconds))
        } else {
            Err(format!("it is 1 to {CONNECTION_SECONDS_MAX} seconds"))
        }
    }
}

impl FromStr for ConnectionSecs {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse::<u32>().map_err(|error| error.to_string())?.try_into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_part_of_all_unless_told_otherwise() {
        let bounds = |of_address, all| {
            let options =
                ConnectionOptions { connections_per_address_max: NonZeroU32::new(of_address), ..Default::default() };
            options.or(ConnectionOptions::default()).bounds(all).connections_per_address_max
        };
        assert_eq!(bounds(0, 10_000), 1_024);
        assert_eq!(bounds(0, 896), 448);
        assert_eq!(bounds(0, 1), 1);
        assert_eq!(bounds(5_000, 10_000), 5_000);
    }

    #[test]
    fn waiting_takes_from_a_second_to_a_day() {
        let check = |text: &str, expected: bool| assert_eq!(text.parse::<ConnectionSecs>().is_ok(), expected, "{text}");
        check("0", false);
        check("1", true);
        check("86400", true);
        check("86401", false);
        check("-1", false);
    }
}
