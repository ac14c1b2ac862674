//! Verifies a bundle line by line, with a key obtained independently.

use std::collections::HashSet;

use serde::Deserialize;
use timenav_core::data::KeyKind;
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{
    Checkpoint, CheckpointError, Frontier, Hash, LeafRecord, NoteError, RunningHash, TlogProof, TrustedKeys,
    VerifierKey,
};
use timenav_core::limits::FORK_DEPTH_MAX;
use timenav_core::scan::{EntryBytes, LedgerScan};
use timenav_core::time::{Instant, Wall};

use super::line::{
    BUNDLE_FORMAT, BUNDLE_FORMAT_OF_LAYERS, BUNDLE_LINE_BYTES_MAX, DataLine, EndLine, EntryLine, Header, LayerLine,
    Line, hex,
};
use super::missing::MissingContents;
use crate::integrity::scan::VerifySignature;
use crate::ledger::action::Action;
use crate::ledger::payload::{DataEncrypted, ForkRecord, SigningKeyRotated};
use crate::requests::json::read;

mod erasures;
mod rotation;

#[derive(Clone, Debug)]
pub struct CheckedBundle {
    pub origin: String,
    pub timeline_id: TimelineId,
    /// The number of entries of each ancestor, the oldest first, and of the timeline itself.
    pub layers: Vec<(TimelineId, u64)>,
    pub root: Hash,
    pub checkpoint: String,
    /// The key that signed it: the given one, or its successor.
    pub key: VerifierKey,
    /// Number of key rotations since the given key.
    pub rotations_followed: u64,
    /// Host time of the last entry; `None` if there is none.
    pub recorded_at: Option<Instant<Wall>>,
    pub payloads: u64,
    /// Number of verified sealed records.
    pub data: u64,
    /// Number of erased payloads, single reads and sealed records, each named by an entry.
    pub missing_contents: u64,
    /// Number of those that were pruned by sweeps.
    pub pruned: u64,
    /// SHA-256 of the whole file.
    pub sha256: Hash,
}

/// Verifies a bundle line by line. Holds one line, the edge of a tree, and the list of missing contents.
pub struct BundleCheck<'a> {
    verify: &'a VerifySignature,
    keys: TrustedKeys,
    /// Proofs of rotations supplied in addition to the bundle.
    rotations: Vec<TlogProof>,
    hash: RunningHash,
    header: Option<Header<'static>>,
    /// Layers that were read completely.
    read: Vec<ReadLayer>,
    current: Option<LedgerScan>,
    missing_contents: MissingContents,
    last: LastEntry,
    /// The position of a rotation of the trusted key that has no proof.
    unfollowed: Option<u64>,
    checkpoint: Option<String>,
    counts: Counts,
    is_over: bool,
}

/// Maximum length of an error in characters, because it may quote a hostile file.
const WRONG_CHARS_MAX: usize = 600;

fn shortened(wrong: String) -> String {
    match wrong.char_indices().nth(WRONG_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &wrong[..end]),
        None => wrong,
    }
}

struct ReadLayer {
    timeline_id: TimelineId,
    size: u64,
    root: Hash,
    missing_contents: MissingContents,
}

/// The last entry, which determines what must or may follow.
enum LastEntry {
    Other,
    /// A sealed record, whose line must follow.
    Data(u64, DataEncrypted),
    /// A rotation of the signing key, which a note may follow.
    Rotation(u64, SigningKeyRotated),
}

#[derive(Default)]
struct Counts {
    entries: u64,
    payloads: u64,
    data_lines: u64,
    data: u64,
    recorded_at: Option<Instant<Wall>>,
}

#[derive(Deserialize)]
struct Begun {
    #[serde(default)]
    fork: Option<serde_json::Value>,
}

impl<'a> BundleCheck<'a> {
    /// Returns a check with the trusted key, whose name is that of the ledger, and with proofs of rotations, which may
    /// be files of `timenav rotate-signing-key --save`.
    #[must_use]
    pub fn new(key: VerifierKey, rotations: Vec<TlogProof>, verify: &'a VerifySignature) -> Self {
        Self {
            verify,
            keys: key.into(),
            rotations,
            hash: RunningHash::default(),
            header: None,
            read: Vec::new(),
            current: None,
            missing_contents: MissingContents::default(),
            last: LastEntry::Other,
            unfollowed: None,
            checkpoint: None,
            counts: Counts::default(),
            is_over: false,
        }
    }

