use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, anyhow, bail};
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{VerifierKey, origin};
use timenav_core::time::Span;
use timenav_engine::{
    Acceptance, Engine, LONG_WORK_RUNNING_MAX, OpenError, Options, Ports, Signer, Store, VIEWS_RUNNING_MAX,
};
use timenav_store::{CheckpointFile, PostgresOptions, PostgresStore, SqliteStore};
use timenav_vault::{AesVault, Argon2Passwords, Turns};
use tokio::runtime::{Handle, Runtime};

use self::places::Places;
use self::ports::{HostClock, OsEntropy};
use crate::background::webhooks::Gate;
use crate::config::{Settings, StoreUrl};
use crate::data_folder::{CheckpointPlace, DataFolder, MOVED_FILE, make_private, unfinished_in};
use crate::key_files::{NextKeyFile, ServiceKey, keep_first_key, service_key, settle_first_key, stored_service_key};
use crate::trusted_checkpoint::checkpoints_of_others;

pub(crate) mod ports;
pub(crate) mod places;
pub(crate) mod surroundings;

/// nice(2): writes do not wait for long-running work, and it does not starve on a busy machine, as with 19.
#[cfg(target_os = "linux")]
const LONG_WORK_NICE: i32 = 10;
/// Blocking threads of long-running work, in addition to those that drive it.
const LONG_WORK_BLOCKING_THREADS_MAX: usize = 16;

/// An open engine with the lock of its checkpoints.
pub(crate) struct Wired {
    pub(crate) engine: Engine,
    /// Webhook policy; `None` if the service sends none.
    pub(crate) webhooks: Option<Arc<Gate>>,
    pub(crate) checkpoints: CheckpointPlace,
    _long_work: LongWorkThreads,
}

/// Threads for long-running work: one per concurrent job, and some for blocking I/O.
struct LongWorkThreads(Option<Runtime>);

impl LongWorkThreads {
    fn start() -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(LONG_WORK_RUNNING_MAX + VIEWS_RUNNING_MAX)
            .max_blocking_threads(LONG_WORK_BLOCKING_THREADS_MAX)
            .thread_name("long-work")
            .on_thread_start(give_way)
            .enable_time()
            .build();
        runtime.map(|runtime| Self(Some(runtime))).context("threads cannot be started")
    }

    fn handle(&self) -> anyhow::Result<Handle> {
        self.0.as_ref().map(|runtime| runtime.handle().clone()).context("the threads have ended")
    }
}

impl Drop for LongWorkThreads {
    fn drop(&mut self) {
        // Remaining work is abandoned: it changes nothing.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Only Linux has priorities per thread (setpriority(2), notes). If it fails, the work has normal priority.
fn give_way() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, LONG_WORK_NICE);
}

/// Opens a data folder, or initializes it on the first start. Fails if the database does not match its signatures.
pub(crate) async fn open(folder: &DataFolder, settings: &Settings) -> anyhow::Result<Wired> {
    let checkpoints = folder.checkpoints(settings.checkpoints.as_deref())?;
    let postgres = match &settings.store {
        Some(url) => Some(open_postgres(folder, url, !settings.replicas).await?),
        None => None,
    };
    if postgres.is_none() {
        refuse_a_second_database(folder, &checkpoints)?;
    }
    // The key is created before the database, so that no crash leaves a database without it.
    let name = settings.service_name.as_deref();
    let key = if postgres.is_some() {
        // Several services would each create a different one.
        stored_service_key(folder, name)?
    } else {
        service_key(folder, name, &OsEntropy)?
    };
    let next = next_signer(folder, &key)?;
    let mut parts = Parts::of(folder, settings, checkpoints, (key, next), postgres)?;
    let log = origin(&parts.options.service_name, TimelineId::SYSTEM);
    let key = VerifierKey::new(&log, parts.ports.signer.public_key())?;
    parts.options.checkpoints_of_others = checkpoints_of_others(settings, (&key, &parts.checkpoints.file)).await?;
    parts.open(folder).await
}

async fn open_postgres(folder: &DataFolder, url: &StoreUrl, is_alone: bool) -> anyhow::Result<Arc<dyn Store>> {
    let named = || format!("the database {url}");
    if folder.database().try_exists().context("the database cannot be read")? {
        bail!(
            "{} exists, and --store names another database: leave out --store, or put that file elsewhere and leave the \
             others in the folder",
            folder.database().display()
        );
    }
    let options = PostgresOptions { url: url.secret().to_owned(), is_alone };
    let store = PostgresStore::open(&options).await.with_context(named)?;
    let key = folder.signing_key();
    let has_key = key.try_exists().with_context(|| format!("{} cannot be read", key.display()))?;
    if has_key {
        return Ok(Arc::new(store));
    }
    if store.open().await.with_context(named)?.heads.is_empty() {
        bail!(
            "there is no signing key {}: create it with `timenav signing-key new {}`, or copy the one of the other \
             services on the database",
            key.display(),
            key.display(),
        );
    }
    bail!(
        "the database {url} is in use, but the key that signs its ledgers, {}, is missing: put the key back; without it \
         the history can be read but not continued",
        key.display(),
    );
}

