//! Statistics of a service that shares its database: replication lag, connections, and clock offset.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_recursion::async_recursion as boxed;
use timenav_core::ids::TimelineId;

use crate::clock::clock_offset::ClockOffset;
use crate::engine::Engine;
use crate::integrity::divergence::Divergence;
use crate::ports::store::ConnectionsUse;
use crate::replication::comparing::compare;
use crate::requests::refusal::Refusal;

#[derive(Clone, Debug)]
pub struct ReplicaStats {
    pub name: String,
    pub connections: ConnectionsUse,
    /// The lag at the last comparison of all ledgers; `None` if this is the only service.
    pub lag: Option<Lag>,
    /// How often a group was decided again since startup, after writes by others or a failed transaction.
    pub retries: u64,
    pub loads: u64,
    pub outcomes_unknown: u64,
    /// The offset of the host's clock from the database's; `None` if they are not compared.
    pub clock_offset: Option<ClockOffset>,
    /// Timelines whose time this service keeps; `None` if it is the only one, and keeps all.
    pub timekeeping: Option<TimekeepingStats>,
    pub is_unseen: bool,
    pub snapshot_age: u64,
    pub diverged: Option<Arc<Divergence>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimekeepingStats {
    /// Timelines with timers or pending firings that are assigned to this service.
    pub timelines: u64,
    pub takeovers: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lag {
    /// Unknown entries at the last comparison.
    pub positions: u64,
    /// Microseconds since then.
    pub micros: u64,
}

impl Engine {
    #[must_use]
    pub fn replica(&self) -> Option<ReplicaStats> {
        let connections = self.store().connections_use()?;
        let following = &self.shared().following;
        let caught_up_at = following.caught_up_at.load(Ordering::Acquire);
        let lag = self.has_others().then(|| Lag {
            positions: following.lag_positions.load(Ordering::Acquire),
            micros: u64::try_from(self.now().micros().saturating_sub(caught_up_at)).unwrap_or(0),
        });
        let diverged = match self.failure() {
            Some(Refusal::Diverged(divergence)) => Some(divergence),
            Some(_) | None => None,
        };
        Some(ReplicaStats {
            name: self.options().replica_name.clone(),
            connections,
            lag,
            retries: following.retries.load(Ordering::Relaxed) + connections.retries,
            loads: following.loads.load(Ordering::Relaxed),
            outcomes_unknown: following.outcomes_unknown.load(Ordering::Relaxed),
            clock_offset: self.host_clock().offset(),
            timekeeping: self.timing().sharing().map(|sharing| {
                let (timelines, takeovers) = sharing.counts();
                TimekeepingStats { timelines, takeovers }
            }),
            is_unseen: self.is_unseen(),
            snapshot_age: following.snapshot_age.load(Ordering::Relaxed),
            diverged,
        })
    }

    #[must_use]
    pub fn is_unseen(&self) -> bool {
        self.shared().following.is_unseen.load(Ordering::Acquire)
    }

    /// Measures the age of the oldest snapshot on the server: rows it may still see cannot be cleaned up, which slows
    /// down frequently changed tables. Call this regularly.
    ///
    /// # Errors
    /// The database does not respond.
    #[boxed]
    pub async fn look_at_snapshots(&self) -> Result<(), Refusal> {
        let age = self.store().snapshot_age().await?;
        self.shared().following.snapshot_age.store(age, Ordering::Relaxed);
        Ok(())
    }

    /// Compares the host's clock with the database's and with the newest entry of `system`. Call this regularly: while
    /// they are too far apart, the service is not ready and destroys nothing.
    ///
    /// # Errors
    /// The database does not respond. The last comparison remains in effect.
    #[boxed]
    pub async fn compare_clocks(&self) -> Result<(), Refusal> {
        let max_millis = self.options().host_clock_offset_millis_max;
        if max_millis == 0 {
            return Ok(());
        }
        let newest = self.state(&TimelineId::system()).filter(|_| self.has_others());
        let newest = newest.and_then(|system| self.host_clock().to_compare(system.head.recorded_at));
        let was_apart = self.host_clock().apart().is_some();
        let Some(offset) = compare(self.store(), self.ports(), newest, max_millis).await? else { return Ok(()) };
        self.host_clock().compared(offset);
        match (was_apart, offset.fault().is_some()) {
            (false, true) => tracing::error!("{offset}; the service is not ready until they agree"),
            (true, false) => tracing::info!("the host's clock and the database's agree again"),
            (true, true) | (false, false) => {}
        }
        Ok(())
    }
}
