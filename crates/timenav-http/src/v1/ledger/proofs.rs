//! `docs/specs/ledger.md` describes the verification.

use std::collections::BTreeMap;

use crate::schema::ToSchema;
use axum::Json;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, header};
use serde::{Deserialize, Serialize};
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{Hash, HeadProof, TlogProof, leaf_hash};
use timenav_engine::{Caller, ConsistencyProof, InclusionProof, ReadOf, SignedCheckpoint, SignedHead, WitnessedProof};

use crate::request::accept::{Accept, JSON, essence};
use crate::request::call::Read;
use crate::request::params::InPath;
use crate::response::problem::{Failure, FaultKind, ParameterFault};
use crate::route::{Form, Route};
use crate::state::App;
use crate::v1::parameters::{NoParameters, named};
use crate::wire;

const TAG: &str = "proofs";
pub(crate) const AS_JSON: &str = "json";
/// The name of the proof format that can be verified offline.
pub(crate) const AS_FILE: &str = "tlog-proof";

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::lookup_of(
            ReadOf::Ledger,
            "/timeline/{timeline_id}/checkpoint",
            "checkpoint",
            "Returns the latest signed checkpoint",
            checkpoint,
        )
        .takes::<CheckpointRequest>()
        .gives_text::<CheckpointBody>("A signed note")
        .bare()
        .tag(TAG),
        Route::lookup_of(
            ReadOf::Ledger,
            "/timeline/{timeline_id}/head",
            "head_statement",
            "Returns the latest head statement",
            head_statement,
        )
        .takes::<NoParameters>()
        .gives_text::<HeadStatementBody>("The statement, an empty line, and its signature")
        .bare()
        .tag(TAG),
        Route::lookup(
            "/timeline/{timeline_id}/proof",
            "proof",
            "Proves that an entry is in the ledger, or that the ledger only grew",
            proof,
        )
        .takes::<ProofRequest>()
        .form(Form::default().with("position").without("from"))
        .form(Form::default().with("from").without("position").off("witnessed").only("format", &[AS_JSON]))
        .gives_text::<ProofBody>("A proof; as text, for an entry only: C2SP tlog-proof with the entry in `extra`")
        .bare()
        .tag(TAG),
    ]
}

/// A checkpoint to read.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckpointRequest {
    /// Whether to return the newest checkpoint even if it is not cosigned. By default, `system` and timelines that the
    /// operator has named to witnesses return the latest cosigned checkpoint, if there is one.
    #[schema(example = true)]
    #[serde(default, deserialize_with = "wire::truth")]
    newest: Option<bool>,
}

/// A proof to return: of a position or from a size.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProofRequest {
    /// The position of an entry, counted from 0, to prove that it is in the ledger.
    #[serde(default, deserialize_with = "wire::number")]
    position: Option<u64>,
    /// The size of an earlier checkpoint, to prove that the ledger continues it.
    #[serde(default, deserialize_with = "wire::number")]
    from: Option<u64>,
    /// The form of the proof: `json`, or `tlog-proof` for an entry as a file that can be verified offline. Defaults to
    /// `json`, or for an entry to `tlog-proof` if `Accept` asks for `text/plain`.
    #[schema(format = "proof-format", example = "tlog-proof")]
    format: Option<String>,
    /// Whether to prove the entry by a checkpoint of `system` that witnesses have cosigned. The response is JSON and
    /// can be verified offline. Defaults to false.
    #[schema(example = true)]
    #[serde(default, deserialize_with = "wire::truth")]
    witnessed: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProofFormat {
    Json,
    TlogProof,
}

/// A signed checkpoint (C2SP tlog-checkpoint) and the key that verifies it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CheckpointBody {
    /// A sentence that sums up the result.
    status: String,
    /// The name of the ledger and of its key.
    origin: String,
    /// Entries in the ledger.
    size: u64,
    /// The root of the tree: 64 hexadecimal digits.
    root: String,
    /// The signed note.
    checkpoint: String,
    /// The key that verifies it, as a C2SP signed-note verifier key.
    verifier_key: String,
}

