//! Witness requests of a service: it records the heads of changed timelines in `system`, and shows the checkpoint of
//! `system` to witnesses.
//!
//! One task records heads at each interval. Each witness has its own task, so none waits for another, and no reader or
//! writer waits for them. If several services share a database, one of them does this for all. Timelines that are shown
//! to witnesses individually are shown by each service.

mod asking;
mod named;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use timenav_core::ids::TimelineId;
use timenav_core::ledger::WitnessKey;
use timenav_engine::{
    Cosigned, Engine, Evidence, RateLimitedLog, Refusal, SignedCheckpoint, WitnessState, WitnessStatus,
};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use self::asking::{CosignOutcome, WitnessClient};
use crate::config::Settings;
use crate::data_folder::{CheckpointPlace, replace_secret};
use crate::traces::Spans;

/// Initial wait before an unreachable witness is retried. It doubles with each failure.
const PAUSE_MIN: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_mins(5);
/// Maximum wait if responses require cosignatures.
const PAUSE_REQUIRED_MAX: Duration = Duration::from_secs(5);
/// Minimum time between two entries with heads if a change waits for them: changes in between share an entry.
const GATHERING: Duration = Duration::from_millis(20);
/// Interval of polling for cosignatures that other services obtained. Requests for them poll on their own.
const LISTEN_EVERY: Duration = Duration::from_secs(1);
/// Interval at which waiting requests check for their timeout.
const LOOK: Duration = Duration::from_millis(250);
/// Wait before comparing with the recorded heads again if the store is unavailable.
const RECALL_AGAIN: Duration = Duration::from_secs(10);

pub(crate) fn start(
    engine: &Engine,
    settings: &Settings,
    (checkpoints, spans): (&CheckpointPlace, &Spans),
    closing: &CancellationToken,
) -> anyhow::Result<()> {
    let witnesses = &settings.witnesses;
    if witnesses.witness_urls.is_empty() {
        return Ok(());
    }
    let urls = |witness| Ok(Arc::new(WitnessClient::new(witness, spans.clone())?));
    let urls = witnesses.witness_urls.iter().map(urls).collect::<anyhow::Result<Vec<_>>>()?;
    engine.trust_witnesses(witnesses.witness_urls.iter().map(|witness| witness.key.clone()).collect());
    engine.name_to_witnesses(witnesses.timelines.iter().cloned());
    for timeline in std::iter::once(&TimelineId::system()).chain(&witnesses.timelines) {
        for witness in &witnesses.witness_urls {
            engine.note_witness(timeline, witness.key.name(), WitnessStatus::default());
        }
    }
    let is_required = witnesses.required > 0;
    if is_required {
        tokio::spawn(wake(engine.clone(), closing.clone()));
    }
    let pause_max = if is_required { PAUSE_REQUIRED_MAX } else { PAUSE_MAX };
    let pace = Pace { interval: witnesses.interval, pause_max };
    for timeline in &witnesses.timelines {
        let log = (timeline.clone(), checkpoints.cosigned_file(timeline));
        tokio::spawn(named::run(engine.clone(), urls.clone(), pace, log, closing.clone()));
    }
    let file = checkpoints.cosigned_file(&TimelineId::system());
    tokio::spawn(run(engine.clone(), urls, pace, file, closing.clone()));
    Ok(())
}

#[derive(Clone, Copy)]
struct Pace {
    /// Interval if nothing waits for witnesses.
    interval: Duration,
    pause_max: Duration,
}

/// Wakes requests that wait for witnesses, which nothing else may wake.
async fn wake(engine: Engine, closing: CancellationToken) {
    while timeout(LOOK, closing.cancelled()).await.is_err() {
        engine.witnesses_moved();
    }
}

