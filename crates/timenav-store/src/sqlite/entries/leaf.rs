use std::borrow::Cow;
use std::cell::OnceCell;

use rusqlite::Connection;
use timenav_core::ids::TimelineId;
use timenav_engine::{StoreError, TimelineKey};

use crate::persistence::leaf;
use crate::sqlite::values::{failed, id};

pub(in crate::sqlite) struct Leaves<'c> {
    connection: &'c Connection,
    timeline: TimelineKey,
    timeline_id: OnceCell<String>,
}

impl<'c> Leaves<'c> {
    pub(in crate::sqlite) const fn new(connection: &'c Connection, timeline: TimelineKey) -> Self {
        Self { connection, timeline, timeline_id: OnceCell::new() }
    }

    /// A malformed stored leaf is returned unchanged, so that verification reports it.
    pub(in crate::sqlite) fn whole<'a>(&self, seq: u64, stored: &'a [u8]) -> Result<Cow<'a, [u8]>, StoreError> {
        if !leaf::is_short(stored) {
            return Ok(stored.into());
        }
        Ok(leaf::whole(stored, self.timeline_id()?, seq))
    }

    fn timeline_id(&self) -> Result<&str, StoreError> {
        if let Some(timeline_id) = self.timeline_id.get() {
            return Ok(timeline_id);
        }
        let select = "SELECT timeline_id FROM timelines WHERE timeline = ?1
            UNION ALL SELECT timeline_id FROM ended_timelines WHERE timeline = ?1
            UNION ALL SELECT timeline_id FROM arrivals WHERE timeline = ?1";
        let mut select = self.connection.prepare_cached(select).map_err(failed)?;
        let found: String = select.query_row([self.timeline.0], |row| row.get(0)).map_err(failed)?;
        // Entries of a layer contain the name that the timeline had when they were written.
        let found = id(TimelineId::parse_stored(&found))?.entry_name().to_string();
        Ok(self.timeline_id.get_or_init(|| found))
    }
}
