//! The floor of writes on PostgreSQL: pgbench, which inserts the same rows as the service into the same tables.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, bail};

use crate::cluster::{Cluster, SERVED};
use crate::measure::setting::Setting;

/// Rows that are repeated, each by a separate script. pgbench supports up to 128.
const SAMPLED: usize = 100;
const EMPTIED: &str = "emptied";
const RAW: &str = "raw";

#[derive(Clone, Copy, Debug)]
pub(crate) enum Positions {
    /// A sequence shared by all timelines: no transaction waits for another one.
    OfASequence,
    /// The head of the timeline, whose size is updated in the same commit: one order per timeline.
    OfHeads,
}

/// Inserts of an entry and its event, one of each per commit.
pub(crate) struct Inserts<'a> {
    cluster: &'a Cluster<'a>,
    scripts: Vec<PathBuf>,
}

impl Positions {
    /// Returns the beginning of the statement, which chooses the next timeline and a position in it.
    fn first(self, timelines: u64) -> String {
        match self {
            Self::OfASequence => {
                format!("n AS (SELECT at %% {timelines} AS timeline, at FROM nextval(''raw_position'') at)")
            }
            // Heads have the numbers -1, -2 and so on.
            Self::OfHeads => format!(
                "n AS (UPDATE timelines SET size = size + 1 FROM nextval(''raw_position'') next
                WHERE timeline = -1 - next %% {timelines} RETURNING timeline, size AS at)"
            ),
        }
    }

    fn prepared(self) -> &'static [&'static str] {
        match self {
            Self::OfASequence => &[],
            Self::OfHeads => &[
                "UPDATE timelines SET timeline = -1 - split_part(timeline_id, '-', 2)::bigint
                WHERE timeline_id LIKE 'spread-%'",
                "VACUUM ANALYZE timelines",
            ],
        }
    }
}

impl<'a> Inserts<'a> {
    /// Creates the template from the database of the service, with empty tables. Samples the rows to repeat.
    pub(crate) fn sample(
        setting: &Setting,
        cluster: &'a Cluster<'a>,
        timelines: u64,
        positions: Positions,
    ) -> anyhow::Result<Self> {
        cluster.renew(EMPTIED, SERVED)?;
        let insert = "WITH FIRST, e AS (INSERT INTO entries (timeline, position, leaf, salt, payload, payload_bytes,
            events_count, clock_entry) SELECT timeline, at, %L::bytea, %L::bytea, %L::bytea, %L::bigint, %L::bigint,
            %L::bigint FROM n) INSERT INTO events (timeline, position, event_id, time, until, lat, lon, cell, place,
            name_key, content) SELECT timeline, at, lpad(at::text, %s, ''0''), %L::bigint, %L::bigint, %L::float8,
            %L::float8, %L::bigint, %L::bytea, %L::bytea, %L::bytea FROM n;";
        let insert = insert.replace("FIRST", &positions.first(timelines)).replace('\n', " ");
        let select = format!(
            "SELECT format('{insert}', e.leaf, e.salt, e.payload, e.payload_bytes, e.events_count, e.clock_entry,
            length(v.event_id), v.time, v.until, v.lat, v.lon, v.cell, v.place, v.name_key, v.content)
            FROM entries e JOIN events v USING (timeline, position) ORDER BY position DESC, timeline LIMIT {SAMPLED}"
        );
        let rows = cluster.query(EMPTIED, &[&select])?;
        cluster.query(EMPTIED, &["TRUNCATE entries, events, tiles", "CREATE SEQUENCE raw_position"])?;
        cluster.query(EMPTIED, positions.prepared())?;
        let folder = setting.empty_folder("on-postgresql-scripts")?;
        let scripts: Vec<PathBuf> = rows
            .lines()
            .enumerate()
            .map(|(number, row)| {
                let script = folder.join(format!("{number}.sql"));
                fs::write(&script, format!("{row}\n"))
                    .with_context(|| format!("{} cannot be written", script.display()))?;
                Ok(script)
            })
            .collect::<anyhow::Result<_>>()?;
        if scripts.len() != SAMPLED {
            bail!("the service wrote {} events to compare with, not {SAMPLED}", scripts.len());
        }
        Ok(Self { cluster, scripts })
    }

    /// Returns commits per second of this many clients.
    pub(crate) fn rate(&self, clients: usize) -> anyhow::Result<f64> {
        self.cluster.renew(RAW, EMPTIED)?;
        self.cluster.pgbench(RAW, &self.scripts, clients)
    }
}
