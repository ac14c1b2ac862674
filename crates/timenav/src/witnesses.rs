//! What a service does that has witnesses: it commits `system` to what moved, and shows them its checkpoint.
//!
//! One task does the first, at each interval. Each witness has a task of its own, so that none waits for another, and
//! nobody who reads or writes waits for any of them. Of several services on one database one does it for all.

mod asking;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use timenav_core::ledger::WitnessKey;
use timenav_engine::{Cosigned, Engine, Evidence, Refusal, Seldom, SignedCheckpoint, WitnessState, WitnessStatus};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use self::asking::{Asked, AskedWitness};
use crate::config::Settings;
use crate::data_folder::replace_secret;
use crate::traces::Spans;

/// How long a witness is left alone after it did not answer, at first. It doubles with each further time.
const PAUSE_MIN: Duration = Duration::from_secs(1);
/// The longest that it is left alone.
const PAUSE_MAX: Duration = Duration::from_mins(5);
/// The same where answers wait for witnesses.
const PAUSE_REQUIRED_MAX: Duration = Duration::from_secs(5);
/// Between two times that `system` is committed to what moved because somebody waits for that: what comes meanwhile shares
/// an entry.
const GATHERING: Duration = Duration::from_millis(20);
/// How often it is looked for what another service on the database has had cosigned. Whoever asks for it looks by themselves.
const LISTEN_EVERY: Duration = Duration::from_secs(1);
/// How often those who wait for witnesses look whether they have waited too long.
const LOOK: Duration = Duration::from_millis(250);
/// How long the comparison with what was committed to before the start waits where the store does not answer.
const RECALL_AGAIN: Duration = Duration::from_secs(10);

/// Begins to ask witnesses, if there are any.
///
/// # Errors
/// Nothing can be sent to one of them.
pub(crate) fn start(
    engine: &Engine,
    settings: &Settings,
    (file, spans): (PathBuf, &Spans),
    closing: &CancellationToken,
) -> anyhow::Result<()> {
    if settings.witnesses.is_empty() {
        return Ok(());
    }
    let asked = |witness| AskedWitness::new(witness, spans.clone());
    let asked = settings.witnesses.iter().map(asked).collect::<anyhow::Result<Vec<_>>>()?;
    engine.trust_witnesses(settings.witnesses.iter().map(|witness| witness.key.clone()).collect());
    for witness in &settings.witnesses {
        engine.note_witness(witness.key.name(), WitnessStatus::default());
    }
    let is_required = settings.witness_required > 0;
    if is_required {
        tokio::spawn(wake(engine.clone(), closing.clone()));
    }
    let pause_max = if is_required { PAUSE_REQUIRED_MAX } else { PAUSE_MAX };
    let pace = Pace { interval: settings.witness_interval, pause_max };
    tokio::spawn(run(engine.clone(), asked, pace, file, closing.clone()));
    Ok(())
}

/// How long is waited for what.
#[derive(Clone, Copy)]
struct Pace {
    /// Between two times that witnesses are asked, if nobody waits for them.
    interval: Duration,
    /// How long a witness that does not answer is left alone at most.
    pause_max: Duration,
}

/// Wakes those who wait for witnesses, for whom nothing else may happen.
async fn wake(engine: Engine, closing: CancellationToken) {
    while timeout(LOOK, closing.cancelled()).await.is_err() {
        engine.witnesses_moved();
    }
}

async fn run(engine: Engine, asked: Vec<AskedWitness>, pace: Pace, file: PathBuf, closing: CancellationToken) {
    let keys: Vec<WitnessKey> = asked.iter().map(|witness| witness.key().clone()).collect();
    let cosigned = recall(&engine, &file, &keys).await;
    tokio::spawn(recall_more(engine.clone(), closing.clone()));
    let (tips, tip) = watch::channel(None);
    let newest = tokio::sync::Mutex::new(cosigned.as_ref().map(|one| (one.size, Arc::clone(&one.note))));
    let kept = Arc::new(Kept { file, newest });
    if engine.has_others() {
        tokio::spawn(listen(engine.clone(), Arc::clone(&kept), closing.clone()));
    }
    for witness in asked {
        let known = cosigned.as_ref().filter(|one| one.by.contains_key(witness.key().name())).map_or(0, |one| one.size);
        let follower = Follower { engine: engine.clone(), witness, kept: Arc::clone(&kept), known, pace, paused: 0 };
        tokio::spawn(follower.follow(tip.clone(), closing.clone()));
    }
    drop(tip);
    let failures = Seldom::default();
    // First what is there, before anything is added to it: if it was taken back, they know. Each service asks that by itself.
    let (mut commits, mut is_wanted) = (false, true);
    loop {
        let shown = tokio::select! {
            biased;
            () = closing.cancelled() => return,
            shown = show(&engine, &tips, commits, is_wanted) => shown,
        };
        if let Err(refusal) = shown
            && let Some(untold) = failures.tell(engine.now())
        {
            tracing::error!(%refusal, untold, "`system` could not be prepared for witnesses; it will be tried again");
        }
        commits = true;
        if timeout(GATHERING, closing.cancelled()).await.is_ok() {
            return;
        }
        is_wanted = tokio::select! {
            () = closing.cancelled() => return,
            // Whether somebody waits for them or the time has come: they are asked.
            waited = timeout(pace.interval, engine.witnesses_wanted()) => waited.is_ok(),
        };
    }
}

