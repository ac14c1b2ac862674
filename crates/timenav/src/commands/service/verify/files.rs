//! Verifies the files or the PostgreSQL database of a service, running or stopped.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, anyhow, bail};
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{Checkpoint, Note, VerifierKey};
use timenav_core::scan::Depth;
use timenav_engine::{
    Progress, ReferenceCheckpoint, ReplayedAuthority, Scan, ScanRequest, ScanSource, StoreError, made_before, scan,
};
use timenav_store::{CheckpointFile, PostgresOptions, PostgresStore, SqliteArchive};

use super::{ScanBar, Trusted, UserCheckpoint, VerifyCommand, keys_of, service_name};
use crate::commands::service::runtime;
use crate::config::named_store;
use crate::data_folder::{CHECKPOINTS_FILE, DATA_DEFAULT, DATABASE_FILE, SIGNING_KEY_FILE, unfinished_in};
use crate::key_files::read_public_key;
use crate::output;
use crate::wiring::places::Places;
use crate::wiring::ports::{OsEntropy, verify_signature};

/// External checkpoints by timeline.
pub(in crate::commands) type Outside = BTreeMap<TimelineId, String>;

struct ServiceKeys {
    service_name: String,
    public_keys: Vec<[u8; 32]>,
}

#[derive(Clone, Copy)]
pub(in crate::commands) enum Archive<'a> {
    Sqlite(&'a SqliteArchive),
    Postgres(&'a PostgresStore),
}

impl<'a> Archive<'a> {
    fn source(self) -> &'a dyn ScanSource {
        match self {
            Self::Sqlite(archive) => archive,
            Self::Postgres(store) => store,
        }
    }

    async fn timelines(self) -> Result<Vec<TimelineId>, StoreError> {
        match self {
            Self::Sqlite(archive) => archive.timelines(),
            Self::Postgres(store) => store.timelines().await,
        }
    }

    async fn ended_timelines(self) -> Result<Vec<TimelineId>, StoreError> {
        match self {
            Self::Sqlite(archive) => archive.ended_timelines(),
            Self::Postgres(store) => store.ended_timelines().await,
        }
    }
}

pub(in crate::commands) struct Files<'a> {
    pub(in crate::commands) archive: Archive<'a>,
    pub(in crate::commands) outside: &'a Outside,
    pub(in crate::commands) service_name: &'a str,
    /// The current key, then retired ones.
    pub(in crate::commands) public_keys: &'a [[u8; 32]],
    pub(in crate::commands) depth: Depth,
}

pub(super) fn verify(command: &VerifyCommand, trusted: &Trusted) -> anyhow::Result<Vec<Scan>> {
    let folder = command.data.as_deref().unwrap_or(Path::new(DATA_DEFAULT));
    if let Some(unfinished) = unfinished_in(folder) {
        bail!(unfinished);
    }
    let ServiceKeys { service_name, public_keys } = service_keys(folder, &trusted.keys)?;
    // Read before the database: entries appended in between must not look like a rollback.
    let outside = read_outside(&command.checkpoints.as_deref().unwrap_or(folder).join(CHECKPOINTS_FILE))?;
    let scanning = async {
        let database = folder.join(DATABASE_FILE);
        let url = named_store(command.store.as_ref(), command.store_file.as_deref())?;
        let Some(url) = &url else {
            let named = || format!("the database {}", database.display());
            let archive = SqliteArchive::open(&database).with_context(named)?;
            return scan_all(Archive::Sqlite(&archive), command, trusted, &outside, &service_name, &public_keys)
                .await
                .with_context(named);
        };
        if database.try_exists().with_context(|| format!("{} cannot be read", database.display()))? {
            bail!(
                "{} exists, and --store names another database: give the data folder that belongs to that one, or leave \
                 out --store",
                database.display()
            );
        }
        let named = || format!("the database {url}");
        let options = PostgresOptions { url: url.secret().to_owned(), is_alone: false };
        let store = PostgresStore::open_to_look(&options).await.with_context(named)?;
        scan_all(Archive::Postgres(&store), command, trusted, &outside, &service_name, &public_keys)
            .await
            .with_context(named)
    };
    runtime()?.block_on(scanning)
}

async fn scan_all(
    archive: Archive<'_>,
    command: &VerifyCommand,
    trusted: &Trusted,
    outside: &Outside,
    service_name: &str,
    public_keys: &[[u8; 32]],
) -> anyhow::Result<Vec<Scan>> {
    let files = Files { archive, outside, service_name, public_keys, depth: command.depth };
    let one =
        command.timeline.as_ref().or(trusted.user_checkpoint.as_ref().map(|user_checkpoint| &user_checkpoint.timeline));
    files.scan(one, |timeline| trusted.user_checkpoint(timeline)).await
}

