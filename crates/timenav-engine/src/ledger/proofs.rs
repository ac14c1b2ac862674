use crate::engine::Engine;
use crate::ledger::head::TimelineState;
use crate::ledger::notes::newest_note;
use crate::ledger::payload::Reading;
use crate::ledger::statement::{Covers, statement};
use crate::ledger::stored_statement::signed_by;
use crate::ledger::tree::{node_hashes, root_at};
use crate::ports::lookups::OneFact as _;
use crate::requests::caller::Caller;
use crate::requests::refusal::Refusal;
use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{
    Hash, HeadStatement, ProofError, TILE_WIDTH, TileError, TileId, TilePath, consistency_nodes, inclusion_nodes,
    leaf_hash, parse_index_path,
};

#[derive(Clone, Debug)]
pub struct SignedCheckpoint {
    pub origin: String,
    pub size: u64,
    pub root: Hash,
    /// The signed note with size and root.
    pub note: String,
    /// The public key that verifies it, as text.
    pub verifier_key: String,
}

#[derive(Clone, Debug)]
pub struct InclusionProof {
    pub position: u64,
    pub leaf: Vec<u8>,
    pub leaf_hash: Hash,
    /// The sibling hashes on the path from the leaf to the root.
    pub hashes: Vec<Hash>,
    pub checkpoint: SignedCheckpoint,
}

/// Proves that the tree of a checkpoint extends an earlier tree.
#[derive(Clone, Debug)]
pub struct ConsistencyProof {
    pub from: u64,
    pub from_root: Hash,
    pub hashes: Vec<Hash>,
    pub checkpoint: SignedCheckpoint,
}

/// The signed state of a timeline, as of its newest entries: permissions, clock and counts.
#[derive(Clone, Debug)]
pub struct SignedHead {
    pub statement: HeadStatement,
    pub text: String,
    pub verifier_key: String,
}

impl Engine {
    /// Returns a timeline's newest head statement.
    ///
    /// # Errors
    /// The caller may not read the timeline, its last entry predates head statements, or the ledger cannot be written.
    #[boxed]
    pub async fn head_statement(&self, caller: &Caller, timeline: &TimelineId) -> Result<SignedHead, Refusal> {
        let look = self.look(caller, timeline.clone(), Demand::Inspect, Reading::HeadStatement {}).await?;
        let (state, service_name, signer) = (&look.state, &self.options().service_name, &self.ports().signer);
        let key = signer.ledger_key(service_name, timeline).map_err(|error| Refusal::Damaged(error.to_string()))?;
        // The statement may be by an earlier version that covered less. During a rotation, two keys have signed.
        let ed25519 = |key: &[u8; 32], text: &[u8], signature: &[u8; 64]| signer.verify(key, text, signature);
        let stated = [Covers::All, Covers::Former].into_iter().find_map(|covers| {
            let statement = statement(state, state.directory_root, service_name, covers);
            let mut signatures = signed_by(&state.head.statement).map(|signed| signed.signature);
            let signature = signatures.find(|signature| statement.verify(signature, &key, ed25519).is_ok())?;
            Some((statement.to_signed_text(signature), statement))
        });
        let missing = || Refusal::NotFound { what: "head statement", id: timeline.to_string() };
        let (text, statement) = stated.ok_or_else(missing)?;
        Ok(SignedHead { statement, text, verifier_key: key.to_string() })
    }

    /// Returns a timeline's newest checkpoint. For `system` and for timelines that are shown to witnesses individually,
    /// returns the newest cosigned one if there is one, unless `newest` is requested.
    ///
    /// # Errors
    /// The caller may not read the timeline, or the ledger cannot be written.
    #[boxed]
    pub async fn checkpoint(
        &self,
        caller: &Caller,
        timeline: &TimelineId,
        newest: bool,
    ) -> Result<SignedCheckpoint, Refusal> {
        let look = self.look(caller, timeline.clone(), Demand::Inspect, Reading::Checkpoint {}).await?;
        let signed = self.newest_checkpoint(&look.state)?;
        if newest {
            return Ok(signed);
        }
        if timeline.is_system() {
            self.learn_cosigned().await?;
        }
        let cosigned = self.cosigned(timeline);
        Ok(cosigned.map_or(signed.clone(), |cosigned| SignedCheckpoint {
            size: cosigned.size,
            root: cosigned.root,
            note: cosigned.note.to_string(),
            ..signed
        }))
    }

    /// Proves that an entry is in a timeline's newest tree.
    ///
    /// # Errors
    /// There is no such entry, the caller is not authorized, or the ledger cannot be written.
    #[boxed]
    pub async fn inclusion_proof(
        &self,
        caller: &Caller,
        timeline: &TimelineId,
        position: u64,
    ) -> Result<InclusionProof, Refusal> {
        // The entry reveals the clock's reading and the event it is about.
        let look = self.look(caller, timeline.clone(), Demand::Look, Reading::InclusionProof { position }).await?;
        self.prove_entry(&look.state, position).await
    }

