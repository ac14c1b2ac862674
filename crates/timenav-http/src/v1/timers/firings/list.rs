use crate::schema::ToSchema;
use axum::Json;
use serde::{Deserialize, Serialize};
use timenav_core::ids::{AdvanceId, QueueId, TimelineId, TimerId};
use timenav_core::text::counted;
use timenav_core::timers::FiringState;
use timenav_engine::{FiringFilter, FiringPage};

use super::FiringBody;
use crate::request::call::Read;
use crate::response::problem::Failure;
use crate::v1::parameters::timeline;
use crate::wire::{self, Text, items_max};

/// Filters of firings; all must match.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FiringsRequest {
    /// Only firings of this timer.
    #[schema(value_type = Option<String>, format = "id", example = "renew-42")]
    timer_id: Option<Text<TimerId>>,
    /// Only firings of this advance.
    #[schema(value_type = Option<String>, format = "id")]
    advance_id: Option<Text<AdvanceId>>,
    /// Only firings in this state: `pending`, `acknowledged`, `failed` or `superseded`.
    state: Option<FiringStateFilter>,
    /// Only firings of this queue; `timenav:webhook` for those that the service sends.
    #[schema(value_type = Option<String>, format = "id", example = "billing")]
    queue: Option<Text<QueueId>>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
    /// The maximum number per page.
    #[schema(minimum = 1, maximum = 1_000)]
    #[serde(default, deserialize_with = "wire::page_items")]
    limit: Option<usize>,
    /// The `next_cursor` of the previous page.
    #[schema(format = "cursor")]
    cursor: Option<String>,
}

/// The state of a firing.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FiringStateFilter {
    /// Nothing yet.
    Pending,
    /// It is done.
    Acknowledged,
    /// It was tried as often as it may be.
    Failed,
    /// Its moment came again.
    Superseded,
}

/// One page of firings.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FiringsBody {
    /// A sentence that sums up the result.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The firings, by due time.
    firings: Vec<FiringBody>,
    /// The cursor of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// Whether there may be another page. A page searches up to 10,000 firings, so it may be short or empty.
    has_more: bool,
}

pub(super) async fn list(Read { app, caller, request }: Read<FiringsRequest>) -> Result<Json<FiringsBody>, Failure> {
    let filter = FiringFilter {
        timer_id: request.timer_id.map(|text| text.0),
        advance_id: request.advance_id.map(|text| text.0),
        state: request.state.map(FiringStateFilter::state),
        queue: request.queue.map(|text| text.0),
    };
    let page = (items_max(request.limit), request.cursor.as_deref());
    let page = app.engine.firings(&caller, timeline(request.timeline_id), filter, page).await?;
    Ok(Json(page.into()))
}

impl FiringStateFilter {
    const fn state(self) -> FiringState {
        match self {
            Self::Pending => FiringState::Pending,
            Self::Acknowledged => FiringState::Acknowledged,
            Self::Failed => FiringState::Failed,
            Self::Superseded => FiringState::Superseded,
        }
    }
}

impl From<FiringPage> for FiringsBody {
    fn from(page: FiringPage) -> Self {
        Self {
            status: format!("{}.", counted(page.firings.len(), "firing")),
            timeline_id: page.timeline_id.to_string(),
            firings: page.firings.iter().map(FiringBody::of).collect(),
            has_more: page.next_cursor.is_some(),
            next_cursor: page.next_cursor,
        }
    }
}
