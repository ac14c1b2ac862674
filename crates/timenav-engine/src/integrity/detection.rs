//! Scans of a running service, which are logged before they run.

use std::collections::HashMap;
use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::ids::TimelineId;
use timenav_core::scan::Depth;
use tokio::sync::watch;

use crate::engine::Engine;
use crate::integrity::scan::{Progress, ReferenceCheckpoint, ReplayedAuthority, Scan, ScanRequest, scan};
use crate::integrity::scan_places::ScanPlace;
use crate::ledger::action::Action;
use crate::ledger::changes::LedgerPosition;
use crate::ledger::notes::{newest_note, note_of_scanned};
use crate::read::long_work::off_thread;
use crate::requests::caller::Caller;
use crate::requests::refusal::Refusal;
use crate::writer::deciding::logged::LogScan;

/// Retry delay in seconds if too many scans run. Scans take as long as their ledgers are, so it is a guess.
const BUSY_SECONDS: u64 = 5;

#[derive(Clone, Debug)]
pub struct Detection {
    pub scan: Scan,
    pub ledger: LedgerPosition,
}

/// A logged scan that occupies a slot. Dropping it, or the future that runs it, frees the slot.
#[derive(Debug)]
pub struct ReservedScan {
    caller: Caller,
    timeline: TimelineId,
    depth: Depth,
    ledger: LedgerPosition,
    place: ScanPlace,
}

impl ReservedScan {
    #[must_use]
    pub const fn timeline(&self) -> &TimelineId {
        &self.timeline
    }

    #[must_use]
    pub const fn caller(&self) -> &Caller {
        &self.caller
    }
}

