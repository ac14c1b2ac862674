//! Delivery of webhook firings, which the service claims and settles in its own name.

use std::collections::BTreeSet;

use async_recursion::async_recursion as boxed;
use timenav_core::access;
use timenav_core::ids::{FiringId, LeaseId, QueueId, TimelineId};
use timenav_core::limits::{FAILURE_REASON_BYTES_MAX, LEASE_SECONDS_DEFAULT, WEBHOOK_URL_BYTES_MAX};
use timenav_core::time::Span;
use timenav_core::timers::FiringState;
use timenav_core::timers::leases::Under;

use crate::engine::Engine;
use crate::ledger::payload::WebhookTarget;
use crate::requests::actor::Actor;
use crate::requests::refusal::Refusal;
use crate::timers::firings::{Claim, ClaimedFiring};
use crate::timers::pacing::KnownFiring;
use crate::timers::timing::Settling;
use crate::writer::deciding::timelines::demand_to_fork;
use crate::writer::deciding::timers::SettleFirings;

/// The holder of firings that are being sent.
const HOLDER: &str = "the service, which sends it to a webhook";

/// The reason why a fork no longer sends webhooks of inherited timers. It names neither the origin nor a user, which
/// not every reader of the fork may know.
const FORKER_LOST_WRITE: &str = "the user who created the fork is no longer allowed to write to its parent, so the \
    fork sends no webhooks for inherited timers; set a timer on the fork";
const FORKED_ENDED: &str = "the parent of the fork has ended, so the fork sends no webhooks for inherited timers; set \
    a timer on the fork";

impl Engine {
    #[must_use]
    pub fn webhook_timelines(&self) -> BTreeSet<TimelineId> {
        self.timing().webhook_timelines(|timeline| self.state(timeline).is_some())
    }

    /// Waits until there may be new ones. Only one task may wait.
    #[boxed]
    pub async fn webhook_timelines_changed(&self) {
        self.timing().sender.notified().await;
    }

    /// Claims webhook firings of a timeline, and waits until there is one. Returns none if the timeline has ended.
    ///
    /// # Errors
    /// The store does not respond.
    #[boxed]
    pub async fn claim_webhooks(&self, timeline: &TimelineId, max: usize) -> Result<Vec<ClaimedFiring>, Refusal> {
        let claim = Claim { queue: QueueId::of_webhooks(), max, ttl: lease(), waits: true };
        self.claim_as((HOLDER, &|| Ok(())), timeline, &claim).await
    }

    /// Returns the timelines for which the secret of a firing's timer may be sealed, the given one first: a fork keeps
    /// inherited secrets as they are. `None` if the timeline must not send the webhook: a fork has no external effects
    /// unless its creator asked for them, and an adopted timer never has.
    #[must_use]
    pub fn webhook_sealed_for(&self, timeline: &TimelineId, claimed: &ClaimedFiring) -> Option<Vec<TimelineId>> {
        let Some(state) = self.state(timeline) else { return Some(vec![timeline.clone()]) };
        let timers = &state.head.timers;
        if claimed.firing.due_firing.position >= timers.base.max(timers.sends_from) {
            return Some(vec![timeline.clone()]);
        }
        let ancestors = state.lineage.iter().rev();
        let is_sent = claimed.firing.due_firing.position >= timers.sends_from;
        is_sent.then(|| std::iter::once(timeline).chain(ancestors).cloned().collect())
    }

