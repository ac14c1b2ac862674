//! Scan of a ledger's entries in order, and of the tree over them.

use super::{EntryBytes, EntryHashes, Finding, FindingKind, Findings};
use crate::ledger::{ADOPT_ACTION, Checkpoint, Frontier, Hash, LeafError, LeafRecord, TILE_HEIGHT, TILE_WIDTH, TileId};
use crate::time::{Instant, Virtual, Wall};

/// Differences between tiles and entries that are kept until it is clear which side is wrong.
const DIFFERENCES_MAX: usize = 100;

/// A checkpoint from another source. Its signature has been verified.
#[derive(Clone, Debug)]
pub struct Mark {
    /// The source, to follow "the checkpoint …".
    pub from: &'static str,
    pub size: u64,
    pub root: Hash,
    /// The root over the entries at that size, once known.
    pub found: Option<Hash>,
}

/// A tile filled by the entries.
#[derive(Clone, Debug)]
pub struct FilledTile {
    pub tile: TileId,
    pub hashes: Vec<Hash>,
}

/// A hash in a tile that differs from that of the entries.
struct Difference {
    level: u8,
    /// The first entry below it.
    position: u64,
    evidence: String,
}

pub struct LedgerScan {
    timeline_id: String,
    frontier: Frontier,
    /// Incomplete tiles, by level; `None` if the scan did not start at the first entry.
    tiles: Option<Vec<Vec<Hash>>>,
    filled: Vec<FilledTile>,
    recorded_at: Option<Instant<Wall>>,
    /// The directory version of the last entry.
    directory: Option<u64>,
    marks: Vec<Mark>,
    differences: Vec<Difference>,
    has_gap: bool,
    entries_count: u64,
    payloads_count: u64,
    tiles_count: u64,
    findings: Findings,
}

impl LedgerScan {
    #[must_use]
    pub fn new(timeline_id: &str, marks: Vec<Mark>) -> Self {
        Self {
            timeline_id: timeline_id.to_owned(),
            frontier: Frontier::default(),
            tiles: Some(Vec::new()),
            filled: Vec::new(),
            recorded_at: None,
            directory: None,
            marks,
            differences: Vec::new(),
            has_gap: false,
            entries_count: 0,
            payloads_count: 0,
            tiles_count: 0,
            findings: Findings::default(),
        }
    }

    /// Returns a scan of the entries after a frontier.
    #[must_use]
    pub fn after(timeline_id: &str, frontier: Frontier, marks: Vec<Mark>) -> Self {
        Self { frontier, tiles: None, ..Self::new(timeline_id, marks) }
    }

    #[must_use]
    pub const fn position(&self) -> u64 {
        self.frontier.size()
    }

    #[must_use]
    pub fn root(&self) -> Hash {
        self.frontier.root()
    }

    /// Returns the host time of the last entry whose time could be parsed.
    #[must_use]
    pub const fn recorded_at(&self) -> Option<Instant<Wall>> {
        self.recorded_at
    }

    #[must_use]
    pub fn first_finding(&self) -> Option<&Finding> {
        self.findings.first()
    }

    #[must_use]
    pub const fn entries_count(&self) -> u64 {
        self.entries_count
    }

    /// Returns the number of payloads that match their hash.
    #[must_use]
    pub const fn payloads_count(&self) -> u64 {
        self.payloads_count
    }

    #[must_use]
    pub const fn tiles_count(&self) -> u64 {
        self.tiles_count
    }