async fn run(engine: Engine, clients: Vec<Arc<WitnessClient>>, pace: Pace, file: PathBuf, closing: CancellationToken) {
    let system = TimelineId::system();
    let recall = async {
        let cosigned = recall_cosigned(&engine, (&system, &file), &clients).await;
        recall_heads(&engine).await;
        cosigned
    };
    // A read that the shutdown cancels is not a failure.
    let Some(cosigned) = closing.run_until_cancelled(recall).await else { return };
    tokio::spawn(recall_more(engine.clone(), closing.clone()));
    let cosigned_file = Arc::new(CosignedFile::new(system, file, cosigned.as_deref()));
    if engine.has_others() {
        tokio::spawn(listen(engine.clone(), Arc::clone(&cosigned_file), closing.clone()));
    }
    let tips = follow(&engine, clients, pace, (&cosigned_file, cosigned.as_deref()), &closing);
    let failures = RateLimitedLog::default();
    // Every service shows the existing state before anything is added, so that witnesses can detect a rollback.
    let (mut commits, mut is_needed) = (false, true);
    loop {
        let status = tokio::select! {
            biased;
            () = closing.cancelled() => return,
            status = show(&engine, &tips, commits, is_needed) => status,
        };
        if let Err(refusal) = status
            && let Some(suppressed) = failures.record(engine.now())
        {
            tracing::warn!(%refusal, suppressed, "`system` could not be prepared for witnesses; will retry");
        }
        commits = true;
        if timeout(GATHERING, closing.cancelled()).await.is_ok() {
            return;
        }
        is_needed = tokio::select! {
            () = closing.cancelled() => return,
            // Either a request waits for witnesses or the interval is over.
            waited = timeout(pace.interval, engine.witnesses_requested()) => waited.is_ok(),
        };
    }
}

type Tips = watch::Sender<Option<Arc<SignedCheckpoint>>>;

/// Shows each witness the newest checkpoint of a timeline.
fn follow(
    engine: &Engine,
    clients: Vec<Arc<WitnessClient>>,
    pace: Pace,
    (cosigned_file, cosigned): (&Arc<CosignedFile>, Option<&Cosigned>),
    closing: &CancellationToken,
) -> Tips {
    let (tips, tip) = watch::channel(None);
    for witness in clients {
        let known = cosigned.filter(|one| one.by.contains_key(witness.key().name())).map_or(0, |one| one.size);
        let follower =
            Follower { engine: engine.clone(), witness, file: Arc::clone(cosigned_file), known, pace, paused: 0 };
        tokio::spawn(follower.follow(tip.clone(), closing.clone()));
    }
    tips
}

fn show_tip(tips: &Tips, tip: SignedCheckpoint) {
    let size = tip.size;
    tips.send_if_modified(|before: &mut Option<Arc<SignedCheckpoint>>| {
        let is_new = before.as_ref().is_none_or(|before| before.size != size);
        *before = Some(Arc::new(tip));
        is_new
    });
}

/// Shows witnesses the newest checkpoint of `system`, if a request waits for that or this service is responsible.
async fn show(engine: &Engine, tips: &Tips, commits: bool, is_needed: bool) -> Result<(), Refusal> {
    if !is_needed && !engine.asks_witnesses().await? {
        return Ok(());
    }
    // If the local ledgers contradict each other, nothing is recorded that would look correct.
    if commits && !engine.contradicts_itself() {
        engine.commit_heads().await?;
    }
    if let Some(tip) = engine.witness_checkpoint(&TimelineId::system())? {
        show_tip(tips, tip);
    }
    // Restores the shared copy if it was lost or damaged.
    engine.share_cosigned().await
}

/// Stores cosignatures obtained by other services on the database here too.
async fn listen(engine: Engine, cosigned_file: Arc<CosignedFile>, closing: CancellationToken) {
    let failures = RateLimitedLog::default();
    while timeout(LISTEN_EVERY, closing.cancelled()).await.is_err() {
        let message = tokio::select! {
            biased;
            () = closing.cancelled() => return,
            message = engine.learn_cosigned() => message,
        };
        if let Err(refusal) = message
            && let Some(suppressed) = failures.record(engine.now())
        {
            tracing::warn!(%refusal, suppressed, "checkpoints that were cosigned for other services cannot be read; will \
                                              retry");
        }
        if let Some(cosigned) = engine.cosigned(&cosigned_file.timeline) {
            cosigned_file.keep(&cosigned).await;
        }
    }
}

