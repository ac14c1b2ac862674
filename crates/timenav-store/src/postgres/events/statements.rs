//! The statements that read events.

/// The statements that read a block, by level of detail and by what selects the rows, ascending or descending. `until`
/// hides versions that were not in effect at that time.
macro_rules! statements {
    ($name:ident, $from:literal, $of:literal) => {
pub(in crate::postgres) const $name: [[&str; 2]; 3] = [
            statements!(both of spots, $from, $of),
            statements!(both of whole, $from, $of),
            statements!(both of whole, $from, $of),
        ];
    };
    (both of $detail:ident, $from:literal, $of:literal) => {
        [
            statements!(
                $detail,
                $from,
                $of,
                "(e.time, e.position) > ($2, $3) AND e.time <= $4",
                "ORDER BY time, position"
            ),
            statements!(
                $detail,
                $from,
                $of,
                "(e.time, e.position) < ($2, $3) AND e.time >= $4",
                "ORDER BY time DESC, position DESC"
            ),
        ]
    };
    (spots, $from:literal, $of:literal, $range:literal, $order:literal) => {
        statements!(all "e.time, e.position, e.lat, e.lon", $from, $of, $range, $order)
    };
    (whole, $from:literal, $of:literal, $range:literal, $order:literal) => {
        statements!(all "e.time, e.position, e.lat, e.lon, e.event_id, e.content", $from, $of, $range, $order)
    };
    (all $columns:literal, $from:literal, $of:literal, $range:literal, $order:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM ",
            $from,
            " (SELECT ",
            $columns,
            " FROM events e WHERE e.timeline = $1 AND ",
            $range,
            " AND e.position < $5 AND (e.until IS NULL OR e.until >= $5)",
            $of,
            " ",
            $order,
            " LIMIT $6) e ",
            $order,
            " LIMIT $6"
        )
    };
}
// Each takes a seventh parameter, so that all of them can be called in the same way.
statements!(BY_TIME, "", " AND $7::bigint IS NULL");
statements!(BY_CELL, "unnest($7::bigint[]) AS c (cell) CROSS JOIN LATERAL", " AND e.cell = c.cell");
statements!(BY_PLACE, "", " AND e.place = $7::bytea");
statements!(BY_ID, "", " AND e.event_id = $7::text");
// Two more parameters: the earliest time for each length class, and an optional named place.
statements!(
    BY_LENGTH,
    "unnest($7::bigint[], $8::bigint[]) AS c (length_class, earliest) CROSS JOIN LATERAL",
    " AND e.length_class = c.length_class AND e.time >= c.earliest AND ($9::bytea IS NULL OR e.place = $9::bytea)"
);

// Four more parameters: the candidates of a search, and an optional named place and event.
statements!(
    BY_CANDIDATE,
    "unnest($7::bigint[], $8::bigint[]) AS c (time, position) CROSS JOIN LATERAL",
    " AND e.time = c.time AND e.position = c.position AND ($9::bytea IS NULL OR e.place = $9::bytea)
        AND ($10::text IS NULL OR e.event_id = $10::text)"
);
