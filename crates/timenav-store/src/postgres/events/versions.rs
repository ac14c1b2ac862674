use std::collections::{BTreeSet, HashMap};

use futures_util::try_join;
use timenav_core::ids::EventId;
use timenav_engine::{EventVersion, KnownEvent, Layer, TimelineKey};

use crate::persistence::names::{LIKENESS_MIN, NAMES_NEAR_MAX, likeness, name_in};
use crate::postgres::connection::sessions::Object;
use crate::postgres::transaction::batch::rows;
use crate::postgres::values::{Failed, count, get, id, number, sql, text, text_or_none};

const SELECT_VERSIONS: &str = "SELECT w.layer, e.event_id, e.position, e.until, e.content
    FROM unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS w (timeline, as_of, layer)
    CROSS JOIN unnest($3::text[]) AS i (event_id)
    CROSS JOIN LATERAL (SELECT event_id, position, until, content FROM events
        WHERE timeline = w.timeline AND event_id = i.event_id AND position < w.as_of OFFSET 0) e
    ORDER BY w.layer, e.position";
const SELECT_INTERVENTIONS: &str = "SELECT w.layer, e.event_id, e.position
    FROM unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS w (timeline, as_of, layer)
    CROSS JOIN unnest($3::text[]) AS i (event_id)
    CROSS JOIN LATERAL (SELECT event_id, position FROM interventions
        WHERE timeline = w.timeline AND event_id = i.event_id AND position < w.as_of OFFSET 0) e
    ORDER BY w.layer, e.position";
const SELECT_UNCHANGED: &str = "SELECT event_id FROM events WHERE timeline = $1 AND event_id > $2
    GROUP BY event_id HAVING max(greatest(position, coalesce(until, 0))) < $3 ORDER BY event_id LIMIT $4";
const SELECT_NAMED: &str = "SELECT time, event_id FROM events
    WHERE timeline = $1 AND name_key = $2 AND position < $3 AND (until IS NULL OR until >= $3)
    ORDER BY time, position LIMIT $4";
const SELECT_ONCE_NAMED: &str = "SELECT time, event_id FROM events
    WHERE timeline = $1 AND name_key = $2 AND position < $3 AND until < $3
    ORDER BY time, position LIMIT $4";
const SELECT_NAMES: &str = "SELECT event_id, name_key FROM events
    WHERE timeline = $1 AND name_key IS NOT NULL AND position < $2 AND (until IS NULL OR until >= $2)
    ORDER BY name_key, time, position LIMIT $3";
const SELECT_IDS: &str = "SELECT event_id, name_key FROM events WHERE timeline = $1 AND event_id >= $4
    AND event_id < $5 AND position < $2 AND (until IS NULL OR until >= $2) LIMIT $3";

/// Returns the ids of the events with a name, earliest first: those in effect, or else ended ones that had it last.
pub(in crate::postgres) async fn named(
    on: &Object,
    layers: &[Layer],
    key: &str,
    items_max: usize,
) -> Result<Vec<EventId>, Failed> {
    let mut found = select_named(on, SELECT_NAMED, layers, key, items_max).await?;
    // A later layer may change or cancel an event of an earlier one.
    let known_current = known(on, layers, &ids(&found)).await?;
    let is_current_here = |(_, layer, event_id): &(i64, usize, EventId)| {
        known_current.get(event_id).and_then(KnownEvent::current).is_some_and(|version| version.layer == *layer)
    };
    found.retain(is_current_here);
    found.sort_by_key(|(time, layer, _)| (*time, *layer));
    found.truncate(items_max);
    if !found.is_empty() {
        return Ok(ids(&found));
    }
    let mut once = select_named(on, SELECT_ONCE_NAMED, layers, key, items_max).await?;
    once.sort_by(|one, next| (one.0, &one.2).cmp(&(next.0, &next.2)));
    let known_once = known(on, layers, &ids(&once)).await?;
    let mut canceled: Vec<EventId> = Vec::new();
    for (_, _, event_id) in once {
        if known_once.get(&event_id).is_some_and(|known| known.current().is_none()) && !canceled.contains(&event_id) {
            canceled.push(event_id);
        }
    }
    canceled.truncate(items_max);
    Ok(canceled)
}

fn ids(found: &[(i64, usize, EventId)]) -> Vec<EventId> {
    found.iter().map(|(_, _, event_id)| event_id.clone()).collect()
}

/// Returns time, layer and id of the events that a statement finds by name.
async fn select_named(
    on: &Object,
    statement: &'static str,
    layers: &[Layer],
    key: &str,
    items_max: usize,
) -> Result<Vec<(i64, usize, EventId)>, Failed> {
    let mut found = Vec::new();
    for (number, layer) in layers.iter().enumerate() {
        let (as_of, items_max) = (sql(layer.as_of), sql(items_max as u64));
        for row in rows(on, statement, &[&layer.timeline.0, &key.as_bytes(), &as_of, &items_max]).await? {
            found.push((get(&row, 0)?, number, id(EventId::new(get(&row, 1)?))?));
        }
    }
    Ok(found)
}

