use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::RangeInclusive;
use std::sync::Arc;

use futures_util::try_join;
use timenav_core::access::Permissions;
use timenav_core::clock::{Clock, ClockState};
use timenav_core::ids::{TimelineId, UserId};
use timenav_core::ledger::{Frontier, RetentionPolicies};
use timenav_core::time::Instant;
use timenav_engine::{
    Commit, DirectoryChange, EndedTimeline, Fork, Head, StoreError, TimelineCommit, TimelineKey, read_timers,
    timers_text,
};
use tokio_postgres::Row;

use super::values::{Failed, count, damaged, get, id, instant, number, rate, role, sql, text, text_or_none};
use super::{migrations, retention};
use crate::kept::origins;
use crate::postgres::connection::sessions::Object;
use crate::postgres::transaction::batch::{Batch, rows, values};

/// Sorted by number, so that two transactions that lock several heads cannot deadlock.
pub(super) const LOCK: &str =
    "SELECT timeline, size FROM timelines WHERE timeline = ANY($1) ORDER BY timeline FOR UPDATE";
const INSERT: &str = "INSERT INTO timelines (timeline, timeline_id, created_at, size, frontier, carried_note,
    recorded_at, clock_running, clock_rate, clock_host, clock_virtual, clock_location, clock_generation, events_count,
    anchors_count, clock_entry, overrides_count, fork_of, fork_size, created_by, data_count, directory, statement,
    origins, expires_at, timers)
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bytea[], $6::bytea[], $7::bigint[],
    $8::boolean[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bytea[], $13::bigint[], $14::bigint[],
    $15::bigint[], $16::bigint[], $17::bigint[], $18::bigint[], $19::bigint[], $20::text[], $21::bigint[],
    $22::bigint[], $23::bytea[], $24::bytea[], $25::bigint[], $26::bytea[])
    ON CONFLICT DO NOTHING RETURNING timeline";
const UPDATE: &str = "UPDATE timelines t SET size = n.size, frontier = n.frontier, carried_note = n.carried_note,
    recorded_at = n.recorded_at, clock_running = n.clock_running, clock_rate = n.clock_rate,
    clock_host = n.clock_host, clock_virtual = n.clock_virtual, clock_location = n.clock_location,
    clock_generation = n.clock_generation, events_count = n.events_count, anchors_count = n.anchors_count,
    clock_entry = n.clock_entry, overrides_count = n.overrides_count, data_count = n.data_count,
    directory = n.directory, statement = n.statement, timers = n.timers
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bytea[], $5::bytea[], $6::bigint[], $7::boolean[],
    $8::bigint[], $9::bigint[], $10::bigint[], $11::bytea[], $12::bigint[], $13::bigint[], $14::bigint[],
    $15::bigint[], $16::bigint[], $17::bigint[], $18::bigint[], $19::bytea[], $20::bytea[])
    AS n (timeline, expected, size, frontier, carried_note, recorded_at, clock_running, clock_rate, clock_host,
    clock_virtual, clock_location, clock_generation, events_count, anchors_count, clock_entry, overrides_count,
    data_count, directory, statement, timers)
    WHERE t.timeline = n.timeline AND t.size = n.expected RETURNING t.timeline";
macro_rules! heads_from {
    ($which:literal) => {
        concat!(
            "SELECT t.timeline, timeline_id, created_at, size, frontier, carried_note, recorded_at, clock_running,
            clock_rate, clock_host, clock_virtual, clock_location, clock_generation, t.events_count, anchors_count,
            t.clock_entry, overrides_count, fork_of, fork_size, created_by, data_count, directory, statement, origins,
            expires_at, timers FROM ",
            $which
        )
    };
}
const SELECT_ALL: &str = heads_from!("timelines t ORDER BY t.timeline");
const SELECT_NAMED: &str = heads_from!("timelines t WHERE timeline_id = $1");
/// Heads of these timelines, and of all outside the known range, whose number the planner would overestimate.
const SELECT_SOME: &str = heads_from!(
    "(SELECT unnest($1::bigint[]) AS timeline
        UNION (SELECT timeline FROM timelines WHERE timeline < $2 ORDER BY timeline)
        UNION (SELECT timeline FROM timelines WHERE timeline > $3 ORDER BY timeline)) w
    CROSS JOIN LATERAL (SELECT * FROM timelines WHERE timeline = w.timeline OFFSET 0) t ORDER BY t.timeline"
);
const SELECT_SIZES: &str = "SELECT timeline, size FROM timelines";
/// The last entries, which show whether a timeline was handed over.
const SELECT_LAST: &str = "SELECT e.timeline, leaf FROM unnest($1::bigint[], $2::bigint[]) AS w (timeline, size)
    JOIN entries e ON e.timeline = w.timeline AND e.position = w.size - 1";
