//! `timenav migrate`: moves all data of a stopped service to another store.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context as _, anyhow, bail};
use indicatif::{HumanCount, ProgressBar};
use serde_json::json;
use timenav_core::ledger::VerifierKey;
use timenav_core::scan::Depth;
use timenav_store::{Copied, Moved, PostgresOptions, fold_log, to_postgres, to_sqlite};

use crate::commands::service::checked_copy::{CheckedCopy, checked, counts_text, note_findings};
use crate::commands::service::runtime;
use crate::commands::service::verify::files::{Archive, Files, Outside, read_outside};
use crate::config::StoreUrl;
use crate::data_folder::{CheckpointPlace, DATABASE_FILE, DataFolder, MOVED_FILE, SIGNING_KEY_FILE, sync_folder_of};
use crate::exit::Failure;
use crate::key_files::{ServiceKey, service_key};
use crate::output;
use crate::wiring::ports::OsEntropy;

const SQLITE: &str = "sqlite:";

/// Moves all data of a stopped service from SQLite to PostgreSQL, or back.
///
/// All entries, roots and proofs stay the same, and are verified in the target. If the command is interrupted, run it
/// again to continue.
///
/// The data folder keeps the signing key and the checkpoints, and stays in use. After a move to PostgreSQL, its
/// database is named `timenav.db.moved`; delete it when you no longer need it. A move to SQLite does not change the
/// PostgreSQL database.
#[derive(Debug, clap::Args)]
pub(crate) struct MigrateCommand {
    /// The source: `sqlite:DIR`, a data folder, or `postgres://…`.
    #[arg(long, value_name = "STORE", env = "TIMENAV_MIGRATE_FROM", hide_env_values = true)]
    from: StorePlace,
    /// The target. A PostgreSQL database must be empty; a data folder must be that of the service.
    #[arg(long, value_name = "STORE", env = "TIMENAV_MIGRATE_TO", hide_env_values = true)]
    to: StorePlace,
    /// The checkpoint folder. Defaults to the data folder.
    #[arg(long, env = "TIMENAV_CHECKPOINTS", value_name = "DIR")]
    checkpoints: Option<PathBuf>,
    /// The signing key file, if it is not in the data folder.
    #[arg(long, env = "TIMENAV_SIGNING_KEY", value_name = "FILE")]
    signing_key: Option<PathBuf>,
    /// How much of the target to verify: `full`, `quick`, `tail:<n>` or `sample:<n>`.
    #[arg(long, value_name = "DEPTH", default_value = "full")]
    depth: Depth,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum StorePlace {
    Sqlite(PathBuf),
    Postgres(StoreUrl),
}

impl FromStr for StorePlace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix(SQLITE) {
            Some("") => Err("name the data folder: sqlite:DIR".to_owned()),
            Some(folder) => Ok(Self::Sqlite(folder.into())),
            None => text.parse().map(Self::Postgres).map_err(|_| {
                "write sqlite:DIR, or postgres://user:password@host/database?sslmode=verify-full".to_owned()
            }),
        }
    }
}

/// Fails if a service uses a store, the target is not empty, or the copy does not match its signatures.
pub(crate) fn run(command: &MigrateCommand) -> Result<(), Failure> {
    let (folder, url, is_into_postgres) = match (&command.from, &command.to) {
        (StorePlace::Sqlite(folder), StorePlace::Postgres(url)) => (folder, url, true),
        (StorePlace::Postgres(url), StorePlace::Sqlite(folder)) => (folder, url, false),
        (StorePlace::Sqlite(_), StorePlace::Sqlite(_)) => {
            return Err(anyhow!("both are data folders: use `timenav backup` and `timenav restore`").into());
        }
        (StorePlace::Postgres(_), StorePlace::Postgres(_)) => {
            return Err(anyhow!("both are PostgreSQL databases: use `pg_dump` and `pg_restore`").into());
        }
    };
    let place = Place::open(folder, command)?;
    let options = PostgresOptions { url: url.secret().to_owned(), is_alone: true };
    let moved = runtime()?.block_on(async {
        if is_into_postgres { place.to_postgres(url, &options).await } else { place.to_sqlite(url, &options).await }
    })?;
    moved.show(command.json, &next_command(folder, command.signing_key.as_deref(), is_into_postgres))
}

/// Returns the command that starts the service from now on. The URL may contain a password, so it is not repeated.
fn next_command(folder: &Path, signing_key: Option<&Path>, is_into_postgres: bool) -> String {
    let folder = folder.display();
    match (signing_key.map(Path::display), is_into_postgres) {
        (None, true) => format!("timenav serve --data {folder} --store \"$TIMENAV_STORE\""),
        (Some(key), true) => {
            format!("timenav serve --data {folder} --store \"$TIMENAV_STORE\" --signing-key {key}")
        }
        (None, false) => format!("timenav serve --data {folder}"),
        // With SQLite, the signing key is in the data folder.
        (Some(key), false) => {
            format!("install -m 600 {key} {folder}/{SIGNING_KEY_FILE} && timenav serve --data {folder}")
        }
    }
}

struct Place {
    folder: DataFolder,
    _checkpoints: CheckpointPlace,
    outside: Outside,
    key: ServiceKey,
    depth: Depth,
}

struct MovedAll {
    timelines: u64,
    entries: u64,
    checked: String,
}