/// A head statement (docs/specs/ledger-2.md §4): the access-relevant state of a timeline, signed with its latest
/// entries.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HeadStatementBody {
    /// A sentence that sums up the result.
    status: String,
    /// The name of the ledger and of its key.
    origin: String,
    /// Entries in the ledger.
    size: u64,
    /// The root of the tree: 64 hexadecimal digits.
    root: String,
    /// The hash over clock, counts, permissions and fork, and on `system` over all users, keys, passwords and sessions:
    /// 64 hexadecimal digits.
    state_hash: String,
    /// The signed statement. It is not a checkpoint: two of the same size prove nothing.
    head_statement: String,
    /// The key that verifies it, as a C2SP signed-note verifier key.
    verifier_key: String,
}

/// A proof against the latest checkpoint.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct ProofBody {
    /// A sentence that says what the proof shows.
    status: String,
    /// The kind of proof: of `inclusion`, of `consistency`, or of inclusion with witness cosignatures (`witnessed`).
    #[schema(value_type = String)]
    kind: &'static str,
    /// For inclusion: the position of the entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<u64>,
    /// For inclusion: the text that the leaf hash covers.
    #[serde(skip_serializing_if = "Option::is_none")]
    leaf: Option<String>,
    /// For inclusion: the leaf hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    leaf_hash: Option<String>,
    /// For consistency: the size of the earlier tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<u64>,
    /// For consistency: its root.
    #[serde(skip_serializing_if = "Option::is_none")]
    from_root: Option<String>,
    /// The hashes of the proof (RFC 9162 §2.1.3, §2.1.4), 64 hexadecimal digits each.
    hashes: Vec<String>,
    /// Entries in the ledger.
    size: u64,
    /// The root of the tree: 64 hexadecimal digits.
    root: String,
    /// If witnessed: the name of the timeline's ledger.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<String>,
    /// If witnessed, and not of `system` itself: the proof that `system` is committed to size and root.
    #[serde(skip_serializing_if = "Option::is_none")]
    head: Option<HeadProofBody>,
    /// If witnessed: when each witness cosigned the checkpoint, by name, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    witnesses: Option<BTreeMap<String, u64>>,
    /// The signed note over size and root. If witnessed: the cosigned note of `system`.
    checkpoint: String,
    /// The key that verifies it, as a C2SP signed-note verifier key.
    verifier_key: String,
}

/// The proof that `system` is committed to the tree of a timeline (docs/specs/ledger-2.md §10).
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HeadProofBody {
    /// The index of the head, counted from 0.
    index: u64,
    /// The number of heads in the entry.
    count: u64,
    /// The hashes from the timeline's checkpoint text to the root of the heads.
    hashes: Vec<String>,
    /// The position of the `heads` entry on `system`.
    position: u64,
    /// The text of that entry.
    leaf: String,
    /// The hashes from that entry to the root of the cosigned tree.
    system_hashes: Vec<String>,
}

/// Returns the note itself, as C2SP clients expect, or JSON around it if `Accept` or `Content-Type` names JSON.
async fn checkpoint(
    InPath(timeline_id): InPath,
    headers: HeaderMap,
    Read { app, caller, request: CheckpointRequest { newest } }: Read<CheckpointRequest>,
) -> Result<Response, Failure> {
    let signed = app.engine.checkpoint(&caller, &named(&timeline_id)?, newest.unwrap_or(false)).await?;
    if speaks_json(&headers) {
        return Ok(Json(CheckpointBody::from(signed)).into_response());
    }
    Ok(plain(signed.note))
}

/// Returns the text itself, or JSON around it if the client names JSON.
async fn head_statement(
    InPath(timeline_id): InPath,
    headers: HeaderMap,
    Read { app, caller, .. }: Read<NoParameters>,
) -> Result<Response, Failure> {
    let signed = app.engine.head_statement(&caller, &named(&timeline_id)?).await?;
    if speaks_json(&headers) {
        return Ok(Json(HeadStatementBody::from(signed)).into_response());
    }
    Ok(plain(signed.text))
}

