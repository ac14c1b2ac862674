//! Webhooks: the service claims the firings to send, sends them and settles them like any worker.
//!
//! Each timeline with webhook timers has its own task with a limited number of concurrent requests, and each host has a
//! limit too. Both are first come, first served, so neither a timeline nor a slow host delays the others.

pub(crate) mod standard_webhooks;
mod gate;
mod resolver;
mod sending;

use std::collections::HashMap;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use timenav_core::ids::TimelineId;
use timenav_core::limits::WEBHOOKS_PER_TIMELINE_MAX;
use timenav_engine::{ClaimedFiring, Engine, RateLimitedLog, Refusal};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

pub(crate) use self::gate::Gate;
use self::sending::{Attempt, Sender, Trusted};
use crate::client::authorities;
use crate::config::Settings;
use crate::traces::Spans;

const AFTER_FAILURE: Duration = Duration::from_secs(1);

/// Starts sending webhooks, if any host is allowed.
pub(crate) fn start(
    engine: &Engine,
    gate: Option<Arc<Gate>>,
    (settings, spans): (&Settings, Spans),
    closing: &CancellationToken,
) -> anyhow::Result<()> {
    let Some(gate) = gate else { return Ok(()) };
    let authorities = settings.webhook_ca.as_deref().map(authorities).transpose().context("--webhook-ca")?;
    let trusted =
        Trusted { allows_private: settings.webhook_allow_private, authorities: authorities.unwrap_or_default() };
    let sender = Arc::new(Sender::new(gate, &trusted, spans)?);
    tokio::spawn(run(engine.clone(), sender, closing.clone()));
    Ok(())
}

/// Runs a task per timeline with pending webhooks until the service stops.
async fn run(engine: Engine, sender: Arc<Sender>, closing: CancellationToken) {
    let mut at_work: HashMap<TimelineId, AbortOnDropHandle<()>> = HashMap::new();
    loop {
        let timelines = engine.webhook_timelines();
        at_work.retain(|timeline, task| timelines.contains(timeline) && !task.is_finished());
        for timeline in timelines {
            at_work.entry(timeline).or_insert_with_key(|timeline| {
                let sending = send_all(engine.clone(), Arc::clone(&sender), timeline.clone());
                AbortOnDropHandle::new(tokio::spawn(sending))
            });
        }
        tokio::select! {
            biased;
            () = closing.cancelled() => return,
            () = engine.webhook_timelines_changed() => {}
        }
    }
}

/// Sends the firings of one timeline until it ends. Cancel-safe: the rest is sent after the next start.
async fn send_all(engine: Engine, sender: Arc<Sender>, timeline: TimelineId) {
    let (mut under_way, failures) = (JoinSet::new(), RateLimitedLog::default());
    loop {
        let room = WEBHOOKS_PER_TIMELINE_MAX.saturating_sub(under_way.len());
        let claimed = tokio::select! {
            Some(sent) = under_way.join_next(), if !under_way.is_empty() => {
                if let Ok(Err(refusal)) = sent {
                    warn(&engine, &failures, &timeline, &refusal);
                }
                continue;
            }
            claimed = engine.claim_webhooks(&timeline, room), if room > 0 => claimed,
        };
        match claimed {
            Ok(claimed) if claimed.is_empty() => return,
            Ok(claimed) => {
                for claimed in claimed {
                    under_way.spawn(send(engine.clone(), Arc::clone(&sender), timeline.clone(), claimed));
                }
            }
            Err(Refusal::Ended { .. } | Refusal::HandedOver { .. } | Refusal::NotFound { .. }) => return,
            Err(refusal) => {
                warn(&engine, &failures, &timeline, &refusal);
                // A timeout, because `clippy.toml` disallows `sleep`.
                let _ = timeout(AFTER_FAILURE, pending::<()>()).await;
            }
        }
    }
}

fn warn(engine: &Engine, failures: &RateLimitedLog, timeline: &TimelineId, refusal: &Refusal) {
    if let Some(suppressed) = failures.record(engine.now()) {
        tracing::warn!(%timeline, %refusal, suppressed, "outcomes of webhooks cannot be recorded; the webhooks will be \
                                                     sent again");
    }
}

async fn send(
    engine: Engine,
    sender: Arc<Sender>,
    timeline: TimelineId,
    claimed: ClaimedFiring,
) -> Result<(), Refusal> {
    let (firing_id, lease_id) = (claimed.firing.firing_id.clone(), claimed.lease_id.clone());
    let made = claimed.firing.made;
    let (reason, is_final) = match sender.attempt(&engine, &timeline, claimed).await? {
        Attempt::Taken => return engine.webhook_taken(&timeline, &firing_id).await,
        // Another worker has claimed or settled it.
        Attempt::Lost => return Ok(()),
        Attempt::Refused(reason) => (reason, false),
        Attempt::Hopeless(reason) => (reason, true),
    };
    tracing::debug!(%timeline, %firing_id, reason, "a webhook was not accepted");
    match engine.webhook_refused(&timeline, (&firing_id, made, &lease_id), (&reason, is_final)).await {
        // Another service has claimed it since and settles it.
        Err(Refusal::LeaseLost { .. }) => Ok(()),
        sent => sent,
    }
}
