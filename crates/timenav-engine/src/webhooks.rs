//! Firings that the service sends to webhooks itself: claimed and settled as anybody's, in the service's own name.

use std::collections::BTreeSet;

use async_recursion::async_recursion as boxed;
use timenav_core::access;
use timenav_core::ids::{FiringId, LeaseId, QueueId, TimelineId};
use timenav_core::limits::{FAILURE_REASON_BYTES_MAX, LEASE_SECONDS_DEFAULT, WEBHOOK_URL_BYTES_MAX};
use timenav_core::time::Span;
use timenav_core::timers::FiringState;
use timenav_core::timers::leases::Under;

use crate::actor::Actor;
use crate::deciding::timelines::demand_to_fork;
use crate::deciding::timers::SettleFirings;
use crate::engine::Engine;
use crate::firings::{Claim, ClaimedFiring};
use crate::pacing::KnownFiring;
use crate::payload::WebhookTarget;
use crate::refusal::Refusal;
use crate::timing::Settling;

/// Who holds firings that are on their way to a webhook.
const HOLDER: &str = "the service, which sends it to a webhook";

/// Why a fork sends no more webhooks of timers that it took along. Neither names the timeline that was forked, nor a user:
/// not everybody who reads the fork may know of them.
const FORKER_LOST_WRITE: &str = "whoever created the fork is no longer allowed to write to the timeline that it was forked \
    from, so the fork sends no webhooks for timers that it took along; set one on the fork";
const FORKED_ENDED: &str = "the timeline that was forked has ended, so the fork sends no webhooks for timers that it took \
    along; set one on the fork";

impl Engine {
    /// Returns the timelines with firings for webhooks, now or later.
    #[must_use]
    pub fn webhook_timelines(&self) -> BTreeSet<TimelineId> {
        self.timing().webhook_timelines(|timeline| self.state(timeline).is_some())
    }

    /// Waits until there may be others. For one who waits.
    #[boxed]
    pub async fn webhook_timelines_changed(&self) {
        self.timing().sender().notified().await;
    }

    /// Claims firings of a timeline that are to be sent, and waits until there is one. None where the timeline has ended.
    ///
    /// # Errors
    /// The store does not answer.
    #[boxed]
    pub async fn claim_webhooks(&self, timeline: &TimelineId, max: usize) -> Result<Vec<ClaimedFiring>, Refusal> {
        let claim = Claim { queue: QueueId::of_webhooks(), max, ttl: lease(), waits: true };
        self.claim_as((HOLDER, &|| Ok(())), timeline, &claim).await
    }

    /// Returns the timelines under whose name the secret of a firing's timer may be sealed, its own one first: a fork keeps
    /// those of timers that it took along as they are. `None` where it sends none of them: what a fork does touches nobody
    /// outside of it, unless whoever forked wanted it to, and what was adopted touches nobody at all.
    #[must_use]
    pub fn webhook_sealed_for(&self, timeline: &TimelineId, claimed: &ClaimedFiring) -> Option<Vec<TimelineId>> {
        let Some(state) = self.state(timeline) else { return Some(vec![timeline.clone()]) };
        let timers = &state.head.timers;
        if claimed.firing.fallen.position >= timers.base.max(timers.sends_from) {
            return Some(vec![timeline.clone()]);
        }
        let ancestors = state.lineage.iter().rev();
        let is_sent = claimed.firing.fallen.position >= timers.sends_from;
        is_sent.then(|| std::iter::once(timeline).chain(ancestors).cloned().collect())
    }

    /// Returns why a fork does not send a webhook of a timer that it took along, although whoever forked wanted it to: they
    /// have to be allowed to set timers on the timeline that they forked, now and not only then; and so has whoever forked
    /// that one, where the timer came from further. A timer that was set on the timeline itself is sent.
    ///
    /// # Errors
    /// The store does not answer.
    #[boxed]
    pub async fn webhook_stopped(
        &self,
        timeline: &TimelineId,
        claimed: &ClaimedFiring,
    ) -> Result<Option<&'static str>, Refusal> {
        let mut sender = self.state(timeline);
        while let Some(fork) = sender.filter(|fork| claimed.firing.fallen.position < fork.head.timers.base) {
            let forked = fork.lineage.last();
            if let Some(forked) = forked {
                // What another service was told about rights counts here too.
                self.hear_of(forked).await?;
            }
            let Some(forked) = forked.and_then(|forked| self.state(forked)) else { return Ok(Some(FORKED_ENDED)) };
            let directory = self.directory();
            let standing =
                directory.standing(&fork.head.created_by, None, Some(&forked.head.permissions), self.for_expiry());
            if access::decide(standing, demand_to_fork(true)).is_err() {
                return Ok(Some(FORKER_LOST_WRITE));
            }
            sender = Some(forked);
        }
        Ok(None)
    }

    /// Keeps a firing leased that is about to be sent. Returns whether it still is.
    ///
    /// # Errors
    /// The store does not answer.
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

    /// Tells that a webhook has taken a firing. It has, whoever may be about to send it again.
    ///
    /// # Errors
    /// The ledger cannot be written.
    #[boxed]
    pub async fn webhook_taken(&self, timeline: &TimelineId, firing_id: &FiringId) -> Result<(), Refusal> {
        self.settle_webhook(timeline, (firing_id, Under::Anybody), (FiringState::Acknowledged, None)).await
    }

    /// Tells that a webhook has not taken a firing, which the entry at a position made. It is tried again unless it
    /// `is_final`, or was tried as often as it may be: then it has failed.
    ///
    /// # Errors
    /// Another service sends it by now, the ledger cannot be written, or the store does not answer.
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
        let answer = self.tell_outcomes(Actor::Service, timeline, settle, None).await?;
        settling.end(&answer.change.firings);
        Ok(())
    }

    /// Checks where a webhook is to go, and seals what it is signed under.
    pub(crate) fn checked_webhook(
        &self,
        timeline: &TimelineId,
        WebhookTarget { url, secret }: WebhookTarget,
    ) -> Result<(WebhookTarget, Option<String>), Refusal> {
        let Some(door) = &self.doors().webhooks else {
            let detail = "this service sends no webhooks: its operator would have to list with --webhook-to where they may \
                          go; let firings wait in a queue, and take them from there";
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
