//! Timelines that go over from one service to another: a bundle is read and adopted, and a timeline is handed over.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, BufRead, BufWriter, Read as _, Write as _};
use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::ids::{DataId, TimelineId, UserId};
use timenav_core::ledger::VerifierKey;
use tokio::sync::mpsc;

use crate::action::Action;
use crate::bundles::{BUNDLE_LINE_BYTES_MAX, CheckedBundle, ReadBundle, Spooled};
use crate::caller::Caller;
use crate::changes::LedgerPosition;
use crate::deciding::adoption::{Adopt, Arrived, HandOver, InHand, permissions_here};
use crate::deciding::logged::LogRefusal;
use crate::engine::Engine;
use crate::facts::{Asker, Wanted};
use crate::idempotency::Idempotency;
use crate::long_work::give_way_after;
use crate::refusal::{Refusal, denial_code};
use crate::store::ArrivalCommit;
use crate::store_error::StoreError;
use crate::tree::root_at;

/// Largest bundle that is adopted, in bytes. It needs room on the disk some times over, and one is adopted at a time.
pub const ADOPT_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// How many times the bytes of a bundle must be free: for the file that it is kept in while it is checked, and for the
/// database, which keeps events twice and needs room for its indexes and its log.
pub const ADOPT_ROOM_TIMES: u64 = 3;

/// How many bytes must be free beside these, so that others can still write. As many must be free before each batch.
pub const ADOPT_ROOM_LEFT_BYTES: u64 = 64 * 1024 * 1024;

/// How many bytes are read until it is asked again whether there is room.
const ROOM_ASKED_BYTES: u64 = 16 * 1024 * 1024;

/// Most notes of rotations that may come beside a bundle.
pub const ADOPT_ROTATIONS_MAX: usize = 16;

/// Batches of rows that are made and wait to be written.
const BATCHES_AHEAD_MAX: usize = 1;

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
    /// How many bytes the file has at least, as far as that is known before it is read.
    pub bytes_min: u64,
}