    /// Returns whether the state derived from the entries cannot be trusted, because of a finding.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        let kinds = [
            FindingKind::LeafMismatch,
            FindingKind::SequenceGap,
            FindingKind::UnknownFormat,
            FindingKind::PayloadMismatch,
        ];
        kinds.into_iter().any(|kind| self.findings.has(kind))
    }

    /// Returns the findings about the entries alone.
    #[must_use]
    pub fn into_findings(self) -> Findings {
        self.findings
    }

    /// Records that the entries from the next position up to `until` are missing.
    pub fn gap(&mut self, until: u64) {
        let first = self.position();
        let evidence = match until.saturating_sub(1) {
            last if last <= first => "the entry is missing".to_owned(),
            last => format!("the entries from {first} to {last} are missing"),
        };
        self.findings.add(FindingKind::SequenceGap, Some(first), evidence);
        self.has_gap = true;
        while self.position() < until {
            // A placeholder keeps the positions of later entries. No root is compared after a gap.
            self.push(Hash::from_bytes([0; Hash::BYTES]));
        }
    }

    /// Scans the next entry, and returns it if it can be parsed.
    pub fn entry<'a>(&mut self, entry: EntryBytes<'a>) -> Option<LeafRecord<'a>> {
        self.hashed_entry(entry, &EntryHashes::of(&entry))
    }

    /// As [`LedgerScan::entry`], for an entry that was hashed before, possibly on another thread.
    pub fn hashed_entry<'a>(&mut self, entry: EntryBytes<'a>, hashes: &EntryHashes) -> Option<LeafRecord<'a>> {
        let position = entry.position;
        self.entries_count += 1;
        self.push(hashes.leaf);
        let record = match LeafRecord::decode(entry.leaf) {
            Ok(record) => record,
            Err(error) => {
                let kind = match error {
                    LeafError::UnknownFormat { .. } => FindingKind::UnknownFormat,
                    LeafError::Malformed { .. } => FindingKind::LeafMismatch,
                };
                self.findings.add(kind, Some(position), error.to_string());
                return None;
            }
        };
        self.check_place(&record, position);
        self.check_time(&record, position);
        self.check_authority(&record, position);
        if let Some(payload) = &hashes.payload {
            self.check_payload(&record, position, payload);
        }
        Some(record)
    }

    fn push(&mut self, leaf: Hash) {
        let Self { frontier, tiles, filled, .. } = self;
        frontier.push_visiting(leaf, |subtree, hash| {
            let Some(tiles) = tiles else { return };
            // Tiles hold every eighth level of the subtrees that the leaf completes.
            if !subtree.height.is_multiple_of(TILE_HEIGHT) {
                return;
            }
            let level = subtree.height / TILE_HEIGHT;
            let at = usize::from(level);
            if tiles.len() == at {
                tiles.push(Vec::with_capacity(usize::from(TILE_WIDTH)));
            }
            tiles[at].push(hash);
            if tiles[at].len() == usize::from(TILE_WIDTH) {
                let hashes = std::mem::replace(&mut tiles[at], Vec::with_capacity(usize::from(TILE_WIDTH)));
                let index = subtree.index / u64::from(TILE_WIDTH);
                filled.push(FilledTile { tile: TileId { level, index }, hashes });
            }
        });
        let size = self.frontier.size();
        for mark in self.marks.iter_mut().filter(|mark| mark.size == size) {
            mark.found = Some(self.frontier.root());
        }
    }

    fn check_place(&mut self, record: &LeafRecord<'_>, position: u64) {
        if record.seq != position {
            let evidence = format!("the entry says its position is {}", record.seq);
            self.findings.add(FindingKind::LeafMismatch, Some(position), evidence);
        }
        if record.timeline_id != self.timeline_id {
            let evidence = format!("the entry says it belongs to the timeline `{}`", record.timeline_id);
            self.findings.add(FindingKind::LeafMismatch, Some(position), evidence);
        }
    }

    fn check_time(&mut self, record: &LeafRecord<'_>, position: u64) {
        if Instant::<Virtual>::written(&record.clock_time).is_none() {
            let evidence = format!("`{}` is not a virtual time in the form entries use", record.clock_time);
            self.findings.add(FindingKind::LeafMismatch, Some(position), evidence);
        }
        let Some(recorded_at) = Instant::<Wall>::written(&record.recorded_at) else {
            let evidence = format!("`{}` is not a host time in the form entries use", record.recorded_at);
            self.findings.add(FindingKind::LeafMismatch, Some(position), evidence);
            return;
        };
        if let Some(before) = self.recorded_at.filter(|before| recorded_at < *before) {
            let evidence = format!("the entry was recorded at {recorded_at}, but the one before it at {before}");
            self.findings.add(FindingKind::HostTimeWentDown, Some(position), evidence);
        }
        self.recorded_at = Some(recorded_at);
    }

    fn check_authority(&mut self, record: &LeafRecord<'_>, position: u64) {
        let directory = record.authority.as_ref().map(|authority| authority.directory);
        // The entries before an adoption were decided against the directory of another service.
        let begins = directory.is_some() && record.action == ADOPT_ACTION;
        if let Some(before) = self.directory.filter(|before| !begins && directory < Some(*before)) {
            let evidence = match directory {
                Some(found) => {
                    format!("the entry names version {found} of the directory, but the one before it {before}")
                }
                None => "the entry has format version 1, but the one before it has version 2".to_owned(),
            };
            self.findings.add(FindingKind::LeafMismatch, Some(position), evidence);
        }
        self.directory = directory.max(self.directory.filter(|_| !begins));
    }

    fn check_payload(&mut self, record: &LeafRecord<'_>, position: u64, payload: &Result<Hash, String>) {
        let found = match payload {
            Ok(found) if *found == record.payload_hash => {
                self.payloads_count += 1;
                return;
            }
            Ok(found) => format!("the payload hashes to {found:?}, but the entry says {:?}", record.payload_hash),
            Err(evidence) => evidence.clone(),
        };
        self.findings.add(FindingKind::PayloadMismatch, Some(position), found);
    }

    /// Returns the tiles filled since the last call, for comparison with the stored ones.
    pub fn take_filled(&mut self) -> Vec<FilledTile> {
        std::mem::take(&mut self.filled)
    }

    /// Returns the tiles above the leaves that are incomplete at the end, for comparison.
    pub fn take_partial(&mut self) -> Vec<FilledTile> {
        let Some(tiles) = self.tiles.take() else { return Vec::new() };
        let size = self.frontier.size();
        let levels = (0_u8..).zip(tiles).skip(1).filter(|(_, hashes)| !hashes.is_empty());
        let shift = |level: u8| (u32::from(level) + 1) * TILE_WIDTH.ilog2();
        levels
            .map(|(level, hashes)| {
                let index = size.checked_shr(shift(level)).unwrap_or(0);
                FilledTile { tile: TileId { level, index }, hashes }
            })
            .collect()
    }

    /// Compares a tile with its stored bytes. An incomplete tile may be stored with more hashes than are filled.
    pub fn compare_tile(&mut self, filled: &FilledTile, stored: Option<&[u8]>) {
        if self.has_gap {
            return;
        }
        self.tiles_count += 1;
        let TileId { level, index } = filled.tile;
        let entries_each = 1_u64 << (u32::from(level) * TILE_WIDTH.ilog2());
        let first = index * u64::from(TILE_WIDTH) * entries_each;
        let stored = stored.unwrap_or_default();
        for (number, expected) in (0_u64..).zip(&filled.hashes) {
            let start = usize::try_from(number).unwrap_or(usize::MAX).saturating_mul(Hash::BYTES);
            let found = stored.get(start..start.saturating_add(Hash::BYTES)).and_then(Hash::from_slice);
            if found == Some(*expected) {
                continue;
            }
            let found = found.map_or_else(|| "nothing".to_owned(), |found| found.to_hex());
            let position = first + number * entries_each;
            let evidence =
                format!("the entries hash to {expected:?}, but hash {number} of tile {level}/{index} is {found}");
            if self.differences.len() < DIFFERENCES_MAX {
                self.differences.push(Difference { level, position, evidence });
            }
        }
    }

    /// Compares the tree over the entries with the stored tree and the signed checkpoints. Returns the findings, and
    /// the sizes of the signed checkpoints that match.
    #[must_use]
    pub fn finish(mut self, stored: &Frontier, signed: Option<&Checkpoint>) -> (Findings, Vec<u64>) {
        let root = self.frontier.root();
        let is_signed = signed.is_some_and(|signed| signed.size == self.frontier.size() && signed.root == root);
        let differences = std::mem::take(&mut self.differences);
        if !self.has_gap {
            self.report_differences(&differences, is_signed);
            self.compare_frontier(stored, signed, &differences);
        }
        let mut good = compare_signed(&mut self.findings, stored, signed);
        if !is_signed || self.has_gap {
            good.clear();
        }
        let marks = std::mem::take(&mut self.marks);
        let size = self.frontier.size();
        for mark in marks {
            let found = mark.found.filter(|_| !self.has_gap);
            if compare_mark(&mut self.findings, &mark, found, size, signed) && found == Some(mark.root) {
                good.push(mark.size);
            }
        }
        (self.findings, good)
    }

    fn report_differences(&mut self, differences: &[Difference], is_signed: bool) {
        let in_leaves = differences.iter().any(|difference| difference.level == 0);
        for difference in differences {
            let kind = match (is_signed, difference.level) {
                // The entries are the signed ones, so the tile is wrong.
                (true, _) => FindingKind::TileMismatch,
                (false, 0) => FindingKind::LeafMismatch,
                (false, _) if in_leaves => continue,
                (false, _) => FindingKind::RootMismatch,
            };
            self.findings.add(kind, Some(difference.position), difference.evidence.clone());
        }
    }

    /// Finds the first subtree of the right edge that differs from the stored one.
    fn compare_frontier(&mut self, stored: &Frontier, signed: Option<&Checkpoint>, differences: &[Difference]) {
        let (root, stored_root) = (self.frontier.root(), stored.root());
        if root == stored_root || self.frontier.size() != stored.size() {
            return;
        }
        let mut rest = stored.size();
        let mut first = 0;
        let mut last = stored.size();
        for (found, expected) in self.frontier.hashes().iter().zip(stored.hashes()) {
            let width = 1_u64 << rest.ilog2();
            if found != expected {
                last = first + width;
                break;
            }
            first += width;
            rest -= width;
        }
        let position = differences.iter().map(|difference| difference.position).min().unwrap_or(first).max(first);
        let among = format!("one of the entries from {first} to {}", last.saturating_sub(1));
        let evidence =
            format!("the entries hash to the root {root:?}, but the tree has {stored_root:?}: {among} differs");
        self.findings.add(FindingKind::RootMismatch, Some(position), evidence);
        let tree_is_signed = signed.is_some_and(|signed| signed.size == stored.size() && signed.root == stored_root);
        if tree_is_signed && differences.is_empty() && !self.is_damaged() {
            let evidence = format!("{among} is not what was signed");
            self.findings.add(FindingKind::LeafMismatch, Some(first), evidence);
        }
    }
}