/// Rejects creating a database where there was one or where a move is in progress: it would start a second history
/// under the same key and block the right one.
fn refuse_a_second_database(folder: &DataFolder, checkpoints: &CheckpointPlace) -> anyhow::Result<()> {
    let is_there = |path: &Path| path.try_exists().with_context(|| format!("{} cannot be read", path.display()));
    let database = folder.database();
    if is_there(&database)? {
        return Ok(());
    }
    if let Some(unfinished) = unfinished_in(folder.path()) {
        bail!(unfinished);
    }
    let moved = folder.path().join(MOVED_FILE);
    if is_there(&moved)? {
        bail!(
            "everything in {} was moved to PostgreSQL: name that database with --store or TIMENAV_STORE; {} is the old \
             database",
            database.display(),
            moved.display()
        );
    }
    let named = || format!("the checkpoints {}", checkpoints.file.display());
    if is_there(&checkpoints.file)? && !CheckpointFile::read_only(&checkpoints.file).with_context(named)?.is_empty() {
        bail!(
            "there is no database {}, but {} has signed checkpoints of it: put the database back, restore a backup, or \
             name a PostgreSQL database with --store",
            database.display(),
            checkpoints.file.display()
        );
    }
    Ok(())
}

fn open_sqlite(folder: &DataFolder, checkpoints: &CheckpointPlace) -> anyhow::Result<Arc<dyn Store>> {
    refuse_a_second_database(folder, checkpoints)?;
    let database = folder.database();
    let named = || format!("the database {}", database.display());
    make_private(&database).with_context(named)?;
    Ok(Arc::new(SqliteStore::open(&database).with_context(named)?))
}

/// Like [`open`], for a key rotation.
pub(crate) async fn open_to_rotate(
    folder: &DataFolder,
    settings: &Settings,
    key: ServiceKey,
    next: Arc<dyn Signer>,
) -> anyhow::Result<Wired> {
    let checkpoints = folder.checkpoints(settings.checkpoints.as_deref())?;
    let postgres = match &settings.store {
        Some(url) => Some(open_postgres(folder, url, true).await?),
        None => None,
    };
    put_together(folder, settings, checkpoints, (key, Some(next)), postgres).await
}

/// Accepts a rollback in ledger entries, or only describes it. Returns a sentence for each loss.
pub(crate) async fn accept_rollback(
    folder: &DataFolder,
    settings: &Settings,
    acceptance: Acceptance,
    is_written: bool,
) -> anyhow::Result<Vec<String>> {
    let checkpoints = folder.checkpoints(settings.checkpoints.as_deref())?;
    let postgres = match &settings.store {
        Some(url) => Some(open_postgres(folder, url, false).await?),
        None => None,
    };
    let key = stored_service_key(folder, settings.service_name.as_deref())?;
    let next = next_signer(folder, &key)?;
    let mut parts = Parts::of(folder, settings, checkpoints, (key, next), postgres)?;
    parts.options.accept_rollback = Some(acceptance);
    if parts.store.open().await?.heads.is_empty() {
        bail!("the database has no ledger: restore one first, or start with an empty data folder");
    }
    let lost = Engine::losses(&*parts.store, &parts.ports, &parts.options).await?;
    if is_written && !lost.is_empty() {
        parts.open(folder).await?.engine.close().await;
    }
    Ok(lost)
}

async fn put_together(
    folder: &DataFolder,
    settings: &Settings,
    checkpoints: CheckpointPlace,
    keys: (ServiceKey, Option<Arc<dyn Signer>>),
    postgres: Option<Arc<dyn Store>>,
) -> anyhow::Result<Wired> {
    Parts::of(folder, settings, checkpoints, keys, postgres)?.open(folder).await
}

struct Parts {
    store: Arc<dyn Store>,
    ports: Ports,
    webhooks: Option<Arc<Gate>>,
    options: Options,
    checkpoints: CheckpointPlace,
    long_work: LongWorkThreads,
    is_replica: bool,
}

