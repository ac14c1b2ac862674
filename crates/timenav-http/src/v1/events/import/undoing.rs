use crate::schema::ToSchema;
use serde::{Deserialize, Serialize};
use timenav_core::ids::TimelineId;
use timenav_core::limits::RETURN_EVENTS_MAX;
use timenav_core::text::counted;
use timenav_engine::{ImportId, UndoneImport};

use crate::request::call::Change;
use crate::response::answer::{Changed, LedgerBody};
use crate::response::problem::Failure;
use crate::route::Route;
use crate::v1::parameters::timeline;
use crate::wire::Text;

pub(super) fn route() -> Route {
    Route::change("/undo-import", "undo_import", "Cancels the events of an import and frees their ids", undo_import)
        .takes::<UndoImportRequest>()
        .gives::<ImportUndoneBody>()
        .tag("events")
}

/// An import to undo.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UndoImportRequest {
    /// The `import_id` of the import, or the `next_import_id` of the previous request.
    #[schema(value_type = String, format = "import-id", example = "17-420-403")]
    import_id: Text<ImportId>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "changeable-timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// The outcome of undoing an import.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ImportUndoneBody {
    /// A sentence that says what happened.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The number of events canceled by this request.
    undone_count: u64,
    /// The number of events that stay because they changed after the import.
    skipped_changed: u64,
    /// The remainder of an import of more than 10,000 events: send it as `import_id`. Absent if nothing remains.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_import_id: Option<String>,
    /// The place of the last cancellation in the ledger.
    ledger: LedgerBody,
}

async fn undo_import(
    Change { app, caller, idempotency, request, .. }: Change<UndoImportRequest>,
) -> Result<Changed<ImportUndoneBody>, Failure> {
    let UndoImportRequest { import_id: Text(import_id), timeline_id } = request;
    let undone = app.engine.undo_import(&caller, timeline(timeline_id), import_id, idempotency).await?;
    let replayed = undone.replayed;
    Ok(Changed::ok(ImportUndoneBody::of(undone), replayed))
}

impl ImportUndoneBody {
    fn of(undone: UndoneImport) -> Self {
        let UndoneImport { timeline_id, undone, skipped_changed, rest, ledger, .. } = undone;
        let changed = if skipped_changed == 0 {
            String::new()
        } else {
            format!(" {skipped_changed} changed since and were kept.")
        };
        let left = match &rest {
            None => String::new(),
            Some(_) => {
                format!(
                    " There are more than {RETURN_EVENTS_MAX}: to continue, send the value of `next_import_id` as `import_id`."
                )
            }
        };
        let status = format!("{} undone.{changed}{left}", counted(undone, "event"));
        let rest = rest.map(|rest| rest.to_string());
        Self {
            status,
            timeline_id: timeline_id.to_string(),
            undone_count: undone,
            skipped_changed,
            next_import_id: rest,
            ledger: ledger.into(),
        }
    }
}