/// Returns the proof of an entry as JSON, or as C2SP tlog-proof text if the parameter or else `Accept` asks for it.
async fn proof(
    InPath(timeline_id): InPath,
    headers: HeaderMap,
    Read { app, caller, request }: Read<ProofRequest>,
) -> Result<Response, Failure> {
    let timeline_id = named(&timeline_id)?;
    let format = request.format.as_deref().map(format).transpose()?;
    if request.witnessed == Some(true) {
        return witnessed(&app, &caller, &timeline_id, &request, format).await;
    }
    match (request.position, request.from) {
        (Some(position), None) => {
            let (engine, of) = (&app.engine, &timeline_id);
            Ok(match format.unwrap_or_else(|| accepted(&headers)) {
                ProofFormat::Json => {
                    Json(ProofBody::from(engine.inclusion_proof(&caller, of, position).await?)).into_response()
                }
                ProofFormat::TlogProof => {
                    plain(tlog_proof(engine.inclusion_proof(&caller, of, position).await?).to_text())
                }
            })
        }
        (None, Some(from)) => match format.unwrap_or(ProofFormat::Json) {
            ProofFormat::Json => {
                let proof = app.engine.consistency_proof(&caller, &timeline_id, from).await?;
                Ok(Json(ProofBody::from(proof)).into_response())
            }
            ProofFormat::TlogProof => {
                let detail = "a `tlog-proof` is for one entry; give `position`, or use `json`";
                Err(Failure::invalid("format", detail))
            }
        },
        (None, None) => Err(fault(FaultKind::Missing, "give `position` for an entry, or `from` for an earlier size")),
        (Some(_), Some(_)) => Err(fault(FaultKind::Conflicting, "give `position` or `from`, not both")),
    }
}

/// Proves that an entry is included in a tree that witnesses have cosigned.
async fn witnessed(
    app: &App,
    caller: &Caller,
    timeline_id: &TimelineId,
    request: &ProofRequest,
    format: Option<ProofFormat>,
) -> Result<Response, Failure> {
    if format.is_some_and(|format| format != ProofFormat::Json) {
        let detail = "a `tlog-proof` is of one tree; with `witnessed`, use `json`";
        return Err(Failure::invalid("format", detail));
    }
    let position = match (request.position, request.from) {
        (Some(position), None) => position,
        (None, _) => return Err(fault(FaultKind::Missing, "give `position`: witnesses vouch for entries")),
        (Some(_), Some(_)) => return Err(fault(FaultKind::Conflicting, "give `position` or `from`, not both")),
    };
    let proof = app.engine.witnessed_proof(caller, timeline_id, position).await?;
    Ok(Json(ProofBody::from(proof)).into_response())
}

fn fault(kind: FaultKind, detail: &str) -> Failure {
    Failure::Parameter(ParameterFault { kind, path: "position".to_owned(), detail: detail.to_owned() })
}

fn format(name: &str) -> Result<ProofFormat, Failure> {
    match name {
        AS_JSON => Ok(ProofFormat::Json),
        AS_FILE => Ok(ProofFormat::TlogProof),
        _ => Err(Failure::invalid("format", "a proof can be `json` or `tlog-proof`")),
    }
}

/// Returns the accepted format: text only if it is listed by name and JSON is not.
fn accepted(headers: &HeaderMap) -> ProofFormat {
    let accept = Accept::of(headers);
    let is_json = accept.weight_by_name(JSON) > 0 || !accept.asks_for("text/plain", JSON);
    if is_json { ProofFormat::Json } else { ProofFormat::TlogProof }
}

/// Puts the entry into the proof, so that a verifier needs only this file and the key.
fn tlog_proof(proof: InclusionProof) -> TlogProof {
    let InclusionProof { position, leaf, hashes, checkpoint, .. } = proof;
    TlogProof { extra: leaf, index: position, hashes, checkpoint: checkpoint.note }
}

fn plain(text: String) -> Response {
    ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response()
}

