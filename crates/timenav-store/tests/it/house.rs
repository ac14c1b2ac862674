//! An engine with all its dependencies, in its own folder, which can be closed, audited and reopened.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use tempfile::TempDir;
use timenav_core::access::{Denial, RestrictionLevel, Scope};
use timenav_core::ids::TimelineId;
use timenav_core::scan::Depth;
use timenav_engine::{
    ApiKeyRequest, Caller, Engine, Gazetteer, OpenError, Options, Ports, Refusal, ScanSource, Seen, Store, TimelineKey,
    Topic, Vault, WatchLedger, WatchedParadoxes, Webhooks,
};
use timenav_store::{SqliteArchive, SqliteStore};
use tokio::runtime::Handle;

use crate::audit::{self, Line};
use crate::cluster;
use crate::faulty_store::FaultyStore;
use crate::ports::{CountingEntropy, FakeClock, FakePasswords, FakeVault, MemoryOutside, SeedSigner};
use crate::sample::{timeline_id, user_id};

/// The environment of the engine, which outlives each [`Home`] opened in it.
pub(crate) struct House {
    folder: TempDir,
    /// The address of a PostgreSQL database, if the tests run on one.
    pub(crate) database: Option<String>,
    pub(crate) clock: Arc<FakeClock>,
    entropy: Arc<CountingEntropy>,
    pub(crate) signer: Arc<SeedSigner>,
    pub(crate) next_signer: Option<Arc<SeedSigner>>,
    pub(crate) outside: Arc<MemoryOutside>,
    pub(crate) vault: Option<Arc<dyn Vault>>,
    pub(crate) passwords: Arc<FakePasswords>,
    pub(crate) gazetteer: Option<Arc<dyn Gazetteer>>,
    pub(crate) options: Options,
    /// The keys created by first starts.
    pub(crate) first_keys: Mutex<Vec<String>>,
}

/// Allows any webhook target. Nothing is sent, and sealed values name their owner.
struct Anywhere;

impl Webhooks for Anywhere {
    fn check(&self, url: &str) -> Result<String, String> {
        Ok(url.to_owned())
    }

    fn seal(&self, timeline: &TimelineId, secret: &str) -> Result<String, String> {
        Ok(format!("{} bytes of {timeline}", secret.len()))
    }
}

/// A closed house on SQLite, kept in memory: filling a house takes longer than copying it.
pub(crate) struct Template {
    database: Vec<u8>,
    clock: FakeClock,
    entropy: CountingEntropy,
    outside: MemoryOutside,
    gazetteer: Option<Arc<dyn Gazetteer>>,
    first_keys: Vec<String>,
}

impl Template {
    pub(crate) fn new(house: &House) -> Self {
        let copy = house.path().with_extension("template");
        house.copy_database(&copy);
        rusqlite::Connection::open(&copy).unwrap().pragma_update(None, "journal_mode", "WAL").unwrap();
        Self {
            database: std::fs::read(copy).unwrap(),
            clock: house.clock.copied(),
            entropy: house.entropy.copied(),
            outside: house.outside.copied(),
            gazetteer: house.gazetteer.clone(),
            first_keys: house.first_keys.lock().clone(),
        }
    }

    /// Returns a copy of the house, with its own folder, clock and checkpoints.
    pub(crate) fn house(&self) -> House {
        let house = House {
            clock: Arc::new(self.clock.copied()),
            entropy: Arc::new(self.entropy.copied()),
            outside: Arc::new(self.outside.copied()),
            gazetteer: self.gazetteer.clone(),
            first_keys: Mutex::new(self.first_keys.clone()),
            ..House::new()
        };
        std::fs::write(house.path(), &self.database).unwrap();
        house
    }
}

/// The house of an engine, which may belong to it.
#[derive(Clone)]
pub(crate) enum HouseRef<'a> {
    Borrowed(&'a House),
    Owned(Arc<House>),
}

impl Deref for HouseRef<'_> {
    type Target = House;

    fn deref(&self) -> &House {
        match self {
            Self::Borrowed(house) => house,
            Self::Owned(house) => house,
        }
    }
}

impl<'a> HouseRef<'a> {
    async fn try_open(self, store: Arc<dyn Store>) -> Result<Home<'a>, OpenError> {
        let keep = |key: &str| {
            self.first_keys.lock().push(key.to_owned());
            Ok(())
        };
        // Boxed, because otherwise the futures of tests would be large.
        let engine = Box::pin(Engine::open(Arc::clone(&store), self.ports(), self.options.clone(), keep)).await?;
        let key = self.first_keys.lock().last().cloned().expect("a store that was ever opened has a first key");
        let admin = engine.authenticate(&key).expect("the first key works");
        Ok(Home { house: self, engine, store, admin })
    }
}

/// An open engine.
pub(crate) struct Home<'a> {
    pub(crate) engine: Engine,
    pub(crate) store: Arc<dyn Store>,
    /// The first operator.
    pub(crate) admin: Caller,
    /// Last, so that its folder is deleted after the store is closed.
    pub(crate) house: HouseRef<'a>,
}

