//! `timenav backup`: writes a data folder into one file while the service runs.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use indicatif::HumanBytes;
use serde_json::json;
use timenav_core::ledger::VerifierKey;
use timenav_core::scan::Depth;
use timenav_core::time::{Instant, Wall};
use timenav_engine::WallClock as _;

use crate::commands::service::backup_file::{Contents, KEY_NAMES, Manifest, Source, pack};
use crate::commands::service::checked_copy::CheckedCopy;
use crate::commands::service::copy_bar::copy_database;
use crate::commands::service::of_file;
use crate::commands::service::stopped_service::{FileService, database, write_files};
use crate::commands::service::verify::files::read_outside;
use crate::commands::service::work_folder::{UNFINISHED_FILE, WorkFolder};
use crate::config::Settings;
use crate::data_folder::{ADMIN_KEY_FILE, CHECKPOINTS_FILE, DATABASE_FILE, SIGNING_KEY_FILE};
use crate::exit::Failure;
use crate::key_files::{ServiceKey, read_signing_key};
use crate::output;
use crate::wiring::ports::HostClock;

const MICROS_PER_SECOND: i64 = 1_000_000;

const INSTEAD: &str = "use `pg_dump --format=custom` or base backups for the database, and copy signing.key and checkpoints.log \
     from the data folder (docs/postgresql.md, \"Back up\")";