    /// Returns why a fork does not send the webhook of an inherited timer, although its creator asked for that. The
    /// creator must still be allowed to set timers on the origin; for timers inherited through several forks, this
    /// applies to each of them. Webhooks of the fork's own timers are always sent.
    ///
    /// # Errors
    /// The store does not respond.
    #[boxed]
    pub async fn webhook_stopped(
        &self,
        timeline: &TimelineId,
        claimed: &ClaimedFiring,
    ) -> Result<Option<&'static str>, Refusal> {
        let mut sender = self.state(timeline);
        while let Some(fork) = sender.filter(|fork| claimed.firing.due_firing.position < fork.head.timers.base) {
            let forked = fork.lineage.last();
            if let Some(forked) = forked {
                // Permissions acknowledged by another service must count here too.
                self.catch_up_with(forked).await?;
            }
            let Some(forked) = forked.and_then(|forked| self.state(forked)) else { return Ok(Some(FORKED_ENDED)) };
            let directory = self.directory();
            let creator_access =
                directory.caller_access(&fork.head.created_by, None, Some(&forked.head.permissions), self.for_expiry());
            if access::decide(creator_access, demand_to_fork(true)).is_err() {
                return Ok(Some(FORKER_LOST_WRITE));
            }
            sender = Some(forked);
        }
        Ok(None)
    }

    /// Extends the lease of a firing before it is sent. Returns whether it is still leased.
    ///
    /// # Errors
    /// The store does not respond.
    #[boxed]
    pub async fn renew_webhook(
        &self,
        timeline: &TimelineId,
        (firing_id, lease_id): (&FiringId, &LeaseId),
    ) -> Result<bool, Refusal> {
        let under = Under::Leases(vec![lease_id.clone()]);
        let Some(state) = self.state(timeline) else { return Ok(false) };
        if self.has_others() {
            let renewed = self.extend_shared(&state, vec![firing_id.clone()], (under, lease())).await?;
            return Ok(renewed.contains(firing_id));
        }
        let renewed = self.timing().leases().extend(firing_id, lease(), (&under, self.now()));
        self.timing().wake_keeper();
        Ok(renewed.is_some())
    }

    /// Records a successful delivery, even if another service is about to send the firing again.
    ///
    /// # Errors
    /// The ledger cannot be written.
    #[boxed]
    pub async fn webhook_taken(&self, timeline: &TimelineId, firing_id: &FiringId) -> Result<(), Refusal> {
        self.settle_webhook(timeline, (firing_id, Under::Anybody), (FiringState::Acknowledged, None)).await
    }

    /// Records a failed delivery of a firing, which was created by the entry at a position. It is retried unless it
    /// `is_final` or has reached the maximum number of attempts, in which case it fails.
    ///
    /// # Errors
    /// Another service sends it now, the ledger cannot be written, or the store does not respond.
    #[boxed]
    pub async fn webhook_refused(
        &self,
        timeline: &TimelineId,
        (firing_id, made, lease_id): (&FiringId, u64, &LeaseId),
        (reason, is_final): (&str, bool),
    ) -> Result<(), Refusal> {
        let under = Under::Leases(vec![lease_id.clone()]);
        let Some(state) = self.state(timeline) else { return Ok(()) };
        if !is_final {
            let attempt = [KnownFiring { firing_id: firing_id.clone(), state: FiringState::Pending, made }];
            let exhausted = self.end_attempts(&state, &attempt, under.clone()).await?.exhausted;
            self.timing().wake_keeper();
            if exhausted.is_empty() {
                return Ok(());
            }
        }
        let end = reason.floor_char_boundary(FAILURE_REASON_BYTES_MAX);
        let failed = (FiringState::Failed, Some(reason[..end].to_owned()));
        self.settle_webhook(timeline, (firing_id, under), failed).await
    }

    async fn settle_webhook(
        &self,
        timeline: &TimelineId,
        (firing_id, under): (&FiringId, Under),
        (outcome, reason): (FiringState, Option<String>),
    ) -> Result<(), Refusal> {
        let firing_ids = vec![firing_id.clone()];
        let begun = Settling::begin_under(self.timing(), timeline, firing_ids.clone(), (&under, self.now()));
        let settling = begun.map_err(Refusal::lease_lost)?;
        let settle = SettleFirings { firing_ids, left: Vec::new(), outcome, reason, under, keeper: None };
        let answer = self.notify_outcomes(Actor::Service, timeline, settle, None).await?;
        settling.end(&answer.change.firings);
        Ok(())
    }

    pub(crate) fn checked_webhook(
        &self,
        timeline: &TimelineId,
        WebhookTarget { url, secret }: WebhookTarget,
    ) -> Result<(WebhookTarget, Option<String>), Refusal> {
        let Some(door) = &self.ports().webhooks else {
            let detail = "this service sends no webhooks: its operator can allow hosts with --webhook-allow-host; claim the \
                firings from a queue instead";
            return Err(Refusal::invalid("deliver/to", detail));
        };
        if url.len() > WEBHOOK_URL_BYTES_MAX {
            let detail = format!("the address of a webhook can have at most {WEBHOOK_URL_BYTES_MAX} bytes");
            return Err(Refusal::invalid("deliver/url", detail));
        }
        let url = door.check(&url).map_err(|detail| Refusal::invalid("deliver/url", detail))?;
        let seal = |secret: &str| door.seal(timeline, secret).map_err(|why| Refusal::invalid("deliver/secret", why));
        let sealed = secret.as_deref().map(|secret| seal(secret)).transpose()?;
        Ok((WebhookTarget { url, secret: None }, sealed))
    }
}

fn lease() -> Span {
    Span::from_secs(LEASE_SECONDS_DEFAULT).unwrap_or(Span::ZERO)
}