impl Parts {
    fn of(
        folder: &DataFolder,
        settings: &Settings,
        checkpoints: CheckpointPlace,
        (key, next): (ServiceKey, Option<Arc<dyn Signer>>),
        postgres: Option<Arc<dyn Store>>,
    ) -> anyhow::Result<Self> {
        let entropy = Arc::new(OsEntropy);
        let store = postgres.map_or_else(|| open_sqlite(folder, &checkpoints), Ok)?;
        let named = || format!("the checkpoints {}", checkpoints.file.display());
        make_private(&checkpoints.file).with_context(named)?;
        let outside = CheckpointFile::open(&checkpoints.file).with_context(named)?;
        // Two separate queues for deliberately slow work, so that a user who seals much does not delay logins.
        let vault = settings.encryption.then(|| AesVault::new(Arc::clone(&entropy) as _, Turns::default()));
        let passwords = Argon2Passwords::new(Arc::clone(&entropy) as _, Turns::default());
        let long_work = LongWorkThreads::start()?;
        let sends_webhooks = !settings.webhook_allow_host.is_empty();
        let gate = || Arc::new(Gate::new(settings.webhook_allow_host.clone(), Arc::clone(&key.signer)));
        let webhooks = sends_webhooks.then(gate);
        let ports = Ports {
            webhooks: webhooks.clone().map(|gate| gate as _),
            long_work: long_work.handle()?,
            clock: Arc::new(HostClock::start()),
            entropy,
            signer: key.signer,
            next_signer: next,
            outside: Arc::new(outside),
            vault: vault.map(|vault| Arc::new(vault) as _),
            passwords: Some(Arc::new(passwords)),
            gazetteer: Some(Arc::new(Places::open())),
        };
        let options = Options {
            service_name: key.service_name,
            limited_access_window_days: settings.limited_access_window_days,
            timelines_by_first_write: settings.timelines_by_first_write,
            read_log: settings.recording.read_log.into(),
            logs_clock_reads: settings.recording.log_clock_reads,
            checkpoint_lag: settings.recording.checkpoint_lag.span(),
            timelines_per_user_max: settings.timelines_per_user,
            ended_grace_days: settings.ended_grace_days,
            session_idle_seconds: settings.session_idle_secs.get(),
            session_seconds: settings.session_max_secs.get(),
            retention_floor_seconds: settings.retention_floor_secs,
            accept_rollback: settings.accept_rollback.then(Acceptance::default),
            joins: settings.join,
            host_clock_offset_millis_max: settings.host_clock_offset_max_millis,
            replica_name: settings.replica_name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            witnesses_required: settings.witnesses.required,
            witness_wait: Span::from_micros(i64::from(settings.witnesses.wait.get()) * 1_000_000),
            ..Options::default()
        };
        Ok(Self { store, ports, webhooks, options, checkpoints, long_work, is_replica: settings.replicas })
    }

    async fn open(self, folder: &DataFolder) -> anyhow::Result<Wired> {
        let Self { store, ports, webhooks, options, checkpoints, long_work, is_replica } = self;
        let admin_key = folder.admin_key();
        let engine = match Engine::open(store, ports, options, |secret| keep_first_key(&admin_key, secret)).await {
            Err(OpenError::OutsideMissing { entries }) if is_replica => {
                return Err(no_checkpoints(entries, &checkpoints.file));
            }
            opened => opened?,
        };
        let settled = settle_first_key(&admin_key, |secret| engine.authenticate(secret).is_ok());
        settled.with_context(|| format!("{} cannot be written", admin_key.display()))?;
        Ok(Wired { engine, webhooks, checkpoints, _long_work: long_work })
    }
}

/// Explains why a replica does not start without checkpoints. Most often it is new.
fn no_checkpoints(entries: u64, file: &Path) -> anyhow::Error {
    anyhow!(
        "the database has {entries} entries, but {} has no checkpoint to compare it with: if this replica is new, \
         start it with --join, and with --trusted-checkpoint and the `checkpoints.log` of another replica; if it had \
         checkpoints, put them back",
        file.display()
    )
}

/// The next key of an interrupted rotation may have sealed passwords. The service runs with the current key anyway.
fn next_signer(folder: &DataFolder, key: &ServiceKey) -> anyhow::Result<Option<Arc<dyn Signer>>> {
    match NextKeyFile::read(folder, key) {
        Ok(NextKeyFile::None) => Ok(None),
        Ok(NextKeyFile::Begun(next)) => {
            tracing::warn!(
                path = %folder.next_signing_key().display(),
                "a rotation of the signing key was started but not finished, so the old key still signs; stop the \
                 service and run timenav rotate-signing-key to finish it"
            );
            Ok(Some(next.key.signer))
        }
        Ok(NextKeyFile::Left) => NextKeyFile::clear(folder).map(|()| None),
        Err(error) => {
            tracing::warn!("{error:#}");
            Ok(None)
        }
    }
}