/// Reads the cosigned checkpoint of a timeline from before the start, and compares it with the ledger.
async fn recall_cosigned(
    engine: &Engine,
    (timeline, file): (&TimelineId, &Path),
    clients: &[Arc<WitnessClient>],
) -> Option<Arc<Cosigned>> {
    let path = file.to_owned();
    let text = tokio::task::spawn_blocking(move || std::fs::read_to_string(&path)).await;
    let keys: Vec<WitnessKey> = clients.iter().map(|witness| witness.key().clone()).collect();
    match text {
        Ok(Ok(note)) => match engine.recall_cosigned(timeline, &note, &keys).await {
            Ok(cosigned) => {
                if cosigned.is_none() {
                    tracing::warn!(path = %file.display(), "the stored checkpoint is ignored: none of the witnesses \
                                                            has cosigned it, another key signed it, or its timeline \
                                                            has ended");
                }
                cosigned
            }
            Err(refusal) => {
                tracing::error!(
                    path = %file.display(),
                    %refusal,
                    "the ledger does not match the cosigned checkpoint: {refusal}"
                );
                None
            }
        },
        Ok(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => None,
        Ok(Err(error)) => {
            tracing::error!(path = %file.display(), %error, "the cosigned checkpoint cannot be read");
            None
        }
        Err(_) => None,
    }
}

/// Compares the last recorded heads from before the start with the ledgers.
async fn recall_heads(engine: &Engine) {
    match engine.recall_heads().await {
        Ok(None) => {}
        Ok(Some(contradiction)) => {
            tracing::error!("the ledgers do not match the heads that `system` commits to: {contradiction}");
        }
        Err(refusal) => tracing::error!(%refusal, "the heads that `system` commits to cannot be read: {refusal}"),
    }
}

/// Compares the remaining recorded heads in the background: there may be years of them.
async fn recall_more(engine: Engine, closing: CancellationToken) {
    let (failures, was_right) = (RateLimitedLog::default(), !engine.contradicts_itself());
    loop {
        let recalled = tokio::select! {
            biased;
            () = closing.cancelled() => return,
            recalled = engine.recall_more_heads() => recalled,
        };
        match recalled {
            Ok(true) => continue,
            Ok(false) => break,
            Err(refusal) => {
                if let Some(suppressed) = failures.record(engine.now()) {
                    tracing::warn!(%refusal, suppressed, "the heads that `system` commits to cannot be read; will retry");
                }
            }
        }
        if timeout(RECALL_AGAIN, closing.cancelled()).await.is_ok() {
            return;
        }
    }
    if was_right && engine.contradicts_itself() {
        tracing::error!("a timeline does not match an older head that `system` commits to; `/readyz` names it");
    }
}

/// The file with the newest cosigned checkpoint of a timeline.
struct CosignedFile {
    timeline: TimelineId,
    file: PathBuf,
    /// The current one and its size.
    newest: tokio::sync::Mutex<Option<(u64, Arc<str>)>>,
}

impl CosignedFile {
    fn new(timeline: TimelineId, file: PathBuf, cosigned: Option<&Cosigned>) -> Self {
        let newest = tokio::sync::Mutex::new(cosigned.map(|one| (one.size, Arc::clone(&one.note))));
        Self { timeline, file, newest }
    }

    async fn keep(&self, cosigned: &Cosigned) {
        let mut newest = self.newest.lock().await;
        if newest.as_ref().is_some_and(|(size, note)| cosigned.size < *size || cosigned.note == *note) {
            return;
        }
        let (file, note) = (self.file.clone(), Arc::clone(&cosigned.note));
        let written = tokio::task::spawn_blocking(move || replace_secret(&file, &note)).await;
        match written {
            Ok(Ok(())) => *newest = Some((cosigned.size, Arc::clone(&cosigned.note))),
            Ok(Err(error)) => {
                tracing::error!(path = %self.file.display(), %error, "the cosigned checkpoint cannot be stored");
            }
            Err(_) => {}
        }
    }
}

struct Follower {
    engine: Engine,
    witness: Arc<WitnessClient>,
    file: Arc<CosignedFile>,
    /// The last cosigned size, as far as known.
    known: u64,
    pace: Pace,
    /// Number of failures since the last response.
    paused: u32,
}

impl Follower {
    async fn follow(mut self, mut tips: watch::Receiver<Option<Arc<SignedCheckpoint>>>, closing: CancellationToken) {
        let mut status = WitnessStatus::default();
        let (witness, cosigned_file) = (Arc::clone(&self.witness), Arc::clone(&self.file));
        let (name, timeline) = (witness.key().name(), &cosigned_file.timeline);
        loop {
            let tip = tips.borrow_and_update().clone();
            let is_done = match &tip {
                None => true,
                Some(tip) => {
                    let clients = tokio::select! {
                        biased;
                        () = closing.cancelled() => return,
                        clients = witness.ask(&self.engine, timeline, (self.known, tip)) => clients,
                    };
                    let next = self.take(clients, &status).await;
                    log_change((name, timeline), &status, &next);
                    self.engine.note_witness(timeline, name, next.clone());
                    status = next;
                    status.state == WitnessState::Cosigning
                }
            };
            if is_done {
                self.paused = 0;
                tokio::select! {
                    changed = tips.changed() => if changed.is_err() { return },
                    () = closing.cancelled() => return,
                }
            } else {
                let pause = PAUSE_MIN.saturating_mul(1 << self.paused.min(16)).min(self.pace.pause_max);
                self.paused += 1;
                if timeout(pause, closing.cancelled()).await.is_ok() {
                    return;
                }
            }
        }
    }

    async fn take(&mut self, outcome: CosignOutcome, before: &WitnessStatus) -> WitnessStatus {
        let failed = |state, detail: String, evidence| WitnessStatus { state, detail, evidence, ..before.clone() };
        match outcome {
            CosignOutcome::Cosigned { checkpoint, line, time } => {
                self.known = checkpoint.size;
                let timeline = &self.file.timeline;
                match self.engine.add_cosignature(timeline, &checkpoint, (self.witness.key(), line, time)) {
                    Ok(newest) => {
                        if let Some(newest) = newest {
                            self.file.keep(&newest).await;
                            if timeline.is_system()
                                && let Err(refusal) = self.engine.share_cosigned().await
                            {
                                // It is retried at the next interval.
                                tracing::debug!(%refusal, "the cosigned checkpoint is not shared with the other \
                                                           services yet");
                            }
                        }
                        let (state, size) = (WitnessState::Cosigning, checkpoint.size);
                        WitnessStatus { state, size, time, detail: String::new(), evidence: Evidence::None }
                    }
                    Err(refusal) => failed(WitnessState::Refusing, refusal.to_string(), Evidence::None),
                }
            }
            CosignOutcome::Unreachable(detail) => failed(WitnessState::Unreachable, detail, Evidence::None),
            CosignOutcome::Refused(detail) => failed(WitnessState::Refusing, detail, Evidence::None),
            CosignOutcome::Rollback { detail, evidence } => failed(WitnessState::Rollback, detail, evidence),
            CosignOutcome::Fork { detail, evidence } => failed(WitnessState::Fork, detail, evidence),
        }
    }
}

fn log_change((name, timeline): (&str, &TimelineId), before: &WitnessStatus, now: &WitnessStatus) {
    if before.state == now.state && before.detail == now.detail {
        return;
    }
    let WitnessStatus { state, size, detail, evidence, .. } = now;
    let log = timeline.as_str();
    match state {
        WitnessState::Waiting => {}
        WitnessState::Cosigning if before.state == WitnessState::Cosigning => {}
        WitnessState::Cosigning => {
            tracing::info!(witness = name, timeline = log, size, "the witness `{name}` cosigns `{timeline}`");
        }
        WitnessState::Unreachable | WitnessState::Refusing => {
            tracing::warn!(
                witness = name,
                timeline = log,
                "the witness `{name}` does not cosign `{timeline}`: {detail}"
            );
        }
        WitnessState::Rollback | WitnessState::Fork if *evidence == Evidence::Accepted => {
            tracing::warn!(
                witness = name,
                timeline = log,
                "the witness `{name}` does not cosign `{timeline}`, as an operator accepted: {detail}"
            );
        }
        WitnessState::Rollback | WitnessState::Fork => {
            tracing::error!(
                witness = name,
                timeline = log,
                kind = state.as_str(),
                "the witness `{name}` does not cosign `{timeline}`: {detail}"
            );
        }
    }
}
