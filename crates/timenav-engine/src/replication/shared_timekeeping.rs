//! Shares timekeeping between services on one database: one service keeps the time of a timeline, and another one takes
//! over if that one is gone. The timekeeper is checked again under the lock of each step.

use std::collections::HashSet;

use async_recursion::async_recursion as boxed;
use timenav_core::ids::{QueueId, TimelineId};
use timenav_core::time::{Instant, Wall};
use timenav_core::timers::Advance;
use timenav_core::timers::leases::Under;

use crate::engine::Engine;
use crate::ledger::changes::LookUp;
use crate::ledger::head::{TimelineKey, TimelineState};
use crate::ports::shared_leases::{ActivityQuery, Keeper, LeaseQuery, Presence, lease_row_id};
use crate::replication::sharing::Sharing;
use crate::requests::options::FEATURE_LEVEL;
use crate::requests::refusal::Refusal;
use crate::timers::pacing::Paces;
use crate::writer::deciding::timers::advances::{SeenInstant, StepAdvance};

const ENDED_AT_ONCE_MAX: usize = 1_000;

impl Engine {
    fn sharing(&self) -> Option<&Sharing> {
        self.timing().sharing()
    }

    /// Sends a heartbeat with this service's listeners to other services, and checks for changes that they do not
    /// signal. Call this twice a second in any case: other services consider this one gone five seconds after its last
    /// heartbeat.
    ///
    /// # Errors
    /// The store does not respond.
    #[boxed]
    pub async fn report_presence(&self) -> Result<(), Refusal> {
        let Some(sharing) = self.sharing() else { return Ok(()) };
        let waited_for = self.timing().leases().waited_for();
        let reported = self.report(sharing, waited_for).await;
        sharing.look_again();
        self.timing().wake_claims();
        self.timing().wake_keeper();
        reported?;
        self.share_followers().await?;
        self.learn_known_followers().await
    }

    pub(crate) async fn report_listening(&self, timeline: &TimelineId, queue: &QueueId) -> Result<(), Refusal> {
        let Some(sharing) = self.sharing() else { return Ok(()) };
        let listening = (timeline.clone(), queue.clone());
        if sharing.unreported(vec![listening.clone()], self.now()).is_empty() {
            return Ok(());
        }
        self.report(sharing, vec![listening]).await
    }

    pub(crate) async fn report(
        &self,
        sharing: &Sharing,
        waited_for: Vec<(TimelineId, QueueId)>,
    ) -> Result<(), Refusal> {
        let now = self.now();
        let queues = sharing.unreported(waited_for, now);
        let key = |(timeline, queue): &(TimelineId, QueueId)| Some((self.state(timeline)?.head.key, queue.clone()));
        let listening = queues.iter().filter_map(key).collect();
        let (service, options) = (sharing.service.clone(), self.options());
        let (name, version) = (options.replica_name.clone(), options.version.clone());
        let presence = Presence { service, name, version, level: FEATURE_LEVEL, listening };
        if !self.store().report_presence(presence).await? {
            sharing.forget_all();
            self.report_all_followers();
        }
        sharing.set_listening(queues, now);
        Ok(())
    }

    /// Returns whether this service contacts witnesses on behalf of all services on its database. That is the
    /// timekeeper of `system`, which has no timers. Another one takes over if this one is gone.
    ///
    /// # Errors
    /// The store does not respond.
    #[boxed]
    pub async fn asks_witnesses(&self) -> Result<bool, Refusal> {
        let Some(sharing) = self.sharing() else { return Ok(true) };
        if !sharing.is_present() {
            self.report(sharing, Vec::new()).await?;
        }
        let system = self.system_state()?.head.key;
        Ok(!self.store().keep_timelines(&sharing.service, vec![system]).await?.is_empty())
    }

    pub(crate) async fn leave_timekeeping(&self) {
        let Some(sharing) = self.sharing() else { return };
        if let Err(error) = self.store().leave(&sharing.service).await {
            tracing::debug!(%error, "the other services will detect that this one has ended");
        }
    }

    /// Takes timelines without a timekeeper, and ends expired leases on those that this service keeps.
    pub(crate) async fn share_time(&self) {
        let Some(sharing) = self.sharing() else { return };
        if let Err(refusal) = self.take_timelines(sharing, sharing.unknown()).await {
            tracing::debug!(%refusal, "timelines without a timekeeper could not be taken over; will retry");
        }
        if sharing.looks_for_ended()
            && let Err(refusal) = self.end_shared_leases(sharing).await
        {
            tracing::debug!(%refusal, "expired leases could not be ended; will retry");
        }
    }