impl Place {
    fn open(path: &Path, command: &MigrateCommand) -> anyhow::Result<Self> {
        // Checked first: opening a missing folder would create it.
        if !path.try_exists().with_context(|| format!("{} cannot be read", path.display()))? {
            bail!("there is no data folder {}", path.display());
        }
        let folder = DataFolder::open_with_key(path, command.signing_key.as_deref())?;
        if !folder.signing_key().try_exists().context("the signing key cannot be read")? {
            bail!(
                "the key that signs the ledgers, {}, is missing: name the data folder of the service, and the key with \
                 --signing-key if it is elsewhere",
                folder.signing_key().display()
            );
        }
        let checkpoints = folder.checkpoints(command.checkpoints.as_deref())?;
        let outside = read_outside(&checkpoints.file)?;
        let key = service_key(&folder, None, &OsEntropy)?;
        Ok(Self { folder, _checkpoints: checkpoints, outside, key, depth: command.depth })
    }

    async fn to_postgres(&self, url: &StoreUrl, options: &PostgresOptions) -> Result<MovedAll, Failure> {
        let database = self.folder.database();
        let moved = self.folder.path().join(MOVED_FILE);
        let is_moved = moved.try_exists().with_context(|| format!("{} cannot be read", moved.display()))?;
        if !database.try_exists().with_context(|| format!("{} cannot be read", database.display()))? {
            let folder = self.folder.path().display();
            if is_moved {
                let what = "was moved before, and its file is now";
                return Err(anyhow!(
                    "the database of {folder} {what} {}: start the service with --store, or rename that file to \
                     {DATABASE_FILE} to move it again",
                    moved.display()
                )
                .into());
            }
            return Err(anyhow!("there is no database in {folder}").into());
        }
        if is_moved {
            return Err(anyhow!("{} is left over from an earlier move: move it away first", moved.display()).into());
        }
        let bar = MoveBar::new();
        let copied = to_postgres(&database, options, &mut |moved| bar.show(moved)).await;
        drop(bar);
        let copied = copied.with_context(|| format!("{} could not be moved to {url}", database.display()))?;
        let checked = self.verify(&copied).await?;
        let all = MovedAll::of(&copied, checked);
        copied.end().await.with_context(|| format!("the database {url}"))?;
        // The service rejects a folder with a database if it is configured for another one.
        fold_log(&database).with_context(|| format!("the database {}", database.display()))?;
        std::fs::rename(&database, &moved)
            .and_then(|()| sync_folder_of(&moved))
            .with_context(|| format!("{} cannot be renamed to {MOVED_FILE}", database.display()))?;
        Ok(all)
    }

    async fn to_sqlite(&self, url: &StoreUrl, options: &PostgresOptions) -> Result<MovedAll, Failure> {
        let database = self.folder.path().join(DATABASE_FILE);
        let bar = MoveBar::new();
        let copied = to_sqlite(options, &database, &mut |moved| bar.show(moved)).await;
        drop(bar);
        let copied = copied.with_context(|| format!("the database {url} could not be moved"))?;
        let file = copied.file().context("the new database")?.context("the new database is not a file")?;
        let checked = CheckedCopy::check(&file, &self.outside, &self.verifier()?, self.depth).await?;
        let all = MovedAll::of(&copied, checked.checked_text());
        copied.end().await.with_context(|| format!("the database {}", database.display()))?;
        Ok(all)
    }

    fn verifier(&self) -> anyhow::Result<VerifierKey> {
        Ok(VerifierKey::new(&self.key.service_name, self.key.signer.public_key())?)
    }

    async fn verify(&self, copied: &Copied) -> Result<String, Failure> {
        let store = copied.postgres().context("the new database is not on a server")?;
        let key = self.verifier()?;
        let public_keys = [*key.public_key()];
        let files = Files {
            archive: Archive::Postgres(store),
            outside: &self.outside,
            service_name: key.name(),
            public_keys: &public_keys,
            depth: self.depth,
        };
        let scans = files.scan(None, |_| None).await.context("the new database")?;
        match note_findings(&scans) {
            0 => Ok(counts_text(&checked(&scans))),
            findings => Err(Failure::Tampered(findings)),
        }
    }
}

impl MovedAll {
    fn of(copied: &Copied, checked: String) -> Self {
        let heads = copied.heads();
        let entries = heads.iter().map(|head| head.frontier.size()).sum();
        Self { timelines: heads.len() as u64, entries, checked }
    }

    fn show(&self, as_json: bool, next: &str) -> Result<(), Failure> {
        let Self { timelines, entries, checked } = self;
        let status = format!(
            "Moved {} timelines with {} entries. Start the service with: {next}",
            HumanCount(*timelines),
            HumanCount(*entries)
        );
        if as_json {
            let answer = json!({
                "status": status, "timelines": timelines, "entries": entries, "checked": checked, "next": next,
            });
            return output::write_json(&answer);
        }
        output::write(&format!("{status}\n  verified  {checked}\n"))
    }
}

struct MoveBar(ProgressBar);

impl MoveBar {
    fn new() -> Self {
        Self(ProgressBar::new_spinner())
    }

    fn show(&self, moved: Moved) {
        self.0.set_message(format!("{}: {} rows", moved.table, HumanCount(moved.rows)));
        self.0.tick();
    }
}

impl Drop for MoveBar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_location_is_a_folder_or_an_address() {
        let check = |text: &str, expected: Result<StorePlace, &str>| {
            assert_eq!(
                text.parse::<StorePlace>().map_err(|error| error.split(' ').next().unwrap().to_owned()),
                expected.map_err(str::to_owned),
                "{text}"
            );
        };
        check("sqlite:/var/lib/timenav", Ok(StorePlace::Sqlite("/var/lib/timenav".into())));
        check("sqlite:", Err("name"));
        check("postgres://a/b", Ok(StorePlace::Postgres("postgres://a/b".parse().unwrap())));
        check("mysql://a/b", Err("write"));
        check("./timenav-data", Err("write"));
    }
}