pub(in crate::postgres) async fn known(
    on: &Object,
    layers: &[Layer],
    event_ids: &[EventId],
) -> Result<HashMap<EventId, KnownEvent>, Failed> {
    let ids: BTreeSet<&str> = event_ids.iter().map(EventId::as_str).collect();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let ids: Vec<&str> = ids.into_iter().collect();
    let timelines: Vec<i64> = layers.iter().map(|layer| layer.timeline.0).collect();
    let as_of: Vec<i64> = layers.iter().map(|layer| sql(layer.as_of)).collect();
    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 3] = [&timelines, &as_of, &ids];
    let (versions, interventions) =
        try_join!(rows(on, SELECT_VERSIONS, &values), rows(on, SELECT_INTERVENTIONS, &values))?;
    let mut all: HashMap<EventId, KnownEvent> = HashMap::new();
    for row in &versions {
        let layer = layer_number(get(row, 0)?);
        let until = get::<Option<i64>>(row, 3)?.map(count).transpose()?;
        let version = EventVersion {
            layer,
            position: number(row, 2)?,
            // To a reader at an earlier time, a version that ended later is still in effect.
            until: until.filter(|until| layers.get(layer).is_some_and(|layer| *until < layer.as_of)),
            content: text(row, 4)?.into(),
        };
        all.entry(id(EventId::new(get(row, 1)?))?).or_default().versions.push(version);
    }
    for row in &interventions {
        let layer = layer_number(get(row, 0)?);
        // An event without versions has no interventions.
        let known = all.get_mut(&id(EventId::new(get(row, 1)?))?);
        let known = known.filter(|known| known.versions.first().is_some_and(|version| version.layer <= layer));
        if let Some(known) = known {
            known.interventions.push((layer, number(row, 2)?));
        }
    }
    Ok(all)
}

/// Converts a 1-based layer number to an index.
fn layer_number(ordinality: i64) -> usize {
    usize::try_from(ordinality - 1).unwrap_or(usize::MAX)
}

/// Returns the ids of the events that have not changed at or after a position, in order.
pub(in crate::postgres) async fn unchanged_since(
    on: &Object,
    (timeline, position): (TimelineKey, u64),
    after: Option<&EventId>,
    items_max: usize,
) -> Result<Vec<EventId>, Failed> {
    let values = (after.map_or("", EventId::as_str), sql(position), sql(items_max as u64));
    let found = rows(on, SELECT_UNCHANGED, &[&timeline.0, &values.0, &values.1, &values.2]).await?;
    found.iter().map(|row| Ok(id(EventId::new(get(row, 0)?))?)).collect()
}

/// Returns events in effect whose names contain the key or nearly match it, or whose ids have the same first letter and
/// nearly match it.
pub(in crate::postgres) async fn names_near(
    on: &Object,
    layers: &[Layer],
    key: &str,
    searched_max: usize,
) -> Result<Vec<(EventId, Option<String>)>, Failed> {
    let mut found: Vec<(f64, EventId)> = Vec::new();
    // Neither ids nor `text` values can contain a NUL.
    let first: String = key.chars().take(1).filter(|first| *first != '\0').collect();
    for layer in layers {
        let (timeline, as_of, rows_max) = (layer.timeline.0, sql(layer.as_of), sql(searched_max as u64));
        let mut candidates = rows(on, SELECT_NAMES, &[&timeline, &as_of, &rows_max]).await?;
        for first in [first.clone(), first.to_uppercase()] {
            let past = format!("{first}\u{10ffff}");
            candidates.extend(rows(on, SELECT_IDS, &[&timeline, &as_of, &rows_max, &first, &past]).await?);
        }
        for row in &candidates {
            let (event_id, name): (&str, Option<String>) = (get(row, 0)?, text_or_none(row, 1)?);
            let of_name = name.as_deref().map_or(0.0, |name| likeness(name, key));
            let likeness = of_name.max(likeness(&event_id.to_lowercase(), key));
            if likeness >= LIKENESS_MIN {
                found.push((likeness, id(EventId::new(event_id))?));
            }
        }
    }
    found.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    found.dedup_by(|one, other| one.1 == other.1);
    found.truncate(NAMES_NEAR_MAX);
    let ids: Vec<EventId> = found.into_iter().map(|(_, event_id)| event_id).collect();
    let known = known(on, layers, &ids).await?;
    let name = |event_id: &EventId| name_in(&known.get(event_id)?.current()?.content);
    Ok(ids.iter().map(|event_id| (event_id.clone(), name(event_id))).collect())
}
