use timenav_core::clock::Moment;
use timenav_core::ids::AnchorId;
use timenav_engine::{Anchor, TimelineKey};
use tokio_postgres::Row;

use super::values::{Failed, get, id, instant, number, rate, sql, text, text_or_none};
use crate::postgres::connection::sessions::Object;
use crate::postgres::transaction::batch::{Batch, rows, values};

const INSERT: &str = "INSERT INTO anchors (timeline, position, anchor_id, set_at, timestamp, description, fixed,
    clock_at, clock_running, clock_rate, clock_location) SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[],
    $4::bigint[], $5::bigint[], $6::bytea[], $7::boolean[], $8::bigint[], $9::boolean[], $10::bigint[], $11::bytea[])";
const SELECT_PAGE: &str = "SELECT position, anchor_id, set_at, timestamp, description, fixed, clock_at, clock_running,
    clock_rate, clock_location FROM anchors WHERE timeline = $1 AND position > $2 ORDER BY position LIMIT $3";
const SELECT_NAMED: &str = "SELECT position, a.anchor_id, set_at, timestamp, description, fixed, clock_at,
    clock_running, clock_rate, clock_location, w.number
    FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS w (timeline, anchor_id, number)
    JOIN anchors a ON a.timeline = w.timeline AND a.anchor_id = w.anchor_id";

pub(super) fn insert<'a>(batch: &mut Batch<'a>, anchors: &[(TimelineKey, &'a Anchor)]) {
    if anchors.is_empty() {
        return;
    }
    let rows = || anchors.iter().copied();
    batch.add(
        INSERT,
        values![
            rows().map(|(key, _)| key.0).collect::<Vec<_>>(),
            rows().map(|(_, anchor)| sql(anchor.position)).collect::<Vec<_>>(),
            rows().map(|(_, anchor)| anchor.anchor_id.as_str()).collect::<Vec<_>>(),
            rows().map(|(_, anchor)| anchor.set_at.micros()).collect::<Vec<_>>(),
            rows().map(|(_, anchor)| anchor.timestamp.micros()).collect::<Vec<_>>(),
            rows().map(|(_, anchor)| anchor.description.as_bytes()).collect::<Vec<_>>(),
            rows().map(|(_, anchor)| anchor.fixed).collect::<Vec<_>>(),
            rows().map(|(_, anchor)| anchor.moment.at.micros()).collect::<Vec<_>>(),
            rows().map(|(_, anchor)| anchor.moment.running).collect::<Vec<_>>(),
            rows().map(|(_, anchor)| sql(anchor.moment.rate.micros())).collect::<Vec<_>>(),
            rows().map(|(_, anchor)| anchor.moment.location.as_deref().map(str::as_bytes)).collect::<Vec<_>>(),
        ],
    );
}

pub(super) async fn named(on: &Object, wanted: &[(TimelineKey, AnchorId)]) -> Result<Vec<Option<Anchor>>, Failed> {
    let mut all: Vec<Option<Anchor>> = wanted.iter().map(|_| None).collect();
    if wanted.is_empty() {
        return Ok(all);
    }
    let timelines: Vec<i64> = wanted.iter().map(|(timeline, _)| timeline.0).collect();
    let ids: Vec<&str> = wanted.iter().map(|(_, anchor_id)| anchor_id.as_str()).collect();
    for row in rows(on, SELECT_NAMED, &[&timelines, &ids]).await? {
        let at: i64 = get(&row, 10)?;
        if let Some(place) = usize::try_from(at - 1).ok().and_then(|at| all.get_mut(at)) {
            *place = Some(anchor(&row)?);
        }
    }
    Ok(all)
}

/// Returns anchors in the order in which they were set, starting after `after`.
pub(super) async fn page(
    on: &Object,
    timeline: TimelineKey,
    after: Option<u64>,
    items_max: usize,
) -> Result<Vec<Anchor>, Failed> {
    let values = (after.map_or(-1, sql), sql(items_max as u64));
    let found = rows(on, SELECT_PAGE, &[&timeline.0, &values.0, &values.1]).await?;
    found.iter().map(anchor).collect()
}

fn anchor(row: &Row) -> Result<Anchor, Failed> {
    let moment = Moment {
        at: instant(get(row, 6)?)?,
        running: get(row, 7)?,
        rate: rate(get(row, 8)?)?,
        location: text_or_none(row, 9)?,
    };
    Ok(Anchor {
        anchor_id: id(AnchorId::new(get(row, 1)?))?,
        position: number(row, 0)?,
        set_at: instant(get(row, 2)?)?,
        timestamp: instant(get(row, 3)?)?,
        description: text(row, 4)?,
        fixed: get(row, 5)?,
        moment,
    })
}