pub(super) fn compare_signed(findings: &mut Findings, stored: &Frontier, signed: Option<&Checkpoint>) -> Vec<u64> {
    let Some(signed) = signed else { return Vec::new() };
    if signed.size != stored.size() {
        let evidence = format!("the checkpoint covers {} entries, but the tree has {}", signed.size, stored.size());
        findings.add(FindingKind::CheckpointMismatch, Some(signed.size), evidence);
        return Vec::new();
    }
    let root = stored.root();
    if signed.root != root {
        let evidence = format!("the checkpoint signs the root {:?}, but the tree has {root:?}", signed.root);
        findings.add(FindingKind::CheckpointMismatch, Some(signed.size), evidence);
        return Vec::new();
    }
    vec![signed.size]
}

/// Compares the entries with a checkpoint from another source. `found` is their root at its size. Returns whether it is
/// consistent.
pub(super) fn compare_mark(
    findings: &mut Findings,
    mark: &Mark,
    found: Option<Hash>,
    size: u64,
    signed: Option<&Checkpoint>,
) -> bool {
    let Mark { from, size: known, root, .. } = mark;
    if *known > size {
        let evidence = format!("the checkpoint {from} covers {known} entries, but the ledger has {size}");
        findings.add(FindingKind::Rollback, Some(size), evidence);
        return false;
    }
    let same_size = signed.filter(|signed| signed.size == *known);
    // If both checkpoints agree, an entry that differs is reported elsewhere, with its position.
    let found = same_size.map(|signed| signed.root).or(found);
    let Some(found) = found.filter(|found| found != root) else { return true };
    let evidence =
        format!("the checkpoint {from} signs the root {root:?} for {known} entries, but they lead to {found:?}");
    findings.add(FindingKind::ExternalCheckpointInconsistent, Some(*known), evidence);
    if let Some(signed) = signed {
        let evidence = format!(
            "there are two signed histories: one of {known} entries with the root {root:?} ({from}), one of {} entries \
             with the root {:?} (in the database); keep both as evidence",
            signed.size, signed.root
        );
        findings.add(FindingKind::Fork, Some(*known), evidence);
    }
    false
}

/// Compares checkpoints without the entries, for [`super::Depth::Quick`]. `found` of a mark is the root of the stored
/// tree at its size.
#[must_use]
pub fn compare_checkpoints(
    stored: &Frontier,
    tree_root: Option<Hash>,
    signed: Option<&Checkpoint>,
    marks: &[Mark],
) -> (Findings, Vec<u64>) {
    let mut findings = Findings::default();
    let mut good = compare_signed(&mut findings, stored, signed);
    if let Some(root) = tree_root.filter(|root| *root != stored.root()) {
        let evidence = format!("the tiles lead to the root {root:?}, but the tree has {:?}", stored.root());
        findings.add(FindingKind::RootMismatch, Some(stored.size()), evidence);
        good.clear();
    }
    for mark in marks {
        if compare_mark(&mut findings, mark, mark.found, stored.size(), signed) && mark.found == Some(mark.root) {
            good.push(mark.size);
        }
    }
    (findings, good)
}
