mod picture;
mod programs;
mod running;
mod tellers;

use crate::exit::Failure;
use crate::wiring::surroundings::Surroundings;

/// Shows timenav in action on a temporary service.
#[derive(Debug, clap::Args)]
pub(crate) struct DemoCommand {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Programs(programs::ProgramsCommand),
}

pub(crate) fn run(command: &DemoCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    match &command.what {
        What::Programs(command) => programs::run(command, surroundings),
    }
}
