//! The query plan of every statement in both backends. No statement may scan a growing table, or all rows of a timeline
//! if it has the key of one row: all writes wait for the writer, and the writer for its statements.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use timenav_store::{SqliteStore, generated_statements};
use tokio_postgres::{NoTls, SimpleQueryMessage};

use crate::cluster::{database, execute, is_spread, open, wait_for};

const VERBS: [&str; 6] = ["SELECT ", "INSERT ", "UPDATE ", "DELETE ", "WITH ", "REPLACE "];
/// Modules with statements that run only while a database is created, migrated or copied.
const OFFLINE: [&str; 4] = ["copy", "migrations", "moving", "schema"];
const NOW: &str = " (extract(epoch FROM clock_timestamp()) * 1000000)::bigint ";
/// Modules whose macros compose statements. Tests in `event_runs` check its plans; `ahead` and `orphans` read few rows
/// at a time.
const COMPOSED: [&str; 3] = ["ahead", "orphans", "event_runs"];
/// Statements that may scan a table: the module, the beginning of the statement, and the reason.
const ALLOWED: [(&str, &str, &str); 16] = [
    ("commit", "UPDATE outcomes SET fingerprint", "once, where a backup is restored with another secret"),
    ("outcomes", "UPDATE outcomes SET fingerprint", "once, where a backup is restored with another secret"),
    ("comparing", "SELECT DISTINCT timeline FROM text_blocks", "a scan compares all blocks"),
    ("examination", "SELECT max(recorded_at)", "an operator asked"),
    ("examination", "SELECT json_extract(", "an operator asked; the newest entries of each timeline"),
    ("examination", "SELECT substring(", "an operator asked; the newest entries of each timeline"),
    ("heads", "SELECT t.* FROM timelines t ORDER BY", "the start reads all heads"),
    ("heads", "SELECT timeline, size FROM timelines", "a scan begins with all sizes"),
    ("orphans", "SELECT timeline FROM", "a scan looks for rows of no timeline"),
    ("outcomes", "SELECT * FROM outcomes WHERE ?1 IS NULL", "a scan reads pages in the order of keys"),
    ("pacing", "SELECT timeline FROM timelines", "the start looks for events that are not indexed"),
    ("read", "SELECT * FROM timelines ORDER BY", "the start reads all heads"),
    ("retention", "SELECT timeline, position FROM sweeps", "the start looks for sweeps that are not finished"),
    ("scan", "SELECT timeline_id, timeline FROM timelines", "a scan reads all names"),
    ("words", "SELECT timeline FROM timelines UNION", "a scan compares the words of all timelines"),
    ("words", "SELECT timeline, position, time, content FROM events", "an upgrade fills the table of words"),
];
/// Tables that grow with the number of entries.
const GROWING: [&str; 15] = [
    "advances",
    "anchors",
    "data_records",
    "entries",
    "event_words",
    "events",
    "firings",
    "interventions",
    "outcomes",
    "sweeps",
    "text_blocks",
    "text_words",
    "tiles",
    "timelines",
    "timers",
];

/// Returns the files of modules that run statements while the service works, without their tests.
fn modules(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if name == "tests" || OFFLINE.contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() { found.extend(modules(&path)) } else { found.push(path) }
    }
    found
}

/// Returns the statements in the source of a backend and of the shared tables with their modules, and those generated
/// from the tables, except those of tests and those composed at run time.
fn statements(backend: &str) -> BTreeSet<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let generated = generated_statements(backend == "postgres");
    let mut found: BTreeSet<_> = generated.into_iter().map(|statement| ("tables".to_owned(), statement)).collect();
    for path in [modules(&folder.join(backend)), modules(&folder.join("tables"))].concat() {
        let module = path.file_stem().unwrap().to_string_lossy().into_owned();
        let source = std::fs::read_to_string(&path).unwrap();
        let source = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        let code: Vec<&str> = source.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        let code = code.join("\n").replace("\\\"", "\u{1}");
        // The macro `timed!` inserts the server's time there.
        let mut pieces = code.split("\", now");
        let first = pieces.next().unwrap_or_default().to_owned();
        let code = pieces.fold(first, |code, piece| {
            let piece = piece.trim_start();
            code + NOW + piece.strip_prefix('"').unwrap_or(piece)
        });
        let parts: Vec<&str> = code.split('"').collect();
        for pair in parts.chunks_exact(2) {
            let words: Vec<&str> = pair[1].split_whitespace().filter(|word| *word != "\\").collect();
            let statement = words.join(" ").replace('\u{1}', "\"");
            if VERBS.iter().any(|verb| statement.starts_with(verb)) && !statement.contains('{') {
                found.insert((module.clone(), statement));
            }
        }
    }
    assert!(found.len() > 80, "{backend} has {} statements", found.len());
    found
}

fn is_allowed(module: &str, statement: &str) -> bool {
    ALLOWED.iter().any(|(place, begin, _)| *place == module && statement.starts_with(begin))
}

/// Returns the table that a plan refers to by name or by an alias of the statement.
fn table_of<'a>(statement: &'a str, name: &'a str) -> &'a str {
    let words: Vec<&str> = statement.split(|sign: char| !sign.is_alphanumeric() && sign != '_').collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty() && *word != "AS").collect();
    let aliased = words.windows(2).find(|pair| pair[1] == name && GROWING.contains(&pair[0]));
    aliased.map_or(name, |pair| pair[0])
}

