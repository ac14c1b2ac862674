use std::sync::OnceLock;

use timenav_core::ledger::sha256;
use timenav_engine::{FEATURE_LEVEL, StoreError};
use tokio_postgres::Transaction;

use super::values::{Failed, get};
use crate::postgres::connection::sessions::Object;
use crate::postgres::events::{lengths, words};
use crate::postgres::transaction::batch::rows;

pub(crate) mod schema;

struct Step {
    name: &'static str,
    text: &'static str,
    /// The feature level with this schema. The oldest service that shares a database determines it.
    level: u64,
    /// Tables and columns that the step creates, if databases of a supported level may lack them.
    makes: &'static [&'static str],
}

/// The steps, in order. A step never changes, because databases have already run it: every change is a new step.
const STEPS: [Step; 5] = [
    Step { name: "0001-init", text: include_str!("../../migrations/postgres/0001-init.sql"), level: 1, makes: &[] },
    Step {
        name: "0002-followers",
        text: include_str!("../../migrations/postgres/0002-followers.sql"),
        level: 3,
        makes: &["followers"],
    },
    Step {
        name: "0003-permission-ends",
        text: include_str!("../../migrations/postgres/0003-permission-ends.sql"),
        level: 5,
        makes: &["permissions.expires_at"],
    },
    Step {
        name: lengths::STEP,
        text: include_str!("../../migrations/postgres/0004-lengths.sql"),
        level: 6,
        makes: &["events.length_class", "events_by_length"],
    },
    Step {
        name: words::STEP,
        text: include_str!("../../migrations/postgres/0005-event-words.sql"),
        level: 8,
        makes: &["event_words"],
    },
];

/// Serializes migrations by several services. Released at the end of the transaction.
const LOCK: &str = "SELECT pg_advisory_xact_lock(1414414678, 1)";
const TABLE: &str = "CREATE TABLE IF NOT EXISTS migrations (
    step text COLLATE \"C\" NOT NULL PRIMARY KEY, sha256 text NOT NULL
)";

const IS_SPREAD: &str = "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')";
/// Distributes the tables that grow with each entry over the workers of a cluster, with all rows of a timeline on one
/// worker. Heads, locks and permissions stay on the coordinator, where one statement sees all of them. Reference tables
/// are not an option: they are not linearizable, and a copy may show a permission after its removal was confirmed.
const SPREAD: &str = "DO $$ BEGIN
    PERFORM create_distributed_table('entries', 'timeline', colocate_with => 'none');
    PERFORM create_distributed_table(name, 'timeline', colocate_with => 'entries')
    FROM unnest(ARRAY['tiles', 'events', 'event_words', 'interventions']) AS name;
    END $$";

const SPREAD_WORDS: &str = "SELECT create_distributed_table('event_words', 'timeline', colocate_with => 'entries')";

/// The oldest tested version, in the server's numbering.
const SERVER_VERSION_MIN: i32 = 150_000;
const SELECT_SERVER: &str = "SELECT current_setting('server_version_num')::integer, current_setting('server_version'),
    current_setting('server_encoding')";

/// Rejects a server that is too old, and a database encoding that cannot store all text.
async fn check_server(transaction: &Transaction<'_>) -> Result<(), Failed> {
    let row = transaction.query_one(SELECT_SERVER, &[]).await?;
    let (number, version, encoding): (i32, String, String) = (get(&row, 0)?, get(&row, 1)?, get(&row, 2)?);
    if number < SERVER_VERSION_MIN {
        let message = format!("the server is PostgreSQL {version}; 15 or later is needed");
        return Err(StoreError::Unavailable(message).into());
    }
    if encoding != "UTF8" {
        let message = format!("the database has the encoding {encoding}; create it with the encoding UTF8");
        return Err(StoreError::Unavailable(message).into());
    }
    Ok(())
}

/// Creates the tables in an empty database. Existing tables are not changed, because that happens when the feature
/// level is raised; unknown ones are rejected. Returns whether the database is new.
pub(super) async fn run(transaction: &Transaction<'_>) -> Result<bool, Failed> {
    check_server(transaction).await?;
    transaction.batch_execute("SET LOCAL lock_timeout = '30s'").await?;
    transaction.batch_execute(LOCK).await?;
    transaction.batch_execute(TABLE).await?;
    let done = done(transaction).await?;
    if !done.is_empty() {
        check(&STEPS, &done)?;
        return Ok(false);
    }
    take(transaction, &done, FEATURE_LEVEL).await?;
    if get(&transaction.query_one(IS_SPREAD, &[]).await?, 0)? {
        transaction.batch_execute(SPREAD).await?;
    }
    Ok(true)
}