/// Returns whether a client uses JSON, in `Accept` or in `Content-Type`.
fn speaks_json(headers: &HeaderMap) -> bool {
    let sent = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    Accept::of(headers).asks_for(JSON, "text/plain")
        || sent.is_some_and(|sent| essence(sent).eq_ignore_ascii_case(JSON))
}

fn hex(hashes: &[Hash]) -> Vec<String> {
    hashes.iter().map(Hash::to_hex).collect()
}

impl From<SignedCheckpoint> for CheckpointBody {
    fn from(signed: SignedCheckpoint) -> Self {
        Self {
            status: format!("The ledger has {} entries.", signed.size),
            origin: signed.origin,
            size: signed.size,
            root: signed.root.to_hex(),
            checkpoint: signed.note,
            verifier_key: signed.verifier_key,
        }
    }
}

impl From<SignedHead> for HeadStatementBody {
    fn from(signed: SignedHead) -> Self {
        let SignedHead { statement, text, verifier_key } = signed;
        Self {
            status: format!("The state after {} entries was signed with them.", statement.size),
            origin: statement.origin,
            size: statement.size,
            root: statement.root.to_hex(),
            state_hash: statement.state_hash.to_hex(),
            head_statement: text,
            verifier_key,
        }
    }
}

impl ProofBody {
    /// Returns the parts that proofs against a checkpoint of the same ledger share.
    fn of_tree(checkpoint: SignedCheckpoint) -> Self {
        Self {
            size: checkpoint.size,
            root: checkpoint.root.to_hex(),
            checkpoint: checkpoint.note,
            verifier_key: checkpoint.verifier_key,
            ..Self::default()
        }
    }
}

impl From<InclusionProof> for ProofBody {
    fn from(proof: InclusionProof) -> Self {
        Self {
            status: format!("Entry {} is in the ledger of {} entries.", proof.position, proof.checkpoint.size),
            kind: "inclusion",
            position: Some(proof.position),
            leaf: Some(String::from_utf8_lossy(&proof.leaf).into_owned()),
            leaf_hash: Some(proof.leaf_hash.to_hex()),
            hashes: hex(&proof.hashes),
            ..Self::of_tree(proof.checkpoint)
        }
    }
}

impl From<ConsistencyProof> for ProofBody {
    fn from(proof: ConsistencyProof) -> Self {
        Self {
            status: format!("The ledger of {} entries continues the one of {}.", proof.checkpoint.size, proof.from),
            kind: "consistency",
            from: Some(proof.from),
            from_root: Some(proof.from_root.to_hex()),
            hashes: hex(&proof.hashes),
            ..Self::of_tree(proof.checkpoint)
        }
    }
}

impl From<WitnessedProof> for ProofBody {
    fn from(proof: WitnessedProof) -> Self {
        let WitnessedProof { position, leaf, hashes, tree, head, cosigned, verifier_key } = proof;
        let by = match cosigned.by.len() {
            1 => "a witness has".to_owned(),
            count => format!("{count} witnesses have"),
        };
        Self {
            status: format!("Entry {position} is in a tree of {} entries that {by} vouched for.", tree.size),
            kind: "witnessed",
            position: Some(position),
            leaf_hash: Some(leaf_hash(&leaf).to_hex()),
            leaf: Some(String::from_utf8_lossy(&leaf).into_owned()),
            origin: Some(tree.origin),
            head: head.map(HeadProofBody::from),
            witnesses: Some(cosigned.by.clone()),
            hashes: hex(&hashes),
            size: tree.size,
            root: tree.root.to_hex(),
            checkpoint: cosigned.note.to_string(),
            verifier_key,
            ..Self::default()
        }
    }
}

impl From<HeadProof> for HeadProofBody {
    fn from(proof: HeadProof) -> Self {
        let HeadProof { index, count, hashes, position, leaf, system_hashes } = proof;
        let leaf = String::from_utf8_lossy(&leaf).into_owned();
        Self { index, count, hashes: hex(&hashes), position, leaf, system_hashes: hex(&system_hashes) }
    }
}
