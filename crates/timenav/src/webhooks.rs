//! Webhooks: the service takes firings that are to be sent, sends them, and says what came of it, as any worker would.
//!
//! Each timeline with such timers has a task of its own, which has only so many requests under way, and so has each host. Who
//! comes first waits for the shortest: no timeline, and no host that is slow, holds up the others.

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
use timenav_engine::{ClaimedFiring, Engine, Refusal, Seldom};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

pub(crate) use self::gate::Gate;
use self::sending::{Attempt, Sender, Trusted};
use crate::client::authorities;
use crate::config::Settings;
use crate::traces::Spans;

/// How long is waited after the store did not answer.
const AFTER_FAILURE: Duration = Duration::from_secs(1);

/// Begins to send webhooks, if any may go anywhere.
///
/// # Errors
/// They are to go over TLS, and there is nothing to check certificates with; or a file of authorities cannot be read.
pub(crate) fn start(
    engine: &Engine,
    gate: Option<Arc<Gate>>,
    (settings, spans): (&Settings, Spans),
    closing: &CancellationToken,
) -> anyhow::Result<()> {
    let Some(gate) = gate else { return Ok(()) };
    let authorities = settings.webhook_ca.as_deref().map(authorities).transpose().context("--webhook-ca")?;
    let trusted = Trusted { allows_private: settings.webhook_to_private, authorities: authorities.unwrap_or_default() };
    let sender = Arc::new(Sender::new(gate, &trusted, spans)?);
    tokio::spawn(run(engine.clone(), sender, closing.clone()));
    Ok(())
}

/// Has a task for each timeline with firings to send, until the service ends.
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

/// Sends the firings of one timeline until it ends. Dropped at any moment, it leaves them to the next start.
async fn send_all(engine: Engine, sender: Arc<Sender>, timeline: TimelineId) {
    let (mut under_way, failures) = (JoinSet::new(), Seldom::default());
    loop {
        let room = WEBHOOKS_PER_TIMELINE_MAX.saturating_sub(under_way.len());
        let claimed = tokio::select! {
            Some(told) = under_way.join_next(), if !under_way.is_empty() => {
                if let Ok(Err(refusal)) = told {
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
                // Without a sleep of its own: the service sleeps only where something may wake it.
                let _ = timeout(AFTER_FAILURE, pending::<()>()).await;
            }
        }
    }
}

fn warn(engine: &Engine, failures: &Seldom, timeline: &TimelineId, refusal: &Refusal) {
    if let Some(untold) = failures.tell(engine.now()) {
        tracing::warn!(%timeline, %refusal, untold, "what came of webhooks cannot be recorded; they will be sent again");
    }
}

/// Sends one firing, and says what came of it.
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
        // Somebody else has it, or it has come to an outcome.
        Attempt::Lost => return Ok(()),
        Attempt::Refused(reason) => (reason, false),
        Attempt::Hopeless(reason) => (reason, true),
    };
    tracing::debug!(%timeline, %firing_id, reason, "a webhook was not taken");
    match engine.webhook_refused(&timeline, (&firing_id, made, &lease_id), (&reason, is_final)).await {
        // Another service sends it by now, and says what comes of it.
        Err(Refusal::LeaseLost { .. }) => Ok(()),
        told => told,
    }
}
