use timenav_core::ids::TimelineId;
use timenav_engine::TimelineKey;
use tokio_postgres::Row;

use crate::persistence::leaf;
use crate::postgres::connection::sessions::Object;
use crate::postgres::transaction::batch::rows;
use crate::postgres::values::{Failed, get, id};

/// The name of a timeline, which its stored leaves omit.
pub(in crate::postgres) const SELECT_NAME: &str = "SELECT timeline_id FROM timelines WHERE timeline = $1
    UNION ALL SELECT timeline_id FROM ended_timelines WHERE timeline = $1
    UNION ALL SELECT timeline_id FROM arrivals WHERE timeline = $1";
pub(in crate::postgres) const SELECT_NAMES: &str =
    "SELECT timeline_id, timeline FROM timelines WHERE timeline = ANY($1)
    UNION ALL SELECT timeline_id, timeline FROM ended_timelines WHERE timeline = ANY($1)
    UNION ALL SELECT timeline_id, timeline FROM arrivals WHERE timeline = ANY($1)";

/// Rebuilds leaves in place. The timeline's name is read only if one of them needs it.
pub(in crate::postgres) async fn make_whole(
    on: &Object,
    timeline: TimelineKey,
    mut leaves: Vec<(u64, &mut Vec<u8>)>,
) -> Result<(), Failed> {
    leaves.retain(|(_, stored)| leaf::is_short(stored));
    if leaves.is_empty() {
        return Ok(());
    }
    let found = rows(on, SELECT_NAME, &[&timeline.0]).await?;
    make_whole_by(found.first(), leaves)
}

/// Rebuilds leaves in place, given the row that [`SELECT_NAME`] or [`SELECT_NAMES`] returned.
pub(in crate::postgres) fn make_whole_by<'l>(
    name: Option<&Row>,
    leaves: impl IntoIterator<Item = (u64, &'l mut Vec<u8>)>,
) -> Result<(), Failed> {
    // Without a timeline, leaves cannot be rebuilt and stay as they are.
    let Some(row) = name else { return Ok(()) };
    // Entries of a layer contain the name that the timeline had when they were written.
    let entry_name = id(TimelineId::parse_stored(get(row, 0)?))?.entry_name().to_string();
    for (position, stored) in leaves {
        if leaf::is_short(stored) {
            *stored = leaf::whole(stored, &entry_name, position).into_owned();
        }
    }
    Ok(())
}
