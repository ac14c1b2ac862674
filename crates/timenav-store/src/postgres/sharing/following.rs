//! Clock followers and the services they are connected to, shared by the services of one database.
//!
//! Complements [`crate::postgres::sharing::leasing`]. The table is unlogged too, and is used only from feature level 3 on, which creates
//! it. Rows of services that are gone are ignored, and so are rows that no service can have written.

use async_trait::async_trait;
use timenav_core::followers::{Confirmed, Step};
use timenav_core::ids::{FollowerId, FollowerName, UserId};
use timenav_core::time::Instant;
use timenav_engine::{FollowerRow, Hint, SERVICE_LASTS_MICROS, SharedFollowers, StoreError, TimelineKey};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::postgres::PostgresStore;
use crate::postgres::sharing::leasing::timed;
use crate::postgres::transaction::batch::{Batch, rows, values};
use crate::postgres::values::{Failed, get, sql};

/// An older report never replaces a newer confirmation.
const SHARE_FOLLOWER: &str = "INSERT INTO followers AS f
        (follower_id, service, timeline, user_id, name, steps, since, generation, step, confirmed_at)
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::boolean[], $7::bigint[],
        $8::bigint[], $9::bigint[], $10::bigint[])
    ON CONFLICT (follower_id) DO UPDATE SET
        generation = excluded.generation, step = excluded.step, confirmed_at = excluded.confirmed_at
    WHERE f.generation IS NULL OR (excluded.generation, excluded.step) > (f.generation, f.step)";
const FORGET: &str = "DELETE FROM followers WHERE follower_id = ANY($1)";
const FORGET_OTHERS: &str = timed!(
    "DELETE FROM followers f WHERE NOT EXISTS (SELECT FROM services s WHERE s.service = f.service AND s.until >", now ")"
);
/// A service counts as running if its expiry is in the future, but no further than a service can have set it.
const SELECT: &str = timed!(
    "SELECT f.follower_id, f.service, f.timeline, f.user_id, f.name, f.steps, f.since, f.generation, f.step,
        f.confirmed_at
    FROM followers f JOIN services s ON s.service = f.service AND s.until >", now "AND s.until <=", now "+ $2
    WHERE f.timeline = ANY($1)"
);
const CONFIRM: &str = timed!(
    "UPDATE followers f SET
        generation = CASE WHEN n.is_newer THEN $4 ELSE f.generation END,
        step = CASE WHEN n.is_newer THEN $5 ELSE f.step END,
        confirmed_at = CASE WHEN n.is_newer THEN $6 ELSE f.confirmed_at END
    FROM (SELECT k.follower_id, k.service, k.generation IS NULL OR ($4, $5) > (k.generation, k.step) AS is_newer
            FROM followers k WHERE k.follower_id = $1 FOR UPDATE) n
    JOIN services s ON s.service = n.service AND s.until >", now "AND s.until <=", now "+ $7
    WHERE f.follower_id = n.follower_id AND f.timeline = $2 AND f.user_id = $3
    RETURNING f.follower_id, f.service, f.timeline, f.user_id, f.name, f.steps, f.since, f.generation, f.step,
        f.confirmed_at"
);

/// Decodes a row. Returns `None` if its contents are not plausible.
fn follower(row: &Row) -> Result<Option<FollowerRow>, Failed> {
    let at = |micros: i64| Instant::from_micros(micros);
    let confirmed = || -> Result<Option<Confirmed>, Failed> {
        let (generation, number) = (get::<Option<i64>>(row, 7)?, get::<Option<i64>>(row, 8)?);
        let confirmed_at = get::<Option<i64>>(row, 9)?.and_then(at);
        let step = |generation, number| Some(Step { generation: count(generation)?, number: count(number)? });
        let step = generation.zip(number).and_then(|(generation, number)| step(generation, number));
        Ok(step.zip(confirmed_at).map(|(step, at)| Confirmed { step, at }))
    };
    let (Ok(follower_id), Ok(user_id), Ok(name), Some(since)) =
        (FollowerId::new(get(row, 0)?), UserId::new(get(row, 3)?), FollowerName::new(get(row, 4)?), at(get(row, 6)?))
    else {
        return Ok(None);
    };
    let (service, timeline, steps) = (get(row, 1)?, TimelineKey(get(row, 2)?), get(row, 5)?);
    Ok(Some(FollowerRow { follower_id, service, timeline, user_id, name, steps, since, confirmed: confirmed()? }))
}

