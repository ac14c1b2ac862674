//! Timelines that are shown to witnesses individually, because the operator named them.
//!
//! Entries `heads` cover every timeline already. Cosignatures of a single timeline are for verifiers that do not know
//! `system` and `heads` entries: any verifier of checkpoints and cosignatures (C2SP tlog-checkpoint, tlog-cosignature)
//! can check them.

use std::path::PathBuf;
use std::sync::Arc;

use timenav_core::ids::TimelineId;
use timenav_engine::{Engine, RateLimitedLog, Refusal};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::asking::AskedWitness;
use super::{Kept, Pace, Tips, follow, recall_cosigned, show_tip};

/// Shows witnesses a timeline at each interval in which it has grown. The existing state is shown first, before
/// anything is added to it, so that witnesses can detect a rollback.
pub(super) async fn run(
    engine: Engine,
    asked: Vec<Arc<AskedWitness>>,
    pace: Pace,
    (timeline, file): (TimelineId, PathBuf),
    closing: CancellationToken,
) {
    let cosigned = recall_cosigned(&engine, (&timeline, &file), &asked).await;
    let kept = Arc::new(Kept::new(timeline, file, cosigned.as_deref()));
    let tips = follow(&engine, asked, pace, (&kept, cosigned.as_deref()), &closing);
    let failures = RateLimitedLog::default();
    let mut was_there = true;
    loop {
        let shown = tokio::select! {
            biased;
            () = closing.cancelled() => return,
            shown = show(&engine, &kept.timeline, &tips) => shown,
        };
        match shown {
            Ok(is_there) => {
                if was_there && !is_there {
                    let timeline = kept.timeline.as_str();
                    tracing::warn!(timeline, "`{timeline}` is not sent to witnesses: there is no such timeline");
                }
                was_there = is_there;
            }
            Err(refusal) => {
                if let Some(suppressed) = failures.tell(engine.now()) {
                    let timeline = kept.timeline.as_str();
                    tracing::warn!(
                        %refusal,
                        timeline,
                        suppressed,
                        "`{timeline}` cannot be sent to witnesses; will retry"
                    );
                }
            }
        }
        if timeout(pace.interval, closing.cancelled()).await.is_ok() {
            return;
        }
    }
}

/// Shows witnesses the newest checkpoint of a timeline. Returns whether the timeline exists.
async fn show(engine: &Engine, timeline: &TimelineId, tips: &Tips) -> Result<bool, Refusal> {
    if engine.has_others() {
        engine.hear_of(timeline).await?;
    }
    let tip = engine.witness_checkpoint(timeline)?;
    Ok(tip.map(|tip| show_tip(tips, tip)).is_some())
}
