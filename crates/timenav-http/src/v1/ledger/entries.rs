use crate::schema::ToSchema;
use axum::Json;
use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use timenav_engine::{EntriesRequest, EntryContents, EntryPage, LedgerEntry, ReadOf};

use crate::request::call::Read;
use crate::request::params::InPath;
use crate::response::problem::Failure;
use crate::route::Route;
use crate::v1::parameters::named;
use crate::v1::timelines::ForkBody;
use crate::wire::{self, items_max};

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::lookup_of(
            ReadOf::Ledger,
            "/timeline/{timeline_id}/entries",
            "entries",
            "Reads ledger entries with their salts and payloads",
            entries,
        )
        .takes::<EntriesParameters>()
        .gives::<EntriesBody>()
        .bare()
        .tag("proofs"),
    ]
}

/// Entries to read.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EntriesParameters {
    /// The position of the first entry, counted from 0. Defaults to 0.
    #[schema(example = 0)]
    #[serde(default, deserialize_with = "wire::number")]
    from: Option<u64>,
    /// The maximum number per page. A page of long entries can be shorter.
    #[schema(minimum = 1, maximum = 1_000)]
    #[serde(default, deserialize_with = "wire::page_items")]
    limit: Option<usize>,
}

/// One page of entries in order of position, and the checkpoint to verify them against.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EntriesBody {
    /// A sentence that sums up the result.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The entries.
    entries: Vec<LedgerEntryBody>,
    /// The parent timeline and the number of shared entries, which it stores. Absent if the timeline is not a
    /// fork.
    #[serde(skip_serializing_if = "Option::is_none")]
    fork: Option<ForkBody>,
    /// The position to continue `from`; absent at the end of the ledger. Each page adds a ledger entry, so stop at the
    /// size you verify against.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u64>,
    /// Whether there is another page.
    has_more: bool,
    /// Entries in the ledger.
    size: u64,
    /// The root of the tree: 64 hexadecimal digits.
    root: String,
    /// The signed note over size and root.
    checkpoint: String,
    /// The key that verifies it, as a C2SP signed-note verifier key.
    verifier_key: String,
}

/// A ledger entry.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LedgerEntryBody {
    /// Its position in the ledger, counted from 0.
    position: u64,
    /// The text that the leaf hash covers.
    leaf: String,
    /// Whether salt and payload are included (`visible`), no longer exist (`erased`), or are visible only to admins of
    /// the timeline (`restricted`). A later entry shows whether they were erased or pruned. Only reads and rejected
    /// attempts are pruned.
    #[schema(value_type = String, example = "visible")]
    contents: &'static str,
    /// The salt in hexadecimal digits; empty if single reads were erased from the payload.
    #[schema(example = "c3a6a8530dbb478fb70a6ca8c7263a94")]
    #[serde(skip_serializing_if = "Option::is_none")]
    salt: Option<String>,
    /// The JSON text, hashed after the salt.
    #[schema(example = "{\"event_id\":\"eagle\",\"time\":\"1969-07-20T20:17:40Z\",\"description\":\"\"}")]
    #[serde(skip_serializing_if = "Option::is_none")]
    payload: Option<String>,
}

async fn entries(
    InPath(timeline_id): InPath,
    Read { app, caller, request }: Read<EntriesParameters>,
) -> Result<Json<EntriesBody>, Failure> {
    let timeline = named(&timeline_id)?;
    let (from, items_max) = (request.from.unwrap_or(0), items_max(request.limit));
    let page = app.engine.entries(&caller, EntriesRequest { timeline, from, items_max }).await?;
    Ok(Json(body(timeline_id, from, page)))
}

fn body(timeline_id: String, from: u64, page: EntryPage) -> EntriesBody {
    let EntryPage { entries, next, fork, checkpoint } = page;
    let status = match entries.len() as u64 {
        0 => format!("The ledger ends before position {from}."),
        1 => format!("Entry {from} of {}.", checkpoint.size),
        count => format!("Entries {from} to {} of {}.", from + count - 1, checkpoint.size),
    };
    EntriesBody {
        status,
        timeline_id,
        entries: entries.into_iter().map(LedgerEntryBody::from).collect(),
        fork: fork.map(|(of, size)| ForkBody::new(&of, size)),
        next,
        has_more: next.is_some(),
        size: checkpoint.size,
        root: checkpoint.root.to_hex(),
        checkpoint: checkpoint.note,
        verifier_key: checkpoint.verifier_key,
    }
}

impl From<LedgerEntry> for LedgerEntryBody {
    fn from(entry: LedgerEntry) -> Self {
        let (contents, salt, payload) = match entry.contents {
            EntryContents::Visible { salt, payload } => ("visible", Some(HEXLOWER.encode(&salt)), Some(text(&payload))),
            EntryContents::Erased => ("erased", None, None),
            EntryContents::AdminsOnly => ("restricted", None, None),
        };
        Self { position: entry.position, leaf: text(&entry.leaf), contents, salt, payload }
    }
}

/// Returns bytes as text. Invalid UTF-8 was never written; its hash would not match.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
