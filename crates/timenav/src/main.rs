//! The timenav program: the service, and the command line that uses one.
//!
//! [`commands`] has one module per subcommand. `serve` reads its settings in [`config`], opens the data folder and the
//! engine in [`wiring`], and serves. All other subcommands that need a service use [`client`] over HTTP, like any
//! program.

mod backup_file;
mod boot;
mod client;
mod commands;
mod config;
mod data_folder;
mod demo;
mod doors;
mod entrance;
mod exit;
mod following;
mod trusted_checkpoint;
mod key_files;
mod metrics_server;
mod output;
mod places;
mod process_stats;
mod profiles;
mod prompt;
mod reach;
mod redaction;
mod replicas;
mod server;
mod standard_webhooks;
mod surroundings;
mod sweeping;
mod telemetry;
mod timekeeper;
#[cfg(feature = "otel")]
mod traces;
#[cfg(not(feature = "otel"))]
mod traces_left_out;
mod webhooks;
mod wiring;
mod witness;
mod witnesses;

use std::process::ExitCode;

use clap_complete::CompleteEnv;
use exit::Exit;
use surroundings::Surroundings;
#[cfg(not(feature = "otel"))]
use traces_left_out as traces;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // For a completion request, the process ends here.
    CompleteEnv::with_factory(commands::completing::command).complete();
    let (cli, format) = match commands::parse() {
        Ok(parsed) => parsed,
        Err(error) => return commands::misused(&error),
    };
    match commands::run(cli, &Surroundings::of_process()) {
        Ok(()) => Exit::Ok.into(),
        Err(failure) => {
            output::report(&failure, format);
            failure.exit().into()
        }
    }
}
