use timenav_engine::Head;

use crate::persistence::ahead::first_tiles;
use crate::postgres::connection::sessions::Object;
use crate::postgres::transaction::batch::rows;
use crate::postgres::values::{Failed, get, sql};

/// Selects the names of the tables that have rows at or after a position.
macro_rules! by_position {
    ($first:literal $(, $table:literal)*) => {
        concat!(
            "SELECT '", $first, "' WHERE EXISTS (SELECT FROM ", $first, " WHERE timeline = $1 AND position >= $2)",
            $(" UNION ALL SELECT '", $table, "' WHERE EXISTS (SELECT FROM ", $table,
            " WHERE timeline = $1 AND position >= $2)",)*
        )
    };
}

const TABLES: &str = by_position!("anchors", "data_records", "advances", "rotation_notes", "policies", "sweeps");
const TILES: &str = "SELECT 1 FROM unnest($2::integer[], $3::bigint[]) AS w (level, first)
    CROSS JOIN LATERAL (SELECT FROM tiles WHERE timeline = $1 AND level = w.level AND tile >= w.first OFFSET 0) t LIMIT 1";

/// Returns the tables that have such rows. Those of events and interventions are counted elsewhere.
pub(in crate::postgres) async fn tables(on: &Object, head: &Head) -> Result<Vec<&'static str>, Failed> {
    let size = head.frontier.size();
    let mut found = Vec::new();
    for row in rows(on, TABLES, &[&head.key.0, &sql(size)]).await? {
        let name: String = get(&row, 0)?;
        found.extend(crate::persistence::ahead::BY_POSITION.into_iter().filter(|table| *table == name));
    }
    let (levels, firsts): (Vec<i32>, Vec<i64>) =
        first_tiles(size).filter_map(|(level, first)| Some((i32::try_from(level).ok()?, sql(first)))).unzip();
    if !rows(on, TILES, &[&head.key.0, &levels, &firsts]).await?.is_empty() {
        found.push("tiles");
    }
    Ok(found)
}
