//! Timekeepers, firing leases and listeners, shared by the services of one database.
//!
//! The row of a timeline in `timekeepers` is the lock for all of this: every change of a lease takes it, and so does
//! every commit that reads leases, after the lock of its head. The tables are unlogged: nothing here waits for a disk,
//! and a server that restarts after a crash has lost all of it.

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

use async_trait::async_trait;
use futures_util::future::try_join_all;
use futures_util::{FutureExt as _, try_join};
use timenav_core::ids::{FiringId, LeaseId, QueueId};
use timenav_core::time::Instant;
use timenav_core::timers::retries::longest_wait_micros;
use timenav_engine::{
    ActivityQuery, AtWork, COSIGNED_BYTES_MAX, ChangeLeases, FiringRow, Held, Keeper, LEASE_LASTS_MICROS_MAX,
    LISTENING_LASTS_MICROS, LeaseChanges, LeaseQuery, LeaseRow, LeasesFound, OFFERED_BUSY_MAX, Presence,
    SERVICE_LASTS_MICROS, SharedLeases, StoreError, TimelineCommit, TimelineKey,
};
use tokio_postgres::Row;

use crate::postgres::PostgresStore;
use crate::postgres::connection::sessions::Object;
use crate::postgres::transaction::batch::{ANSWERS_WAIT, Batch, answered, rows, values};
use crate::postgres::values::{Failed, bytes, count, damaged, get, id, instant, number, sql};
use crate::tables::list::FIRINGS;
use crate::tables::{Fields, Record};

/// How long a service is remembered after its last sign of life, in microseconds.
const FORGOTTEN_AFTER_MICROS: i64 = 86_400_000_000;

/// Maximum length of a shared cosigned checkpoint, in bytes.
const COSIGNED_LENGTH_MAX: i32 = 64 * 1024;
const _: () = assert!(COSIGNED_LENGTH_MAX as usize == COSIGNED_BYTES_MAX);

/// Joins the pieces of a statement, with the server's clock in place of `now`.
macro_rules! timed {
    ($first:literal $(, now $rest:literal)*) => {
        concat!($first $(, " (extract(epoch FROM clock_timestamp()) * 1000000)::bigint ", $rest)*)
    };
}

pub(in crate::postgres) use timed;

const NOW: &str = timed!("SELECT", now "");
const LOCK: &str = "SELECT timeline FROM timekeepers WHERE timeline = ANY($1) ORDER BY timeline FOR UPDATE";
const PUT_LOCKS: &str = "INSERT INTO timekeepers (timeline, service, epoch)
    SELECT timeline, '', 0 FROM unnest($1::bigint[]) AS t (timeline) ORDER BY timeline ON CONFLICT (timeline) DO NOTHING";

const IS_THERE: &str = timed!("SELECT until >", now "FROM services WHERE service = $1");
const REPORT_SERVICE: &str = timed!(
    "INSERT INTO services (service, name, version, level, until) VALUES ($1, $2, $3, $4, ", now "+ $5)
    ON CONFLICT (service) DO UPDATE SET until = excluded.until, name = excluded.name, version = excluded.version,
        level = excluded.level"
);
const REPORT_LISTENING: &str = timed!(
    "INSERT INTO listeners (timeline, queue, service, until)
    SELECT t.timeline, t.queue, $3, ", now "+ $4 FROM unnest($1::bigint[], $2::text[]) AS t (timeline, queue)
    ON CONFLICT (timeline, queue, service) DO UPDATE SET until = excluded.until"
);
const FORGET_SERVICE: &str = "DELETE FROM services WHERE service = $1";
/// Rows that are no longer used.
const FORGET_LISTENERS: &str = timed!("DELETE FROM listeners WHERE until <", now "");
const FORGET_SERVICES: &str = timed!("DELETE FROM services WHERE until <", now "- $1");
/// A service counts as running if its expiry is in the future, but no further than a service can have set it.
const KEEP: &str = timed!(
    "INSERT INTO timekeepers AS k (timeline, service, epoch)
    SELECT t.timeline, $2, 1 FROM unnest($1::bigint[]) AS t (timeline)
    LEFT JOIN timekeepers o ON o.timeline = t.timeline
    LEFT JOIN services s ON s.service = o.service AND s.service <> $2 AND s.until > ", now "AND s.until <=", now "+ $3
    WHERE s.service IS NULL ORDER BY t.timeline
    ON CONFLICT (timeline) DO UPDATE SET service = excluded.service, epoch = k.epoch + 1
    WHERE k.service = excluded.service OR NOT EXISTS (SELECT FROM services s WHERE s.service = k.service
        AND s.until >", now "AND s.until <=", now "+ $3)
    RETURNING timeline, epoch"
);