/// Backs up a data folder to one file, even while the service is running.
///
/// The backup is a snapshot of everything that was acknowledged before the command started. It needs free space of
/// twice the size of the data, in addition to the file. The copy is checked: the signature of each timeline, each
/// external checkpoint, and the structure of the database. `--depth full` also checks every entry and row.
///
/// The file is a tar archive with a signed manifest, readable only by its owner. It has no keys unless you pass
/// `--with-keys`; otherwise keep a copy of `signing.key` elsewhere.
#[derive(Debug, clap::Args)]
pub(crate) struct BackupCommand {
    /// The file to create. It must not exist.
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
    #[command(flatten)]
    service: FileService,
    /// Include the keys. Anyone with the file then controls the service.
    #[arg(long)]
    with_keys: bool,
    /// How much of the copy to check: `full`, `quick`, `tail:<n>` or `sample:<n>`.
    #[arg(long, value_name = "DEPTH", default_value = "quick")]
    depth: Depth,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

/// Fails if the data does not match its signatures.
pub(crate) fn run(command: BackupCommand) -> Result<(), Failure> {
    let BackupCommand { to, service, with_keys, depth, json } = command;
    let settings = service.settings()?;
    of_file::check(&settings, "backup", INSTEAD)?;
    let made = write_files(make(&settings, &to, with_keys, depth))?;
    made.show(&settings, &to, json)
}

struct Made {
    manifest: Manifest,
    checked: CheckedCopy,
    bytes: u64,
}

async fn make(settings: &Settings, to: &Path, with_keys: bool, depth: Depth) -> Result<Made, Failure> {
    let database = database(settings)?;
    is_free(to)?;
    let work = WorkFolder::make(parent_folder(to)?)?;
    let made_at = HostClock::start().now();
    // Read before the database: entries appended in between must not look like a rollback.
    let stored = settings.checkpoints.as_deref().unwrap_or(&settings.data).join(CHECKPOINTS_FILE);
    let outside = read_outside(&stored)?;
    let key = service_key(&settings.data)?;
    let copy = work.file(DATABASE_FILE);
    copy_database(&database, &copy)?;
    let verifier = VerifierKey::new(&key.service_name, key.signer.public_key()).map_err(anyhow::Error::from)?;
    let checked = CheckedCopy::check(&copy, &outside, &verifier, depth).await?;
    checked.keep(&work.file(CHECKPOINTS_FILE), &outside, &key)?;
    let (timelines, entries) = checked.counts();
    let manifest = Manifest {
        key: verifier,
        made_at: made_at.to_string(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        timelines,
        entries,
        members: Vec::new(),
    };
    let sources = sources(&work, &settings.data, with_keys)?;
    let unfinished = work.file(UNFINISHED_FILE);
    let manifest = pack(&unfinished, &sources, manifest, seconds(made_at), &key)?;
    if service_key(&settings.data)?.signer.public_key() != *manifest.key.public_key() {
        return Err(anyhow!("the signing key was rotated during the backup; run the command again").into());
    }
    let written = Contents::read(&unfinished)?;
    written.verify_manifest()?;
    written.verify_members()?;
    let bytes = unfinished.metadata().context("the backup cannot be read")?.len();
    is_free(to)?;
    work.put(UNFINISHED_FILE, to)?;
    Ok(Made { manifest, checked, bytes })
}

fn is_free(to: &Path) -> anyhow::Result<()> {
    match to.symlink_metadata() {
        Ok(there) if there.is_dir() => bail!("{} is a folder; give the file to write", to.display()),
        Ok(_) => bail!("{} already exists; give another file, or move that one away", to.display()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error).with_context(|| format!("{} cannot be written", to.display())),
    }
}

/// Returns the parent folder of a file, for its temporary files.
fn parent_folder(to: &Path) -> anyhow::Result<PathBuf> {
    let name = to.file_name().with_context(|| format!("{} is not the name of a file", to.display()))?;
    let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !parent.is_dir() {
        bail!("there is no folder {}", parent.display());
    }
    let mut name = name.to_owned();
    name.push(".unfinished");
    Ok(parent.join(name))
}

fn service_key(data: &Path) -> anyhow::Result<ServiceKey> {
    let path = data.join(SIGNING_KEY_FILE);
    let named = || format!("a backup is signed with the signing key, and {} cannot be used", path.display());
    read_signing_key(&path).with_context(named)
}

fn sources(work: &WorkFolder, data: &Path, with_keys: bool) -> anyhow::Result<Vec<Source>> {
    let mut sources: Vec<Source> =
        [DATABASE_FILE, CHECKPOINTS_FILE].into_iter().map(|name| Source { name, path: work.file(name) }).collect();
    for name in KEY_NAMES.into_iter().filter(|_| with_keys) {
        let path = data.join(name);
        if path.try_exists().with_context(|| format!("{} cannot be read", path.display()))? {
            sources.push(Source { name, path });
        }
    }
    Ok(sources)
}

fn seconds(at: Instant<Wall>) -> u64 {
    u64::try_from(at.micros() / MICROS_PER_SECOND).unwrap_or_default()
}

impl Made {
    fn show(&self, settings: &Settings, to: &Path, as_json: bool) -> Result<(), Failure> {
        let Self { manifest, checked, bytes } = self;
        let keys: Vec<&str> =
            KEY_NAMES.into_iter().filter(|name| manifest.members.iter().any(|member| member.name == *name)).collect();
        let keep = keep_too(&settings.data, &keys);
        if as_json {
            let mut answer = checked.json();
            answer["status"] = json!("The backup was written and checked.");
            answer["file"] = json!(to.display().to_string());
            answer["bytes"] = json!(bytes);
            answer["made_at"] = json!(manifest.made_at);
            answer["service_name"] = json!(manifest.key.name());
            answer["verifier_key"] = json!(manifest.verifier_key()?.to_string());
            answer["timelines"] = json!(manifest.timelines);
            answer["entries"] = json!(manifest.entries);
            answer["keys"] = json!(keys);
            answer["keep_too"] = json!(keep);
            return output::write_json(&answer);
        }
        let mut text = format!(
            "The backup {} was written and checked: {} timelines, {} entries, {}.\n  service      {}\n  created      \
             {}\n  checked      {}\n",
            output::printable(&to.display().to_string()),
            manifest.timelines,
            manifest.entries,
            HumanBytes(*bytes),
            manifest.key.name(),
            manifest.made_at,
            checked.checked_text(),
        );
        let not_checked = checked.not_checked_text();
        if !not_checked.is_empty() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  not checked  {}", output::printable(&not_checked));
        }
        let _ = writeln!(text, "  also keep    {}", output::printable(&keep));
        output::write(&text)
    }
}

/// Returns a line about further files to keep for a restore, or about keys to protect.
fn keep_too(data: &Path, keys: &[&str]) -> String {
    let elsewhere = "certificates and configuration files outside the data folder";
    if keys.is_empty() {
        let signing = data.join(SIGNING_KEY_FILE);
        return format!(
            "{}, which a restored service needs to start, in another place than this file; {ADMIN_KEY_FILE}, if it is \
             the only key of an operator; {elsewhere}",
            signing.display()
        );
    }
    format!(
        "this file secret: it contains {}, so anyone who can read it controls the service. Also {elsewhere}",
        keys.join(", ")
    )
}
