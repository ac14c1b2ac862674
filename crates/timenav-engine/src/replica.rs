//! How this service is among others on one database: how far behind it is, how it reaches the database, and whether its
//! host's clock agrees with the others'.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_recursion::async_recursion as boxed;
use timenav_core::ids::TimelineId;

use crate::clock_offset::ClockOffset;
use crate::comparing::compare;
use crate::divergence::Divergence;
use crate::engine::Engine;
use crate::refusal::Refusal;
use crate::store::ConnectionsUse;

/// How this service is among others on one database.
#[derive(Clone, Debug)]
pub struct ReplicaStats {
    /// By which the operator knows it.
    pub name: String,
    /// How the connections to the database are used.
    pub connections: ConnectionsUse,
    /// How many entries of others were not known here when it was last looked for all, and how many microseconds that is
    /// ago; `None` where it is alone.
    pub lag: Option<Lag>,
    /// How often a group was decided anew since the start, because others had written or a transaction had lost.
    pub retries: u64,
    /// How often since the start all timelines were read again, to take over what others had written.
    pub loads: u64,
    /// Changes since the start of which it could not be told whether they happened.
    pub outcomes_unknown: u64,
    /// How far the host's clock is from the database's; `None` where that is not compared.
    pub clock_offset: Option<ClockOffset>,
    /// Of how many timelines it keeps the time; `None` where it is alone, and keeps that of all.
    pub timekeeping: Option<TimekeepingStats>,
    /// Whether it had kept nothing at its start to compare the database with, and took it as it was.
    pub is_unseen: bool,
    /// How many transactions ago the oldest snapshot was taken that somebody still holds on the server.
    pub snapshot_age: u64,
    /// What has stopped the service, if a ledger did not go on from what it had seen.
    pub diverged: Option<Arc<Divergence>>,
}

/// Of how many timelines a service keeps the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimekeepingStats {
    /// Timelines with timers or firings without an outcome, which no other service looks after.
    pub timelines: u64,
    /// How often it took one over since the start.
    pub takeovers: u64,
}

/// How far what is known here is behind the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lag {
    /// Entries that were not known when it was looked last.
    pub positions: u64,
    /// Microseconds since then.
    pub micros: u64,
}

impl Engine {
    /// Returns how this service is among others; `None` where the store is a file of its own.
    #[must_use]
    pub fn replica(&self) -> Option<ReplicaStats> {
        let connections = self.store().connections_use()?;
        let following = self.following();
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

    /// Returns whether the service had kept nothing at its start to compare the database with, and took it as it was.
    #[must_use]
    pub fn is_unseen(&self) -> bool {
        self.following().is_unseen.load(Ordering::Acquire)
    }

    /// Looks how old the oldest snapshot is that somebody holds on the server: what it may still see cannot be cleaned up,
    /// and rows that change often get slow. To be called again and again.
    ///
    /// # Errors
    /// The database does not answer.
    #[boxed]
    pub async fn look_at_snapshots(&self) -> Result<(), Refusal> {
        let age = self.store().snapshot_age().await?;
        self.following().snapshot_age.store(age, Ordering::Relaxed);
        Ok(())
    }

    /// Compares the host's clock with the database's and with the newest entry of `system`. To be called again and again:
    /// while they are too far apart the service is not ready and destroys nothing.
    ///
    /// # Errors
    /// The database does not answer. What was known of its clock still counts.
    #[boxed]
    pub async fn compare_clocks(&self) -> Result<(), Refusal> {
        let max_millis = self.options().host_clock_offset_millis_max;
        if max_millis == 0 {
            return Ok(());
        }
        let newest = self.state(&TimelineId::system()).filter(|_| self.has_others());
        let newest = newest.and_then(|system| self.host_clock().to_compare(system.head.recorded_at));
        let was_apart = self.host_clock().apart().is_some();
        let Some(offset) = compare(self.store(), self.doors(), newest, max_millis).await? else { return Ok(()) };
        self.host_clock().compared(offset);
        match (was_apart, offset.fault().is_some()) {
            (false, true) => tracing::error!("{offset}; the service is not ready until they agree"),
            (true, false) => tracing::info!("the host's clock and the database's agree again"),
            (true, true) | (false, false) => {}
        }
        Ok(())
    }
}