const SELECT_ENDED: &str = timed!(
    "SELECT DISTINCT l.timeline FROM firing_leases l JOIN timekeepers k ON k.timeline = l.timeline
    WHERE k.service = $1 AND l.queue <> 'timenav:hold' AND (l.until <=", now "OR l.until >", now "+ $2)"
);
/// A finished firing has no lease.
const FORGET_DONE: &str = "DELETE FROM firing_leases l WHERE l.timeline = $1 AND l.queue <> 'timenav:hold' AND NOT EXISTS (SELECT FROM firings f
    WHERE f.timeline = $1 AND f.firing_id = l.firing_id AND f.state = 0)";
const IS_OFFERED: &str = timed!(
    "SELECT EXISTS (SELECT FROM firings f
    LEFT JOIN firing_leases l ON l.timeline = f.timeline AND l.firing_id = f.firing_id
    WHERE f.timeline = $1 AND f.queue = $2 AND f.state = 0
    AND (l.firing_id IS NULL OR (l.until IS NULL AND (l.not_before <=", now "OR l.not_before >", now "+ $3))))"
);
/// Pending firings of a queue, each with its lease. This is one statement, because a second one could see other
/// firings. The limit is raised by the number of leases.
static OFFERED: LazyLock<String> = LazyLock::new(|| {
    FIRINGS.select(
        "SELECT f.*, l.firing_id, l.queue, l.lease_id, l.holder, l.attempts, l.until, l.not_before, l.code FROM
    (SELECT * FROM firings WHERE timeline = $1 AND queue = $2 AND state = 0 ORDER BY due, position, round
    LIMIT $3 + least((SELECT count(*) FROM firing_leases WHERE timeline = $1), $4)) AS f
    LEFT JOIN firing_leases l ON l.timeline = $1 AND l.firing_id = f.firing_id AND l.queue <> 'timenav:hold'
    ORDER BY f.due, f.position, f.round",
    )
});
const LEASES_NAMED: &str = "SELECT firing_id, queue, lease_id, holder, attempts, until, not_before, code
    FROM firing_leases WHERE timeline = $1 AND firing_id = ANY($2) AND queue <> 'timenav:hold'";
const LEASES_ENDED: &str = timed!(
    "SELECT firing_id, queue, lease_id, holder, attempts, until, not_before, code FROM firing_leases
    WHERE timeline = $1 AND queue <> 'timenav:hold' AND (until <=", now "OR until >", now "+ $3) ORDER BY until LIMIT $2"
);
/// Leases that hold advances and have no firing.
const HOLDS: &str = "SELECT firing_id, queue, lease_id, holder, attempts, until, not_before, code FROM firing_leases
    WHERE timeline = $1 AND queue = 'timenav:hold'";
/// The first hold that has not expired.
const SELECT_HOLDING: &str = timed!(
    "SELECT firing_id, queue, holder FROM firing_leases WHERE timeline = $1 AND queue = 'timenav:hold'
    AND until >", now "AND until <=", now "+ $2 ORDER BY firing_id LIMIT 1"
);
const PUT_LEASES: &str = "INSERT INTO firing_leases (timeline, firing_id, queue, lease_id, holder, attempts, until,
    not_before, code) SELECT $1::bigint, * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[],
    $7::bigint[], $8::bigint[], $9::bytea[])
    ON CONFLICT (timeline, firing_id) DO UPDATE SET queue = excluded.queue, lease_id = excluded.lease_id,
    holder = excluded.holder, attempts = excluded.attempts, until = excluded.until, not_before = excluded.not_before, code = excluded.code";
