//! Certificates: what a key with a horizon has seen, signed, with the proof of it.

use crate::schema::ToSchema;
use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use timenav_core::horizon::Horizon;
use timenav_core::ids::KeyId;
use timenav_core::ledger::{Hash, ReadProof};
use timenav_engine::{CertificateRequest, CertifiedEntry, HorizonUse, SignedCertificate};

use super::kept::raw;
use crate::auth::Authenticated;
use crate::params::Params;
use crate::problem::Failure;
use crate::route::Route;
use crate::state::App;
use crate::wire::{self, Text};

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::lookup(
            "/certificates",
            "certificate",
            "Certifies what a key with a horizon has seen",
            certificate,
            HorizonUse::Refused,
        )
        .takes::<CertificateParameters>()
        .gives::<CertificateBody>()
        .tag("api keys"),
    ]
}

/// Which key, and which entries of its timeline.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CertificateParameters {
    /// The key. Its owner can ask, and whoever administers its timeline.
    #[schema(value_type = String, format = "id", example = "key_01h455vb4pex5vsknk084sn02q")]
    key_id: Text<KeyId>,
    /// The position of the first entry. Defaults to 0.
    #[schema(example = 0)]
    #[serde(default, deserialize_with = "wire::number")]
    from: Option<u64>,
    /// The position of the last entry. Defaults to the newest.
    #[schema(example = 1_000)]
    #[serde(default, deserialize_with = "wire::number")]
    to: Option<u64>,
}

/// What a key with a horizon has seen.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CertificateBody {
    /// What is certified, in a sentence.
    status: String,
    /// The timeline that the key is bound to.
    timeline_id: String,
    /// The key.
    key_id: String,
    /// Its user.
    user_id: String,
    /// `clock` if the key sees no later than the clock shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    horizon: Option<&'static str>,
    /// The last position of the ledger that the key knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    known_at: Option<u64>,
    /// The position of the first entry.
    from: u64,
    /// The position of the last entry.
    to: u64,
    /// How often the key read in these entries.
    reads: u64,
    /// How many of these reads were streams, which continued after their entry.
    streams: u64,
    /// How often it was refused.
    refusals: u64,
    /// Entries and single reads that were let go or erased, so that they no longer tell whose they were. Nothing is
    /// certified of them.
    gone: u64,
    /// No read could see anything later than this, on the timeline's clock; absent where the key sees past the clock, or
    /// read nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    latest_time: Option<String>,
    /// No read could see what the ledger learned after this position; absent where the key read nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    latest_position: Option<u64>,
    /// Other keys and sessions of the user that work now. What was read with them is not certified.
    others: u64,
    /// What is not certified, in words.
    not_certified: Vec<String>,
    /// The signed note that says all this.
    certificate: String,
    /// The entries with reads of the key.
    entries: Vec<CertifiedEntryBody>,
    /// The signed note over the tree that the proofs lead to.
    checkpoint: String,
    /// The key that verifies both notes, as C2SP signed-note writes keys.
    verifier_key: String,
}

/// An entry with reads of the key.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CertifiedEntryBody {
    /// Its position in the ledger.
    position: u64,
    /// The text whose hash is the leaf.
    leaf: String,
    /// The hashes from the leaf to the root of the checkpoint: 64 hexadecimal digits each.
    hashes: Vec<String>,
    /// Each read of the key, shown to be among those that the entry tells of, and no other.
    #[schema(value_type = Vec<ReadProofBody>)]
    reads: Vec<Box<RawValue>>,
}

/// Shows that one read is among those of an entry.
#[derive(ToSchema)]
#[expect(dead_code, reason = "says in the OpenAPI document what core writes as JSON")]
pub(crate) struct ReadProofBody {
    /// How many reads the entry has.
    count: u64,
    /// The hashes from the read to the entry's payload hash.
    hashes: Vec<String>,
    /// The number of the read, counted from 0.
    index: u64,
    /// The read, as it is hashed after the salt.
    #[schema(value_type = Object)]
    read: String,
    /// Its salt in hexadecimal digits.
    salt: String,
}

/// Certifies what a key has seen.
async fn certificate(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Params(request): Params<CertificateParameters>,
) -> Result<Json<CertificateBody>, Failure> {
    let CertificateParameters { key_id, from, to } = request;
    let request = CertificateRequest { key_id: key_id.0, from, to };
    Ok(Json(CertificateBody::from(app.engine.certificate(&caller, request).await?)))
}

impl From<SignedCertificate> for CertificateBody {
    fn from(signed: SignedCertificate) -> Self {
        let SignedCertificate { timeline_id, certificate, note, entries, checkpoint } = signed;
        let (seen, horizon) = (&certificate.seen, certificate.horizon);
        let times = if seen.reads == 1 { "once".to_owned() } else { format!("{} times", seen.reads) };
        let mut not_certified = vec![
            "What the reader knew before, or learned elsewhere.".to_owned(),
            format!("What the user read otherwise: {} other keys and sessions of theirs work now.", certificate.others),
        ];
        if seen.gone > 0 {
            not_certified.push(format!("What is gone: {} entries or reads no longer tell whose they were.", seen.gone));
        }
        Self {
            status: format!(
                "The key read {times} in the entries from {} to {}, and saw nothing beyond its horizon.",
                certificate.from, certificate.to
            ),
            timeline_id: timeline_id.to_string(),
            key_id: certificate.key_id.to_string(),
            user_id: certificate.user_id.to_string(),
            horizon: horizon.until_clock.then_some(Horizon::CLOCK),
            known_at: horizon.known_at,
            from: certificate.from,
            to: certificate.to,
            reads: seen.reads,
            streams: seen.streams,
            refusals: seen.refusals,
            gone: seen.gone,
            latest_time: seen.latest_time.map(|time| time.to_string()),
            latest_position: seen.latest_position,
            others: certificate.others,
            not_certified,
            certificate: note,
            entries: entries.into_iter().map(CertifiedEntryBody::from).collect(),
            checkpoint: checkpoint.note,
            verifier_key: checkpoint.verifier_key,
        }
    }
}

impl From<CertifiedEntry> for CertifiedEntryBody {
    fn from(entry: CertifiedEntry) -> Self {
        let CertifiedEntry { position, leaf, hashes, reads } = entry;
        let shown = |read: &ReadProof| raw(&String::from_utf8_lossy(&read.encode()));
        Self {
            position,
            leaf: String::from_utf8_lossy(&leaf).into_owned(),
            hashes: hashes.iter().map(Hash::to_hex).collect(),
            reads: reads.iter().filter_map(shown).collect(),
        }
    }
}