fn count(number: i64) -> Option<u64> {
    u64::try_from(number).ok()
}

/// Writes the followers whose streams are open, with a single statement.
fn share<'a>(batch: &mut Batch<'a>, there: &'a [FollowerRow]) {
    let confirmed = |of: fn(&Confirmed) -> i64| there.iter().map(move |one| one.confirmed.as_ref().map(of));
    batch.add(
        SHARE_FOLLOWER,
        values![
            there.iter().map(|one| one.follower_id.as_str()).collect::<Vec<_>>(),
            there.iter().map(|one| one.service.as_str()).collect::<Vec<_>>(),
            there.iter().map(|one| one.timeline.0).collect::<Vec<_>>(),
            there.iter().map(|one| one.user_id.as_str()).collect::<Vec<_>>(),
            there.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(),
            there.iter().map(|one| one.steps).collect::<Vec<_>>(),
            there.iter().map(|one| one.since.micros()).collect::<Vec<_>>(),
            confirmed(|one| sql(one.step.generation)).collect::<Vec<_>>(),
            confirmed(|one| sql(one.step.number)).collect::<Vec<_>>(),
            confirmed(|one| one.at.micros()).collect::<Vec<_>>(),
        ],
    );
}

#[async_trait]
impl SharedFollowers for PostgresStore {
    async fn share_followers(&self, there: Vec<FollowerRow>, removed: Vec<FollowerId>) -> Result<(), StoreError> {
        let on = self.reader().await?;
        let mut batch = Batch::default();
        if !there.is_empty() {
            share(&mut batch, &there);
        }
        if !removed.is_empty() {
            batch.add(FORGET, values![removed.iter().map(FollowerId::as_str).collect::<Vec<_>>()]);
        }
        batch.run(&on).await?;
        self.hints.send(Hint::of([]));
        Ok(())
    }

    async fn confirm_follower(
        &self,
        follower_id: &FollowerId,
        (timeline, user_id): (TimelineKey, &UserId),
        Confirmed { step, at }: Confirmed,
    ) -> Result<Option<FollowerRow>, StoreError> {
        let (generation, number, at) = (sql(step.generation), sql(step.number), at.micros());
        let (follower_id, user_id) = (follower_id.as_str(), user_id.as_str());
        let on = self.reader().await?;
        let params: [&(dyn ToSql + Sync); 7] =
            [&follower_id, &timeline.0, &user_id, &generation, &number, &at, &SERVICE_LASTS_MICROS];
        let confirmed = rows(&on, CONFIRM, &params).await?;
        self.hints.send(Hint::of([]));
        Ok(confirmed.first().map(follower).transpose()?.flatten())
    }

    async fn followers_of(&self, timelines: Vec<TimelineKey>) -> Result<Vec<FollowerRow>, StoreError> {
        let requested: Vec<i64> = timelines.into_iter().map(|timeline| timeline.0).collect();
        let found = rows(&self.reader().await?, SELECT, &[&requested, &SERVICE_LASTS_MICROS]).await?;
        let found = found.iter().map(follower).collect::<Result<Vec<_>, Failed>>()?;
        Ok(found.into_iter().flatten().collect())
    }

    async fn forget_followers(&self) -> Result<(), StoreError> {
        Ok(rows(&self.reader().await?, FORGET_OTHERS, &[]).await.map(drop)?)
    }
}