/// Lease holders of firings: leases that have not expired and do not end later than any lease can.
const SELECT_LEASED: &str = timed!(
    "SELECT firing_id, lease_id, holder FROM firing_leases
    WHERE timeline = $1 AND firing_id = ANY($2) AND until >", now "AND until <=", now "+ $3"
);
const FORGET_LEASES: &str = "DELETE FROM firing_leases WHERE timeline = $1 AND firing_id = ANY($2)";
const FORGET_SETTLED: &str = "DELETE FROM firing_leases l USING firings f,
    unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) AS n (timeline, due, position, round)
    WHERE f.timeline = n.timeline AND f.due = n.due AND f.position = n.position AND f.round = n.round
    AND l.timeline = f.timeline AND l.firing_id = f.firing_id";

const SELECT_COSIGNED: &str = "SELECT substring(note FROM 1 FOR $1) FROM cosigned";
/// Replaces only the version that was read.
const KEEP_COSIGNED: &str = "INSERT INTO cosigned AS c (id, note) SELECT true, $2::bytea WHERE $1::bytea IS NULL
    OR EXISTS (SELECT FROM cosigned) ON CONFLICT (id) DO UPDATE SET note = excluded.note
    WHERE substring(c.note FROM 1 FOR $3) = $1 RETURNING id";

const SELECT_KEEPER: &str = "SELECT service, epoch FROM timekeepers WHERE timeline = $1 AND epoch > 0";
const SELECT_LISTENING: &str = timed!(
    "SELECT DISTINCT queue FROM listeners WHERE timeline = $1 AND until >", now "AND until <=", now "+ $2"
);
const SELECT_HELD: &str = timed!(
    "SELECT f.firing_id, f.queue, l.holder FROM firings f
    LEFT JOIN firing_leases l ON l.timeline = f.timeline AND l.firing_id = f.firing_id AND l.until IS NOT NULL
    WHERE f.timeline = $1 AND f.made >= $2 AND f.state = 0 AND (l.holder IS NOT NULL OR f.queue IN
        (SELECT queue FROM listeners WHERE timeline = $1 AND until >", now "AND until <=", now "+ $3))
    ORDER BY f.made LIMIT 1"
);

/// Locks the lease rows of these timelines, in order of their numbers, until the transaction ends.
pub(in crate::postgres) async fn lock(on: &Object, timelines: &BTreeSet<TimelineKey>) -> Result<(), Failed> {
    if timelines.is_empty() {
        return Ok(());
    }
    let requested: Vec<i64> = timelines.iter().map(|timeline| timeline.0).collect();
    if rows(on, LOCK, &[&requested]).await?.len() < requested.len() {
        rows(on, PUT_LOCKS, &[&requested]).await?;
        rows(on, LOCK, &[&requested]).await?;
    }
    Ok(())
}

/// Returns the results in the order of the questions. All statements are sent before the first response is awaited.
pub(in crate::postgres) async fn named(on: &Object, query: &[ActivityQuery]) -> Result<Vec<AtWork>, Failed> {
    let mut all = Vec::with_capacity(query.len());
    for one in query {
        all.push(at_work(on, one).boxed());
    }
    try_join_all(all).await
}

async fn at_work(
    on: &Object,
    ActivityQuery { timeline, open_since, firings }: &ActivityQuery,
) -> Result<AtWork, Failed> {
    let key = timeline.0;
    let mut batch = Batch::default();
    batch.add(SELECT_KEEPER, values![key]);
    batch.add(
        SELECT_LEASED,
        values![key, firings.iter().map(FiringId::as_str).collect::<Vec<_>>(), LEASE_LASTS_MICROS_MAX],
    );
    if let Some(open_since) = *open_since {
        batch.add(SELECT_LISTENING, values![key, LISTENING_LASTS_MICROS]);
        batch.add(SELECT_HELD, values![key, sql(open_since), LISTENING_LASTS_MICROS]);
        batch.add(SELECT_HOLDING, values![key, LEASE_LASTS_MICROS_MAX]);
    }
    let mut found = batch.run(on).await?.into_iter();
    let mut next = || found.next().unwrap_or_default();
    let keeper = next().first().map(keeper).transpose()?;
    let leased = next().iter().map(held).collect::<Result<_, _>>()?;
    let listening = next();
    let listening =
        listening.iter().map(|row| Ok(id(QueueId::new(get(row, 0)?))?)).collect::<Result<HashSet<_>, Failed>>()?;
    let (held, holding) = (next(), next());
    let held = holding
        .first()
        .or(held.first())
        .map(|row| Ok::<_, Failed>((id(FiringId::new(get(row, 0)?))?, id(QueueId::new(get(row, 1)?))?, get(row, 2)?)));
    Ok(AtWork { keeper, listening, held: held.transpose()?, leased })
}