    /// Verifies the next line, including its line end.
    ///
    /// # Errors
    /// A sentence describing the problem. Nothing after it can be trusted.
    pub fn line(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.take(bytes).map_err(shortened)
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), String> {
        if bytes.len() > BUNDLE_LINE_BYTES_MAX {
            return Err(format!("the line has more than {BUNDLE_LINE_BYTES_MAX} bytes"));
        }
        if self.is_over {
            return Err("there is data after the `end` line".to_owned());
        }
        let line = Line::read(bytes)?;
        self.check_followed(&line)?;
        match &line {
            Line::Bundle(header) => self.header(header)?,
            Line::Layer(layer) => self.layer(layer)?,
            Line::Entry(entry) => self.entry(entry)?,
            Line::Data(data) => self.data(data)?,
            Line::Rotation(note) => self.rotation(&note.note)?,
            Line::Checkpoint(note) => self.signed(&note.note)?,
            Line::Erasure(erasure) => self.erasure(erasure)?,
            Line::End(end) => self.end(end)?,
        }
        self.hash.update(bytes);
        Ok(())
    }

    /// Returns the content of the bundle. Call this at the end of the file.
    ///
    /// # Errors
    /// The file is truncated.
    pub fn finish(self) -> Result<CheckedBundle, String> {
        let cut = || "the file is cut off: its `end` line is missing".to_owned();
        let (Some(header), Some(checkpoint), true) = (self.header, self.checkpoint, self.is_over) else {
            return Err(cut());
        };
        let own = self.read.last().ok_or_else(cut)?;
        Ok(CheckedBundle {
            origin: header.origin.into_owned(),
            timeline_id: own.timeline_id.clone(),
            layers: self.read.iter().map(|layer| (layer.timeline_id.clone(), layer.size)).collect(),
            root: own.root,
            checkpoint,
            key: self.keys.current,
            rotations_followed: self.keys.retired.len() as u64,
            recorded_at: self.counts.recorded_at,
            payloads: self.counts.payloads,
            data: self.counts.data,
            pruned: self.read.iter().map(|layer| layer.missing_contents.pruned()).sum(),
            missing_contents: self.read.iter().map(|layer| layer.missing_contents.count()).sum(),
            sha256: self.hash.hash(),
        })
    }

    /// Returns the number of entries read, and the total according to the first line.
    #[must_use]
    pub fn progress(&self) -> (u64, u64) {
        let sizes = self.header.iter().flat_map(|header| &header.layers).map(|layer| layer.size);
        (self.counts.entries, sizes.fold(0, u64::saturating_add))
    }

    /// The line of a sealed record must directly follow its entry.
    fn check_followed(&self, line: &Line<'_>) -> Result<(), String> {
        match (&self.last, line) {
            (LastEntry::Data(position, _), line) if !matches!(line, Line::Data(_)) => {
                Err(format!("the sealed record of entry {position} is missing"))
            }
            (_, Line::Bundle(_)) if self.header.is_some() => Err("there is a second `bundle` line".to_owned()),
            (_, line) if self.header.is_none() && !matches!(line, Line::Bundle(_)) => {
                Err(format!("the first line must be `bundle`, not `{}`", line.name()))
            }
            (_, line) if self.checkpoint.is_some() && !matches!(line, Line::Erasure(_) | Line::End(_)) => {
                Err(format!("the line `{}` is missing after the checkpoint", line.name()))
            }
            _ => Ok(()),
        }
    }

    fn header(&mut self, header: &Header<'_>) -> Result<(), String> {
        if ![BUNDLE_FORMAT, BUNDLE_FORMAT_OF_LAYERS].contains(&&*header.format) {
            return Err(format!(
                "its format is `{}`; this program knows only `{BUNDLE_FORMAT}` and `{BUNDLE_FORMAT_OF_LAYERS}`",
                header.format
            ));
        }
        let name = self.keys.current.name();
        if header.origin != name {
            return Err(format!("the bundle belongs to `{}`, but the verifier key to `{name}`", header.origin));
        }
        if name.rsplit_once('/').is_none_or(|(_, of)| *of != *header.timeline_id) {
            return Err(format!("it says it belongs to the timeline `{}`", header.timeline_id));
        }
        let mut seen = HashSet::new();
        for layer in &header.layers {
            let id = TimelineId::new(&layer.timeline_id).map_err(|error| format!("a layer: {error}"))?;
            if id.is_system() {
                return Err("a bundle cannot contain the timeline `system`".to_owned());
            }
            if !seen.insert(id) {
                return Err(format!("the layer `{}` appears twice", layer.timeline_id));
            }
        }
        let is_chain = header.layers.len() <= FORK_DEPTH_MAX + 1;
        if !is_chain || header.layers.last().is_none_or(|own| own.timeline_id != header.timeline_id) {
            return Err(format!(
                "its last layer is not the timeline, or it has more than {} layers",
                FORK_DEPTH_MAX + 1
            ));
        }
        let own = |text: &str| text.to_owned().into();
        let layer = |layer: &LayerLine<'_>| LayerLine { size: layer.size, timeline_id: own(&layer.timeline_id) };
        self.header = Some(Header {
            created_at: own(&header.created_at),
            format: own(&header.format),
            layers: header.layers.iter().map(layer).collect(),
            origin: own(&header.origin),
            service_version: own(&header.service_version),
            timeline_id: own(&header.timeline_id),
            verifier_key: own(&header.verifier_key),
        });
        Ok(())
    }