impl House {
    pub(crate) fn new() -> Self {
        let service_name = "timenav.test".to_owned();
        Self::with(Options { service_name, logs_clock_reads: true, ..Options::default() })
    }

    /// Like [`House::new`], but always on PostgreSQL.
    pub(crate) fn on_postgres() -> Self {
        Self { database: Some(cluster::database()), ..Self::new() }
    }

    /// Returns the house of another service on the same database, with the same key and its own checkpoints.
    pub(crate) fn replica(&self) -> Self {
        Self {
            database: self.database.clone(),
            clock: Arc::clone(&self.clock),
            entropy: Arc::clone(&self.entropy),
            signer: Arc::clone(&self.signer),
            vault: self.vault.clone(),
            first_keys: Mutex::new(self.first_keys.lock().clone()),
            options: self.options.clone(),
            ..Self::new()
        }
    }

    /// The test clock is unrelated to any server's clock.
    pub(crate) fn with(options: Options) -> Self {
        let options = Options { host_clock_offset_millis_max: 0, ..options };
        Self {
            folder: tempfile::tempdir().unwrap(),
            database: cluster::is_for_engine().then(cluster::database),
            clock: Arc::new(FakeClock::new()),
            entropy: Arc::default(),
            signer: Arc::new(SeedSigner::new([7; 32])),
            next_signer: None,
            outside: Arc::default(),
            vault: Some(Arc::<FakeVault>::default()),
            passwords: Arc::default(),
            gazetteer: None,
            options,
            first_keys: Mutex::default(),
        }
    }

    /// Advances host time, also for leases, which use the database's clock and are made that much older. The presence
    /// of services is renewed constantly and is not made older.
    pub(crate) fn pass(&self, micros: i64) {
        self.clock.advance(micros);
        if let Some(url) = &self.database {
            let older = format!(
                "UPDATE listeners SET until = until - {micros};
                UPDATE firing_leases SET until = until - {micros}, not_before = not_before - {micros}"
            );
            cluster::execute(url, &older);
        }
    }

    pub(crate) fn path(&self) -> PathBuf {
        assert!(self.database.is_none(), "this test is about the file of SQLite, and there is none");
        self.folder.path().join("timenav.db")
    }

    pub(crate) fn database(&self) -> String {
        self.database.clone().expect("a house on PostgreSQL")
    }

    pub(crate) fn store(&self) -> Arc<dyn Store> {
        match &self.database {
            None => Arc::new(SqliteStore::open(&self.path()).unwrap()),
            Some(url) => Arc::new(cluster::open(url).unwrap()),
        }
    }

    /// Opens the storage for a scan only.
    pub(crate) fn archive(&self) -> Box<dyn ScanSource> {
        match &self.database {
            None => Box::new(SqliteArchive::open(&self.path()).unwrap()),
            Some(url) => Box::new(cluster::open(url).unwrap()),
        }
    }

    pub(crate) fn ports(&self) -> Ports {
        Ports {
            clock: Arc::clone(&self.clock) as _,
            entropy: Arc::clone(&self.entropy) as _,
            signer: Arc::clone(&self.signer) as _,
            next_signer: self.next_signer.clone().map(|next| next as _),
            outside: Arc::clone(&self.outside) as _,
            vault: self.vault.clone(),
            passwords: Some(Arc::clone(&self.passwords) as _),
            gazetteer: self.gazetteer.clone(),
            webhooks: Some(Arc::new(Anywhere)),
            long_work: Handle::current(),
        }
    }

    pub(crate) async fn try_open(&self, store: Arc<dyn Store>) -> Result<Home<'_>, OpenError> {
        HouseRef::Borrowed(self).try_open(store).await
    }

    pub(crate) async fn open(&self) -> Home<'_> {
        self.try_open(self.store()).await.unwrap()
    }

    pub(crate) async fn into_home(self) -> Home<'static> {
        let store = self.store();
        HouseRef::Owned(Arc::new(self)).try_open(store).await.unwrap()
    }

    /// Opens the house with a store that fails or blocks on request.
    pub(crate) async fn open_faulty(&self) -> (Arc<FaultyStore>, Home<'_>) {
        let store = Arc::new(FaultyStore::new(self.store()));
        let home = self.try_open(Arc::clone(&store) as _).await.unwrap();
        (store, home)
    }

    /// Opens the house with a store that fails or blocks on request, and gives it to the engine.
    pub(crate) async fn into_faulty_home(self) -> (Arc<FaultyStore>, Home<'static>) {
        let store = Arc::new(FaultyStore::new(self.store()));
        let home = HouseRef::Owned(Arc::new(self)).try_open(Arc::clone(&store) as _).await.unwrap();
        (store, home)
    }

    /// Returns why the house is not opened.
    pub(crate) async fn open_error(&self) -> OpenError {
        self.try_open(self.store()).await.err().expect("the start is rejected")
    }

    /// Copies the database to a new file in the house.
    pub(crate) fn backup(&self) -> PathBuf {
        let names = (0..).map(|number| self.path().with_extension(format!("backup{number}")));
        let backup = names.into_iter().find(|path| !path.exists()).expect("there is an unused name");
        self.copy_database(&backup);
        backup
    }

    /// Writes a consistent copy of the database, as an attacker or a backup would.
    pub(crate) fn copy_database(&self, to: &Path) {
        let connection = rusqlite::Connection::open(self.path()).unwrap();
        connection.execute("VACUUM INTO ?1", [to.to_str().unwrap()]).unwrap();
    }

    /// Replaces the database, which must be closed.
    pub(crate) fn replace_database(&self, from: &Path) {
        for end in ["", "-wal", "-shm"] {
            let path = format!("{}{end}", self.path().display());
            match std::fs::remove_file(&path) {
                Ok(()) => {}
                Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::NotFound, "{path}"),
            }
        }
        std::fs::copy(from, self.path()).unwrap();
    }
}

