mod stream;

use crate::schema::ToSchema;
use axum::Json;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use timenav_core::ids::TimelineId;
use timenav_core::ledger::Hash;
use timenav_core::scan::{Depth, Finding};
use timenav_engine::{Checked, Detection, Engine, Progress, Refusal, ReservedScan, Scan};

use self::stream::ProgressBody;
use crate::request::accept::{Accept, JSON};
use crate::request::auth::{Peer, while_live};
use crate::request::call::Change;
use crate::response::answer::LedgerBody;
use crate::response::finish::RequestId;
use crate::response::problem::Failure;
use crate::route::Route;
use crate::wire::Text;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::change("/detect-tampering", "detect_tampering", "Scans a timeline for tampering", detect_tampering)
            .takes::<TamperingRequest>()
            .gives_with_progress::<TamperingBody, ProgressBody>()
            .anew()
            .tag("proofs"),
    ]
}

/// The timeline and the depth of a scan.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TamperingRequest {
    /// The timeline; for operators also `system`.
    #[schema(value_type = String, format = "timeline-id", example = "main")]
    timeline_id: Text<TimelineId>,
    /// The depth: `full` reads everything, `quick` the latest checkpoint and its tree, `tail:<n>` the last `n` entries
    /// and the tree over the others, `sample:<n>` `n` random entries. Defaults to `full`.
    #[schema(value_type = Option<String>, format = "scan-depth", example = "full")]
    scan_depth: Option<Text<Depth>>,
}

/// The result of a scan.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TamperingBody {
    /// A sentence that sums up the scan.
    status: String,
    /// Whether anything differs from the signed ledger.
    tampering_detected: bool,
    /// The first finding and its place, in sentences.
    details: String,
    /// All differences from the signed ledger, by position.
    findings: Vec<FindingBody>,
    /// The number of findings omitted because there are too many of one kind.
    findings_omitted: u64,
    /// The checks, with counts.
    checked: Vec<CheckedCountBody>,
    /// Everything that was not checked, one sentence each.
    not_checked: Vec<String>,
    /// The latest checkpoint: keep it to detect a rollback of history later.
    checkpoint: Option<ScannedCheckpoint>,
    /// The scan's place in the ledger.
    ledger: LedgerBody,
}

/// One difference from the signed ledger.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FindingBody {
    /// The kind of difference, such as `leaf-mismatch`.
    #[schema(value_type = String, example = "leaf-mismatch")]
    kind: &'static str,
    /// The first entry affected, counted from 0; for a checkpoint, its size.
    position: Option<u64>,
    /// Size of the largest earlier checkpoint known to be good.
    last_good_checkpoint: Option<u64>,
    /// The found and the expected state.
    evidence: String,
}

/// Something that was checked.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CheckedCountBody {
    /// The kind of item.
    #[schema(value_type = String, example = "entries")]
    what: &'static str,
    /// The number of checked items.
    count: u64,
}

/// The checkpoint of the tree that was scanned.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ScannedCheckpoint {
    /// Entries in the tree.
    size: u64,
    /// The root of the tree: 64 hexadecimal digits.
    root: String,
    /// The signed note (C2SP tlog-checkpoint).
    note: String,
}

/// If the client closes the request, the scan ends. A repeated request starts another scan, so only the format of an
/// idempotency key is checked. With `text/event-stream`, the response reports progress.
async fn detect_tampering(
    id: RequestId,
    Peer(network): Peer,
    Change { app, caller, headers, request, .. }: Change<TamperingRequest>,
) -> Result<Response, Failure> {
    let left = app.rates.scan(&caller.user_id, network).map_err(Failure::TooMany)?;
    let depth = request.scan_depth.map(|depth| depth.0).unwrap_or_default();
    let reserved = app.engine.ask_for_scan(&caller, &request.timeline_id.0, depth).await?;
    let mut response = if Accept::of(&headers).asks_for("text/event-stream", JSON) {
        stream::answer(app.engine.clone(), reserved, id)
    } else {
        Json(TamperingBody::from(run(&app.engine, reserved, &mut |_| ()).await?)).into_response()
    };
    for left in left {
        left.write(response.headers_mut());
    }
    Ok(response)
}

/// Runs a scan while the caller's credential is valid.
async fn run(
    engine: &Engine,
    reserved: ReservedScan,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Detection, Refusal> {
    let (caller, timeline) = (reserved.caller().clone(), reserved.timeline().clone());
    let scan = Box::pin(engine.run_scan(reserved, progress));
    while_live(engine, &caller, (&timeline, "detect_tampering"), scan).await
}

impl From<Detection> for TamperingBody {
    fn from(found: Detection) -> Self {
        let Detection { scan, ledger } = found;
        let tampering_detected = scan.tampering_detected();
        let status = match (tampering_detected, scan.findings.len()) {
            (false, _) => format!("No tampering found on `{}`.", scan.timeline_id),
            (true, 1) => format!("`{}` does not match what was signed: 1 finding.", scan.timeline_id),
            (true, count) => format!("`{}` does not match what was signed: {count} findings.", scan.timeline_id),
        };
        let Scan { details, findings, findings_omitted, checked, not_checked, checkpoint, size, root, .. } = scan;
        let root = root.map(|root: Hash| root.to_hex()).unwrap_or_default();
        Self {
            status,
            tampering_detected,
            details,
            findings: findings.into_iter().map(Into::into).collect(),
            findings_omitted,
            checked: checked.into_iter().map(|Checked { what, count }| CheckedCountBody { what, count }).collect(),
            not_checked,
            checkpoint: checkpoint.map(|note| ScannedCheckpoint { size, root, note }),
            ledger: ledger.into(),
        }
    }
}

impl From<Finding> for FindingBody {
    fn from(finding: Finding) -> Self {
        let Finding { kind, position, last_good_checkpoint, evidence } = finding;
        Self { kind: kind.as_str(), position, last_good_checkpoint, evidence }
    }
}