    async fn take_timelines(&self, sharing: &Sharing, unknown: Vec<TimelineId>) -> Result<(), Refusal> {
        if unknown.is_empty() {
            return Ok(());
        }
        if !sharing.is_present() {
            // A service without a heartbeat would lose them at once.
            self.report(sharing, Vec::new()).await?;
        }
        let (mut states, mut over) = (Vec::new(), Vec::new());
        for timeline in unknown {
            match self.state(&timeline) {
                Some(state) => states.push(state),
                None => over.push(timeline),
            }
        }
        for timeline in &over {
            self.timing().forget(timeline);
        }
        let keys: Vec<TimelineKey> = states.iter().map(|state| state.head.key).collect();
        let taken = self.store().keep_timelines(&sharing.service, keys).await?;
        for state in states {
            let timeline = state.head.id.clone();
            let Some((_, epoch)) = taken.iter().find(|(key, _)| *key == state.head.key) else {
                sharing.lose(timeline);
                continue;
            };
            // If the database has lost the timekeeper, it has also lost the listeners.
            let goes_on = state.head.timers.advance.as_ref().is_some_and(|advance| advance.step > 0);
            if *epoch == 1 && goes_on {
                self.timing().leases().resume(&timeline, self.now());
            }
            if *epoch > 1 {
                tracing::info!(%timeline, epoch, "this service is now the timekeeper of the timeline");
            }
            sharing.keep(timeline.clone(), *epoch);
            self.timing().agenda().changed(&timeline);
        }
        Ok(())
    }

    async fn end_shared_leases(&self, sharing: &Sharing) -> Result<(), Refusal> {
        let ended = self.store().leases_ended(&sharing.service).await?;
        if ended.is_empty() {
            return Ok(());
        }
        let ended: HashSet<TimelineKey> = ended.into_iter().collect();
        let timelines: Vec<TimelineId> = self.timing().agenda().timelines().cloned().collect();
        let states = timelines.iter().filter_map(|timeline| self.state(timeline));
        for state in states.filter(|state| ended.contains(&state.head.key)) {
            // Use the keeper from before the query: if the timeline was taken again in the meantime, the result is
            // outdated.
            let Some(keeper) = sharing.keeper(&state.head.id) else { continue };
            let how = (Under::Anybody, Paces::of(&state, &[]));
            let ended = self.fail_shared(&state, LeaseQuery::Ended(ENDED_AT_ONCE_MAX), how).await?;
            let exhausted = ended.exhausted;
            if !exhausted.is_empty() {
                self.fail_exhausted(state.head.id.clone(), exhausted, Some(keeper)).await;
            }
        }
        self.timing().wake_claims();
        Ok(())
    }

    /// Returns whether this service keeps the time of a timeline, as far as it knows.
    pub(crate) fn keeps_time(&self, timeline: &TimelineId) -> bool {
        self.sharing().is_none_or(|sharing| sharing.keeper(timeline).is_some())
    }

    pub(crate) fn keeper(&self, timeline: &TimelineId) -> Option<Keeper> {
        self.sharing()?.keeper(timeline)
    }

    /// Checks whether another service keeps the time now, after a step failed because of one.
    pub(crate) async fn find_keeper(&self, state: &TimelineState) -> Result<(), Refusal> {
        let Some(keeper) = self.keeper(&state.head.id) else { return Ok(()) };
        let query = ActivityQuery { timeline: state.head.key, open_since: None, firings: Vec::new() };
        let found = self.store().at_work(query).await?.keeper;
        if found.as_ref() != Some(&keeper)
            && let Some(sharing) = self.sharing()
        {
            tracing::info!(timeline = %state.head.id, "another service is now the timekeeper of the timeline");
            sharing.lose(state.head.id.clone());
        }
        Ok(())
    }

    /// Returns the holder of an advance's instant at any service. The next step checks again.
    pub(crate) async fn shared_holder(
        &self,
        state: &TimelineState,
        advance: &Advance,
        now: Instant<Wall>,
    ) -> Result<Option<String>, Refusal> {
        let is_open = advance.open > 0;
        if is_open && self.timing().leases().is_resumed(&state.head.id, now) {
            return Ok(Some("a queue that somebody listened to before the services were started".to_owned()));
        }
        // Until other services know that this one sends webhooks.
        if is_open && self.timing().sends_webhooks() && state.head.timers.webhooks {
            let open = self.open_firings(state, advance).await?;
            if let Some((firing_id, queue)) = open.iter().find(|(_, queue)| *queue == QueueId::of_webhooks()) {
                return Ok(Some(lease_row_id(firing_id, queue, None)));
            }
        }
        let query = ActivityQuery { timeline: state.head.key, open_since: Some(advance.stepped), firings: Vec::new() };
        let held = self.store().at_work(query).await?.held;
        Ok(held.map(|(firing_id, queue, holder)| lease_row_id(&firing_id, &queue, holder.as_deref())))
    }

    pub(crate) fn shared_step(
        &self,
        keeper: Keeper,
        timeline: &TimelineId,
        (advance, left): (&Advance, SeenInstant),
        look_up: LookUp,
    ) -> StepAdvance {
        StepAdvance {
            advance_id: advance.advance_id.clone(),
            listening: self.timing().sends_webhooks().then(QueueId::of_webhooks).into_iter().collect(),
            is_resumed: self.timing().leases().is_resumed(timeline, self.now()),
            look_up,
            left,
            keeper: Some(keeper),
            _lasting: None,
        }
    }
}