type Tips = watch::Sender<Option<Arc<SignedCheckpoint>>>;

/// Has witnesses shown the newest checkpoint of `system`, if somebody waits for that or this service asks them for all.
async fn show(engine: &Engine, tips: &Tips, commits: bool, is_wanted: bool) -> Result<(), Refusal> {
    if !is_wanted && !engine.asks_witnesses().await? {
        return Ok(());
    }
    let tip = next_tip(engine, commits).await?;
    let size = tip.size;
    tips.send_if_modified(|before: &mut Option<Arc<SignedCheckpoint>>| {
        let is_new = before.as_ref().is_none_or(|before| before.size != size);
        *before = Some(Arc::new(tip));
        is_new
    });
    // If it was lost or damaged there, it is put right.
    engine.share_cosigned().await
}

/// Takes what another service on the database has had cosigned, and keeps it here too.
async fn listen(engine: Engine, kept: Arc<Kept>, closing: CancellationToken) {
    let failures = Seldom::default();
    while timeout(LISTEN_EVERY, closing.cancelled()).await.is_err() {
        let heard = tokio::select! {
            biased;
            () = closing.cancelled() => return,
            heard = engine.hear_cosigned() => heard,
        };
        if let Err(refusal) = heard
            && let Some(untold) = failures.tell(engine.now())
        {
            tracing::warn!(%refusal, untold, "what another service has had cosigned cannot be read; it will be tried again");
        }
        if let Some(cosigned) = engine.cosigned() {
            kept.keep(&cosigned).await;
        }
    }
}

/// Commits `system` to what moved, and returns its checkpoint.
async fn next_tip(engine: &Engine, commits: bool) -> Result<SignedCheckpoint, Refusal> {
    // Where what is here contradicts itself, nothing is said that would look as if it were right.
    if commits && !engine.contradicts_itself() {
        engine.commit_heads().await?;
    }
    engine.system_checkpoint()
}

/// Takes what was cosigned and committed to before the start, and compares it with what is here.
async fn recall(engine: &Engine, file: &Path, keys: &[WitnessKey]) -> Option<Arc<Cosigned>> {
    let path = file.to_owned();
    let text = tokio::task::spawn_blocking(move || std::fs::read_to_string(&path)).await;
    let cosigned = match text {
        Ok(Ok(note)) => match engine.recall_cosigned(&note, keys).await {
            Ok(cosigned) => {
                if cosigned.is_none() {
                    tracing::warn!(path = %file.display(), "the kept checkpoint was cosigned by none of the witnesses, or signed by another key");
                }
                cosigned
            }
            Err(refusal) => {
                tracing::error!(path = %file.display(), %refusal, "what was cosigned is not what is here: {refusal}");
                None
            }
        },
        Ok(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => None,
        Ok(Err(error)) => {
            tracing::error!(path = %file.display(), %error, "the cosigned checkpoint cannot be read");
            None
        }
        Err(_) => None,
    };
    match engine.recall_heads().await {
        Ok(None) => {}
        Ok(Some(contradiction)) => tracing::error!("what is here is not what was committed to: {contradiction}"),
        Err(refusal) => tracing::error!(%refusal, "what was committed to cannot be read: {refusal}"),
    }
    cosigned
}

/// Compares the rest of what was committed to before the start, beside everything else: there may be years of it.
async fn recall_more(engine: Engine, closing: CancellationToken) {
    let (failures, was_right) = (Seldom::default(), !engine.contradicts_itself());
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
                if let Some(untold) = failures.tell(engine.now()) {
                    tracing::warn!(%refusal, untold, "what was committed to cannot be read; it will be tried again");
                }
            }
        }
        if timeout(RECALL_AGAIN, closing.cancelled()).await.is_ok() {
            return;
        }
    }
    if was_right && engine.contradicts_itself() {
        tracing::error!("a timeline is not what `system` was committed to long ago; `/readyz` says which");
    }
}

