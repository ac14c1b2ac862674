use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use serde_json::json;
use timenav_core::ledger::VerifierKey;
use timenav_core::scan::Depth;
use timenav_store::CheckpointFile;
use zeroize::Zeroizing;

use crate::commands::service::backup_file::{Contents, KEY_NAMES, Manifest};
use crate::commands::service::checked_copy::{CheckedCopy, keep};
use crate::commands::service::of_file;
use crate::commands::service::stopped_service::write_files;
use crate::commands::service::verify::files::read_outside;
use crate::commands::service::verify::read_key;
use crate::commands::service::work_folder::WorkFolder;
use crate::config::{ServeOptions, Settings, StoreUrl};
use crate::data_folder::{
    ADMIN_KEY_FILE, CHECKPOINTS_FILE, CHECKPOINTS_LOCK_FILE, CheckpointPlace, DATABASE_FILE, DataFolder, LOCK_FILE,
    RESTORING_FOLDER, SIGNING_KEY_FILE, sync_folder_of, write_secret,
};
use crate::exit::Failure;
use crate::key_files::read_public_key;
use crate::output;

/// What a data folder may contain before a restore: a file system folder, locks and keys.
const MAY_BE_THERE: [&str; 4] = ["lost+found", LOCK_FILE, CHECKPOINTS_LOCK_FILE, RESTORING_FOLDER];

const INSTEAD: &str = "use `pg_restore` into an empty database, put signing.key back, and check it with `timenav verify --store` \
     (docs/postgresql.md, \"Restore\")";

