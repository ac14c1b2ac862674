use anyhow::{Context as _, anyhow, bail};
use timenav_store::PostgresGuest;

use super::row::{Ahead, Row};
use crate::config::StoreUrl;
use crate::wiring::ports::counted;

/// Marks the table and function as created by this program, with the layout version.
const MARK: &str = "timenav sql-clock, version 1";
/// Measurements in a row: the fastest one is the most precise.
const MEASUREMENTS: usize = 5;
const LOCK_NOT_AVAILABLE: &str = "55P03";

/// Held while the connection lasts, so that only one program keeps a clock.
const LOCK: &str = "SELECT pg_advisory_lock(1414414679, hashtext($1))::text";
const FOUND: &str = "SELECT (to_regprocedure($1) IS NOT NULL)::text, obj_description(to_regprocedure($1), 'pg_proc'),
    (to_regclass($2) IS NOT NULL)::text, obj_description(to_regclass($2), 'pg_class')";
const TIME: &str = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint::text";

/// Clocks end at the last microsecond of the year 9999. Intervals are in hours, which are exact in all time zones. A
/// transaction can set its own time (`SET LOCAL timenav.now`). The function has a SQL-standard body, which is parsed
/// when it is created, so the `search_path` of a caller does not change its meaning.
const INSTALL: &str = "CREATE TABLE IF NOT EXISTS {schema}.timenav_clock (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    service text NOT NULL,
    timeline text NOT NULL,
    generation bigint NOT NULL,
    is_paused boolean NOT NULL,
    rate_millionths bigint NOT NULL,
    origin_virtual_micros bigint NOT NULL,
    origin_here timestamptz NOT NULL,
    uncertainty_micros bigint NOT NULL,
    heard_at timestamptz NOT NULL,
    unconfirmed_since timestamptz
);
COMMENT ON TABLE {schema}.timenav_clock IS '{mark}';
GRANT SELECT ON {schema}.timenav_clock TO PUBLIC;
CREATE OR REPLACE FUNCTION {schema}.timenav_now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE RETURN coalesce(
    nullif(current_setting('timenav.now', true), '')::timestamptz,
    (
        SELECT TIMESTAMPTZ 'epoch' + (virtual_micros / 3600000000) * INTERVAL '1 hour'
            + (virtual_micros % 3600000000) * INTERVAL '1 microsecond'
        FROM (
            SELECT CASE WHEN is_paused THEN origin_virtual_micros ELSE least(
                253402300799999999::numeric,
                origin_virtual_micros
                    + floor(greatest(0, extract(epoch FROM statement_timestamp() - origin_here)) * rate_millionths)
            )::bigint END AS virtual_micros
            FROM {schema}.timenav_clock
        ) AS clock
    )
);
COMMENT ON FUNCTION {schema}.timenav_now() IS '{mark}';";

const WRITE: &str = "INSERT INTO {schema}.timenav_clock AS clock
    SELECT true, $1::text, $2::text, $3::text::bigint, $4::text::boolean, $5::text::bigint, $6::text::bigint,
        TIMESTAMPTZ 'epoch' + ($7::text::bigint / 3600000000) * INTERVAL '1 hour'
            + ($7::text::bigint % 3600000000) * INTERVAL '1 microsecond',
        $8::text::bigint, clock_timestamp(), CASE WHEN $9::text::boolean THEN clock_timestamp() END
    ON CONFLICT (only_row) DO UPDATE SET service = excluded.service, timeline = excluded.timeline,
        generation = excluded.generation, is_paused = excluded.is_paused, rate_millionths = excluded.rate_millionths,
        origin_virtual_micros = excluded.origin_virtual_micros, origin_here = excluded.origin_here,
        uncertainty_micros = excluded.uncertainty_micros,
        heard_at = CASE WHEN $9::text::boolean THEN clock.heard_at ELSE excluded.heard_at END,
        unconfirmed_since = CASE WHEN $9::text::boolean
            THEN coalesce(clock.unconfirmed_since, excluded.unconfirmed_since) END";

const UNINSTALL: &str = "BEGIN; DROP FUNCTION IF EXISTS {schema}.timenav_now();
    DROP TABLE IF EXISTS {schema}.timenav_clock; COMMIT";

#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) url: StoreUrl,
    pub(super) schema: String,
}

impl Place {
    fn quoted(&self) -> String {
        format!("\"{}\"", self.schema.replace('"', "\"\""))
    }

    fn filled(&self, statement: &str) -> String {
        statement.replace("{schema}", &self.quoted()).replace("{mark}", MARK)
    }
}

/// The only connection that keeps the clock of a database.
pub(super) struct Database {
    guest: PostgresGuest,
    place: Place,
    ahead: Ahead,
}