/// The file of the newest cosigned checkpoint.
struct Kept {
    file: PathBuf,
    /// The one that is there, and its size.
    newest: tokio::sync::Mutex<Option<(u64, Arc<str>)>>,
}

impl Kept {
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
                tracing::error!(path = %self.file.display(), %error, "the cosigned checkpoint cannot be kept");
            }
            Err(_) => {}
        }
    }
}

/// Shows one witness what it has not cosigned yet.
struct Follower {
    engine: Engine,
    witness: AskedWitness,
    kept: Arc<Kept>,
    /// The size that it cosigned last, as far as is known.
    known: u64,
    pace: Pace,
    /// How often it could not be reached since.
    paused: u32,
}

impl Follower {
    async fn follow(mut self, mut tips: watch::Receiver<Option<Arc<SignedCheckpoint>>>, closing: CancellationToken) {
        let mut status = WitnessStatus::default();
        loop {
            let tip = tips.borrow_and_update().clone();
            let is_done = match &tip {
                None => true,
                Some(tip) => {
                    let asked = tokio::select! {
                        biased;
                        () = closing.cancelled() => return,
                        asked = self.witness.ask(&self.engine, self.known, tip) => asked,
                    };
                    let next = self.take(asked, &status).await;
                    tell(self.witness.key().name(), &status, &next);
                    self.engine.note_witness(self.witness.key().name(), next.clone());
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

    /// Takes what a witness answered.
    async fn take(&mut self, asked: Asked, before: &WitnessStatus) -> WitnessStatus {
        let failed = |state, detail: String, evidence| WitnessStatus { state, detail, evidence, ..before.clone() };
        match asked {
            Asked::Cosigned { checkpoint, line, time } => {
                self.known = checkpoint.size;
                match self.engine.add_cosignature(&checkpoint, (self.witness.key(), line, time)) {
                    Ok(newest) => {
                        if let Some(newest) = newest {
                            self.kept.keep(&newest).await;
                            if let Err(refusal) = self.engine.share_cosigned().await {
                                // At the next interval it is tried again.
                                tracing::debug!(%refusal, "the others do not know yet what was cosigned");
                            }
                        }
                        let (state, size) = (WitnessState::Cosigning, checkpoint.size);
                        WitnessStatus { state, size, time, detail: String::new(), evidence: Evidence::None }
                    }
                    Err(refusal) => failed(WitnessState::Refusing, refusal.to_string(), Evidence::None),
                }
            }
            Asked::Unreachable(detail) => failed(WitnessState::Unreachable, detail, Evidence::None),
            Asked::Refused(detail) => failed(WitnessState::Refusing, detail, Evidence::None),
            Asked::Rollback { detail, evidence } => failed(WitnessState::Rollback, detail, evidence),
            Asked::Fork { detail, evidence } => failed(WitnessState::Fork, detail, evidence),
        }
    }
}

/// Says in the log how a witness stands to the service, where that has changed.
fn tell(name: &str, before: &WitnessStatus, now: &WitnessStatus) {
    if before.state == now.state && before.detail == now.detail {
        return;
    }
    let WitnessStatus { state, size, detail, evidence, .. } = now;
    match state {
        WitnessState::Waiting => {}
        WitnessState::Cosigning if before.state == WitnessState::Cosigning => {}
        WitnessState::Cosigning => tracing::info!(witness = name, size, "the witness `{name}` cosigns"),
        WitnessState::Unreachable | WitnessState::Refusing => {
            tracing::warn!(witness = name, "the witness `{name}` does not cosign: {detail}");
        }
        WitnessState::Rollback | WitnessState::Fork if *evidence == Evidence::Accepted => {
            tracing::warn!(witness = name, "the witness `{name}` does not cosign, as an operator accepted: {detail}");
        }
        WitnessState::Rollback | WitnessState::Fork => {
            tracing::error!(witness = name, kind = state.as_str(), "the witness `{name}` does not cosign: {detail}");
        }
    }
}
