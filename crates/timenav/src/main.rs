//! The timenav program: the service, and the command line that uses one.
//!
//! [`commands`] has one module per subcommand. `serve` reads its settings in [`config`], opens the data folder and the
//! engine in [`wiring`], and serves. All other subcommands that need a service use [`client`] over HTTP, like any
//! program.

mod background;
mod boot;
mod client;
mod commands;
mod config;
mod data_folder;
mod demo;
mod exit;
mod trusted_checkpoint;
mod key_files;
mod output;
mod profiles;
mod prompt;
mod reach;
mod server;
mod telemetry;
#[cfg(feature = "otel")]
mod traces;
#[cfg(not(feature = "otel"))]
mod traces_left_out;
mod wiring;
mod witness;

use std::process::ExitCode;

use clap_complete::CompleteEnv;
use exit::Exit;
#[cfg(not(feature = "otel"))]
use traces_left_out as traces;
use wiring::surroundings::Surroundings;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // For a completion request, the process ends here.
    CompleteEnv::with_factory(commands::reference::completing::command).complete();
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