/// Migrates the tables to a feature level from the one before, as part of the transaction.
pub(super) async fn change_to(transaction: &Transaction<'_>, level: u64) -> Result<(), Failed> {
    transaction.batch_execute(LOCK).await?;
    take(transaction, &done(transaction).await?, level).await
}

pub(super) async fn is_spread(on: &Object) -> Result<bool, Failed> {
    rows(on, IS_SPREAD, &[]).await?.first().map_or(Ok(false), |row| get(row, 0))
}

/// Caches whether rows may be distributed over several servers. Tables are distributed on creation and never later.
#[derive(Debug, Default)]
pub(super) struct Spread(OnceLock<bool>);

impl Spread {
    pub(super) async fn is_so(&self, on: &Object) -> Result<bool, Failed> {
        if let Some(known) = self.0.get() {
            return Ok(*known);
        }
        let found = is_spread(on).await?;
        Ok(*self.0.get_or_init(|| found))
    }
}

/// Returns the tables and columns of this version that a database does not have yet.
pub(super) async fn to_come(on: &Object) -> Result<Vec<&'static str>, Failed> {
    let found = rows(on, "SELECT step FROM migrations", &[]).await?;
    let done = found.iter().map(|row| get(row, 0)).collect::<Result<Vec<&str>, _>>()?;
    let missing = STEPS.iter().filter(|step| !done.contains(&step.name));
    Ok(missing.flat_map(|step| step.makes).copied().collect())
}

async fn done(transaction: &Transaction<'_>) -> Result<Vec<(String, String)>, Failed> {
    let rows = transaction.query("SELECT step, sha256 FROM migrations ORDER BY step", &[]).await?;
    rows.iter().map(|row| Ok((get(row, 0)?, get(row, 1)?))).collect()
}

async fn take(transaction: &Transaction<'_>, done: &[(String, String)], level: u64) -> Result<(), Failed> {
    for Step { name, text, .. } in missing(&STEPS, check(&STEPS, done)?, level) {
        transaction.batch_execute(text).await?;
        if *name == lengths::STEP {
            lengths::fill(transaction).await?;
        }
        if *name == words::STEP && !done.is_empty() {
            if get(&transaction.query_one(IS_SPREAD, &[]).await?, 0)? {
                transaction.batch_execute(SPREAD_WORDS).await?;
            }
            words::fill(transaction).await?;
        }
        let insert = "INSERT INTO migrations (step, sha256) VALUES ($1, $2)";
        transaction.execute(insert, &[name, &digest(text)]).await?;
    }
    Ok(())
}

fn missing(steps: &[Step], done: usize, level: u64) -> impl Iterator<Item = &Step> {
    steps[done..].iter().filter(move |step| step.level <= level)
}

fn digest(text: &str) -> String {
    sha256(&[text.as_bytes()]).to_hex()
}

