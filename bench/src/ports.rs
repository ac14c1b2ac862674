//! The engine inside this process, for measurements without HTTP.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow};
use aws_lc_rs::hmac;
use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use rusqlite::{Connection, OpenFlags};
use timenav_core::ids::TimelineId;
use timenav_engine::{Caller, Engine, Entropy, Options, Ports, ReadLog, Signer, WallClock};
use timenav_store::{CheckpointFile, SqliteStore};
use tokio::runtime::Runtime;

use crate::history::History;
use crate::measure::setting::Setting;
use crate::measure::wall_clock::HostClock;

const BATCH_EVENTS: u64 = 2_048;

pub(crate) struct SystemEntropy;

impl Entropy for SystemEntropy {
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    fn fill(&self, buffer: &mut [u8]) {
        aws_lc_rs::rand::fill(buffer).expect("the system gives randomness, or nothing works");
    }
}

/// Signs with a well-known key, because the results need not be trusted.
struct BenchSigner(Ed25519KeyPair);

impl Signer for BenchSigner {
    fn public_key(&self) -> [u8; 32] {
        self.0.public_key().as_ref().try_into().unwrap_or_default()
    }

    fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.0.sign(message).as_ref().try_into().unwrap_or([0; 64])
    }

    fn verify(&self, public_key: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> bool {
        UnparsedPublicKey::new(&ED25519, public_key).verify(message, signature).is_ok()
    }

    fn authenticate(&self, label: &'static str, message: &[u8]) -> [u8; 32] {
        let key = hmac::Key::new(hmac::HMAC_SHA256, label.as_bytes());
        hmac::sign(&key, message).as_ref().try_into().unwrap_or_default()
    }
}

pub(crate) fn database_of(folder: &Path) -> PathBuf {
    folder.join("bench.db")
}

/// An engine on a folder, and its runtime. It is closed on drop.
pub(crate) struct Opened {
    pub(crate) runtime: Runtime,
    pub(crate) engine: Engine,
    pub(crate) caller: Caller,
    pub(crate) store: Arc<SqliteStore>,
}

impl Opened {
    /// Opens the engine, and authenticates with the key created by the first start.
    pub(crate) fn new(folder: &Path) -> anyhow::Result<Self> {
        Self::on(runtime()?, folder)
    }

    /// Like [`Opened::new`], with another runtime than one with a single worker.
    pub(crate) fn on(runtime: Runtime, folder: &Path) -> anyhow::Result<Self> {
        let (engine, caller, store) = runtime.block_on(open(folder))?;
        Ok(Self { runtime, engine, caller, store })
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.runtime.block_on(self.engine.close());
    }
}

pub(crate) fn runtime() -> anyhow::Result<Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?)
}

/// Opens the database of a folder without the engine.
pub(crate) fn open_database(folder: &Path) -> anyhow::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Ok(Connection::open_with_flags(database_of(folder), flags)?)
}

async fn open(folder: &Path) -> anyhow::Result<(Engine, Caller, Arc<SqliteStore>)> {
    open_at(folder, Arc::new(HostClock::new()), ReadLog::Buffered).await
}

/// Reads content. Unlike reads of the clock, this is recorded in the ledger.
pub(crate) async fn logged_read(engine: &Engine, caller: &Caller) -> anyhow::Result<()> {
    engine.anchors(caller, None, 1, None).await?;
    Ok(())
}

/// Opens the engine with this host clock and read log.
pub(crate) async fn open_at(
    folder: &Path,
    clock: Arc<dyn WallClock>,
    read_log: ReadLog,
) -> anyhow::Result<(Engine, Caller, Arc<SqliteStore>)> {
    let store = Arc::new(SqliteStore::open(&database_of(folder))?);
    let key_pair = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).map_err(|_| anyhow!("a seed is no key"))?;
    let ports = Ports {
        clock,
        entropy: Arc::new(SystemEntropy),
        signer: Arc::new(BenchSigner(key_pair)),
        next_signer: None,
        outside: Arc::new(CheckpointFile::open(&folder.join("checkpoints.log"))?),
        vault: None,
        passwords: None,
        gazetteer: None,
        webhooks: None,
        long_work: tokio::runtime::Handle::current(),
    };
    let options = Options { read_log, ..Options::default() };
    let key_file = folder.join("admin.key");
    let keep = |key: &str| std::fs::write(&key_file, key);
    let engine = Engine::open(Arc::clone(&store) as Arc<dyn timenav_engine::Store>, ports, options, keep).await?;
    let key = std::fs::read_to_string(&key_file).context("the folder has no key")?;
    let caller = engine.authenticate(key.trim())?;
    Ok((engine, caller, store))
}

/// Returns a folder with this many events, created by this run or an earlier one.
pub(crate) fn stored_history(setting: &Setting, events_count: u64) -> anyhow::Result<PathBuf> {
    let make = |folder: &Path| make_history(folder, events_count);
    setting.cached_folder(&format!("history-{events_count}-v1"), make)
}

pub(crate) fn make_history(folder: &Path, events_count: u64) -> anyhow::Result<()> {
    let opened = Opened::new(folder)?;
    let timeline = TimelineId::new(TimelineId::MAIN)?;
    let mut first = 0;
    while first < events_count {
        crate::measure::interrupt::check()?;
        let end = (first + BATCH_EVENTS).min(events_count);
        let drafts = (first..end).map(|number| History::default().draft(number)).collect();
        opened.runtime.block_on(opened.engine.import_events(&opened.caller, &timeline, drafts))?;
        first = end;
    }
    Ok(())
}
