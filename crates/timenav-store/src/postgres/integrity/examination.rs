//! Examines a database and its server without changing anything.

use timenav_core::time::{Instant, Wall, parse_timestamp};
use timenav_engine::StoreError;

use crate::persistence::examination::{Examination, ExaminedKey};
use crate::persistence::values::instant;
use crate::postgres::connection::sessions::Object;
use crate::postgres::migrations::schema;
use crate::postgres::transaction::batch::rows;
use crate::postgres::values::{Failed, get};

/// Newest entries of each timeline that are searched for a scan.
const ENTRIES_READ_MAX: i64 = 10_000;

const SELECT_NEWEST: &str = "SELECT max(recorded_at) FROM timelines";
const SELECT_DEMO: &str = "SELECT count(*) > 0 FROM timelines WHERE timeline_id = 'demo'";
const SELECT_OPERATORS: &str = "SELECT user_id FROM users WHERE operator ORDER BY user_id";
const SELECT_KEYS: &str = "SELECT key_id, k.user_id, coalesce(operator, false), expires_at FROM api_keys k
    LEFT JOIN users u ON u.user_id = k.user_id WHERE revoked_at IS NULL ORDER BY key_id";
/// Leaves are stored as text, except for read entries, whose short form does not contain this action.
const SELECT_SCANS: &str = "SELECT substring(convert_from(leaf, 'UTF8') FROM '\"recorded_at\":\"([^\"]*)\"')
    FROM timelines t CROSS JOIN LATERAL
        (SELECT leaf FROM entries WHERE timeline = t.timeline AND position >= t.size - $1 OFFSET 0) e
    WHERE position('\"action\":\"detect_tampering\"'::bytea IN leaf) > 0";
const SELECT_SERVER: &str = "SELECT current_setting('server_version'), pg_is_in_recovery(),
    current_setting('fsync')::boolean AND current_setting('full_page_writes')::boolean,
    current_setting('data_checksums')::boolean, current_setting('synchronous_standby_names'),
    (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
    current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint,
    (SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::bigint FROM pg_stat_activity
        WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()),
    coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false),
    inet_server_addr() IS NULL,
    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
    current_setting('autovacuum')::boolean AND current_setting('track_counts')::boolean,
    (SELECT coalesce(reloptions @> ARRAY['autovacuum_vacuum_scale_factor=0'], false) FROM pg_class
        WHERE oid = 'timelines'::regclass)";

/// Facts about a server that matter for durability and security.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each flag is independent")]
pub struct ServerFacts {
    pub version: String,
    /// Whether the server is a standby that accepts no writes.
    pub is_standby: bool,
    /// Whether acknowledged writes survive a crash of the machine.
    pub is_durable: bool,
    /// Whether page checksums are enabled.
    pub has_checksums: bool,
    /// Standbys that commits wait for; empty if there are none.
    pub synchronous_standbys: String,
    /// Number of open sessions, of all clients.
    pub sessions: i64,
    pub sessions_max: i64,
    /// Age of the oldest open transaction of any client, in seconds.
    pub oldest_transaction_seconds: i64,
    pub is_encrypted: bool,
    pub is_local: bool,
    /// Current time of the server's clock.
    pub clock: Instant<Wall>,
    pub is_vacuumed: bool,
    /// Whether frequently updated tables are vacuumed after a fixed number of changes, regardless of their size.
    pub is_hot_vacuumed: bool,
}

pub(in crate::postgres) async fn examine(on: &Object) -> Result<Examination, Failed> {
    let newest: Option<i64> = one(on, SELECT_NEWEST).await?.flatten();
    let operators = rows(on, SELECT_OPERATORS, &[]).await?;
    let scans = rows(on, SELECT_SCANS, &[&ENTRIES_READ_MAX]).await?;
    let scans: Vec<Option<String>> = scans.iter().map(|row| get(row, 0)).collect::<Result<_, _>>()?;
    Ok(Examination {
        differences: schema::differences(on).await?,
        newest: newest.map(instant).transpose()?,
        // Unreadable times are left to a scan.
        last_scan: scans.into_iter().flatten().filter_map(|text| parse_timestamp(&text).ok()).max(),
        has_demo: one(on, SELECT_DEMO).await?.unwrap_or(false),
        operators: operators.iter().map(|row| get(row, 0)).collect::<Result<_, _>>()?,
        keys: keys(on).await?,
    })
}

async fn one<T: for<'a> tokio_postgres::types::FromSql<'a>>(
    on: &Object,
    statement: &'static str,
) -> Result<Option<T>, Failed> {
    rows(on, statement, &[]).await?.first().map(|row| get(row, 0)).transpose()
}

async fn keys(on: &Object) -> Result<Vec<ExaminedKey>, Failed> {
    let mut keys = Vec::new();
    for row in rows(on, SELECT_KEYS, &[]).await? {
        let expires_at: Option<i64> = get(&row, 3)?;
        keys.push(ExaminedKey {
            key_id: get(&row, 0)?,
            user_id: get(&row, 1)?,
            is_operators: get(&row, 2)?,
            expires_at: expires_at.map(instant).transpose()?,
        });
    }
    Ok(keys)
}

pub(in crate::postgres) async fn look_at_server(on: &Object) -> Result<ServerFacts, Failed> {
    let rows = rows(on, SELECT_SERVER, &[]).await?;
    let row =
        rows.first().ok_or_else(|| StoreError::Unavailable("PostgreSQL: the server returned nothing".to_owned()))?;
    Ok(ServerFacts {
        version: get(row, 0)?,
        is_standby: get(row, 1)?,
        is_durable: get(row, 2)?,
        has_checksums: get(row, 3)?,
        synchronous_standbys: get(row, 4)?,
        sessions: get(row, 5)?,
        sessions_max: get(row, 6)?,
        oldest_transaction_seconds: get(row, 7)?,
        is_encrypted: get(row, 8)?,
        is_local: get(row, 9)?,
        clock: instant(get(row, 10)?)?,
        is_vacuumed: get(row, 11)?,
        is_hot_vacuumed: get(row, 12)?,
    })
}