fn held(row: &Row) -> Result<Held, Failed> {
    Ok(Held { firing_id: id(FiringId::new(get(row, 0)?))?, lease_id: lease_id(get(row, 1)?), holder: get(row, 2)? })
}

/// A malformed id, which no service has written, becomes a lease without a holder.
fn lease_id(text: &str) -> LeaseId {
    LeaseId::new(text).unwrap_or_else(|_| LeaseId::unknown())
}

fn keeper(row: &Row) -> Result<Keeper, Failed> {
    Ok(Keeper { service: get(row, 0)?, epoch: number(row, 1)? })
}

pub(in crate::postgres) fn forget_settled<'a>(batch: &mut Batch<'a>, steps: &'a [TimelineCommit]) {
    let settled =
        || steps.iter().flat_map(|step| step.timers.settled.iter().map(|one| (step.head.key.0, one.due_firing)));
    if settled().next().is_none() {
        return;
    }
    batch.add(
        FORGET_SETTLED,
        values![
            settled().map(|(key, _)| key).collect::<Vec<_>>(),
            settled().map(|(_, one)| one.due.micros()).collect::<Vec<_>>(),
            settled().map(|(_, one)| sql(one.position)).collect::<Vec<_>>(),
            settled().map(|(_, one)| i64::from(one.round)).collect::<Vec<_>>(),
        ],
    );
}

/// A transaction on its own connection. Dropping it before its end closes the connection, and the server rolls back.
struct Changing(Option<Object>);

impl Changing {
    /// Locks a timeline and reads what is wanted, as of the time the lock is held.
    async fn begin(
        connection: Object,
        timeline: TimelineKey,
        query: &LeaseQuery,
    ) -> Result<(Self, LeasesFound), Failed> {
        let changing = Self(Some(connection));
        let on = changing.on()?;
        let mut first = Batch::default();
        first.add(LOCK, values![vec![timeline.0]]);
        ask(&mut first, timeline, query);
        let begin = async { Ok::<_, Failed>(on.batch_execute("BEGIN").await?) };
        // Statements sent together with `BEGIN` run after it.
        let ((), found) = try_join!(begin, first.run(on))?;
        let mut found = found.into_iter();
        if found.next().is_none_or(|locked| locked.is_empty()) {
            // There is no row yet, so nothing was locked.
            lock(on, &BTreeSet::from([timeline])).await?;
            let mut again = Batch::default();
            ask(&mut again, timeline, query);
            found = again.run(on).await?.into_iter();
        }
        let found = leases_found(query, found)?;
        Ok((changing, found))
    }

    fn on(&self) -> Result<&Object, Failed> {
        self.0.as_ref().ok_or_else(|| damaged("a transaction has no connection").into())
    }

    async fn commit(mut self, batch: Batch<'_>) -> Result<(), Failed> {
        let on = self.on()?;
        // `COMMIT` must not overtake a statement that still has to be prepared.
        batch.prepare(on).await?;
        let end = answered(on, ANSWERS_WAIT, async { Ok(on.batch_execute("COMMIT").await?) });
        // If a statement fails, the server turns the commit into a rollback.
        try_join!(batch.run(on), end)?;
        drop(self.0.take());
        Ok(())
    }
}

impl Drop for Changing {
    fn drop(&mut self) {
        if let Some(connection) = self.0.take() {
            drop(Object::take(connection));
        }
    }
}

