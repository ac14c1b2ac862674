//! Bundles: a timeline in one file that can be verified offline. See `docs/specs/bundle.md` for the format.

use std::borrow::Cow;
use std::collections::VecDeque;

use async_recursion::async_recursion as boxed;
use data_encoding::HEXLOWER;
use timenav_core::access::Demand;
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{LeafRecord, RunningHash, TlogProof, inclusion_nodes};

use crate::engine::Engine;
use crate::ledger::action::Action;
use crate::ledger::head::{TimelineKey, TimelineState};
use crate::ledger::notes::newest_note;
use crate::ledger::payload::{DataEncrypted, LaterEntry, LayerErased, Reading, is_layer_erased};
use crate::ledger::tree::node_hashes;
use crate::ports::archive::{EntryRow, EntryRows};
use crate::ports::lookups::OneFact as _;
use crate::read::long_work::yield_after;
use crate::requests::caller::Caller;
use crate::requests::json::read;
use crate::requests::refusal::Refusal;
use line::{DataLine, EndLine, EntryLine, Header, LayerLine, Line, NoteLine};
use missing::{ErasureSource, MissingContents};

mod check;
mod missing;
mod layers;
mod line;

pub use check::{BundleCheck, CheckedBundle};
pub use line::{BUNDLE_FORMAT, BUNDLE_FORMAT_OF_LAYERS, BUNDLE_LINE_BYTES_MAX};
pub use missing::BUNDLE_MISSING_MAX;

/// Entries read at a time, few enough to hold the largest ones in memory.
const BLOCK_ENTRIES: u64 = 100;
/// Size in bytes after which a part of the file is returned.
const PART_BYTES: usize = 256 * 1024;
/// Blocks searched for erasures in one turn. They may result in no line.
const BLOCKS_PER_TURN: usize = 4;
const OPERATION: &str = "bundle";

/// An authorized and logged export of a bundle, which is written in parts.
pub struct BundleExport {
    engine: Engine,
    caller: Caller,
    timelines: Vec<TimelineId>,
    /// `None` while a part is written, and after a failure.
    writing: Option<Writing>,
}

struct Writing {
    layers: Vec<Layer>,
    note: String,
    next: Next,
    hash: RunningHash,
    /// Entries that were read and not yet written.
    pending: VecDeque<EntryRow>,
    entries: u64,
    data: u64,
}

/// One timeline of the chain, up to a ledger size.
struct Layer {
    id: TimelineId,
    key: TimelineKey,
    size: u64,
    taken: u64,
    missing_contents: MissingContents,
}

#[derive(Clone, Copy)]
enum Next {
    Header,
    Entries(usize),
    /// Search the entries from a position on for later erasures in a layer.
    Erasures(usize, u64),
    End,
    Nothing,
}

impl Engine {
    /// Begins to export a timeline as a bundle. It includes all entries up to the newest checkpoint after the export
    /// itself is logged. The caller must administer the timeline and all its ancestors.
    ///
    /// # Errors
    /// The caller is not authorized, it is `system`, or the ledger cannot be written.
    #[boxed]
    pub async fn export_bundle(&self, caller: &Caller, timeline: &TimelineId) -> Result<BundleExport, Refusal> {
        let state = self.admit_to_bundle(caller, timeline).await?;
        if timeline.is_system() {
            return Err(Refusal::invalid(
                "timeline_id",
                "`system` holds data about this service itself and cannot be exported as a bundle",
            ));
        }
        for ancestor in state.lineage.iter().filter(|ancestor| ancestor.adopting_fork().is_none()) {
            self.admit_to_bundle(caller, ancestor).await?;
        }
        layers::check(self, &state).await?;
        self.log_read(caller, timeline, &[Demand::Look, Demand::Administer], &Reading::Bundle {}).await?;

        let state = self.existing_state(timeline)?;
        let layers = state.layers_now();
        let names = state.names_of(&layers);
        let layer = |(layer, id): (&crate::ledger::head::Layer, TimelineId)| Layer {
            id,
            key: layer.timeline,
            size: layer.as_of,
            taken: 0,
            missing_contents: MissingContents::default(),
        };
        let writing = Writing {
            layers: layers.iter().zip(names.iter().cloned()).map(layer).collect(),
            note: newest_note(&state, self.ports(), self.options())?.to_string(),
            next: Next::Header,
            hash: RunningHash::default(),
            pending: VecDeque::new(),
            entries: 0,
            data: 0,
        };
        let timelines = names.into_iter().filter(|name| name.adopting_fork().is_none()).collect();
        Ok(BundleExport { engine: self.clone(), caller: caller.clone(), timelines, writing: Some(writing) })
    }