impl<'a> Home<'a> {
    /// Opens an engine on SQLite in a new house.
    pub(crate) async fn new() -> Home<'static> {
        House::new().into_home().await
    }

    /// Closes the engine and checks every ledger. Returns all entries.
    pub(crate) async fn close(self) -> Vec<Line> {
        self.engine.close().await;
        Box::pin(audit::check(&*self.store, &self.house)).await
    }

    /// Closes the engine without checks.
    pub(crate) async fn stop(self) {
        self.engine.close().await;
    }

    /// Closes the engine, checks every ledger, and opens it again.
    pub(crate) async fn reopen(self) -> Home<'a> {
        let house = self.house.clone();
        self.close().await;
        let store = house.store();
        house.try_open(store).await.unwrap()
    }

    /// Returns the entries of all ledgers, without checking them.
    pub(crate) async fn lines(&self) -> Vec<Line> {
        audit::lines(&*self.store).await
    }

    pub(crate) async fn restrict(&self, name: &str, level: RestrictionLevel) {
        self.engine.restrict_time_travel(&self.admin, user_id(name), level, None).await.unwrap();
    }

    /// Creates a user, and a key bound to `main`.
    pub(crate) async fn user(&self, name: &str, operator: bool) -> Caller {
        self.engine.create_user(&self.admin, user_id(name), operator, None).await.unwrap();
        self.caller(name, None).await
    }

    /// Creates another key for a user.
    pub(crate) async fn caller(&self, name: &str, scopes: Option<Vec<Scope>>) -> Caller {
        let request = ApiKeyRequest {
            user_id: Some(user_id(name)),
            timeline_id: None,
            label: "of a test".to_owned(),
            scopes,
            expires_at: None,
        };
        let made = self.engine.create_api_key(&self.admin, request, None).await.unwrap();
        self.engine.authenticate(&made.secret.unwrap()).unwrap()
    }

    pub(crate) async fn key(&self, timeline: &TimelineId) -> TimelineKey {
        let heads = self.store.open().await.unwrap().heads;
        heads.iter().find(|head| head.id == *timeline).expect("there is such a timeline").key
    }

    pub(crate) async fn check_clean(&self, timeline: &TimelineId) {
        let scan = Box::pin(self.engine.detect_tampering(&self.admin, timeline, Depth::Full, &mut |_| ())).await;
        let scan = scan.unwrap().scan;
        assert!(!scan.tampering_detected(), "{timeline}: {:#?}", scan.findings);
    }

    /// Returns the number of entries of a ledger; 0 if it does not exist.
    pub(crate) async fn size(&self, timeline: &str) -> u64 {
        let heads = self.store.open().await.unwrap().heads;
        heads.iter().find(|head| head.id.as_str() == timeline).map_or(0, |head| head.frontier.size())
    }
}

/// Returns `ok`, or the rejection as written in a table of expectations.
pub(crate) fn outcome_text<T>(result: &Result<T, Refusal>) -> String {
    match result {
        Ok(_) => "ok".to_owned(),
        // A hidden timeline is reported as one that does not exist.
        Err(Refusal::NotFound { what: "timeline", .. }) => format!("{:?}", Denial::Hidden),
        Err(Refusal::Denied(denial)) => format!("{denial:?}"),
        Err(refusal) => format!("{refusal:?}"),
    }
}

/// Returns whether a write failed because of the store.
pub(crate) fn is_unavailable<T>(result: &Result<T, Refusal>) -> bool {
    matches!(result, Err(Refusal::Unavailable(_)))
}

/// Returns a request for updates about topics of the caller's timeline, after a position or from now on.
pub(crate) fn watch(topics: &[Topic], position: Option<u64>) -> WatchLedger {
    let seen = position.map(|position| Seen { position, part: None, passed: None, entry: None });
    WatchLedger {
        timeline: None,
        topics: topics.to_vec(),
        paradoxes: WatchedParadoxes::default(),
        filter: Arc::default(),
        seen,
    }
}

#[expect(clippy::unnecessary_wraps, reason = "reads as the argument that it is")]
pub(crate) fn on(timeline: &str) -> Option<TimelineId> {
    Some(timeline_id(timeline))
}
