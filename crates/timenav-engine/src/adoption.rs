//! Timelines that go over from one service to another: a bundle is read and adopted, and a timeline is handed over.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read as _};
use std::sync::Arc;

use timenav_core::access::Demand;
use timenav_core::ids::{DataId, TimelineId, UserId};
use timenav_core::ledger::VerifierKey;

use crate::action::Action;
use crate::bundles::{BUNDLE_LINE_BYTES_MAX, CheckedBundle, ReadBundle};
use crate::caller::Caller;
use crate::changes::LedgerPosition;
use crate::deciding::adoption::{Adopt, Arrived, HandOver};
use crate::deciding::logged::LogRefusal;
use crate::engine::Engine;
use crate::idempotency::Idempotency;
use crate::long_work::give_way_after;
use crate::refusal::{Refusal, denial_code};

/// Largest bundle that is adopted, in bytes. All of it becomes true in one step, for which it is in memory.
pub const ADOPT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Most notes of rotations that may come beside a bundle.
pub const ADOPT_ROTATIONS_MAX: usize = 16;

/// Sealed records that are looked for at a time.
const DATA_IDS: usize = 1_000;

/// What is to be adopted, and how.
pub struct AdoptRequest {
    /// The key of the ledger, which came by another way than the file.
    pub key: VerifierKey,
    /// Which users of the other service are which here: they may do here what they might there.
    pub map: BTreeMap<UserId, UserId>,
    /// Checkpoints that two keys of the ledger have signed, for rotations that the file has no notes of.
    pub rotations: Vec<String>,
}

/// A bundle that was read to its end, checked, and made ready.
pub struct Arrival {
    request: AdoptRequest,
    checked: CheckedBundle,
    arrived: Arrived,
}

/// A timeline that goes on here.
pub struct AdoptedTimeline {
    /// What was in the file.
    pub bundle: CheckedBundle,
    /// How many records were sealed on it, erased ones too.
    pub sealed: u64,
    /// Where it stands.
    pub ledger: LedgerPosition,
}

/// Why a bundle was not read.
#[derive(Debug, thiserror::Error)]
pub enum UnreadBundle {
    /// It did not arrive whole.
    #[error("the file did not arrive whole: {0}")]
    Broken(#[from] io::Error),
    /// It is too large.
    #[error("a bundle that is adopted has at most {ADOPT_BYTES_MAX} bytes")]
    TooLarge,
    /// It is not adopted.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl Engine {
    /// Lets a caller adopt the timeline of a key, before anything of the file is read.
    ///
    /// # Errors
    /// The caller may not, there is a timeline of that name, or the key is that of `system`, or of no timeline.
    pub async fn admit_adoption(&self, caller: &Caller, key: &VerifierKey) -> Result<TimelineId, Refusal> {
        let timeline = timeline_of(key)?;
        let operation = Action::Adopt.word();
        if self.check_live(caller).is_err() {
            return Err(self.refuse_ended(caller, &timeline, operation).await);
        }
        if let Err(denial) = self.decide(caller, &timeline, Demand::Create) {
            let refusal =
                LogRefusal { operation: operation.to_owned(), code: denial_code(denial), detail: denial.to_string() };
            self.submit(caller, timeline, refusal, None).await?;
            return Err(denial.into());
        }
        if self.state(&timeline).is_some() {
            return Err(Refusal::AlreadyExists { what: "timeline", id: timeline.to_string() });
        }
        Ok(timeline)
    }

    /// Reads a bundle to its end, does all that an offline check does, and makes ready what is kept of the timeline. Takes
    /// long, and waits where the file does.
    ///
    /// # Errors
    /// The first thing that is wrong with it, by its line.
    pub fn read_arrival(&self, request: AdoptRequest, file: impl BufRead) -> Result<Arrival, UnreadBundle> {
        let signer = Arc::clone(&self.doors().signer);
        let verify =
            move |public: &[u8; 32], message: &[u8], signature: &[u8; 64]| signer.verify(public, message, signature);
        let notes = request.rotations.clone();
        let mut reading = ReadBundle::new(self.doors(), request.key.clone(), notes, &verify);
        let mut file = file.take(ADOPT_BYTES_MAX + 1);
        let mut line = Vec::new();
        for number in 1_usize.. {
            line.clear();
            // One byte more than a line may have shows that it has too many.
            let most = BUNDLE_LINE_BYTES_MAX as u64 + 1;
            if io::Read::by_ref(&mut file).take(most).read_until(b'\n', &mut line)? == 0 {
                break;
            }
            if file.limit() == 0 {
                return Err(UnreadBundle::TooLarge);
            }
            reading.line(&line).map_err(|what| refused(&format!("line {number}: {what}")))?;
            give_way_after(number);
        }
        let (checked, arrived) = reading.finish().map_err(|what| refused(&what))?;
        Ok(Arrival { request, checked, arrived })
    }

    /// Goes on with a timeline of another service: everything of it becomes true, or nothing.
    ///
    /// # Errors
    /// The caller may not, there is such a timeline by now, a limit is reached, a user is not here, a sealed record is here
    /// already, or the ledger cannot be written.
    pub async fn adopt(&self, caller: &Caller, arrival: Arrival) -> Result<AdoptedTimeline, Refusal> {
        let Arrival { request, checked, arrived } = arrival;
        let layers = arrived.layers.iter().map(|(_, layer)| layer).chain([&arrived.own]);
        let ids: Vec<DataId> = layers.flat_map(|layer| &layer.data).map(|record| record.data_id.clone()).collect();
        for ids in ids.chunks(DATA_IDS) {
            let known = self.store().data_rows(ids.iter().map(ToString::to_string).collect()).await?;
            if let Some((_, record)) = known.into_iter().flatten().next() {
                return Err(Refusal::AlreadyExists { what: "data record", id: record.data_id.to_string() });
            }
        }
        let sealed = ids.len() as u64;
        let adopt = Adopt {
            key: request.key,
            origin: checked.origin.clone(),
            bundle_sha256: checked.sha256,
            checkpoint: checked.checkpoint.clone(),
            root: checked.root,
            map: request.map,
            arrived,
        };
        let answer = self.submit(caller, checked.timeline_id.clone(), adopt, None).await?;
        Ok(AdoptedTimeline { bundle: checked, sealed, ledger: answer.ledger })
    }

    /// Hands a timeline over: the entry that says so is its last one here, so that a bundle that is exported from here on
    /// holds all of it.
    ///
    /// # Errors
    /// The caller does not administer it, it was handed over already, or the ledger cannot be written.
    pub async fn hand_over(
        &self,
        caller: &Caller,
        timeline: TimelineId,
        idempotency: Option<Idempotency>,
    ) -> Result<(LedgerPosition, bool), Refusal> {
        let answer = self.submit(caller, timeline, HandOver, idempotency).await?;
        Ok((answer.ledger, answer.replayed))
    }
}

/// Returns the timeline of a ledger's key.
fn timeline_of(key: &VerifierKey) -> Result<TimelineId, Refusal> {
    let name = key.name().rsplit_once('/').map_or("", |(_, name)| name);
    let timeline = TimelineId::new(name).map_err(|error| Refusal::id("verifier_key", error))?;
    if timeline.is_system() {
        return Err(Refusal::invalid("verifier_key", "the timeline `system` of a service is not adopted by another"));
    }
    Ok(timeline)
}

fn refused(what: &str) -> Refusal {
    Refusal::invalid("bundle", what)
}