async fn change(
    connection: Object,
    timeline: TimelineKey,
    query: LeaseQuery,
    change: ChangeLeases,
) -> Result<(), Failed> {
    if let LeaseQuery::Offered(queue, _) = &query {
        let longest = longest_wait_micros(queue);
        let params: [&(dyn tokio_postgres::types::ToSql + Sync); 3] = [&timeline.0, &queue.as_str(), &longest];
        let found = rows(&connection, IS_OFFERED, &params).await?;
        if !found.first().map_or(Ok(false), |row| get(row, 0))? {
            let nothing = LeasesFound { now: Instant::MIN, firings: Vec::new(), leases: Vec::new() };
            drop(change(nothing));
            return Ok(());
        }
    }
    let (changing, found) = Changing::begin(connection, timeline, &query).await?;
    let changes = change(found);
    changing.commit(written(timeline, &changes)).await
}

/// Queries what is wanted with one statement, and the server's clock with another.
fn ask<'a>(batch: &mut Batch<'a>, timeline: TimelineKey, query: &'a LeaseQuery) {
    let key = timeline.0;
    match query {
        LeaseQuery::Offered(queue, max) => {
            batch.add(&OFFERED, values![key, queue.as_str(), sql(*max as u64), sql(OFFERED_BUSY_MAX as u64)]);
        }
        LeaseQuery::Named(firing_ids) => {
            batch.add(LEASES_NAMED, values![key, firing_ids.iter().map(FiringId::as_str).collect::<Vec<_>>()]);
        }
        LeaseQuery::Holds => batch.add(HOLDS, values![key]),
        LeaseQuery::Ended(max) => {
            batch.add(FORGET_DONE, values![key]);
            batch.add(LEASES_ENDED, values![key, sql(*max as u64), LEASE_LASTS_MICROS_MAX]);
        }
    }
    batch.add(NOW, values![]);
}

fn leases_found(
    query: &LeaseQuery,
    mut found: impl DoubleEndedIterator<Item = Vec<Row>>,
) -> Result<LeasesFound, Failed> {
    let mut last = || found.next_back().unwrap_or_default();
    let (now, rows) = (last(), last());
    let now = instant(get(now.first().ok_or_else(|| damaged("the database has no clock"))?, 0)?)?;
    if !matches!(query, LeaseQuery::Offered(..)) {
        let leases = rows.iter().map(|row| lease(row, 0)).collect::<Result<_, _>>()?;
        return Ok(LeasesFound { now, firings: Vec::new(), leases });
    }
    let (mut firings, mut leases) = (Vec::new(), Vec::new());
    let firing_columns = FIRINGS.columns.len() - 1;
    for row in &rows {
        firings.push(FiringRow::read(&mut Fields::of(row))?);
        if get::<Option<String>>(row, firing_columns)?.is_some() {
            leases.push(lease(row, firing_columns)?);
        }
    }
    Ok(LeasesFound { now, firings, leases })
}

/// A malformed lease, which no service has written, must not block its firing, so implausible values are ignored.
fn lease(row: &Row, first: usize) -> Result<LeaseRow, Failed> {
    let at = |micros: i64| Instant::from_micros(micros).unwrap_or(Instant::MIN);
    Ok(LeaseRow {
        firing_id: id(FiringId::new(get(row, first)?))?,
        queue: QueueId::new(get(row, first + 1)?).unwrap_or_else(|_| QueueId::unnamed()),
        lease_id: lease_id(get(row, first + 2)?),
        holder: get(row, first + 3)?,
        attempts: u32::try_from(get::<i64>(row, first + 4)?).unwrap_or(0),
        until: get::<Option<i64>>(row, first + 5)?.map(at),
        not_before: at(get(row, first + 6)?),
        code: bytes(get(row, first + 7)?).unwrap_or_default(),
    })
}

fn written(timeline: TimelineKey, LeaseChanges { put, removed }: &LeaseChanges) -> Batch<'_> {
    let mut batch = Batch::default();
    if !put.is_empty() {
        batch.add(
            PUT_LEASES,
            values![
                timeline.0,
                put.iter().map(|one| one.firing_id.as_str()).collect::<Vec<_>>(),
                put.iter().map(|one| one.queue.as_str()).collect::<Vec<_>>(),
                put.iter().map(|one| one.lease_id.as_str()).collect::<Vec<_>>(),
                put.iter().map(|one| one.holder.as_str()).collect::<Vec<_>>(),
                put.iter().map(|one| i64::from(one.attempts)).collect::<Vec<_>>(),
                put.iter().map(|one| one.until.map(Instant::micros)).collect::<Vec<_>>(),
                put.iter().map(|one| one.not_before.micros()).collect::<Vec<_>>(),
                put.iter().map(|one| &one.code[..]).collect::<Vec<_>>(),
            ],
        );
    }
    if !removed.is_empty() {
        batch.add(FORGET_LEASES, values![timeline.0, removed.iter().map(FiringId::as_str).collect::<Vec<_>>()]);
    }
    batch
}