impl Database {
    /// Connects and measures the database's clock. Changes nothing. Fails if another program keeps its clock, or the
    /// names are used by other objects.
    pub(super) async fn open(place: &Place) -> anyhow::Result<Self> {
        let guest = PostgresGuest::connect(place.url.secret()).await;
        let guest = guest.with_context(|| format!("the database {}", place.url))?;
        lock(&guest, place).await?;
        check(&guest, place).await?;
        let mut ahead = None;
        for _ in 0..MEASUREMENTS {
            ahead = Some(measured(&guest, ahead).await?);
        }
        let ahead = ahead.context("the database was not queried")?;
        Ok(Self { guest, place: place.clone(), ahead })
    }

    /// Creates missing table and function, with a first row.
    pub(super) async fn install(&self, names: (&str, &str), row: &Row, is_lost: bool) -> anyhow::Result<()> {
        let installed =
            || format!("timenav_now() cannot be created in the schema {} of {}", self.place.schema, self.place.url);
        self.guest.run("BEGIN").await.with_context(installed)?;
        self.guest.run(&self.place.filled(INSTALL)).await.with_context(installed)?;
        self.write(names, row, is_lost).await.with_context(installed)?;
        self.guest.run("COMMIT").await.with_context(installed)
    }

    /// Writes the row: service, timeline, clock, and whether the clock is unconfirmed.
    pub(super) async fn write(&self, names: (&str, &str), row: &Row, is_lost: bool) -> anyhow::Result<()> {
        let [generation, is_paused, rate, origin_virtual, origin_here, uncertainty] = row.texts();
        let is_lost = is_lost.to_string();
        let parameters =
            [names.0, names.1, generation, is_paused, rate, origin_virtual, origin_here, uncertainty, &is_lost];
        self.guest.ask(&self.place.filled(WRITE), &parameters).await?;
        Ok(())
    }

    pub(super) async fn measure(&mut self) -> anyhow::Result<()> {
        self.ahead = measured(&self.guest, Some(self.ahead)).await?;
        Ok(())
    }

    pub(super) const fn ahead(&self) -> Ahead {
        self.ahead
    }

    /// Drops the function and table. Fails if other objects depend on them.
    pub(super) async fn uninstall(&self) -> anyhow::Result<()> {
        let dropped = self.guest.run(&self.place.filled(UNINSTALL)).await;
        dropped.with_context(|| {
            format!(
                "timenav_now() cannot be removed from {}; if a column or a view uses it, change that first",
                self.place.url
            )
        })
    }
}

async fn lock(guest: &PostgresGuest, place: &Place) -> anyhow::Result<()> {
    guest.run("SET lock_timeout = '5s'").await?;
    match guest.ask(LOCK, &[&place.schema]).await {
        Ok(_) => Ok(()),
        Err(error) if error.to_string().contains(LOCK_NOT_AVAILABLE) => bail!(
            "another timenav sql-clock keeps the clock in the schema {} of {}: stop that one, or give another schema \
             with --schema",
            place.schema,
            place.url
        ),
        Err(error) => Err(error).context(place.url.to_string()),
    }
}

/// Checks that no foreign object would be replaced.
async fn check(guest: &PostgresGuest, place: &Place) -> anyhow::Result<()> {
    let schema = place.quoted();
    let [function, table] = [format!("{schema}.timenav_now()"), format!("{schema}.timenav_clock")];
    let rows = guest.ask(FOUND, &[&function, &table]).await.with_context(|| place.url.to_string())?;
    let row = rows.first().context("the database returned nothing")?;
    for (found, name) in [(&row[0..2], "a function timenav_now()"), (&row[2..4], "a table timenav_clock")] {
        if found[0].as_deref() == Some("true") && found[1].as_deref() != Some(MARK) {
            return Err(anyhow!(
                "the schema {} of {} has {name} that timenav did not create: give another schema with --schema",
                place.schema,
                place.url
            ));
        }
    }
    Ok(())
}

async fn measured(guest: &PostgresGuest, before: Option<Ahead>) -> anyhow::Result<Ahead> {
    let requested_at = boot_now();
    let rows = guest.ask(TIME, &[]).await?;
    let received_at = boot_now();
    let database_time = rows.first().and_then(|row| row.first()?.as_deref()?.parse::<i128>().ok());
    let database_time = database_time.context("the database did not return its time")?;
    Ok(Ahead::learned(before, requested_at, database_time * 1_000, received_at))
}

/// Returns the boot clock of this host, in nanoseconds.
fn boot_now() -> i128 {
    counted().as_nanos().try_into().unwrap_or(i128::MAX)
}