/// Returns how many steps a database has gone through. These must be the first ones of this version, and no others.
fn check(steps: &[Step], done: &[(String, String)]) -> Result<usize, StoreError> {
    for ((name, sha256), step) in done.iter().zip(steps) {
        if name != step.name || *sha256 != digest(step.text) {
            let message = format!(
                "the tables of the database were created by another version of timenav, which this one cannot upgrade: \
                 their step `{name}` is not `{}` of this version. Use the version that created them. To change \
                 versions, run its `timenav migrate` to a SQLite file, then this version's to an empty database",
                step.name
            );
            return Err(StoreError::Unavailable(message));
        }
    }
    if let Some((step, _)) = done.get(steps.len()) {
        let message =
            format!("the database was written by a newer version of timenav (it has step `{step}`); use that version");
        return Err(StoreError::Unavailable(message));
    }
    Ok(done.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An example of future steps: two of the first level, and one of the next.
    const LATER: [Step; 3] = [
        Step { name: "0001-init", text: "CREATE TABLE a (b bigint)", level: 1, makes: &[] },
        Step { name: "0002-more", text: "ALTER TABLE a ADD COLUMN c bigint", level: 1, makes: &[] },
        Step { name: "0003-else", text: "ALTER TABLE a ADD COLUMN d bigint", level: 2, makes: &[] },
    ];

    fn of(step: &Step) -> (String, String) {
        (step.name.to_owned(), digest(step.text))
    }

    #[test]
    fn released_migration_steps_are_frozen() {
        let frozen = [
            "0956aeba6e620f48da93c74c05ad4e430dd0eb1002a5dda505fd83616c17b650",
            "e5cfcccd5449cef675cf66898e5a2846f223a7f091a7be7e3fb9d3a4bcb17511",
            "f749f74222d1d8bc8706a6708a4bdce766275c701d68ea654896d2e0fc3880e6",
            "c819c15ecf65f2b8fd7863232303fce1f174aa9463027d6be0bd96e73140025a",
            "c92395771aa97268aeaac2981b62876321b21295ea949ac22663f4dda512ba82",
        ];
        assert_eq!(
            STEPS.each_ref().map(|step| digest(step.text)),
            frozen,
            "a change of the tables is a step of its own"
        );
        assert!(STEPS.is_sorted_by_key(|step| (step.level, step.name)));
        assert!(STEPS.iter().all(|step| (1..=FEATURE_LEVEL).contains(&step.level)));
    }

    /// Statements that may do more than add something, and why.
    const DOES_NOT_ADD: [(&str, &str); 1] = [(
        "ALTER TABLE tiles ALTER COLUMN hashes SET STORAGE EXTERNAL",
        "only says how values are kept, of a table that the same step made",
    )];

    /// Returns whether the statement only adds, so that an older version can still read and write as before.
    fn only_adds(statement: &str) -> bool {
        let words: Vec<&str> = statement.split_whitespace().collect();
        matches!(
            words[..],
            ["CREATE", "TABLE" | "INDEX", ..]
                | ["CREATE", "UNLOGGED", "TABLE", ..]
                | ["ALTER", "TABLE", _, "ADD", "COLUMN", _, _]
        )
    }

    #[test]
    fn migration_steps_contain_only_additive_statements() {
        for step in &STEPS {
            let lines = step.text.lines().map(|line| line.split("--").next().unwrap_or_default());
            let text: String = lines.flat_map(|line| [line, " "]).collect();
            let statements = text.split(';').map(str::trim).filter(|statement| !statement.is_empty());
            for statement in statements {
                let is_known = DOES_NOT_ADD.iter().any(|(known, _)| statement == *known);
                assert!(is_known || only_adds(statement), "{}: {statement}", step.name);
            }
        }
        for statement in [
            "DROP TABLE arrivals",
            "ALTER TABLE events DROP COLUMN cell",
            "ALTER TABLE events RENAME TO happenings",
            "ALTER TABLE events ALTER COLUMN cell TYPE integer",
            "ALTER TABLE events ADD COLUMN more bigint NOT NULL",
            "ALTER TABLE events ADD CONSTRAINT one UNIQUE (place)",
            "CREATE UNIQUE INDEX one ON events (place)",
            "UPDATE events SET cell = NULL",
        ] {
            assert!(!only_adds(statement), "{statement}");
        }
    }

    #[test]
    fn database_is_migrated_only_from_steps_of_this_version() {
        let error_of = |done: &[(String, String)]| check(&LATER, done).unwrap_err().to_string();
        assert_eq!(check(&LATER, &[]).unwrap(), 0);
        assert_eq!(check(&LATER, &[of(&LATER[0])]).unwrap(), 1);
        assert!(error_of(&[("0001-init".to_owned(), digest("other"))]).contains("created by another version"));
        assert!(error_of(&[of(&LATER[1])]).contains("`0002-more` is not `0001-init` of this version"));
        let mut newer: Vec<_> = LATER.iter().map(of).collect();
        newer.push(("0004-x".to_owned(), String::new()));
        assert!(error_of(&newer).contains("written by a newer version of timenav (it has step `0004-x`)"));
    }

    #[test]
    fn missing_steps_are_limited_to_the_feature_level() {
        let names = |done: usize, level: u64| missing(&LATER, done, level).map(|step| step.name).collect::<Vec<_>>();
        assert_eq!(names(0, 2), ["0001-init", "0002-more", "0003-else"]);
        // While the previous version is running, only the steps that it knows. The rest follows later.
        assert_eq!(names(2, 1), <[&str; 0]>::default());
        assert_eq!(names(2, 2), ["0003-else"]);
    }
}
