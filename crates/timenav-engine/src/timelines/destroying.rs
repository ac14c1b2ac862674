//! Checks of the host's clock before destructive work: sweeps, ends of timelines, and deletion of expired data.

use timenav_core::ids::TimelineId;
use timenav_core::time::{Instant, Wall};

use crate::clock::host_clock::HostClockDoubt;
use crate::engine::Engine;
use crate::requests::caller::Caller;
use crate::requests::refusal::Refusal;
use crate::writer::deciding::timelines::retention::AcceptHostClock;

impl Engine {
    /// Logs a doubt once, and regularly stores that the clock is right.
    pub(crate) async fn doubt_host_clock(&self) -> Result<Option<HostClockDoubt>, Refusal> {
        let (now, clock) = (self.now(), self.host_clock());
        let doubt = clock.doubt(now);
        if let Some(HostClockDoubt { last, now, offset: None }) = doubt
            && clock.is_first_doubt()
        {
            tracing::warn!(
                host_time = %now,
                last_known = %last,
                "the host's clock says {now}, but was last known to be right at {last}: nothing is pruned, ended or \
                 expired by it until an operator confirms the clock with `timenav prune --trust-host-clock`"
            );
        }
        if doubt.is_none() && clock.should_be_stored(now) {
            self.store().keep_host_clock(now).await?;
        }
        Ok(doubt)
    }

    pub(crate) fn sure(&self) -> Instant<Wall> {
        self.host_clock().sure(self.now())
    }

    pub(crate) async fn accept_host_clock(&self, caller: &Caller, doubt: HostClockDoubt) -> Result<(), Refusal> {
        let HostClockDoubt { last, now, offset: _ } = doubt;
        self.submit(caller, TimelineId::system(), AcceptHostClock { last, now }, None).await?;
        self.store().keep_host_clock(now).await?;
        let newest = self.state(&TimelineId::system()).map_or(now, |system| system.head.recorded_at);
        self.host_clock().accept(now, newest);
        Ok(())
    }
}