/// The column for expiry exists from a certain feature level on. Without it, no permission expires.
const SELECT_PERMISSIONS: &str = "SELECT timeline, user_id, role, (to_jsonb(permissions) ->> 'expires_at')::bigint
    FROM permissions WHERE $1::bigint[] IS NULL OR timeline = ANY($1) ORDER BY timeline";

fn expected(steps: &[TimelineCommit]) -> impl Iterator<Item = (&TimelineCommit, u64)> {
    steps.iter().filter_map(|step| Some((step, step.expected_size?)))
}

fn new(steps: &[TimelineCommit]) -> impl Iterator<Item = &TimelineCommit> {
    steps.iter().filter(|step| step.expected_size.is_none())
}

/// Locks the heads that change or end, and inserts new heads.
pub(super) fn lock<'a>(batch: &mut Batch<'a>, step: &'a Commit) {
    let steps = &step.timelines;
    let changed = expected(steps).map(|(step, _)| step.head.key.0);
    batch.add(LOCK, values![changed.chain(ended(step).map(|ended| ended.key.0)).collect::<Vec<_>>()]);
    put_new(batch, step);
}

/// Inserts new heads. Returns whether there are any.
pub(super) fn put_new<'a>(batch: &mut Batch<'a>, step: &'a Commit) -> bool {
    let heads: Vec<&Head> = new(&step.timelines).map(|step| &step.head).collect();
    if !heads.is_empty() {
        insert(batch, &heads);
    }
    !heads.is_empty()
}

pub(super) fn ended(step: &Commit) -> impl Iterator<Item = &EndedTimeline> {
    step.directory.iter().filter_map(|change| match change {
        DirectoryChange::EndTimeline(ended) => Some(ended),
        DirectoryChange::PutUser(_)
        | DirectoryChange::DeleteUser(_)
        | DirectoryChange::PutKey(_)
        | DirectoryChange::RevokeKey { .. }
        | DirectoryChange::PutPassword(_)
        | DirectoryChange::PutSession(_)
        | DirectoryChange::EndSession(_) => None,
    })
}

/// Compares the sizes of the heads with the expected ones. `rows` is the result of [`lock`].
pub(super) fn check_locked(steps: &[TimelineCommit], rows: &[Vec<Row>]) -> Result<(), Failed> {
    let moved = |step: &TimelineCommit| Err(StoreError::Moved(step.head.id.clone()).into());
    let locked = rows.first().into_iter().flatten().map(|row| Ok((get::<i64>(row, 0)?, get::<i64>(row, 1)?)));
    let locked: HashMap<i64, i64> = locked.collect::<Result<_, Failed>>()?;
    for (step, size) in expected(steps) {
        if locked.get(&step.head.key.0) != Some(&sql(size)) {
            return moved(step);
        }
    }
    check_put(steps, rows.get(1))
}

/// Checks that all new heads were inserted. `rows` is the result of [`put_new`].
pub(super) fn check_put(steps: &[TimelineCommit], rows: Option<&Vec<Row>>) -> Result<(), Failed> {
    let inserted = rows.into_iter().flatten().map(|row| get::<i64>(row, 0));
    let inserted: BTreeSet<i64> = inserted.collect::<Result<_, Failed>>()?;
    let missing = new(steps).find(|step| !inserted.contains(&step.head.key.0));
    missing.map_or(Ok(()), |step| Err(StoreError::Moved(step.head.id.clone()).into()))
}

