use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::Ordering;

use timenav_core::access::Role;
use timenav_core::ids::TimelineId;
use timenav_engine::{
    Anchor, Commit, DataRecord, EventEnd, EventRow, InterventionRow, StoreError, StoredEntry, TimelineCommit,
    TimelineKey,
};
use tokio_postgres::Row;

use super::connection::Connections;
use super::transaction::{Proof, Writing, wait_for_earlier};
use super::values::{Failed, get, number, sql};
use crate::postgres::entries::contents;
use crate::postgres::entries::tiles::{Growth, Tiles};
use crate::postgres::events::features::Features;
use crate::postgres::events::words;
use crate::postgres::sharing::leasing;
use crate::postgres::timers;
use crate::postgres::transaction::batch::{Batch, values};
use crate::postgres::{data, events, heads, identity, outcomes, retention};

pub(crate) mod locking;

/// How often a commit is tried if it loses against another transaction.
const TRIED_MAX: usize = 5;

const SELECT_RELIED: &str = "SELECT timeline_id, size FROM timelines WHERE timeline_id = ANY($1)";
const SELECT_VERSION: &str = "SELECT directory FROM timelines WHERE timeline_id = 'system'";
/// Changes nothing. Citus prepares (two-phase commit) only the servers on which it saw the transaction write, and it
/// misses rows copied by `INSERT … SELECT` to a server that was read from before. An unprepared server may lose its
/// part after the head was committed (seen with 13.0.3).
const MARK_AS_WRITTEN: &str = "DELETE FROM entries WHERE timeline = ANY($1) AND position < 0";
const DELETE_PERMISSIONS: &str = "DELETE FROM permissions WHERE timeline = ANY($1)";
const INSERT_PERMISSIONS: &str = "INSERT INTO permissions (timeline, user_id, role)
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[])";
/// Used if some permissions expire. The database then has the feature level that adds the column.
const INSERT_EXPIRING: &str = "INSERT INTO permissions (timeline, user_id, role, expires_at)
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[])";

pub(super) async fn commit(connections: &Connections, step: &Commit) -> Result<(), StoreError> {
    for _ in 1..TRIED_MAX {
        match try_commit(connections, step).await {
            Err(failed) if failed.may_be_repeated() => _ = connections.retries.fetch_add(1, Ordering::Relaxed),
            ended => return Ok(ended?),
        }
    }
    Ok(try_commit(connections, step).await?)
}

async fn try_commit(connections: &Connections, step: &Commit) -> Result<(), Failed> {
    // The heads are locked by a separate statement, so that later statements see everything committed before.
    let mut first = Batch::default();
    heads::lock(&mut first, step);
    // Includes ending timelines, which no longer exist at the second check.
    first.add(SELECT_RELIED, values![step.relied.iter().map(|(timeline, _)| timeline.as_str()).collect::<Vec<_>>()]);
    let (writing, mut rows) = Writing::begin(connections, first).await?;
    let written = async {
        let relied = rows.pop().unwrap_or_default();
        heads::check_locked(&step.timelines, &rows)?;
        check_relied(&step.relied, &relied)?;
        write(&writing, step).await
    };
    match written.await {
        Ok(()) => end(connections, writing, step).await,
        Err(failed) => {
            writing.give_up().await;
            Err(failed)
        }
    }
}

/// Commits what was written. A change of the directory is in force when this returns: requests that were admitted by a
/// revoked permission have ended by then.
pub(super) async fn end(connections: &Connections, writing: Writing, step: &Commit) -> Result<(), Failed> {
    let name = writing.name().to_owned();
    step.on_written.call();
    writing.commit(connections, Proof::of(step)).await?;
    if step.directory.is_empty() || connections.is_alone() {
        return Ok(());
    }
    wait_for_earlier(connections, &name).await
}

