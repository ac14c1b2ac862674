use crate::schema::ToSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{PruneClass, Retention};
use timenav_core::text::counted;
use timenav_core::time::Duration;
use timenav_engine::{
    Answer, HostClockDoubt, Pruned, PrunedContents, RetentionPeriod, RetentionRequest, RetentionSet, SweepPreview,
};

use crate::request::call::Change;
use crate::response::answer::{Changed, LedgerBody};
use crate::response::problem::Failure;
use crate::route::Route;
use crate::wire::Text;

const TAG: &str = "retention";
const SECOND_MICROS: i64 = 1_000_000;
const DAY_SECONDS: u32 = 86_400;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::change(
            "/set-retention",
            "set_retention",
            "Sets how long the contents of reads and rejected attempts are kept",
            set_retention,
        )
        .takes::<SetRetentionRequest>()
        .gives::<RetentionSetBody>()
        .tag(TAG),
        Route::change("/prune", "prune", "Prunes contents past their retention", prune)
            .takes::<PruneRequest>()
            .gives::<PrunedBody>()
            .tag(TAG),
    ]
}

/// Retention times. Give at least one; the other stays as it is.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetRetentionRequest {
    /// The timeline; can be `system`.
    #[schema(value_type = String, format = "timeline-id", example = "main")]
    timeline_id: Text<TimelineId>,
    /// How long to keep payloads of reads, in host time: whole seconds, no months. `null` keeps them forever.
    #[schema(value_type = Option<String>, format = "retention", example = "P90D")]
    #[serde(default, deserialize_with = "period")]
    reads: RetentionPeriod,
    /// How long to keep payloads of rejected attempts, in the same form.
    #[schema(value_type = Option<String>, format = "retention", example = "P365D")]
    #[serde(default, deserialize_with = "period")]
    rejections: RetentionPeriod,
}

/// The timeline to prune.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PruneRequest {
    /// The timeline; can be `system`.
    #[schema(value_type = String, format = "timeline-id", example = "main")]
    timeline_id: Text<TimelineId>,
    /// Confirms that the host's clock is right, if it is in doubt. Operators only.
    #[serde(default)]
    trust_host_clock: bool,
    /// Whether to report the next sweep without pruning anything.
    #[serde(default)]
    dry_run: bool,
}

/// How long the contents of reads and rejected attempts are kept.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RetentionBody {
    /// For reads; null keeps them forever.
    #[schema(value_type = Option<String>, example = "P90D")]
    reads: Option<String>,
    /// For rejected attempts; null keeps them forever.
    #[schema(value_type = Option<String>, example = "P365D")]
    rejections: Option<String>,
}

/// A retention policy that was set.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RetentionSetBody {
    /// A sentence that says what happened.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The policy in force. A shorter time applies to new entries only.
    retention: RetentionBody,
    /// Its place in the ledger.
    ledger: LedgerBody,
}

/// The outcome of pruning.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PrunedBody {
    /// A sentence that says what happened.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// Whether this was a dry run, which prunes nothing.
    dry_run: bool,
    /// The retention in force.
    retention: RetentionBody,
    /// The number of pruned payloads.
    pruned: u64,
    /// After a dry run: the next sweep; absent if nothing is due.
    #[serde(skip_serializing_if = "Option::is_none")]
    would_prune: Option<WouldPruneBody>,
    /// The sweep; absent if nothing was due.
    #[serde(skip_serializing_if = "Option::is_none")]
    sweep: Option<SweepBody>,
    /// Why nothing is pruned although it may be due; absent if nothing prevents it.
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked_by: Option<String>,
    /// Whether there may be more: send the request again.
    has_more: bool,
    /// The sweep's place in the ledger; absent without a sweep.
    #[serde(skip_serializing_if = "Option::is_none")]
    ledger: Option<LedgerBody>,
}

/// A sweep.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SweepBody {
    /// Its position in the ledger.
    position: u64,
    /// The pruned class: `reads` or `rejections`.
    #[schema(value_type = String, example = "reads")]
    class: &'static str,
    /// The number of payloads it lists.
    count: u64,
    /// Host time before which all of these were recorded.
    recorded_before: String,
}

/// A sweep that would be due.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WouldPruneBody {
    /// The class: `reads` or `rejections`.
    #[schema(value_type = String, example = "reads")]
    class: &'static str,
    /// The number of payloads.
    count: u64,
    /// Host time before which all of them were recorded.
    recorded_before: String,
}

impl From<SweepPreview> for WouldPruneBody {
    fn from(SweepPreview { class, count, cutoff }: SweepPreview) -> Self {
        Self { class: class.field(), count, recorded_before: cutoff.to_string() }
    }
}

async fn set_retention(
    Change { app, caller, idempotency, request, .. }: Change<SetRetentionRequest>,
) -> Result<Changed<RetentionSetBody>, Failure> {
    let SetRetentionRequest { timeline_id: Text(timeline_id), reads, rejections } = request;
    if (reads, rejections) == (RetentionPeriod::AsBefore, RetentionPeriod::AsBefore) {
        return Err(Failure::invalid(
            "reads",
            "give `reads`, `rejections` or both: a duration, or null to keep them forever",
        ));
    }
    let request = RetentionRequest { reads, refusals: rejections };
    let Answer { change: RetentionSet { retention }, ledger, replayed, .. } =
        app.engine.set_retention(&caller, timeline_id.clone(), request, idempotency).await?;
    let status = format!("On `{timeline_id}`, {}.", retention_text(retention));
    let body = RetentionSetBody {
        status,
        timeline_id: timeline_id.to_string(),
        retention: retention.into(),
        ledger: ledger.into(),
    };
    Ok(Changed::ok(body, replayed))
}