fn insert<'a>(batch: &mut Batch<'a>, heads: &[&'a Head]) {
    let all = || heads.iter().copied();
    batch.add(
        INSERT,
        values![
            all().map(|head| head.key.0).collect::<Vec<_>>(),
            all().map(|head| head.id.as_str()).collect::<Vec<_>>(),
            all().map(|head| head.created_at.micros()).collect::<Vec<_>>(),
            all().map(|head| sql(head.frontier.size())).collect::<Vec<_>>(),
            all().map(|head| head.frontier.to_bytes()).collect::<Vec<_>>(),
            all().map(|head| head.carried_note.as_bytes()).collect::<Vec<_>>(),
            all().map(|head| head.recorded_at.micros()).collect::<Vec<_>>(),
            all().map(|head| head.clock.is_running()).collect::<Vec<_>>(),
            all().map(|head| sql(head.clock.rate().micros())).collect::<Vec<_>>(),
            all().map(|head| head.clock.origin().0.micros()).collect::<Vec<_>>(),
            all().map(|head| head.clock.origin().1.micros()).collect::<Vec<_>>(),
            all().map(|head| head.clock.location.as_deref().map(str::as_bytes)).collect::<Vec<_>>(),
            all().map(|head| sql(head.clock.generation)).collect::<Vec<_>>(),
            all().map(|head| sql(head.events_count)).collect::<Vec<_>>(),
            all().map(|head| sql(head.anchors_count)).collect::<Vec<_>>(),
            all().map(|head| sql(head.clock_entry)).collect::<Vec<_>>(),
            all().map(|head| sql(head.overrides_count)).collect::<Vec<_>>(),
            all().map(|head| head.fork.map(|fork| fork.of.0)).collect::<Vec<_>>(),
            all().map(|head| head.fork.map(|fork| sql(fork.size))).collect::<Vec<_>>(),
            all().map(|head| head.created_by.as_str()).collect::<Vec<_>>(),
            all().map(|head| sql(head.data_count)).collect::<Vec<_>>(),
            all().map(|head| sql(head.directory)).collect::<Vec<_>>(),
            all().map(|head| &*head.statement).collect::<Vec<_>>(),
            all().map(|head| origins::text(&head.origins).into_bytes()).collect::<Vec<_>>(),
            all().map(|head| head.expires_at.map(Instant::micros)).collect::<Vec<_>>(),
            all().map(|head| timers_text(&head.timers).into_bytes()).collect::<Vec<_>>(),
        ],
    );
}

/// Updates the changed heads. Must be the first statement of a batch.
pub(super) fn update<'a>(batch: &mut Batch<'a>, steps: &'a [TimelineCommit]) {
    let all = || expected(steps).map(|(step, _)| &step.head);
    batch.add(
        UPDATE,
        values![
            all().map(|head| head.key.0).collect::<Vec<_>>(),
            expected(steps).map(|(_, size)| sql(size)).collect::<Vec<_>>(),
            all().map(|head| sql(head.frontier.size())).collect::<Vec<_>>(),
            all().map(|head| head.frontier.to_bytes()).collect::<Vec<_>>(),
            all().map(|head| head.carried_note.as_bytes()).collect::<Vec<_>>(),
            all().map(|head| head.recorded_at.micros()).collect::<Vec<_>>(),
            all().map(|head| head.clock.is_running()).collect::<Vec<_>>(),
            all().map(|head| sql(head.clock.rate().micros())).collect::<Vec<_>>(),
            all().map(|head| head.clock.origin().0.micros()).collect::<Vec<_>>(),
            all().map(|head| head.clock.origin().1.micros()).collect::<Vec<_>>(),
            all().map(|head| head.clock.location.as_deref().map(str::as_bytes)).collect::<Vec<_>>(),
            all().map(|head| sql(head.clock.generation)).collect::<Vec<_>>(),
            all().map(|head| sql(head.events_count)).collect::<Vec<_>>(),
            all().map(|head| sql(head.anchors_count)).collect::<Vec<_>>(),
            all().map(|head| sql(head.clock_entry)).collect::<Vec<_>>(),
            all().map(|head| sql(head.overrides_count)).collect::<Vec<_>>(),
            all().map(|head| sql(head.data_count)).collect::<Vec<_>>(),
            all().map(|head| sql(head.directory)).collect::<Vec<_>>(),
            all().map(|head| &*head.statement).collect::<Vec<_>>(),
            all().map(|head| timers_text(&head.timers).into_bytes()).collect::<Vec<_>>(),
        ],
    );
}