/// A bundle that was read to its end, checked, and made ready.
pub struct Arrival {
    request: AdoptRequest,
    checked: CheckedBundle,
    arrived: Arrived,
    rows: Spooled,
    data_ids: HashSet<DataId>,
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
    #[error("the upload was incomplete: {0}")]
    Broken(#[from] io::Error),
    /// It is too large.
    #[error("a bundle to adopt can have at most {ADOPT_BYTES_MAX} bytes")]
    TooLarge,
    /// The disk has no room for it.
    #[error(
        "a bundle of {bytes} bytes needs {} bytes on the service's disk, but only {room} are free",
        room_needed(*.bytes)
    )]
    NoRoom {
        /// How many bytes it has, as far as it was read or told.
        bytes: u64,
        /// How many are free.
        room: u64,
    },
    /// It cannot be kept while it is checked.
    #[error("the file cannot be kept while it is checked: {0}")]
    NotKept(io::Error),
    /// It is not adopted.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl Engine {
    /// Lets a caller adopt the timeline of a key, before anything of the file is read.
    ///
    /// # Errors
    /// The caller may not, there is a timeline of that name, or the key is that of `system`, or of no timeline.
    #[boxed]
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
            return Err(Refusal::NotMerged { timeline_id: timeline.to_string() });
        }
        Ok(timeline)
    }

    /// Reads a bundle to its end, does all that an offline check does, and makes ready what is kept of the timeline. It is
    /// kept in a file of its own meanwhile, and not in memory. Takes long, and waits where the file does.
    ///
    /// # Errors
    /// The first thing that is wrong with it, by its line.
    pub fn read_arrival(&self, request: AdoptRequest, file: impl BufRead) -> Result<Arrival, UnreadBundle> {
        let signer = Arc::clone(&self.doors().signer);
        let verify =
            move |public: &[u8; 32], message: &[u8], signature: &[u8; 64]| signer.verify(public, message, signature);
        let notes = request.rotations.clone();
        let spool = &self.doors().spool;
        self.check_disk(request.bytes_min)?;
        let mut kept = BufWriter::new(spool.file().map_err(UnreadBundle::NotKept)?);
        let mut reading = ReadBundle::new(self.doors().gazetteer.clone(), request.key.clone(), notes, &verify);
        let mut file = file.take(ADOPT_BYTES_MAX + 1);
        let (mut line, mut bytes, mut asked) = (Vec::new(), 0, 0);
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
            kept.write_all(&line).map_err(UnreadBundle::NotKept)?;
            bytes += line.len() as u64;
            if bytes >= asked + ROOM_ASKED_BYTES {
                self.check_disk(bytes)?;
                asked = bytes;
            }
            give_way_after(number);
        }
        let kept = kept.into_inner().map_err(|error| UnreadBundle::NotKept(error.into_error()))?;
        let (checked, arrived, rows, data_ids) = reading.finish(kept).map_err(|what| refused(&what))?;
        Ok(Arrival { request, checked, arrived, rows, data_ids })
    }

    /// A disk that is full keeps everybody from writing, so a bundle must not fill it.
    fn check_disk(&self, bytes: u64) -> Result<(), UnreadBundle> {
        let room = self.doors().spool.room_bytes().map_err(UnreadBundle::NotKept)?;
        if room < room_needed(bytes) { Err(UnreadBundle::NoRoom { bytes, room }) } else { Ok(()) }
    }

    /// Adopts a timeline from another service: everything of it becomes true, or nothing.
    ///
    /// Its rows are kept in batches, each a commit of its own, so that others write in between; nobody sees any of them.
    /// One step makes the timeline stand. Where that is not reached, [`Engine::tend`] clears the rows away.
    ///
    /// # Errors
    /// The caller may not, there is such a timeline by now, a limit is reached, a user is not here, a sealed record is here
    /// already, there is no more room, or the ledger cannot be written.
    #[boxed]
    pub async fn adopt(&self, caller: &Caller, arrival: Arrival) -> Result<AdoptedTimeline, Refusal> {
        let Arrival { request, checked, arrived, rows, data_ids } = arrival;
        let sealed = checked.data;
        self.check_early(caller, &request, &checked, &arrived)?;
        self.check_free(&data_ids).await?;
        let arrival = Box::pin(self.arrive(&checked.timeline_id, &arrived, rows)).await?;
        // Another service may have adopted one of the same ids meanwhile.
        self.check_free(&data_ids).await?;
        let adopt = Adopt {
            key: request.key,
            origin: checked.origin.clone(),
            bundle_sha256: checked.sha256,
            checkpoint: checked.checkpoint.clone(),
            root: checked.root,
            map: request.map,
            arrived,
            arrival,
        };
        let answer = self.submit(caller, checked.timeline_id.clone(), adopt, None).await?;
        Ok(AdoptedTimeline { bundle: checked, sealed, ledger: answer.ledger })
    }

    /// Refuses before anything is written what the step would refuse at the end, as far as memory can tell. Where others
    /// write too, only the step can.
    fn check_early(
        &self,
        caller: &Caller,
        request: &AdoptRequest,
        checked: &CheckedBundle,
        arrived: &Arrived,
    ) -> Result<(), Refusal> {
        let timeline = &checked.timeline_id;
        arrived.check((&request.key, &checked.origin, timeline), self.now(), self.options())?;
        if self.store().has_others() {
            return Ok(());
        }
        if self.has_ended(timeline) {
            return Err(Refusal::NameEnded { timeline_id: timeline.to_string() });
        }
        if self.state(timeline).is_some() {
            return Err(Refusal::NotMerged { timeline_id: timeline.to_string() });
        }
        permissions_here(&self.directory(), &request.map, &arrived.own.permissions, &caller.user_id).map(drop)
    }

    /// Keeps the rows of a timeline, and of those that it goes on from, under numbers that nobody reads by.
    async fn arrive(&self, timeline: &TimelineId, arrived: &Arrived, rows: Spooled) -> Result<Arc<InHand>, Refusal> {
        let layers = arrived.layers.iter().map(|(layer, _)| TimelineId::layer_of(timeline, layer));
        let names: Vec<TimelineId> = layers.chain([timeline.clone()]).collect();
        let arrival = ArrivalCommit { arrival: self.new_id("arrival"), timelines: Vec::new() };
        let all = Arc::clone(self.in_hand());
        all.lock().insert(arrival.arrival.clone());
        let mut in_hand = InHand { arrival, all };
        let arrival = &mut in_hand.arrival;
        arrival.timelines = self.store().begin_arrival(&arrival.arrival, names).await?;
        self.keep_rows(arrival, rows).await?;
        let ready = arrived.layers.iter().map(|(_, layer)| layer).chain([&arrived.own]);
        for (key, ready) in arrival.timelines.iter().zip(ready) {
            if root_at(self.store(), *key, ready.frontier.size()).await? != ready.frontier.root() {
                return Err(Refusal::Damaged("the rows of the bundle were changed while it arrived".to_owned()));
            }
        }
        self.store().keep_arrival(&arrival.arrival).await?;
        Ok(Arc::new(in_hand))
    }

    /// Keeps rows, batch by batch. They may be more than there is memory: they are made on a thread of their own, a batch
    /// ahead of what is written.
    async fn keep_rows(&self, arrival: &ArrivalCommit, mut rows: Spooled) -> Result<(), Refusal> {
        let (sender, mut arriving) = mpsc::channel(BATCHES_AHEAD_MAX);
        let engine = self.clone();
        let making = self.doors().long_work.spawn_blocking(move || {
            let given_up = |_| StoreError::Unavailable("the request for the bundle has ended".to_owned());
            rows.hand_over(|number, rows| {
                engine.check_room_left()?;
                sender.blocking_send((number, rows)).map_err(given_up)
            })
        });
        let mut sizes = vec![0; arrival.timelines.len()];
        while let Some((number, rows)) = arriving.recv().await {
            if let Some(refusal) = self.failure() {
                return Err(refusal);
            }
            let unknown = || Refusal::Damaged("rows of a timeline that does not arrive".to_owned());
            let (timeline, size) = arrival.timelines.get(number).zip(sizes.get_mut(number)).ok_or_else(unknown)?;
            let count = rows.entries.len() as u64;
            self.store().put_arriving(&arrival.arrival, *timeline, *size, rows).await?;
            *size += count;
        }
        Ok(making.await.map_err(|error| Refusal::Unavailable(error.to_string()))??)
    }

    /// Others may have filled the disk since it was asked whether there is room for the bundle.
    fn check_room_left(&self) -> Result<(), StoreError> {
        let room = self.doors().spool.room_bytes().map_err(|error| StoreError::Unavailable(error.to_string()))?;
        if room >= ADOPT_ROOM_LEFT_BYTES {
            return Ok(());
        }
        Err(StoreError::Unavailable(format!(
            "only {room} bytes are free on the service's disk, so the bundle cannot be adopted"
        )))
    }

    /// Refuses a bundle with a sealed record whose id is taken here: a caller who names it would get either. What the
    /// timeline goes on from may have ids that are here already, since nobody asks for its records by name.
    async fn check_free(&self, data_ids: &HashSet<DataId>) -> Result<(), Refusal> {
        let mut data_ids = data_ids.iter();
        loop {
            let data: Vec<DataId> = data_ids.by_ref().take(DATA_IDS).cloned().collect();
            if data.is_empty() {
                return Ok(());
            }
            let facts = self.store().facts(Wanted { data, ..Wanted::default() }, Asker::Reader).await?;
            if let Some((_, record)) = facts.data.into_iter().flatten().next() {
                return Err(Refusal::SealedRecordTaken { data_id: record.data_id.to_string() });
            }
        }
    }

    /// Hands a timeline over: the entry that says so is its last one here, so that a bundle that is exported from here on
    /// holds all of it.
    ///
    /// # Errors
    /// The caller does not administer it, it was handed over already, or the ledger cannot be written.
    #[boxed]
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
        return Err(Refusal::invalid("verifier_key", "the timeline `system` cannot be adopted by another service"));
    }
    Ok(timeline)
}

/// Returns how many bytes must be free for a bundle of so many.
const fn room_needed(bytes: u64) -> u64 {
    bytes.saturating_mul(ADOPT_ROOM_TIMES).saturating_add(ADOPT_ROOM_LEFT_BYTES)
}

fn refused(what: &str) -> Refusal {
    Refusal::invalid("bundle", what)
}