impl Files<'_> {
    /// Scans one timeline or all of them. `user_checkpoint` returns the checkpoint that the user kept of a timeline.
    pub(in crate::commands) async fn scan<'k>(
        &self,
        one: Option<&TimelineId>,
        user_checkpoint: impl Fn(&TimelineId) -> Option<&'k UserCheckpoint>,
    ) -> anyhow::Result<Vec<Scan>> {
        let timelines = match one {
            Some(timeline) => vec![timeline.clone()],
            None => all_timelines(self.archive, self.outside).await?,
        };
        let lacking = lacking(self.archive, self.outside).await.context("the ledger `system`")?;
        let mut scans = Vec::with_capacity(timelines.len());
        let authority = ReplayedAuthority::default();
        for timeline in timelines {
            let outside = self.outside.get(&timeline).into_iter();
            let outside = outside.map(|note| ReferenceCheckpoint { from: "kept outside", note: note.clone() });
            let own = user_checkpoint(&timeline).map(|user_checkpoint| ReferenceCheckpoint {
                from: "that you kept",
                note: user_checkpoint.note.clone(),
            });
            let request = ScanRequest {
                source: self.archive.source(),
                keys: keys_of(self.service_name, &timeline, self.public_keys)?,
                timeline: timeline.clone(),
                depth: self.depth,
                verify: &verify_signature,
                gazetteer: Some(Arc::new(Places::open())),
                authority: &authority,
                entropy: &OsEntropy,
                references: outside.chain(own).collect(),
                unkept: lacking.get(&timeline).into_iter().cloned().collect(),
            };
            let bar = ScanBar::new(&timeline);
            let scanned = scan(&request, &mut |progress: Progress| {
                bar.show(progress.stage.as_str(), progress.entries, progress.entries_total, progress.bytes);
            })
            .await;
            drop(bar);
            let scanned = scanned.with_context(|| format!("the timeline `{timeline}`"))?;
            scans.push(scanned.ok_or_else(|| anyhow!("there is no timeline `{timeline}`"))?);
        }
        Ok(scans)
    }
}

/// Returns the keys to trust: those given, or else the one in the folder.
fn service_keys(folder: &Path, trusted: &[VerifierKey]) -> anyhow::Result<ServiceKeys> {
    if let Some(current) = trusted.first() {
        let public_keys = trusted.iter().map(|key| *key.public_key()).collect();
        return Ok(ServiceKeys { service_name: service_name(current.name()).to_owned(), public_keys });
    }
    let path = folder.join(SIGNING_KEY_FILE);
    let named = || format!("there is no --key, and {} cannot be used instead", path.display());
    let (service_name, public_key) = read_public_key(&path).with_context(named)?;
    output::note(&format!(
        "warning: the public key is taken from {}, where an attacker may have put it; give the key that you trust \
         with --key",
        path.display()
    ));
    Ok(ServiceKeys { service_name, public_keys: vec![public_key] })
}

pub(in crate::commands) fn read_outside(file: &Path) -> anyhow::Result<Outside> {
    if !file.try_exists().with_context(|| format!("{} cannot be read", file.display()))? {
        output::note(&format!(
            "warning: there are no checkpoints outside the database, {}: without them, a rollback to an older copy \
             would not be noticed",
            file.display()
        ));
        return Ok(Outside::new());
    }
    let stored = CheckpointFile::read_only(file).with_context(|| format!("the checkpoints {}", file.display()))?;
    Ok(stored.into_iter().map(|stored| (stored.timeline, stored.note.to_string())).collect())
}

/// Timelines without the external checkpoint that they should have. Empty if there are no external checkpoints.
async fn lacking(archive: Archive<'_>, outside: &Outside) -> anyhow::Result<HashSet<TimelineId>> {
    if outside.is_empty() || !archive.source().schema_differences().await?.is_empty() {
        return Ok(HashSet::new());
    }
    let missing: Vec<_> =
        archive.timelines().await?.into_iter().filter(|timeline| !outside.contains_key(timeline)).collect();
    let stored = outside.iter().find(|(timeline, _)| timeline.is_system()).filter(|_| !missing.is_empty());
    let Some((system, note)) = stored else { return Ok(missing.into_iter().collect()) };
    let system = match archive.source().snapshot(system).await {
        Ok(Some(system)) => system.head,
        // The scan of the timeline reports the damage.
        Ok(None) | Err(StoreError::Damaged(_)) => return Ok(missing.into_iter().collect()),
        Err(error) => return Err(error.into()),
    };
    let size = Note::parse(note.as_bytes())
        .ok()
        .and_then(|note| Checkpoint::parse(note.text()).ok())
        .map_or(u64::MAX, |signed| signed.size);
    Ok(made_before(archive.source(), &system, size, missing).await?.into_iter().collect())
}

/// Returns every timeline that is in the database or was ever signed.
async fn all_timelines(archive: Archive<'_>, outside: &Outside) -> anyhow::Result<Vec<TimelineId>> {
    let mut timelines = match archive.timelines().await {
        Ok(timelines) => timelines,
        Err(error) if archive.source().schema_differences().await?.is_empty() => {
            return Err(anyhow::Error::from(error).context("the timelines cannot be read"));
        }
        // The table may be missing; the scans of the known timelines report that.
        Err(_) => vec![TimelineId::system(), TimelineId::main()],
    };
    // The table may not exist yet, or may be missing.
    timelines.extend(archive.ended_timelines().await.unwrap_or_default());
    timelines.extend(outside.keys().cloned());
    timelines.sort_unstable();
    timelines.dedup();
    if timelines.is_empty() {
        bail!("the database has no timelines");
    }
    Ok(timelines)
}