pub(super) fn check_updated(steps: &[TimelineCommit], rows: Option<&Vec<Row>>) -> Result<(), Failed> {
    let updated = rows.into_iter().flatten().map(|row| get::<i64>(row, 0));
    let updated: BTreeSet<i64> = updated.collect::<Result<_, Failed>>()?;
    let missing = expected(steps).find(|(step, _)| !updated.contains(&step.head.key.0));
    missing.map_or(Ok(()), |(step, _)| Err(StoreError::Moved(step.head.id.clone()).into()))
}

#[derive(Clone, Copy)]
pub(super) enum Which<'a> {
    All,
    Named(&'a TimelineId),
    /// Those with these numbers, and all outside a range.
    Some(&'a [TimelineKey], &'a RangeInclusive<TimelineKey>),
}

/// Returns heads by number, whether or not their entries are visible.
pub(super) async fn select(on: &Object, which: Which<'_>) -> Result<Vec<Head>, Failed> {
    read(on, which, false).await
}

/// Like [`select`], for heads that the caller continues from. Fails with [`Failed::Unfinished`] if entries are
/// distributed over servers and a last entry is not visible yet. On a single server, only tampering hides a last entry.
pub(super) async fn select_finished(on: &Object, which: Which<'_>) -> Result<Vec<Head>, Failed> {
    read(on, which, true).await
}

async fn read(on: &Object, which: Which<'_>, is_to_be_finished: bool) -> Result<Vec<Head>, Failed> {
    let found = match which {
        Which::All => rows(on, SELECT_ALL, &[]).await?,
        Which::Named(named) => rows(on, SELECT_NAMED, &[&named.as_str()]).await?,
        Which::Some(keys, known) => {
            let keys: Vec<i64> = keys.iter().map(|key| key.0).collect();
            rows(on, SELECT_SOME, &[&keys, &known.start().0, &known.end().0]).await?
        }
    };
    let only = match which {
        Which::All => None,
        Which::Named(_) | Which::Some(..) => {
            Some(found.iter().map(|row| get(row, 0)).collect::<Result<Vec<i64>, Failed>>()?)
        }
    };
    let (mut permissions, mut policies, last) =
        try_join!(permissions(on, only.as_deref()), retention::policies(on, only.as_deref()), last_leaves(on, &found))?;
    if is_to_be_finished && !is_each_seen(&found, &last)? && migrations::is_spread(on).await? {
        return Err(Failed::Unfinished);
    }
    let handed_over = handed_over(on, &found, last).await?;
    let mut heads = Vec::with_capacity(found.len());
    for row in &found {
        let key = TimelineKey(get(row, 0)?);
        let lists = (permissions.remove(&key).unwrap_or_default(), policies.remove(&key).unwrap_or_default());
        heads.push(head(row, key, handed_over.contains(&key), lists)?);
    }
    Ok(heads)
}

fn is_each_seen(heads: &[Row], last: &HashMap<TimelineKey, Vec<u8>>) -> Result<bool, Failed> {
    for row in heads {
        if number(row, 3)? > 0 && !last.contains_key(&TimelineKey(get(row, 0)?)) {
            return Ok(false);
        }
    }
    Ok(true)
}

async fn last_leaves(on: &Object, heads: &[Row]) -> Result<HashMap<TimelineKey, Vec<u8>>, Failed> {
    let sized = heads.iter().map(|row| Ok((TimelineKey(get(row, 0)?), number(row, 3)?)));
    leaves_before(on, &sized.collect::<Result<Vec<_>, Failed>>()?).await
}

/// Returns the last leaf of each ledger at the given size.
async fn leaves_before(on: &Object, ledgers: &[(TimelineKey, u64)]) -> Result<HashMap<TimelineKey, Vec<u8>>, Failed> {
    let keys: Vec<i64> = ledgers.iter().map(|(key, _)| key.0).collect();
    let sizes: Vec<i64> = ledgers.iter().map(|(_, size)| sql(*size)).collect();
    let leaves = rows(on, SELECT_LAST, &[&keys, &sizes]).await?;
    leaves.iter().map(|row| Ok((TimelineKey(get(row, 0)?), get(row, 1)?))).collect()
}