    fn named(&self) -> Result<&LayerLine<'static>, String> {
        let layers = self.header.as_ref().map_or(&[][..], |header| &header.layers);
        layers.get(self.read.len()).ok_or_else(|| "there are more layers than the first line lists".to_owned())
    }

    fn layer(&mut self, layer: &LayerLine<'_>) -> Result<(), String> {
        self.end_layer()?;
        let named = self.named()?;
        if (layer.size, &layer.timeline_id) != (named.size, &named.timeline_id) {
            return Err(format!("the layer `{}` is not the one named in the first line", layer.timeline_id));
        }
        self.current = Some(LedgerScan::after(&layer.timeline_id, Frontier::default(), Vec::new()));
        Ok(())
    }

    fn end_layer(&mut self) -> Result<(), String> {
        let Some(scan) = self.current.take() else { return Ok(()) };
        let named = self.named()?;
        if scan.position() != named.size {
            let (found, size) = (scan.position(), named.size);
            return Err(format!("the layer `{}` has {found} entries but should have {size}", named.timeline_id));
        }
        let timeline_id = TimelineId::new(&named.timeline_id).map_err(|error| error.to_string())?;
        self.counts.payloads += scan.payloads_count();
        self.counts.recorded_at = scan.recorded_at();
        let missing_contents = std::mem::take(&mut self.missing_contents);
        self.read.push(ReadLayer { timeline_id, size: scan.position(), root: scan.root(), missing_contents });
        self.last = LastEntry::Other;
        Ok(())
    }

    fn entry(&mut self, entry: &EntryLine<'_>) -> Result<(), String> {
        let LayerLine { size, timeline_id } = self.named()?.clone();
        let scan = self.current.as_mut().ok_or("an entry is in no layer")?;
        let position = scan.position();
        let at = |what: &str| format!("entry {position} of `{timeline_id}`: {what}");
        if position == size {
            return Err(at("the layer has more entries than the first line says"));
        }
        let (salt, payload) = (hex(&entry.salt)?, entry.payload.as_bytes());
        let record = scan.entry(EntryBytes { position, leaf: entry.leaf.as_bytes(), salt: &salt, payload });
        if let Some(finding) = scan.first_finding() {
            return Err(at(&finding.evidence));
        }
        let record = record.ok_or_else(|| at("it cannot be read"))?;
        self.missing_contents.entry(entry.leaf.as_bytes(), &record, (&salt, payload)).map_err(|what| at(&what))?;
        self.explain_layer(&record, payload).map_err(|what| at(&what))?;
        self.counts.entries += 1;
        if position == 0 {
            self.begins(&record, payload)?;
        }
        self.last = Self::what_follows(&record, payload).map_err(|what| at(&what))?;
        self.rotated_elsewhere(position, entry.leaf.as_bytes())
    }

    /// Checks that the origin of a layer is the layer read before it.
    fn begins(&self, record: &LeafRecord<'_>, payload: &[u8]) -> Result<(), String> {
        let of = &record.timeline_id;
        let is_creation = record.action == Action::CreateTimeline.word();
        let begun = read::<Begun>(payload).filter(|_| is_creation).and_then(|begun| begun.fork);
        let fork = begun.map(serde_json::from_value::<ForkRecord>).transpose();
        match (self.read.last(), fork.map_err(|_| format!("the parent of `{of}` cannot be read"))?) {
            (None, None) => Ok(()),
            (None, Some(fork)) => Err(format!("`{of}` continues from `{}`, which is not in the bundle", fork.fork_of)),
            (Some(_), None) => Err(format!("`{of}` does not name its parent")),
            (Some(before), Some(fork)) => {
                let is_it = fork.fork_of == before.timeline_id.as_str()
                    && fork.size == before.size
                    && fork.root == before.root.to_hex();
                let (size, timeline) = (before.size, &before.timeline_id);
                let what = || format!("the {size} entries of `{timeline}` differ from those `{of}` continues from");
                if is_it { Ok(()) } else { Err(what()) }
            }
        }
    }

    fn what_follows(record: &LeafRecord<'_>, payload: &[u8]) -> Result<LastEntry, String> {
        if payload.is_empty() {
            return Ok(LastEntry::Other);
        }
        let unread = || format!("its payload does not belong to `{}`", record.action);
        if record.action == Action::EncryptData.word() {
            return Ok(LastEntry::Data(record.seq, read(payload).ok_or_else(unread)?));
        }
        if record.action == Action::RotateSigningKey.word() {
            let rotated: SigningKeyRotated = read(payload).ok_or_else(unread)?;
            if rotated.verifier_key != record.subject {
                return Err("its subject is not the key named in its payload".to_owned());
            }
            return Ok(LastEntry::Rotation(record.seq, rotated));
        }
        Ok(LastEntry::Other)
    }

    fn data(&mut self, line: &DataLine<'_>) -> Result<(), String> {
        let LastEntry::Data(position, encrypted) = std::mem::replace(&mut self.last, LastEntry::Other) else {
            return Err("a sealed record does not follow an entry that mentions it".to_owned());
        };
        let wrong = |what: &str| Err(format!("the sealed record of entry {position}: {what}"));
        let kdf = KeyKind::from_number(line.kdf).map(KeyKind::as_str);
        if line.data_id != encrypted.data_id || line.format != encrypted.format || kdf != Some(encrypted.kdf.as_str()) {
            return wrong("it is not the one the entry mentions");
        }
        let sealed = line.sealed()?;
        self.counts.data_lines += 1;
        match line.erased_by {
            None if sealed.hash().to_hex() == encrypted.sha256 => self.counts.data += 1,
            None => return wrong("its hash is not the one in the entry"),
            Some(_) if sealed.bytes_count() > 2 => return wrong("it says it was erased, but it is there"),
            Some(by) => self.missing_contents.data(position, encrypted.data_id, by)?,
        }
        Ok(())
    }

    fn signed(&mut self, note: &str) -> Result<(), String> {
        self.end_layer()?;
        let layers = self.header.as_ref().map_or(0, |header| header.layers.len());
        let own = self.read.last().filter(|_| self.read.len() == layers);
        let own = own.ok_or("the checkpoint comes before the last layer")?;
        let opened = Checkpoint::open_newest(note.as_bytes(), &self.keys, self.verify);
        let checkpoint = opened.map_err(|error| self.not_signed(&error))?;
        if (checkpoint.size, checkpoint.root) != (own.size, own.root) {
            let (size, root) = (own.size, own.root);
            return Err(format!("the {size} entries have the root {root:?}, but the checkpoint signs another tree"));
        }
        self.checkpoint = Some(note.to_owned());
        Ok(())
    }

    fn not_signed(&self, error: &CheckpointError) -> String {
        let key = self.keys.current.id();
        match (error, self.unfollowed) {
            (CheckpointError::Note(NoteError::NoKnownKey), Some(position)) => format!(
                "the checkpoint is not signed by the key with the id {key}. Entry {position} says that it was \
                 replaced, which proves nothing by itself: give the proof of that rotation, or the current key"
            ),
            (CheckpointError::Note(NoteError::NoKnownKey), None) => {
                format!("the checkpoint is not signed by the key with the id {key}")
            }
            (error, _) => format!("the checkpoint: {error}"),
        }
    }

    fn end(&mut self, line: &EndLine<'_>) -> Result<(), String> {
        if self.checkpoint.is_none() {
            return Err("the checkpoint is missing".to_owned());
        }
        for layer in &self.read {
            if let Some(position) = layer.missing_contents.first() {
                let of = &layer.timeline_id;
                return Err(format!(
                    "the contents of entry {position} of `{of}` are missing, but no entry erased them"
                ));
            }
        }
        let counts = &self.counts;
        if (line.entries, line.data) != (counts.entries, counts.data_lines) {
            return Err("its counts of entries and sealed records are wrong".to_owned());
        }
        if *line.sha256 != self.hash.hash().to_hex() {
            return Err("the last line does not match the lines before it".to_owned());
        }
        self.is_over = true;
        Ok(())
    }
}