    pub(crate) async fn prove_entry(&self, state: &TimelineState, position: u64) -> Result<InclusionProof, Refusal> {
        let (key, checkpoint) = (state.head.key, self.newest_checkpoint(state)?);
        let nodes = inclusion_nodes(position, checkpoint.size).map_err(|error| proof_refusal("position", &error))?;
        let entry = self.store().entry(key, position).await?;
        let missing = || Refusal::Damaged(format!("entry {position} of `{}` is missing", state.head.id));
        let entry = entry.ok_or_else(missing)?;
        let hashes = node_hashes(self.store(), key, &nodes).await?;
        Ok(InclusionProof { position, leaf_hash: leaf_hash(&entry.leaf), leaf: entry.leaf, hashes, checkpoint })
    }

    /// Proves that a timeline's newest tree extends the one it had at size `from`.
    ///
    /// # Errors
    /// The ledger was never that large, the caller is not authorized, or the ledger cannot be written.
    #[boxed]
    pub async fn consistency_proof(
        &self,
        caller: &Caller,
        timeline: &TimelineId,
        from: u64,
    ) -> Result<ConsistencyProof, Refusal> {
        let look = self.look(caller, timeline.clone(), Demand::Inspect, Reading::ConsistencyProof { from }).await?;
        let (key, checkpoint) = (look.state.head.key, self.newest_checkpoint(&look.state)?);
        let nodes = consistency_nodes(from, checkpoint.size).map_err(|error| proof_refusal("from", &error))?;
        let hashes = node_hashes(self.store(), key, &nodes).await?;
        let from_root = root_at(self.store(), key, from).await?;
        Ok(ConsistencyProof { from, from_root, hashes, checkpoint })
    }

    pub(crate) fn newest_checkpoint(&self, state: &TimelineState) -> Result<SignedCheckpoint, Refusal> {
        let key = self.ports().signer.ledger_key(&self.options().service_name, &state.head.id);
        let key = key.map_err(|error| Refusal::Damaged(error.to_string()))?;
        Ok(SignedCheckpoint {
            origin: key.name().to_owned(),
            size: state.head.frontier.size(),
            root: state.root,
            note: newest_note(state, self.ports(), self.options())?.to_string(),
            verifier_key: key.to_string(),
        })
    }
}

fn proof_refusal(field: &str, error: &ProofError) -> Refusal {
    Refusal::invalid(field, error.to_string())
}

/// A request of a tiled log client (C2SP tlog-tiles).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TileRequest {
    Hashes(TilePath),
    /// The first `width` entries of bundle `index`.
    Entries {
        index: u64,
        /// From 1 to 256.
        width: u16,
    },
}

impl TileRequest {
    /// Parses the part of a path after `tile/`.
    ///
    /// # Errors
    /// The path does not follow C2SP tlog-tiles.
    pub fn parse(path: &str) -> Result<Self, TileError> {
        match path.strip_prefix("entries/") {
            Some(path) => parse_index_path(path).map(|(index, width)| Self::Entries { index, width }),
            None => format!("tile/{path}").parse().map(Self::Hashes),
        }
    }

    const fn tile(self) -> TileId {
        match self {
            Self::Hashes(path) => path.tile,
            Self::Entries { index, .. } => TileId { level: 0, index },
        }
    }

    const fn width(self) -> u16 {
        match self {
            Self::Hashes(path) => path.width,
            Self::Entries { width, .. } => width,
        }
    }

    /// Returns the required permission: hashes reveal nothing, entries reveal clocks and events.
    const fn demand(self) -> Demand {
        match self {
            Self::Hashes(_) => Demand::Inspect,
            Self::Entries { .. } => Demand::Look,
        }
    }
}

impl Engine {
    /// Returns one tile of a timeline's tree, or one bundle of its entries.
    ///
    /// # Errors
    /// The newest tree has no such tile, the caller may not read the timeline, or the ledger cannot be written.
    #[boxed]
    pub async fn tile(&self, caller: &Caller, timeline: &TimelineId, request: TileRequest) -> Result<Vec<u8>, Refusal> {
        let look = self.look(caller, timeline.clone(), request.demand(), Reading::Tile {}).await?;
        let head = &look.state.head;
        let (key, tile, width) = (head.key, request.tile(), request.width());
        if width > tile.width(head.frontier.size()) {
            return Err(Refusal::NotFound { what: "tile", id: TilePath { tile, width }.to_string() });
        }
        match request {
            TileRequest::Hashes(_) => {
                let hashes = self.store().tile(key, tile, usize::from(width)).await?;
                Ok(hashes.iter().flat_map(Hash::as_bytes).copied().collect())
            }
            TileRequest::Entries { index, .. } => {
                let leaves = self.store().leaves(key, index * u64::from(TILE_WIDTH), usize::from(width)).await?;
                leaves.iter().map(|leaf| with_length(leaf)).collect::<Result<Vec<_>, _>>().map(|parts| parts.concat())
            }
        }
    }
}

/// Returns an entry with its length as a prefix of two bytes, big-endian.
fn with_length(leaf: &[u8]) -> Result<Vec<u8>, Refusal> {
    let length = u16::try_from(leaf.len()).map_err(|_| Refusal::Damaged("an entry of 64 KiB or more".to_owned()))?;
    Ok([&length.to_be_bytes(), leaf].concat())
}