    /// A bundle contains everything in a ledger, so it requires more than reading events and clocks.
    async fn admit_to_bundle(
        &self,
        caller: &Caller,
        timeline: &TimelineId,
    ) -> Result<std::sync::Arc<TimelineState>, Refusal> {
        self.admit(caller, timeline, Demand::Look, OPERATION).await?;
        self.admit(caller, timeline, Demand::Administer, OPERATION).await
    }
}

impl BundleExport {
    /// Returns the next part of the file; `None` at the end. Runs in the caller's turn.
    ///
    /// # Errors
    /// The caller is no longer authorized, the stored data is damaged, or the store does not respond. The parts
    /// returned so far are then not a valid bundle, because its end is missing.
    #[boxed]
    pub async fn next_part(&mut self) -> Result<Option<String>, Refusal> {
        while let Some(mut writing) = self.writing.take() {
            // A revoked key or permission ends the export.
            for timeline in &self.timelines {
                self.engine.check_still(&self.caller, timeline, Demand::Look)?;
                self.engine.check_still(&self.caller, timeline, Demand::Administer)?;
            }
            let engine = self.engine.clone();
            let part = async move {
                let text = writing.part(&engine).await?;
                Ok((writing, text))
            };
            let (writing, text) = self.engine.long_work().in_turn(&self.caller, part).await?;
            self.writing = (!matches!(writing.next, Next::Nothing)).then_some(writing);
            // The turn was spent on a search without a result.
            if !text.is_empty() {
                return Ok(Some(text));
            }
        }
        Ok(None)
    }
}

impl Writing {
    /// Writes some lines, or none after a long search.
    async fn part(&mut self, engine: &Engine) -> Result<String, Refusal> {
        let mut text = String::new();
        let mut blocks = 0;
        while text.len() < PART_BYTES && blocks < BLOCKS_PER_TURN {
            match self.next {
                Next::Header => {
                    self.add(&mut text, &Line::Bundle(self.header(engine)?))?;
                    self.next = self.begin_layer(&mut text, 0)?;
                }
                Next::Entries(at) => match self.next_entry(engine, at).await? {
                    Some(row) => self.entry(engine, at, &row, &mut text).await?,
                    None => self.next = self.begin_layer(&mut text, at + 1)?,
                },
                Next::Erasures(at, from) => {
                    self.next = self.erasures(engine, at, from, &mut text).await?;
                    blocks += 1;
                }
                Next::End => {
                    let end = EndLine {
                        data: self.data,
                        entries: self.entries,
                        sha256: Cow::Owned(self.hash.hash().to_hex()),
                    };
                    self.add(&mut text, &Line::End(end))?;
                    self.next = Next::Nothing;
                }
                Next::Nothing => break,
            }
        }
        Ok(text)
    }