/// Restores a backup to a data folder that no service is using.
///
/// The backup is checked against its digests and signature, and the database against its signed checkpoints. The data
/// folder must be empty except for keys. Without keys there, they come from `--keys` or from the backup. They must be
/// the keys of the time of the backup.
///
/// Everything written after the backup is lost. If `--checkpoints` has later checkpoints, the service starts only after
/// `timenav accept-rollback`.
#[derive(Debug, clap::Args)]
pub(crate) struct RestoreCommand {
    /// The backup file.
    #[arg(long, value_name = "FILE")]
    from: PathBuf,
    /// The data folder to create. [default: ./timenav-data]
    #[arg(long, env = "TIMENAV_DATA", value_name = "DIR")]
    data: Option<PathBuf>,
    /// The PostgreSQL database. The command then prints what to use instead.
    #[arg(long, env = "TIMENAV_STORE", hide = true, hide_env_values = true, value_name = "URL")]
    store: Option<StoreUrl>,
    /// The checkpoint folder. Defaults to the data folder. Existing checkpoints stay.
    #[arg(long, env = "TIMENAV_CHECKPOINTS", value_name = "DIR")]
    checkpoints: Option<PathBuf>,
    /// The configuration file, for `data` and `checkpoints`.
    #[arg(long, env = "TIMENAV_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// The folder with `signing.key` and optionally `admin.key`.
    #[arg(long, value_name = "DIR")]
    keys: Option<PathBuf>,
    /// The trusted public key, as `<name>+<id>+<base64>` (C2SP signed-note).
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// How much of the database to check: `full`, `quick`, `tail:<n>` or `sample:<n>`.
    #[arg(long, value_name = "DEPTH", default_value = "quick")]
    depth: Depth,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

/// Fails if the backup is damaged, its keys differ, or the data folder is not empty or in use.
pub(crate) fn run(command: RestoreCommand) -> Result<(), Failure> {
    let RestoreCommand { from, data, store, checkpoints, config, keys, key, depth, json } = command;
    let settings = Settings::resolve(ServeOptions { data, store, config, checkpoints, ..ServeOptions::default() })?;
    of_file::check_setting(&settings, "restore", INSTEAD)?;
    let contents = Contents::read(&from)?;
    contents.verify_manifest()?;
    trust(&contents, key.as_deref(), keys.as_deref(), &settings.data)?;
    let restored = write_files(restore(&contents, &settings, keys.as_deref(), depth))?;
    restored.show(&contents.manifest, &settings.data, json)
}

struct Restored {
    checked: CheckedCopy,
    /// An existing checkpoint file, which is not replaced.
    checkpoints_there: Option<PathBuf>,
    has_signing_key: bool,
}

/// Compares the key that signed the backup with the trusted one and with the available keys.
fn trust(contents: &Contents, trusted: Option<&Path>, keys: Option<&Path>, data: &Path) -> anyhow::Result<()> {
    let signed = &contents.manifest.key;
    if let Some(file) = trusted {
        let trusted = read_key(file)?;
        if trusted.public_key() != signed.public_key() {
            bail!("the backup was signed with the key {signed}, but you trust {trusted}");
        }
    }
    let mut at_hand = Vec::new();
    if let Some(folder) = keys {
        at_hand.push(folder.join(SIGNING_KEY_FILE));
    }
    let there = data.join(SIGNING_KEY_FILE);
    if there.try_exists().with_context(|| format!("{} cannot be read", there.display()))? {
        at_hand.push(there);
    }
    for path in &at_hand {
        let (name, public_key) =
            read_public_key(path).with_context(|| format!("the signing key {}", path.display()))?;
        if public_key != *signed.public_key() {
            let found = VerifierKey::new(&name, public_key)?;
            bail!(
                "the signing key {} does not match the backup: it is {found}, but the backup was signed with \
                 {signed}. It belongs to another service, or the key was rotated: a backup needs the key that was in \
                 use when it was created",
                path.display()
            );
        }
    }
    if trusted.is_none() && at_hand.is_empty() {
        output::note(
            "warning: the public key is taken from the backup itself, where an attacker may have put it; give the key \
             that you trust with --key",
        );
    }
    Ok(())
}

async fn restore(
    contents: &Contents,
    settings: &Settings,
    keys: Option<&Path>,
    depth: Depth,
) -> Result<Restored, Failure> {
    let folder = DataFolder::open(&settings.data)?;
    is_empty(folder.path())?;
    let place = folder.checkpoints(settings.checkpoints.as_deref())?;
    let work = WorkFolder::make(folder.path().join(RESTORING_FOLDER))?;
    let (database, stored) = (work.file(DATABASE_FILE), work.file(CHECKPOINTS_FILE));
    contents.extract(DATABASE_FILE, &database)?;
    contents.extract(CHECKPOINTS_FILE, &stored)?;
    let key_texts = key_texts(contents, &folder, keys)?;
    let outside = read_outside(&stored)?;
    let checked = CheckedCopy::check(&database, &outside, &contents.manifest.key, depth).await?;
    // In this order: a database without checkpoints or key does not start, so an incomplete folder is unusable.
    work.put(DATABASE_FILE, &folder.database())?;
    let checkpoints_there = keep_outside(&place, &stored)?;
    for (name, text) in &key_texts {
        let path = folder.path().join(name);
        write_secret(&path, text).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    let has_signing_key = folder.signing_key().exists();
    drop(work);
    sync_folder_of(&folder.database()).context("the data folder cannot be written")?;
    Ok(Restored { checked, checkpoints_there, has_signing_key })
}

/// Rejects a folder that contains anything but keys.
fn is_empty(folder: &Path) -> anyhow::Result<()> {
    let unreadable = || format!("{} cannot be read", folder.display());
    for entry in folder.read_dir().with_context(unreadable)? {
        let name = entry.with_context(unreadable)?.file_name();
        let is_allowed = MAY_BE_THERE.iter().chain(&KEY_NAMES).any(|allowed| *allowed == name);
        if !is_allowed {
            bail!(
                "the data folder {} is not empty: it contains {}; give an empty folder, or move that away",
                folder.display(),
                Path::new(&name).display()
            );
        }
    }
    Ok(())
}

/// Returns the keys missing from the folder, from the key folder or else from the backup.
fn key_texts(
    contents: &Contents,
    folder: &DataFolder,
    keys: Option<&Path>,
) -> anyhow::Result<Vec<(&'static str, Zeroizing<String>)>> {
    let mut texts = Vec::new();
    for name in KEY_NAMES.into_iter().filter(|name| !folder.path().join(name).exists()) {
        let given_key = keys.map(|keys| keys.join(name)).filter(|path| path.exists());
        if let Some(path) = given_key {
            let text = std::fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
            texts.push((name, Zeroizing::new(text)));
        } else if contents.keys().any(|there| there == name) {
            texts.push((name, contents.key_text(name)?));
        }
    }
    Ok(texts)
}

/// Writes the checkpoints of the backup. Existing ones are kept and returned: they may be newer.
fn keep_outside(place: &CheckpointPlace, stored: &Path) -> anyhow::Result<Option<PathBuf>> {
    let file = &place.file;
    let length = file.metadata().map_or(0, |there| there.len());
    if length > 0 {
        return Ok(Some(file.clone()));
    }
    let checkpoints =
        CheckpointFile::read_only(stored).with_context(|| format!("the checkpoints {}", stored.display()))?;
    keep(&checkpoints, file)?;
    Ok(None)
}

impl Restored {
    fn show(&self, manifest: &Manifest, data: &Path, as_json: bool) -> Result<(), Failure> {
        let Self { checked, checkpoints_there, has_signing_key } = self;
        let mut to_do = Vec::new();
        if !has_signing_key {
            to_do.push(format!(
                "Put the signing key whose public half is {} there as {SIGNING_KEY_FILE}: the service does not start \
                 without it.",
                manifest.key
            ));
        }
        if let Some(file) = checkpoints_there {
            to_do.push(format!(
                "The checkpoints in {} were left as they are: if they are newer than the backup, the service starts \
                 only after `timenav accept-rollback`. Keep a copy of that file: it is the evidence of what was lost.",
                file.display()
            ));
        }
        to_do.push(format!(
            "Anything written after {} is missing. Users, keys and sessions are as they were then: repeat later \
             revocations. You need an operator's key for that, in {ADMIN_KEY_FILE} or elsewhere.",
            manifest.made_at
        ));
        let status = format!("The data folder {} was restored.", data.display());
        if as_json {
            let mut answer = checked.json();
            answer["status"] = json!(status);
            answer["made_at"] = json!(manifest.made_at);
            answer["service_name"] = json!(manifest.key.name());
            answer["verifier_key"] = json!(manifest.verifier_key()?.to_string());
            answer["timelines"] = json!(manifest.timelines);
            answer["entries"] = json!(manifest.entries);
            answer["has_signing_key"] = json!(has_signing_key);
            answer["to_do"] = json!(to_do);
            return output::write_json(&answer);
        }
        let mut text = format!(
            "{status}\n  service  {}\n  created  {}\n  contains {} timelines, {} entries\n  checked  {}\n",
            manifest.key.name(),
            manifest.made_at,
            manifest.timelines,
            manifest.entries,
            checked.checked_text()
        );
        for sentence in &to_do {
            text.push_str(&output::printable(sentence));
            text.push('\n');
        }
        output::write(&text)
    }
}
