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

use super::asking::WitnessClient;
use super::{CosignedFile, Pace, Tips, follow, recall_cosigned, show_tip};

/// Shows witnesses a timeline at each interval in which it has grown. The existing state is shown first, before
/// anything is added to it, so that witnesses can detect a rollback.
pub(super) async fn run(
    engine: Engine,
    clients: Vec<Arc<WitnessClient>>,
    pace: Pace,
    (timeline, file): (TimelineId, PathBuf),
    closing: CancellationToken,
) {
    let recall = recall_cosigned(&engine, (&timeline, &file), &clients);
    let Some(cosigned) = closing.run_until_cancelled(recall).await else { return };
    let cosigned_file = Arc::new(CosignedFile::new(timeline, file, cosigned.as_deref()));
    let tips = follow(&engine, clients, pace, (&cosigned_file, cosigned.as_deref()), &closing);
    let failures = RateLimitedLog::default();
    let mut was_there = true;
    loop {
        let status = tokio::select! {
            biased;
            () = closing.cancelled() => return,
            status = show(&engine, &cosigned_file.timeline, &tips) => status,
        };
        match status {
            Ok(is_there) => {
                if was_there && !is_there {
                    let timeline = cosigned_file.timeline.as_str();
                    tracing::warn!(timeline, "`{timeline}` is not sent to witnesses: there is no such timeline");
                }
                was_there = is_there;
            }
            Err(refusal) => {
                if let Some(suppressed) = failures.record(engine.now()) {
                    let timeline = cosigned_file.timeline.as_str();
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
        engine.catch_up_with(timeline).await?;
    }
    let tip = engine.witness_checkpoint(timeline)?;
    Ok(tip.map(|tip| show_tip(tips, tip)).is_some())
}