/// Prunes contents past their retention. If nothing is pruned, no response is stored, so a repeated request runs again.
async fn prune(
    Change { app, caller, idempotency, request, .. }: Change<PruneRequest>,
) -> Result<Changed<PrunedBody>, Failure> {
    let PruneRequest { timeline_id: Text(timeline_id), trust_host_clock, dry_run } = request;
    if dry_run {
        if trust_host_clock {
            return Err(Failure::invalid("trust_host_clock", "a dry run changes nothing, so leave it out"));
        }
        let pruned = app.engine.preview_pruning(&caller, timeline_id.clone()).await?;
        return Ok(Changed::ok(PrunedBody::new(&timeline_id, &pruned, true), false));
    }
    let pruned = app.engine.prune(&caller, timeline_id.clone(), trust_host_clock, idempotency).await?;
    Ok(Changed::ok(PrunedBody::new(&timeline_id, &pruned, false), pruned.replayed))
}

impl PrunedBody {
    fn new(timeline_id: &TimelineId, pruned: &Pruned, dry_run: bool) -> Self {
        let blocked_by = pruned.waits.map(waits);
        let counted = pruned.pruned.map_or(0, |pruned| pruned.count);
        let done = match (&pruned.pruned, &blocked_by) {
            (Some(PrunedContents { class, count, cutoff, .. }), _) => {
                format!("On `{timeline_id}`, {} recorded before {cutoff} were pruned.", counted_as(*class, *count))
            }
            (None, Some(blocked_by)) => format!("Nothing on `{timeline_id}` is pruned: {blocked_by}."),
            (None, None) if pruned.has_more => {
                format!("Nothing to prune on `{timeline_id}` was found so far; send the request again.")
            }
            (None, None) => {
                format!("Nothing on `{timeline_id}` is due to be pruned: {}.", retention_text(pruned.retention))
            }
        };
        let done = match pruned.foreseen.filter(|_| blocked_by.is_none()) {
            Some(SweepPreview { class, count, cutoff }) => {
                format!("On `{timeline_id}`, {} recorded before {cutoff} would be.", counted_as(class, count))
            }
            None => done,
        };
        Self {
            status: if dry_run { format!("Dry run: nothing was pruned. {done}") } else { done },
            timeline_id: timeline_id.to_string(),
            dry_run,
            would_prune: pruned.foreseen.map(WouldPruneBody::from),
            retention: pruned.retention.into(),
            pruned: counted + pruned.finished,
            sweep: pruned.pruned.map(SweepBody::from),
            blocked_by,
            has_more: pruned.has_more,
            ledger: pruned.ledger.map(LedgerBody::from),
        }
    }
}

fn counted_as(class: PruneClass, count: u64) -> String {
    let noun = match class {
        PruneClass::Reads => "read",
        PruneClass::Refusals => "rejected attempt",
    };
    format!("the contents of {}", counted(count, noun))
}

fn waits(HostClockDoubt { last, now, offset }: HostClockDoubt) -> String {
    if let Some(offset) = offset {
        return offset.to_string();
    }
    format!(
        "the host's clock says {now}, but was last known to be right at {last}; an operator can confirm it with \
         `trust_host_clock`"
    )
}

fn retention_text(retention: Retention) -> String {
    let how_long =
        |seconds: Option<u32>| seconds.map_or("forever".to_owned(), |seconds| format!("for {}", text(seconds)));
    let (reads, refusals) = (how_long(retention.reads_seconds), how_long(retention.refusals_seconds));
    format!("contents of reads are kept {reads}, and contents of rejected attempts {refusals}")
}

/// Formats seconds as an ISO 8601 duration, in days if possible.
pub(in crate::v1) fn text(seconds: u32) -> String {
    if seconds.is_multiple_of(DAY_SECONDS) { format!("P{}D", seconds / DAY_SECONDS) } else { format!("PT{seconds}S") }
}

impl From<Retention> for RetentionBody {
    fn from(retention: Retention) -> Self {
        let Retention { reads_seconds, refusals_seconds } = retention;
        Self { reads: reads_seconds.map(text), rejections: refusals_seconds.map(text) }
    }
}

impl From<PrunedContents> for SweepBody {
    fn from(PrunedContents { position, class, count, cutoff }: PrunedContents) -> Self {
        Self { position, class: class.field(), count, recorded_before: cutoff.to_string() }
    }
}

/// Reads a retention period: a duration, or null for forever.
fn period<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RetentionPeriod, D::Error> {
    let Some(Text(duration)) = Option::<Text<Duration>>::deserialize(deserializer)? else {
        return Ok(RetentionPeriod::Ever);
    };
    if duration.months() > 0 {
        return Err(D::Error::custom("months and years differ in length: give days, such as \"P90D\""));
    }
    let micros = duration.exact().micros();
    let seconds = u32::try_from(micros / SECOND_MICROS).ok().filter(|_| micros % SECOND_MICROS == 0);
    let wrong = || D::Error::custom(format!("give whole seconds, at most {}, or null to keep them forever", u32::MAX));
    seconds.map(RetentionPeriod::Seconds).ok_or_else(wrong)
}