/// Returns which timelines were handed over. This has no row of its own, which could be tampered with. It follows from
/// the last entry of each ledger, not counting entries that the service itself wrote after the handover. After a key
/// rotation every ledger has one, so a single statement reads the entries before, of all of them.
async fn handed_over(
    on: &Object,
    heads: &[Row],
    mut leaves: HashMap<TimelineKey, Vec<u8>>,
) -> Result<HashSet<TimelineKey>, Failed> {
    let sized = heads.iter().map(|row| Ok((TimelineKey(get(row, 0)?), number(row, 3)?)));
    let mut open = sized.collect::<Result<Vec<_>, Failed>>()?;
    let mut handed_over = HashSet::new();
    loop {
        let asked = std::mem::take(&mut open).into_iter().filter(|(_, size)| *size > 0);
        for (key, size) in asked {
            match origins::says_handed_over(leaves.get(&key).map_or(&[], Vec::as_slice)) {
                Some(true) => _ = handed_over.insert(key),
                Some(false) => {}
                None => open.push((key, size - 1)),
            }
        }
        if open.is_empty() {
            return Ok(handed_over);
        }
        leaves = leaves_before(on, &open).await?;
    }
}

fn head(
    row: &Row,
    key: TimelineKey,
    is_handed_over: bool,
    (permissions, retention): (Arc<Permissions>, Arc<RetentionPolicies>),
) -> Result<Head, Failed> {
    let (host, at) = (instant(get(row, 9)?)?, instant(get(row, 10)?)?);
    let (rate, size) = (rate(get(row, 8)?)?, number(row, 3)?);
    let state = if get(row, 7)? {
        ClockState::Running { origin_host: host, origin_virtual: at, rate }
    } else {
        ClockState::Paused { since: host, at, rate }
    };
    let frontier: Vec<u8> = get(row, 4)?;
    let frontier = Frontier::from_bytes(size, &frontier).map_err(|error| damaged(&error.to_string()))?;
    Ok(Head {
        key,
        id: id(TimelineId::new(get(row, 1)?))?,
        created_at: instant(get(row, 2)?)?,
        clock: Clock { state, location: text_or_none(row, 11)?, generation: number(row, 12)? },
        permissions,
        frontier,
        carried_note: text(row, 5)?.into(),
        recorded_at: instant(get(row, 6)?)?,
        events_count: number(row, 13)?,
        anchors_count: number(row, 14)?,
        clock_entry: number(row, 15)?,
        overrides_count: number(row, 16)?,
        fork: fork(row, 17)?,
        created_by: id(UserId::new(get(row, 19)?))?,
        data_count: number(row, 20)?,
        directory: number(row, 21)?,
        statement: get::<Vec<u8>>(row, 22)?.into(),
        origins: origins::read(&text(row, 23)?)?,
        is_handed_over,
        expires_at: get::<Option<i64>>(row, 24)?.map(instant).transpose()?,
        retention,
        timers: read_timers(&text(row, 25)?).ok_or_else(|| damaged("the timer data cannot be read"))?,
    })
}

/// Reads a fork from two columns.
pub(super) fn fork(row: &Row, at: usize) -> Result<Option<Fork>, Failed> {
    let of = get::<Option<i64>>(row, at)?.zip(get::<Option<i64>>(row, at + 1)?);
    Ok(of.map(|(of, size)| Ok::<_, StoreError>(Fork { of: TimelineKey(of), size: count(size)? })).transpose()?)
}

async fn permissions(on: &Object, only: Option<&[i64]>) -> Result<HashMap<TimelineKey, Arc<Permissions>>, Failed> {
    let found = rows(on, SELECT_PERMISSIONS, &[&only]).await?;
    let mut all = HashMap::new();
    // Timelines created one after the other often belong to the same user, so equal lists share memory.
    let mut before = Arc::<Permissions>::default();
    for of_one in found.chunk_by(|one, next| one.get::<_, i64>(0) == next.get::<_, i64>(0)) {
        let mut lists = Permissions::default();
        for row in of_one {
            let end = get::<Option<i64>>(row, 3)?.map(instant).transpose()?;
            lists.put(role(get(row, 2)?)?, id(UserId::new(get(row, 1)?))?, end);
        }
        if *before != lists {
            before = Arc::new(lists);
        }
        all.insert(TimelineKey(get(&of_one[0], 0)?), Arc::clone(&before));
    }
    Ok(all)
}

pub(super) async fn sizes(on: &Object) -> Result<Vec<(TimelineKey, u64)>, Failed> {
    let found = rows(on, SELECT_SIZES, &[]).await?;
    found.iter().map(|row| Ok((TimelineKey(get(row, 0)?), number(row, 1)?))).collect()
}
