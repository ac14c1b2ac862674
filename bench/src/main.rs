//! Benchmarks that compare timenav with floors in the same run: `cargo xtask bench`.
//!
//! Machines are shared and noisy, so absolute figures are not reliable. Floor and subject run alternately, and the
//! ratio of the two in each round counts. A floor is the minimum that could do the job: a bare handler with the same
//! response, or bare SQL that writes the same rows.
//!
//! This program is also the load generator and the bare server, as separate processes.

mod measure;
mod floors;
mod registry;
mod benches;
mod attacks;

mod service;
mod cluster;
mod starting;
mod history;
mod ports;

mod load;
mod http;
mod grpc;
mod running;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::measure::selection::list;
use crate::measure::setting::Setting;

/// Measures timenav against floors in the same run.
#[derive(Parser)]
#[command(name = "cargo xtask bench", bin_name = "cargo xtask bench", args_conflicts_with_subcommands = true)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
struct Cli {
    /// Which benchmarks to run; all of them where none is named.
    names: Vec<String>,
    /// Three short rounds instead of five longer ones, and smaller histories.
    #[arg(long)]
    quick: bool,
    /// Also measures with 10 million events, which take minutes to make and 10 GB to keep.
    #[arg(long)]
    large: bool,
    /// How often floor and subject take turns, instead of five times (three with `--quick`).
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=1_000))]
    rounds: Option<u16>,
    /// Writes every figure to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Keeps the run in `bench/results/`, with its date, commit and machine.
    #[arg(long)]
    save: bool,
    /// Lists the benchmarks and runs none.
    #[arg(long)]
    list: bool,
    #[command(subcommand)]
    part: Option<Part>,
}

/// What this program does for itself as another process.
#[derive(Subcommand)]
#[command(disable_help_subcommand = true)]
enum Part {
    /// Sends requests for a while and prints what came of it, as JSON.
    #[command(hide = true)]
    Load(load::Load),
    /// Sends one file and prints what came of it, as JSON.
    #[command(hide = true)]
    Upload(load::Upload),
    /// Tries what one attacker or one heavy user can do to others: `cargo xtask attack`.
    Attack {
        /// Which attacks to try; all of them where none is named.
        names: Vec<String>,
        /// Shorter measurements and a smaller history, and nothing that has to be waited for.
        #[arg(long)]
        quick: bool,
        /// Lists the attacks and tries none.
        #[arg(long)]
        list: bool,
    },
    /// Answers every request with the same bytes until its standard input ends.
    #[command(hide = true)]
    BareServer(floors::bare_server::BareServer),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.part {
        Some(Part::Load(load)) => load.run(),
        Some(Part::Upload(upload)) => upload.run(),
        Some(Part::BareServer(server)) => server.run(),
        Some(Part::Attack { list: true, .. }) => {
            list(&attacks::ATTACKS);
            Ok(())
        }
        Some(Part::Attack { names, quick, list: false }) => {
            Setting::new(quick, false, None).and_then(|setting| attacks::run(&setting, &names))
        }
        None if cli.list => {
            list(&registry::BENCHES);
            Ok(())
        }
        None => Setting::new(cli.quick, cli.large, cli.rounds)
            .and_then(|setting| registry::run(&setting, &cli.names, cli.json.as_deref(), cli.save)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn command_line_definition_is_valid() {
        super::Cli::command().debug_assert();
    }
}
