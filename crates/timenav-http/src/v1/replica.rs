//! The state of this replica on a shared database, as part of `limits`.

use crate::schema::ToSchema;
use serde::Serialize;
use timenav_engine::{ClockOffset, ConnectionsUse, Divergence, ReplicaStats, SeenTree};

use crate::metrics::seconds;

/// The state of this service among others on one PostgreSQL database.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReplicaBody {
    /// The name of this replica.
    #[schema(example = "timenav-1")]
    name: String,
    /// The number of entries of other services that were unknown here at the last comparison. Absent without
    /// `--replicas`.
    #[serde(skip_serializing_if = "Option::is_none")]
    lag_positions: Option<u64>,
    /// Seconds since that comparison. Absent without `--replicas`.
    #[serde(skip_serializing_if = "Option::is_none")]
    lag_seconds: Option<f64>,
    /// The connections to the database.
    connections: ReplicaConnectionsBody,
    /// The number of retried decisions since the start because another service wrote first.
    retries: u64,
    /// The number of commits since the start with a lost response. The service had to find out their outcome.
    commit_acks_lost: u64,
    /// The number of groups of changes with an unknown outcome. Their requests got `outcome_unknown`.
    outcomes_unknown: u64,
    /// The clock of this host, compared with the database's. Absent if they are not compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    clock: Option<ReplicaClockBody>,
    /// The ledger that stopped this service: the database has lost or replaced its entries.
    #[serde(skip_serializing_if = "Option::is_none")]
    diverged: Option<DivergedBody>,
}

/// The connections to the database.
#[derive(Debug, Serialize, ToSchema)]
struct ReplicaConnectionsBody {
    /// The maximum number of connections.
    max: u64,
    /// The number of open connections.
    open: u64,
    /// The number of connections in use.
    in_use: u64,
    /// The number of requests that wait for a connection.
    waiting: u64,
    /// The number of connections opened since the start.
    opened: u64,
}

/// The clock of this host, compared with the database's.
#[derive(Debug, Serialize, ToSchema)]
#[expect(clippy::struct_field_names, reason = "numeric fields end in their unit")]
struct ReplicaClockBody {
    /// The offset of the clock in seconds: positive if it is fast, negative if it is slow.
    offset_seconds: f64,
    /// The uncertainty of the offset, in seconds.
    uncertainty_seconds: f64,
    /// How far the clock lags the newest entry of `system`, in seconds.
    behind_newest_seconds: f64,
    /// The limit of both, in seconds. Beyond it, the service is not ready.
    max_seconds: f64,
}

/// A ledger in the database that does not continue the one this service has seen.
#[derive(Debug, Serialize, ToSchema)]
struct DivergedBody {
    /// The timeline.
    timeline_id: String,
    /// `rollback` or `fork`.
    code: &'static str,
    /// The tree this service has seen.
    seen: DivergedTreeBody,
    /// The tree in the database.
    found: DivergedTreeBody,
}

/// The tree of a ledger.
#[derive(Debug, Serialize, ToSchema)]
struct DivergedTreeBody {
    /// The number of entries.
    size: u64,
    /// The root of the tree, in hexadecimal digits.
    root: String,
}

impl ReplicaBody {
    pub(crate) fn of(stats: ReplicaStats) -> Self {
        let ConnectionsUse { max, open, in_use, waiting, opened, retries: _, unanswered } = stats.connections;
        let lag_seconds = |micros: u64| seconds(i64::try_from(micros).unwrap_or(i64::MAX));
        Self {
            name: stats.name,
            lag_positions: stats.lag.map(|lag| lag.positions),
            lag_seconds: stats.lag.map(|lag| lag_seconds(lag.micros)),
            connections: ReplicaConnectionsBody { max, open, in_use, waiting, opened },
            retries: stats.retries,
            commit_acks_lost: unanswered,
            outcomes_unknown: stats.outcomes_unknown,
            clock: stats.clock_offset.map(ReplicaClockBody::of),
            diverged: stats.diverged.as_deref().map(DivergedBody::of),
        }
    }
}

impl ReplicaClockBody {
    fn of(offset: ClockOffset) -> Self {
        let ClockOffset { micros, uncertainty_micros, behind_newest_micros, max_micros } = offset;
        Self {
            offset_seconds: seconds(micros),
            uncertainty_seconds: seconds(uncertainty_micros),
            behind_newest_seconds: seconds(behind_newest_micros),
            max_seconds: seconds(max_micros),
        }
    }
}

impl DivergedBody {
    fn of(divergence: &Divergence) -> Self {
        let tree = |tree: SeenTree| DivergedTreeBody { size: tree.size, root: tree.root.to_hex() };
        Self {
            timeline_id: divergence.timeline.to_string(),
            code: divergence.kind.as_str(),
            seen: tree(divergence.seen),
            found: tree(divergence.found),
        }
    }
}
