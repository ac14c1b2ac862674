//! How timenav is run: the service, and the command line that talks to one.
//!
//! [`commands`] has one file for each subcommand. `serve` reads its settings in [`config`], opens
//! the data folder and the engine in [`wiring`], and serves. Every other subcommand that needs a
//! service talks to it over HTTP by [`client`], as any program would.

mod backup_file;
mod client;
mod commands;
mod config;
mod data_folder;
mod demo;
mod doors;
mod exit;
mod key_files;
mod output;
mod places;
mod profiles;
mod prompt;
mod server;
mod spool;
mod surroundings;
mod sweeping;
mod telemetry;
mod wiring;

use std::path::PathBuf;
use std::process::ExitCode;

use exit::Exit;
use surroundings::Surroundings;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The environment variable that holds a client's API key.
const API_KEY_VARIABLE: &str = "TIMENAV_API_KEY";

fn main() -> ExitCode {
    let (cli, format) = match commands::parse() {
        Ok(parsed) => parsed,
        Err(error) => return commands::misused(&error),
    };
    match commands::run(cli, &surroundings()) {
        Ok(()) => Exit::Ok.into(),
        Err(failure) => {
            output::report(&failure, format);
            failure.exit().into()
        }
    }
}

/// Reads what the command line may not carry: an argument would show in the list of processes.
#[expect(clippy::disallowed_methods, reason = "the one place that reads secrets and folders from the environment")]
fn surroundings() -> Surroundings {
    let api_key = std::env::var(API_KEY_VARIABLE).ok();
    // The XDG Base Directory Specification: a relative path there is none.
    let folder = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config_folder = folder("XDG_CONFIG_HOME").or_else(|| folder("HOME").map(|home| home.join(".config")));
    Surroundings { api_key, config_folder }
}
