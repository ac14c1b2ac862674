use timenav_engine::{RotationNote, TimelineKey};

use crate::postgres::connection::sessions::Object;
use crate::postgres::transaction::batch::{Batch, rows, values};
use crate::postgres::values::{Failed, get, sql, text};

const INSERT_NOTES: &str = "INSERT INTO rotation_notes (timeline, position, note)
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bytea[]) ON CONFLICT DO NOTHING";
const SELECT_NOTES: &str = "SELECT note, w.number
    FROM unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS w (timeline, at, number)
    JOIN rotation_notes n ON n.timeline = w.timeline AND n.position = w.at";

pub(in crate::postgres) async fn rotation_notes(
    on: &Object,
    places: &[(TimelineKey, u64)],
) -> Result<Vec<Option<String>>, Failed> {
    let mut all = vec![None; places.len()];
    if places.is_empty() {
        return Ok(all);
    }
    let timelines: Vec<i64> = places.iter().map(|(timeline, _)| timeline.0).collect();
    let positions: Vec<i64> = places.iter().map(|(_, position)| sql(*position)).collect();
    for row in rows(on, SELECT_NOTES, &[&timelines, &positions]).await? {
        let at: i64 = get(&row, 1)?;
        if let Some(place) = usize::try_from(at - 1).ok().and_then(|at| all.get_mut(at)) {
            *place = Some(text(&row, 0)?);
        }
    }
    Ok(all)
}

/// Stores checkpoints of key rotations. Existing ones are not overwritten.
pub(in crate::postgres) fn keep_rotations<'a>(batch: &mut Batch<'a>, notes: &'a [RotationNote]) {
    batch.add(
        INSERT_NOTES,
        values![
            notes.iter().map(|note| note.timeline.0).collect::<Vec<_>>(),
            notes.iter().map(|note| sql(note.position)).collect::<Vec<_>>(),
            notes.iter().map(|note| note.note.as_bytes()).collect::<Vec<_>>(),
        ],
    );
}