impl Engine {
    /// Scans a timeline for tampering. The request is logged before the scan begins. Dropping the future cancels the
    /// scan.
    ///
    /// # Errors
    /// As those of [`Engine::ask_for_scan`] and [`Engine::run_scan`].
    #[boxed]
    pub async fn detect_tampering(
        &self,
        caller: &Caller,
        timeline: &TimelineId,
        depth: Depth,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<Detection, Refusal> {
        let scan = self.ask_for_scan(caller, timeline, depth).await?;
        self.run_scan(scan, progress).await
    }

    /// Authorizes a scan of a timeline, and logs it.
    ///
    /// # Errors
    /// There is no such timeline, the caller is not authorized, [`SCANS_RUNNING_MAX`](crate::SCANS_RUNNING_MAX) scans,
    /// or [`SCANS_RUNNING_PER_USER_MAX`](crate::SCANS_RUNNING_PER_USER_MAX) of the same user, are running already, or
    /// the ledger cannot be written.
    #[boxed]
    pub async fn ask_for_scan(
        &self,
        caller: &Caller,
        timeline: &TimelineId,
        depth: Depth,
    ) -> Result<ReservedScan, Refusal> {
        self.admit(caller, timeline, Demand::Inspect, Action::DetectTampering.word()).await?;
        let place = self
            .shared()
            .scans
            .take(&caller.user_id)
            .ok_or(Refusal::RateLimited { what: "scans at the same time", retry_after_seconds: BUSY_SECONDS })?;
        let scan = LogScan { depth: depth.to_string() };
        let answer = self.submit(caller, timeline.clone(), scan, None).await?;
        Ok(ReservedScan { caller: caller.clone(), timeline: timeline.clone(), depth, ledger: answer.ledger, place })
    }

    /// Runs a scan, and reports its progress. Dropping the future cancels it.
    ///
    /// # Errors
    /// Stored data cannot be read, or the caller is no longer authorized. Damage is a finding, not an error.
    #[boxed]
    pub async fn run_scan(
        &self,
        reserved: ReservedScan,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<Detection, Refusal> {
        let ReservedScan { caller, timeline, depth, ledger, place } = reserved;
        // Only the newest progress is kept, because the receiver may be slower than the scan.
        let (sender, mut updates) = watch::channel(Progress::default());
        let (engine, scanned) = (self.clone(), timeline.clone());
        let scanning = self.long_work().without_turn(async move {
            let mut sender = |progress| {
                sender.send_replace(progress);
            };
            engine.scan_now(scanned, depth, &mut sender).await
        });
        let mut scanning = std::pin::pin!(scanning);
        let mut last = None;
        let found = loop {
            tokio::select! {
                found = &mut scanning => break found,
                Ok(()) = updates.changed() => {
                    let step = *updates.borrow_and_update();
                    progress(step);
                    last = Some(step);
                }
            }
        };
        let end = *updates.borrow();
        if last != Some(end) {
            progress(end);
        }
        place.end();
        // A scan may take long, so the caller is authorized again before they get the result.
        self.admit(&caller, &timeline, Demand::Inspect, Action::DetectTampering.word()).await?;
        Ok(Detection { scan: found?, ledger })
    }

    async fn scan_now(
        &self,
        timeline: TimelineId,
        depth: Depth,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<Scan, Refusal> {
        let (references, unkept) = self.reference_checkpoints(&timeline).await?;
        let signer = Arc::clone(&self.ports().signer);
        let key = signer.ledger_key(&self.options().service_name, &timeline);
        let request = ScanRequest {
            source: self.store(),
            timeline: timeline.clone(),
            depth,
            keys: key.map_err(|error| Refusal::Damaged(error.to_string()))?.into(),
            verify: &move |public, message, signature| signer.verify(public, message, signature),
            gazetteer: self.ports().gazetteer.clone(),
            authority: &ReplayedAuthority::default(),
            entropy: &*self.ports().entropy,
            references,
            unkept,
        };
        let scanned = Box::pin(scan(&request, progress)).await?;
        let mut scan = scanned.ok_or_else(|| Refusal::NotFound { what: "timeline", id: timeline.to_string() })?;
        // The scanned tree is the one in the database, which may be newer than any signed checkpoint.
        if let (Some(tree), None) = (&scan.signed, &scan.checkpoint) {
            scan.checkpoint = Some(note_of_scanned(tree, &*self.ports().signer)?.to_string());
        }
        if scan.tampering_detected() {
            let findings = scan.findings.len();
            tracing::warn!(timeline_id = %timeline, %depth, findings, "tampering or damage detected: {}", scan.details);
        }
        Ok(scan)
    }

    /// Returns the checkpoints kept outside the database and the one in memory. Also returns the timelines without one
    /// outside, which readers can only see after it was kept there. For `system`, this includes all timelines.
    async fn reference_checkpoints(
        &self,
        timeline: &TimelineId,
    ) -> Result<(Vec<ReferenceCheckpoint>, Vec<TimelineId>), Refusal> {
        let in_memory = self.state(timeline);
        let in_memory = in_memory.map(|state| newest_note(&state, self.ports(), self.options())).transpose()?;
        let states = if timeline.is_system() { self.states() } else { self.state(timeline).into_iter().collect() };
        let engine = self.clone();
        // It may be a long file.
        let last = off_thread(move || {
            engine.shared().keeper.flush();
            engine.ports().outside.last()
        });
        let last = last.await?.map_err(|error| Refusal::Unavailable(error.to_string()))?;
        let last: HashMap<TimelineId, Arc<str>> =
            last.into_iter().map(|checkpoint| (checkpoint.timeline, checkpoint.note)).collect();
        let states = states.iter().map(|state| &state.head.id);
        let mut unkept: Vec<TimelineId> = states.filter(|states| !last.contains_key(*states)).cloned().collect();
        unkept.sort_unstable();
        let outside =
            last.get(timeline).map(|note| ReferenceCheckpoint { from: "kept outside", note: note.to_string() });
        let in_memory =
            in_memory.map(|note| ReferenceCheckpoint { from: "in the service's memory", note: note.to_string() });
        Ok((outside.into_iter().chain(in_memory).collect(), unkept))
    }
}