pub(super) async fn write(writing: &Writing, step: &Commit) -> Result<(), Failed> {
    let on = writing.on()?;
    let mut rows = Rows::default();
    for timeline in &step.timelines {
        rows.add_step(timeline);
    }
    let erases = step.timelines.iter().any(|timeline| !timeline.erasures.is_empty());
    let features = if rows.events.is_empty() && !erases { Features::Base } else { writing.features().await? };
    let mut batch = Batch::default();
    heads::update(&mut batch, &step.timelines);
    put_permissions(&mut batch, &step.timelines);
    for change in &step.directory {
        identity::change(&mut batch, change);
    }
    rows.put(&mut batch, features, writing.is_spread().await?);
    let timers: Vec<_> = step.timelines.iter().map(|step| (step.head.key, &step.timers)).collect();
    timers::put(&mut batch, &timers);
    leasing::forget_settled(&mut batch, &step.timelines);
    for timeline in &step.timelines {
        retention::insert_policies(&mut batch, timeline.head.key, &timeline.policies);
        retention::insert_sweeps(&mut batch, timeline.head.key, &timeline.sweeps);
    }
    data::erase(&mut batch, &step.timelines);
    if features.has_words() {
        words::erase(&mut batch, &step.timelines);
    }
    let outcomes = outcomes::put(&mut batch, step);
    let grown = step.timelines.iter().map(|timeline| {
        let (size, key) = (timeline.head.frontier.size(), timeline.head.key);
        Growth::ask(&mut batch, key, (size - timeline.entries.len() as u64, size))
    });
    let grown: Vec<_> = grown.collect();
    // The last check before the commit.
    let ended = |timeline: &TimelineId| heads::ended(step).any(|ended| ended.id == *timeline);
    let relied: Vec<_> = step.relied.iter().filter(|(timeline, _)| !ended(timeline)).cloned().collect();
    batch.add(SELECT_RELIED, values![relied.iter().map(|(timeline, _)| timeline.to_string()).collect::<Vec<_>>()]);
    // A commit that changes `system` has locked it and compared its size.
    let version = step.decided_against.filter(|_| !step.timelines.iter().any(|one| one.head.id.is_system()));
    if version.is_some() {
        batch.add(SELECT_VERSION, values![]);
    }
    let mut found = batch.run(on).await?;
    if let Some(version) = version {
        check_version(version, found.pop().as_ref().and_then(|rows| rows.first()))?;
    }
    outcomes::check_put(outcomes.and_then(|(at, count)| Some((found.get(at)?, count))))?;
    let found_relied = found.pop().unwrap_or_default();
    heads::check_updated(&step.timelines, found.first())?;
    check_relied(&relied, &found_relied)?;
    let mut tiles = Tiles::default();
    for (growth, timeline) in grown.iter().zip(&step.timelines) {
        if let Some(growth) = growth {
            growth.fill(&mut tiles, &found, &timeline.entries)?;
        }
    }
    tiles.write(on).await
}

/// Compares the directory version with the one that the commit was decided against.
fn check_version(version: u64, row: Option<&Row>) -> Result<(), Failed> {
    let found = row.map(|row| number(row, 0)).transpose()?;
    if found == Some(version) { Ok(()) } else { Err(StoreError::Moved(TimelineId::system()).into()) }
}

/// Compares the sizes of timelines that the commit depends on.
fn check_relied(relied: &[(TimelineId, Option<u64>)], rows: &[Row]) -> Result<(), Failed> {
    let found = rows.iter().map(|row| Ok((get::<String>(row, 0)?, get::<i64>(row, 1)?)));
    let found: HashMap<String, i64> = found.collect::<Result<_, Failed>>()?;
    for (timeline, size) in relied {
        if found.get(timeline.as_str()).copied() != size.map(sql) {
            return Err(StoreError::Moved(timeline.clone()).into());
        }
    }
    Ok(())
}

fn put_permissions<'a>(batch: &mut Batch<'a>, steps: &'a [TimelineCommit]) {
    let changed = || steps.iter().filter(|step| step.permissions_changed);
    if changed().next().is_none() {
        return;
    }
    let (mut timelines, mut users, mut roles, mut ends) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for TimelineCommit { head, .. } in changed() {
        let lists = &head.permissions;
        for role in Role::ALL {
            for user in lists.list(role) {
                timelines.push(head.key.0);
                users.push(user.as_str());
                roles.push(role.as_str());
                ends.push(lists.ends.of(role).get(user).map(|end| end.micros()));
            }
        }
    }
    batch.add(DELETE_PERMISSIONS, values![changed().map(|step| step.head.key.0).collect::<Vec<_>>()]);
    if ends.iter().any(Option::is_some) {
        batch.add(INSERT_EXPIRING, values![timelines, users, roles, ends]);
    } else {
        batch.add(INSERT_PERMISSIONS, values![timelines, users, roles]);
    }
}

#[derive(Default)]
struct Rows<'a> {
    entries: Vec<(TimelineKey, &'a StoredEntry)>,
    ends: Vec<(TimelineKey, &'a EventEnd)>,
    events: Vec<(TimelineKey, &'a EventRow)>,
    interventions: Vec<(TimelineKey, &'a InterventionRow)>,
    anchors: Vec<(TimelineKey, &'a Anchor)>,
    data: Vec<(TimelineKey, &'a DataRecord)>,
}

fn of<T>(key: TimelineKey, rows: &[T]) -> impl Iterator<Item = (TimelineKey, &T)> {
    rows.iter().map(move |row| (key, row))
}

impl<'a> Rows<'a> {
    fn add_step(&mut self, step: &'a TimelineCommit) {
        let key = step.head.key;
        self.entries.extend(of(key, &step.entries));
        self.ends.extend(of(key, &step.ends));
        self.events.extend(of(key, &step.events));
        self.interventions.extend(of(key, &step.interventions));
        self.anchors.extend(of(key, &step.anchors));
        self.data.extend(of(key, &step.data));
    }

    fn put(&self, batch: &mut Batch<'a>, features: Features, is_spread: bool) {
        if is_spread && !self.entries.is_empty() {
            let timelines: BTreeSet<i64> = self.entries.iter().map(|(key, _)| key.0).collect();
            batch.add(MARK_AS_WRITTEN, values![timelines.into_iter().collect::<Vec<_>>()]);
        }
        contents::insert(batch, &self.entries);
        events::insert(batch, &self.events, features);
        events::end(batch, &self.ends);
        batch.insert_all(self.interventions.iter().copied());
        batch.insert_all(self.anchors.iter().copied());
        batch.insert_all(self.data.iter().copied());
    }
}