#[async_trait]
impl SharedLeases for PostgresStore {
    async fn change_leases(
        &self,
        timeline: TimelineKey,
        query: LeaseQuery,
        change: ChangeLeases,
    ) -> Result<(), StoreError> {
        Ok(self::change(self.reader().await?, timeline, query, change).await?)
    }

    async fn report_presence(&self, presence: Presence) -> Result<bool, StoreError> {
        let Presence { service, name, version, level, listening } = presence;
        let on = self.reader().await?;
        let mut batch = Batch::default();
        batch.add(IS_THERE, values![service.as_str()]);
        let (name, level) = (name.as_bytes(), sql(level));
        batch.add(REPORT_SERVICE, values![service.as_str(), name, version.as_str(), level, SERVICE_LASTS_MICROS]);
        if !listening.is_empty() {
            batch.add(
                REPORT_LISTENING,
                values![
                    listening.iter().map(|(timeline, _)| timeline.0).collect::<Vec<_>>(),
                    listening.iter().map(|(_, queue)| queue.as_str()).collect::<Vec<_>>(),
                    service.as_str(),
                    LISTENING_LASTS_MICROS,
                ],
            );
        }
        let reported = batch.run(&on).await?;
        Ok(reported.first().and_then(|rows| rows.first()).map_or(Ok(false), |row| get(row, 0))?)
    }

    async fn leave(&self, service: &str) -> Result<(), StoreError> {
        Ok(rows(&self.reader().await?, FORGET_SERVICE, &[&service]).await.map(drop)?)
    }

    async fn keep_timelines(
        &self,
        service: &str,
        timelines: Vec<TimelineKey>,
    ) -> Result<Vec<(TimelineKey, u64)>, StoreError> {
        let on = self.reader().await?;
        let requested: BTreeSet<i64> = timelines.iter().map(|timeline| timeline.0).collect();
        let requested: Vec<i64> = requested.into_iter().collect();
        let stored = rows(&on, KEEP, &[&requested, &service, &SERVICE_LASTS_MICROS]).await?;
        if !stored.is_empty() {
            rows(&on, FORGET_LISTENERS, &[]).await?;
            rows(&on, FORGET_SERVICES, &[&FORGOTTEN_AFTER_MICROS]).await?;
        }
        let stored = stored.iter().map(|row| Ok((TimelineKey(get(row, 0)?), count(get(row, 1)?)?)));
        Ok(stored.collect::<Result<_, Failed>>()?)
    }

    async fn leases_ended(&self, service: &str) -> Result<Vec<TimelineKey>, StoreError> {
        let found = rows(&self.reader().await?, SELECT_ENDED, &[&service, &LEASE_LASTS_MICROS_MAX]).await?;
        Ok(found.iter().map(|row| Ok(TimelineKey(get(row, 0)?))).collect::<Result<_, Failed>>()?)
    }

    async fn at_work(&self, query: ActivityQuery) -> Result<AtWork, StoreError> {
        Ok(at_work(&self.reader().await?, &query).await?)
    }

    async fn cosigned_note(&self) -> Result<Option<Vec<u8>>, StoreError> {
        let found = rows(&self.reader().await?, SELECT_COSIGNED, &[&COSIGNED_LENGTH_MAX]).await?;
        Ok(found.first().map(|row| get(row, 0)).transpose()?)
    }

    async fn keep_cosigned_note(&self, read: Option<Vec<u8>>, note: Vec<u8>) -> Result<bool, StoreError> {
        let stored = rows(&self.reader().await?, KEEP_COSIGNED, &[&read, &note, &COSIGNED_LENGTH_MAX]).await?;
        Ok(!stored.is_empty())
    }
}
