use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::RangeInclusive;
use std::sync::Arc;

use futures_util::try_join;
use timenav_core::access::Permissions;
use timenav_core::ids::{TimelineId, UserId};
use timenav_engine::{Commit, DirectoryChange, EndedTimeline, Head, StoreError, TimelineCommit, TimelineKey};
use tokio_postgres::Row;

use super::values::{Failed, get, id, instant, number, role, sql};
use super::{migrations, retention};
use crate::persistence::origins;
use crate::postgres::connection::sessions::Object;
use crate::postgres::transaction::batch::{Batch, arrays, records, rows, values};
use crate::tables::heads::{POSTGRES_INSERT, POSTGRES_UPDATE};

/// Sorted by number, so that two transactions that lock several heads cannot deadlock.
pub(super) const LOCK: &str =
    "SELECT timeline, size FROM timelines WHERE timeline = ANY($1) ORDER BY timeline FOR UPDATE";
const SELECT_ALL: &str = "SELECT t.* FROM timelines t ORDER BY t.timeline";
const SELECT_NAMED: &str = "SELECT * FROM timelines WHERE timeline_id = $1";
/// Heads of these timelines, and of all outside the known range, whose number the planner would overestimate.
const SELECT_SOME: &str = "SELECT t.* FROM (SELECT unnest($1::bigint[]) AS timeline
        UNION (SELECT timeline FROM timelines WHERE timeline < $2 ORDER BY timeline)
        UNION (SELECT timeline FROM timelines WHERE timeline > $3 ORDER BY timeline)) w
    CROSS JOIN LATERAL (SELECT * FROM timelines WHERE timeline = w.timeline OFFSET 0) t ORDER BY t.timeline";
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
    batch.add(&POSTGRES_INSERT, arrays(heads.iter().map(|head| (None, *head))));
}

/// Updates the changed heads. Must be the first statement of a batch.
pub(super) fn update<'a>(batch: &mut Batch<'a>, steps: &'a [TimelineCommit]) {
    let mut values = arrays(expected(steps).map(|(step, _)| (None, &step.head)));
    values.push(Box::new(expected(steps).map(|(_, size)| sql(size)).collect::<Vec<_>>()));
    batch.add(&POSTGRES_UPDATE, values);
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
    let mut heads: Vec<Head> = match which {
        Which::All => records(on, SELECT_ALL, &[]).await?,
        Which::Named(named) => records(on, SELECT_NAMED, &[&named.as_str()]).await?,
        Which::Some(keys, known) => {
            let keys: Vec<i64> = keys.iter().map(|key| key.0).collect();
            records(on, SELECT_SOME, &[&keys, &known.start().0, &known.end().0]).await?
        }
    };
    let only: Option<Vec<i64>> = match which {
        Which::All => None,
        Which::Named(_) | Which::Some(..) => Some(heads.iter().map(|head| head.key.0).collect()),
    };
    let sized: Vec<_> = heads.iter().map(|head| (head.key, head.frontier.size())).collect();
    let (mut permissions, mut policies, last) = try_join!(
        permissions(on, only.as_deref()),
        retention::policies(on, only.as_deref()),
        leaves_before(on, &sized)
    )?;
    let is_each_seen = sized.iter().all(|(key, size)| *size == 0 || last.contains_key(key));
    if is_to_be_finished && !is_each_seen && migrations::is_spread(on).await? {
        return Err(Failed::Unfinished);
    }
    let handed_over = handed_over(on, sized, last).await?;
    for head in &mut heads {
        head.permissions = permissions.remove(&head.key).unwrap_or_default();
        head.retention = policies.remove(&head.key).unwrap_or_default();
        head.is_handed_over = handed_over.contains(&head.key);
    }
    Ok(heads)
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
    mut open: Vec<(TimelineKey, u64)>,
    mut leaves: HashMap<TimelineKey, Vec<u8>>,
) -> Result<HashSet<TimelineKey>, Failed> {
    let mut handed_over = HashSet::new();
    loop {
        let requested = std::mem::take(&mut open).into_iter().filter(|(_, size)| *size > 0);
        for (key, size) in requested {
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
