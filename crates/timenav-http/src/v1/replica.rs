//! The state of this replica on a shared database, as part of `limits`.

use crate::schema::ToSchema;
use serde::Serialize;
use timenav_engine::{ClockOffset, ConnectionsUse, Divergence, ReplicaStats, SeenTree};

use crate::metrics::seconds;

/// How this service is among others on one PostgreSQL database.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReplicaBody {
    /// The name of this replica.
    #[schema(example = "timenav-1")]
    name: String,
    /// How many entries of other services were not known here when it was last compared. Left out without `--replicas`.
    #[serde(skip_serializing_if = "Option::is_none")]
    lag_positions: Option<u64>,
    /// Seconds since then. Left out without `--replicas`.
    #[serde(skip_serializing_if = "Option::is_none")]
    lag_seconds: Option<f64>,
    /// The connections to the database.
    connections: ReplicaConnectionsBody,
    /// How often something was decided again since the start because another service wrote first.
    retries: u64,
    /// How many commits lost their answer since the start, so that the service had to find out what became of them.
    commits_unanswered: u64,
    /// For how many groups of changes it could not find out, so that they were answered `outcome_unknown`.
    outcomes_unknown: u64,
    /// The clock of this host, compared with the database's. Left out if they are not compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    clock: Option<ReplicaClockBody>,
    /// The ledger that stopped this service, because the database has lost or replaced entries of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    diverged: Option<DivergedBody>,
}

/// The connections to the database.
#[derive(Debug, Serialize, ToSchema)]
struct ReplicaConnectionsBody {
    /// How many there can be.
    max: u64,
    /// How many are open.
    open: u64,
    /// How many are in use.
    in_use: u64,
    /// How many requests are waiting for one.
    waiting: u64,
    /// How many were made since the start.
    made: u64,
}

/// The clock of this host, compared with the database's.
#[derive(Debug, Serialize, ToSchema)]
#[expect(clippy::struct_field_names, reason = "names of numbers end in their unit")]
struct ReplicaClockBody {
    /// How far it is ahead, in seconds; negative if it is behind.
    offset_seconds: f64,
    /// How far that may be off, in seconds.
    uncertainty_seconds: f64,
    /// How far it is behind the newest entry of `system`, in seconds.
    behind_newest_seconds: f64,
    /// How far either may be before the service is not ready, in seconds.
    max_seconds: f64,
}

/// A ledger in the database that does not continue what this service has seen of it.
#[derive(Debug, Serialize, ToSchema)]
struct DivergedBody {
    /// The timeline.
    timeline_id: String,
    /// `rollback` or `fork`.
    code: &'static str,
    /// What this service has seen.
    seen: DivergedTreeBody,
    /// What is in the database.
    found: DivergedTreeBody,
}

/// The tree of a ledger.
#[derive(Debug, Serialize, ToSchema)]
struct DivergedTreeBody {
    /// The number of entries.
    size: u64,
    /// The root, in hex.
    root: String,
}

impl ReplicaBody {
    pub(crate) fn of(stats: ReplicaStats) -> Self {
        let ConnectionsUse { max, open, in_use, waiting, made, retries: _, unanswered } = stats.connections;
        let lag_seconds = |micros: u64| seconds(i64::try_from(micros).unwrap_or(i64::MAX));
        Self {
            name: stats.name,
            lag_positions: stats.lag.map(|lag| lag.positions),
            lag_seconds: stats.lag.map(|lag| lag_seconds(lag.micros)),
            connections: ReplicaConnectionsBody { max, open, in_use, waiting, made },
            retries: stats.retries,
            commits_unanswered: unanswered,
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
