//! `timenav compact`: shrinks the database of a stopped service.

use anyhow::{Context as _, anyhow};
use indicatif::HumanBytes;
use serde_json::json;
use timenav_core::ledger::VerifierKey;
use timenav_core::scan::Depth;
use timenav_store::{SqliteArchive, fold_log};

use crate::commands::service::checked_copy::CheckedCopy;
use crate::commands::service::copy_bar::copy_database;
use crate::commands::service::of_file;
use crate::commands::service::stopped_service::{FileService, database, write_files};
use crate::commands::service::verify::files::read_outside;
use crate::commands::service::work_folder::WorkFolder;
use crate::config::Settings;
use crate::data_folder::{DATABASE_FILE, DataFolder};
use crate::exit::Failure;
use crate::key_files::service_key;
use crate::output;
use crate::wiring::ports::OsEntropy;

const WORK_FOLDER: &str = "compacting";

const INSTEAD: &str = "run `VACUUM (FULL)` in the database, which frees the space of erased data";

/// Compacts the database of a stopped service, and removes all traces of erased data.
///
/// It writes a new file, checks it, and replaces the old one. It needs disk space for the new file. If it is
/// interrupted, one complete file remains.
#[derive(Debug, clap::Args)]
pub(crate) struct CompactCommand {
    #[command(flatten)]
    service: FileService,
    /// How much of the new file to check: `full`, `quick`, `tail:<n>` or `sample:<n>`.
    #[arg(long, value_name = "DEPTH", default_value = "quick")]
    depth: Depth,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

/// Fails if a service uses the folder or its data does not match its signatures.
pub(crate) fn run(command: CompactCommand) -> Result<(), Failure> {
    let CompactCommand { service, depth, json } = command;
    let settings = service.settings()?;
    of_file::check(&settings, "compact", INSTEAD)?;
    write_files(compact(&settings, depth))?.show(json)
}

struct Compacted {
    checked: CheckedCopy,
    bytes_before: u64,
    bytes: u64,
}

async fn compact(settings: &Settings, depth: Depth) -> Result<Compacted, Failure> {
    let database = database(settings)?;
    let folder = DataFolder::open(&settings.data)?;
    let place = folder.checkpoints(settings.checkpoints.as_deref())?;
    let outside = read_outside(&place.file)?;
    let key = service_key(&folder, settings.service_name.as_deref(), &OsEntropy)?;
    let verifier = VerifierKey::new(&key.service_name, key.signer.public_key()).map_err(anyhow::Error::from)?;
    let named = || format!("the database {}", database.display());
    // A leftover write-ahead log of the old file would be applied to the new one.
    fold_log(&database).with_context(named)?;
    let bytes_before = database.metadata().with_context(named)?.len();
    let work = WorkFolder::make(folder.path().join(WORK_FOLDER))?;
    let copy = work.file(DATABASE_FILE);
    let bytes = copy_database(&database, &copy)?;
    let checked = CheckedCopy::check(&copy, &outside, &verifier, depth).await?;
    let heads = SqliteArchive::open(&database).and_then(|old| old.heads()).with_context(named)?;
    if !checked.is_copy_of(&heads) {
        return Err(anyhow!("{} changed while it was copied: another program is writing to it", named()).into());
    }
    fold_log(&database).with_context(named)?;
    work.put(DATABASE_FILE, &database)?;
    Ok(Compacted { checked, bytes_before, bytes })
}

impl Compacted {
    fn show(&self, as_json: bool) -> Result<(), Failure> {
        let Self { checked, bytes_before, bytes } = self;
        let status =
            format!("The database was compacted: {} before, {} now.", HumanBytes(*bytes_before), HumanBytes(*bytes));
        if as_json {
            let mut answer = checked.json();
            answer["status"] = json!(status);
            answer["bytes_before"] = json!(bytes_before);
            answer["bytes"] = json!(bytes);
            return output::write_json(&answer);
        }
        output::write(&format!("{status}\n  checked  {}\n", checked.checked_text()))
    }
}