#[test]
fn no_statement_on_sqlite_scans_table_that_grows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("timenav.db");
    drop(SqliteStore::open(&path).unwrap());
    let connection = rusqlite::Connection::open(&path).unwrap();
    let mut wrong = Vec::new();
    for (module, statement) in statements("sqlite") {
        let mut explained = match connection.prepare(&format!("EXPLAIN QUERY PLAN {statement}")) {
            Ok(explained) => explained,
            Err(error) => {
                assert!(COMPOSED.contains(&module.as_str()), "{module}: {statement}: {error}");
                continue;
            }
        };
        let mut rows = explained.raw_query();
        while let Some(row) = rows.next().unwrap() {
            let step: String = row.get(3).unwrap();
            let words: Vec<&str> = step.split(' ').collect();
            let [verb @ ("SCAN" | "SEARCH"), name, ..] = words[..] else { continue };
            let table = table_of(&statement, name);
            let names_row = ["event_id = ?", "position = ?", "key = ?"].iter().any(|key| statement.contains(key));
            let reads_all = verb == "SCAN" || (step.contains("(timeline=?)") && names_row);
            if GROWING.contains(&table) && reads_all && !is_allowed(&module, &statement) {
                wrong.push(format!("{module}: {step}\n    {statement}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Fills all tables with rows of 16 timelines and distinct values. Each table has its own transaction, because services
/// on the same server wait for older transactions.
fn fill(url: &str) {
    execute(
        url,
        "DO $$
        DECLARE one record; columns text; wanted bigint;
        BEGIN
            FOR one IN SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
                AND relname NOT IN ('migrations', 'feature_level', 'host_clock', 'cosigned', 'room')
            LOOP
                wanted := CASE WHEN one.name IN ('entries', 'events', 'event_words', 'outcomes') THEN 20000
                    WHEN one.name IN ('timers', 'firings', 'tiles', 'anchors', 'data_records', 'interventions') THEN 8000
                    ELSE 2000 END;
                SELECT string_agg(CASE
                    WHEN attname = 'timeline' AND one.name IN ('timelines', 'ended_timelines', 'arrivals', 'policies')
                        THEN 'g' || CASE one.name WHEN 'ended_timelines' THEN '+ 1000000' ELSE '' END
                    WHEN attname = 'timeline' THEN 'g % 16'
                    WHEN attname = 'role' THEN '''read'''
                    WHEN attname = 'horizon' THEN 'NULL'
                    WHEN attname = 'state' THEN 'CASE WHEN g % 100 = 0 THEN 0 ELSE 1 END'
                    WHEN NOT attnotnull AND attname NOT IN ('payload_bytes', 'event_id', 'timeline_id', 'cell')
                        AND atttypid = 'bigint'::regtype THEN 'CASE WHEN g % 4 = 0 THEN g END'
                    WHEN atttypid = 'tsvector'::regtype THEN 'array_to_tsvector(ARRAY[''name-'' || g])'
                    WHEN atttypid = 'text'::regtype THEN '''name-'' || g'
                    WHEN atttypid = 'bytea'::regtype THEN 'decode(repeat(lpad(to_hex(g), 8, ''0''), 8), ''hex'')'
                    WHEN atttypid = 'boolean'::regtype THEN 'g % 2 = 0'
                    WHEN atttypid = 'smallint'::regtype THEN '(g % 60)::smallint'
                    WHEN atttypid = 'integer'::regtype THEN '(g % 3)::integer'
                    ELSE 'g' END, ', ' ORDER BY attnum)
                INTO columns FROM pg_attribute
                WHERE attrelid = one.name::regclass AND attnum > 0 AND NOT attisdropped;
                EXECUTE format('INSERT INTO %I SELECT %s FROM generate_series(1, %s) g ON CONFLICT DO NOTHING',
                    one.name, columns, wanted);
                COMMIT;
            END LOOP;
        END $$",
    );
    execute(url, "ANALYZE");
}

#[test]
fn no_statement_on_postgresql_scans_table_that_grows() {
    if is_spread() {
        return;
    }
    let url = database();
    drop(open(&url).unwrap());
    fill(&url);
    let wrong = wait_for(async {
        let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
        let connection = tokio::spawn(connection);
        client.batch_execute("SET plan_cache_mode = force_generic_plan").await.unwrap();
        let mut wrong = Vec::new();
        for (module, statement) in statements("postgres") {
            let parameters = (1..60).take_while(|number| statement.contains(&format!("${number}"))).count();
            let values = match parameters {
                0 => String::new(),
                count => format!("({})", vec!["NULL"; count].join(", ")),
            };
            let explain = format!("DEALLOCATE ALL; PREPARE one AS {statement}; EXPLAIN EXECUTE one{values}");
            let messages = match client.simple_query(&explain).await {
                Ok(messages) => messages,
                Err(error) => {
                    assert!(COMPOSED.contains(&module.as_str()), "{module}: {statement}: {error:?}");
                    continue;
                }
            };
            for message in messages {
                let SimpleQueryMessage::Row(row) = message else { continue };
                let step = row.get(0).unwrap().trim().to_owned();
                let scanned = step.split("Seq Scan on ").nth(1).and_then(|rest| rest.split(' ').next());
                if scanned.is_some_and(|table| GROWING.contains(&table)) && !is_allowed(&module, &statement) {
                    wrong.push(format!("{module}: {step}\n    {statement}"));
                }
            }
        }
        drop(client);
        connection.await.unwrap().unwrap();
        wrong
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
