use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use serde_json::json;

use crate::commands::service::rotate_signing_key::verifier_key;
use crate::exit::Failure;
use crate::key_files::{SERVICE_NAME_DEFAULT, make_signing_key, read_public_key};
use crate::output;
use crate::wiring::ports::OsEntropy;

/// Creates a signing key.
///
/// All services on one PostgreSQL database need the same key. With a SQLite file, `timenav serve` creates it.
#[derive(Debug, clap::Args)]
pub(crate) struct SigningKeyCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    New(NewCommand),
}

/// Creates a signing key in a new file that only you can read, and prints its public key.
///
/// Copy the file to the data folder of each service, as `signing.key`, and keep a secret copy: no ledger can be
/// continued without it. Publish the public key.
#[derive(Debug, clap::Args)]
struct NewCommand {
    /// The file, such as /var/lib/timenav/signing.key. It must not exist.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The service name, part of every signed checkpoint. Cannot be changed later. [default: timenav.local]
    ///
    /// Use a domain name that you own.
    #[arg(long, env = "TIMENAV_SERVICE_NAME", value_name = "NAME")]
    service_name: Option<String>,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(command: SigningKeyCommand) -> Result<(), Failure> {
    match command.action {
        Action::New(command) => new(&command),
    }
}

fn new(command: &NewCommand) -> Result<(), Failure> {
    let NewCommand { file, service_name, json } = command;
    let name = service_name.as_deref().unwrap_or(SERVICE_NAME_DEFAULT);
    if file.try_exists().with_context(|| format!("{} cannot be read", file.display()))? {
        let what = "already exists, and a signing key is never overwritten; choose another file";
        return Err(anyhow!("{} {what}", file.display()).into());
    }
    make_folder_of(file).with_context(|| format!("the folder of {} cannot be created", file.display()))?;
    make_signing_key(file, name, &OsEntropy)?;
    let (_, public) = read_public_key(file).with_context(|| format!("{} cannot be read", file.display()))?;
    let public = verifier_key(name, public)?.to_string();
    if *json {
        let made = json!({ "file": file, "service_name": name, "verifier_key": public });
        return output::write_json(&made);
    }
    output::note(&format!("Created {} for the service `{name}`. Its public key:", file.display()));
    output::write(&format!("{public}\n"))
}

/// Creates the parent folder of a file if it is missing, accessible only to its owner.
fn make_folder_of(file: &Path) -> io::Result<()> {
    match file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => DirBuilder::new().recursive(true).mode(0o700).create(folder),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data_folder::is_open_to_others;

    #[test]
    fn signing_key_is_private_and_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("data/signing.key");
        let command = NewCommand { file: file.clone(), service_name: Some("clock.example".to_owned()), json: true };
        new(&command).unwrap();
        assert!(!is_open_to_others(&file).unwrap() && !is_open_to_others(file.parent().unwrap()).unwrap());
        let before = std::fs::read(&file).unwrap();
        assert_eq!(read_public_key(&file).unwrap().0, "clock.example");
        let refused = new(&command).unwrap_err();
        let text = refused.text().unwrap_or_default();
        assert!(text.contains("never overwritten"), "{text}");
        assert_eq!(std::fs::read(&file).unwrap(), before);
    }
}