    fn header(&self, engine: &Engine) -> Result<Header<'static>, Refusal> {
        let own = self
            .layers
            .last()
            .ok_or_else(|| Refusal::Damaged("the timeline is missing from its own layers".to_owned()))?;
        let key = engine.ports().signer.ledger_key(&engine.options().service_name, &own.id);
        let key = key.map_err(|error| Refusal::Damaged(error.to_string()))?;
        Ok(Header {
            created_at: Cow::Owned(engine.now().to_string()),
            format: Cow::Borrowed(self.format()),
            layers: self.layers.iter().map(Layer::line).collect(),
            origin: Cow::Owned(key.name().to_owned()),
            service_version: Cow::Borrowed(env!("CARGO_PKG_VERSION")),
            timeline_id: Cow::Owned(own.id.to_string()),
            verifier_key: Cow::Owned(key.to_string()),
        })
    }

    fn format(&self) -> &'static str {
        let has_adopted = self.layers.iter().any(|layer| layer.id.adopting_fork().is_some());
        if has_adopted { BUNDLE_FORMAT_OF_LAYERS } else { BUNDLE_FORMAT }
    }

    fn add(&mut self, text: &mut String, line: &Line<'_>) -> Result<(), Refusal> {
        let line = line.to_text();
        if line.len() > BUNDLE_LINE_BYTES_MAX {
            return Err(Refusal::Damaged(format!("an entry would need a line of {} bytes in a bundle", line.len())));
        }
        self.hash.update(line.as_bytes());
        text.push_str(&line);
        Ok(())
    }

    /// Begins a layer, or the part after the last one.
    fn begin_layer(&mut self, text: &mut String, at: usize) -> Result<Next, Refusal> {
        if let Some(layer) = self.layers.get(at) {
            let line = Line::Layer(layer.line());
            self.add(text, &line)?;
            return Ok(Next::Entries(at));
        }
        let note = std::mem::take(&mut self.note);
        self.add(text, &Line::Checkpoint(NoteLine { note: Cow::Owned(note) }))?;
        Ok(self.missing_of(0))
    }

    async fn next_entry(&mut self, engine: &Engine, at: usize) -> Result<Option<EntryRow>, Refusal> {
        let layer = &mut self.layers[at];
        if self.pending.is_empty() && layer.taken < layer.size {
            let end = layer.size.min(layer.taken + BLOCK_ENTRIES);
            let EntryRows { rows, end } = engine.store().entry_rows(layer.key, layer.taken, end).await?;
            let is_whole = rows.iter().map(|row| row.position).eq(layer.taken..end);
            if !is_whole {
                let (first, last) = (layer.taken, end - 1);
                return Err(Refusal::Damaged(format!(
                    "some of the entries {first} to {last} of `{}` are missing",
                    layer.id
                )));
            }
            layer.taken = end;
            self.pending.extend(rows);
        }
        Ok(self.pending.pop_front())
    }

    async fn entry(&mut self, engine: &Engine, at: usize, row: &EntryRow, text: &mut String) -> Result<(), Refusal> {
        let layer = &mut self.layers[at];
        let damaged = |what: String| Refusal::Damaged(format!("entry {}: {what}", row.position));
        let record = LeafRecord::decode(&row.leaf).map_err(|error| damaged(error.to_string()))?;
        layer.missing_contents.entry(&row.leaf, &record, (&row.salt, &row.payload)).map_err(damaged)?;
        if is_layer_erased(&record) {
            self.explain_earlier(at, LaterEntry::decode_later(&row.payload)).map_err(damaged)?;
        }
        let encrypted =
            (record.action == Action::EncryptData.word()).then(|| read::<DataEncrypted>(&row.payload)).flatten();
        let line = EntryLine {
            leaf: as_text(&row.leaf).map_err(damaged)?,
            payload: as_text(&row.payload).map_err(damaged)?,
            salt: Cow::Owned(HEXLOWER.encode(&row.salt)),
        };
        self.add(text, &Line::Entry(line))?;
        yield_after(usize::try_from(self.entries).unwrap_or_default());
        self.entries += 1;
        if record.action == Action::RotateSigningKey.word() && at + 1 == self.layers.len() {
            let note = engine.store().rotation_note(self.layers[at].key, row.position).await?;
            if let Some(note) = note {
                self.add(text, &Line::Rotation(NoteLine { note: Cow::Owned(note) }))?;
            }
        }
        let Some(encrypted) = encrypted else { return Ok(()) };

        // One at a time: the largest has a megabyte.
        let record = engine.store().data_rows(self.layers[at].key, vec![row.position]).await?.pop().flatten();
        let missing = || damaged(format!("its sealed record `{}` is missing", encrypted.data_id));
        let record = record.ok_or_else(missing)?;
        if let Some(by) = record.erased {
            self.layers[at].missing_contents.data(row.position, encrypted.data_id.clone(), by).map_err(damaged)?;
        }
        self.data += 1;
        self.add(text, &Line::Data(DataLine::of(&record)))
    }

    /// Marks an erasure in an earlier layer as explained by an entry. Returns whether it was.
    fn explain_earlier(&mut self, at: usize, later_entry: Result<LaterEntry, String>) -> Result<bool, String> {
        let Ok(later_entry) = later_entry else { return Ok(false) };
        let Ok(record) = later_entry.record() else { return Ok(false) };
        let mut earlier = self.layers[..at].iter_mut();
        let layer =
            earlier.find(|layer| layer.id.entry_name().as_str() == record.timeline_id && layer.size <= record.seq);
        let Some(layer) = layer else { return Ok(false) };
        layer.missing_contents.explain(&record, &later_entry.payload, ErasureSource::After(layer.size))
    }

    /// Returns the next layer from `from` on that has an unexplained erasure.
    fn missing_of(&self, from: usize) -> Next {
        let layers = self.layers.iter().enumerate().skip(from);
        let mut missing = layers.filter(|(_, layer)| layer.missing_contents.first().is_some());
        missing.next().map_or(Next::End, |(at, _)| Next::Erasures(at, self.layers[self.teller_of(at)].size))
    }

    /// Returns the layer whose later entries explain erasures in a layer: itself, or the fork it was adopted with.
    fn teller_of(&self, at: usize) -> usize {
        let Some(fork) = self.layers[at].id.adopting_fork() else { return at };
        self.layers.iter().position(|layer| layer.id == fork).unwrap_or(at)
    }

    /// Searches later entries for explanations of erasures in a layer. The content was erased after the fork, or while
    /// the bundle was being written; or the bundle contains the fork as of before its layers were adopted.
    async fn erasures(&mut self, engine: &Engine, at: usize, from: u64, text: &mut String) -> Result<Next, Refusal> {
        let source = self.teller_of(at);
        let (id, key) = (self.layers[source].id.clone(), self.layers[source].key);
        let rows = engine.store().entry_rows(key, from, from + BLOCK_ENTRIES).await?.rows;
        // An adopted layer gets no new entries.
        let rows = if id.adopting_fork().is_some() { Vec::new() } else { rows };
        let Some(last) = rows.last().map(|last| last.position) else {
            let layer = &self.layers[at];
            let (first, of) = (layer.missing_contents.first().unwrap_or_default(), &layer.id);
            return Err(Refusal::Damaged(format!(
                "the contents of entry {first} of `{of}` are missing, but were not erased"
            )));
        };
        for row in rows {
            let size = engine.state(&id).map_or(0, |state| state.head.frontier.size());
            if row.position >= size {
                // The entry is committed, but its signature is not visible yet.
                tokio::task::yield_now().await;
                return Ok(Next::Erasures(at, row.position));
            }
            let Ok(record) = LeafRecord::decode(&row.leaf) else { continue };
            let damaged = |what| Refusal::Damaged(format!("entry {}: {what}", row.position));
            let is_reported = if is_layer_erased(&record) {
                self.explain_earlier(source, LaterEntry::decode_later(&row.payload))
            } else {
                let layer = &mut self.layers[source];
                layer.missing_contents.explain(&record, &row.payload, ErasureSource::After(layer.size))
            };
            if !is_reported.map_err(damaged)? {
                continue;
            }
            let proof = prove(engine, &id, key, &row).await?;
            let line = LayerErased {
                payload: as_text(&row.payload).map_err(damaged)?,
                proof: Cow::Owned(proof.to_text()),
                salt: Cow::Owned(HEXLOWER.encode(&row.salt)),
                timeline_id: Cow::Owned(id.to_string()),
            };
            self.add(text, &Line::Erasure(line))?;
        }
        let is_reported = self.layers[at].missing_contents.first().is_none();
        Ok(if is_reported { self.missing_of(at + 1) } else { Next::Erasures(at, last + 1) })
    }
}

impl Layer {
    fn line(&self) -> LayerLine<'static> {
        LayerLine { size: self.size, timeline_id: Cow::Owned(self.id.entry_name().to_string()) }
    }
}

async fn prove(engine: &Engine, id: &TimelineId, key: TimelineKey, row: &EntryRow) -> Result<TlogProof, Refusal> {
    let state = engine.existing_state(id)?;
    let nodes = inclusion_nodes(row.position, state.head.frontier.size());
    let nodes = nodes.map_err(|error| Refusal::Damaged(error.to_string()))?;
    let hashes = node_hashes(engine.store(), key, &nodes).await?;
    let checkpoint = newest_note(&state, engine.ports(), engine.options())?.to_string();
    Ok(TlogProof { extra: row.leaf.clone(), index: row.position, hashes, checkpoint })
}

fn as_text(bytes: &[u8]) -> Result<Cow<'_, str>, String> {
    std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|_| "it is not text".to_owned())
}
