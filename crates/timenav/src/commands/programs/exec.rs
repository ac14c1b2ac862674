//! `timenav exec`: runs programs in any language on a virtual clock.

mod inspecting;
mod sleeps;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod board;

use std::ffi::OsString;

use timenav_exec::ways::{Via, Way};

use self::sleeps::SleepsOptions;
use crate::background::following::FollowOption;
use crate::background::following::faults::FaultOptions;
use crate::client::{CreateOption, ServiceOptions, TimelineOptions};
use crate::exit::Failure;
use crate::wiring::surroundings::Surroundings;

/// Runs a program, and all programs that it starts, on the virtual clock of a timeline.
///
/// The program can be in any language and needs no changes. It follows each change at once, including jumps back,
/// pauses and other rates. Monotonic clocks, sleeps and timeouts follow it with `--sleeps virtual`; by default they stay
/// on host time.
///
/// The exit code is that of the program, 127 if it does not exist, or 126 if it cannot be executed. If the service
/// becomes unreachable, programs keep the last clock. Linux x86-64 only.
#[derive(Debug, clap::Args)]
pub(crate) struct ExecCommand {
    /// How programs get the clock. `exec` attaches only while a program is executed. `trace` traces programs as long as
    /// they run; debuggers do not work in them. `preload` loads a library, which does not reach programs that are
    /// static, in Go, or privileged by their file. `auto` is the first method that works.
    #[arg(long, value_enum, value_name = "WAY", default_value_t, hide_possible_values = true)]
    via: ViaOption,
    /// Do not start programs that cannot use the clock, such as 32-bit ones. By default they run on host time.
    #[arg(long)]
    strict: bool,
    /// Show how the command would be run, and start nothing. With a process id instead of a command, show the clock of
    /// that process.
    #[arg(long)]
    inspect: bool,
    #[command(flatten)]
    sleeps: SleepsOptions,
    #[command(flatten)]
    follow: FollowOption,
    #[command(flatten)]
    fault: FaultOptions,
    #[command(flatten)]
    service: ServiceOptions,
    #[command(flatten)]
    timeline: TimelineOptions,
    #[command(flatten)]
    create: CreateOption,
    /// The program and its arguments, after `--`.
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// How programs get the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum ViaOption {
    #[default]
    Auto,
    Exec,
    Trace,
    Preload,
}

impl From<ViaOption> for Via {
    fn from(option: ViaOption) -> Self {
        match option {
            ViaOption::Auto => Self::Auto,
            ViaOption::Exec => Self::Only(Way::Exec),
            ViaOption::Trace => Self::Only(Way::Trace),
            ViaOption::Preload => Self::Only(Way::Preload),
        }
    }
}

const ELSEWHERE: &str = "timenav exec supports only Linux on x86-64; on this system, have programs call the service, \
                         or use a client with a virtual clock (docs/clients.md)";

/// Exits with the status of the program.
pub(crate) fn run(command: &ExecCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Err(anyhow::anyhow!(ELSEWHERE).into());
    }
    if command.inspect {
        let via = command.via.into();
        return inspecting::show((&command.command, via), surroundings, command.service.output());
    }
    start(command, surroundings)
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn start(command: &ExecCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    use std::sync::Arc;

    use timenav_exec::page::Sleeps;
    use timenav_exec::{Half, Plan};

    use crate::background::following;
    use crate::background::following::Opening;
    use crate::background::following::faults::{Wrong, show};
    use crate::client::Client;
    use crate::output;

    let sleeps = command.sleeps.sleeps()?;
    let report = |text: &str| output::note(&format!("timenav exec: {text}"));
    // Before any thread is started: the client starts some.
    let run = match timenav_exec::divide().map_err(anyhow::Error::new)? {
        Half::Front(front) => front.wait(&report),
        Half::Supervisor(run) => run,
    };
    let mut chosen = timenav_exec::choose(command.via.into(), command.strict, sleeps).map_err(anyhow::Error::new)?;
    let program = inspecting::Program::look(&command.command[0], surroundings);
    if let Some(warning) = program.warning(chosen.way()) {
        report(&warning);
    }
    let client = Client::new(&command.service, surroundings)?;
    let attempt = || following::begin(&client, &command.timeline);
    let begun = command.create.or_created(&client, &command.timeline, attempt)?;
    if sleeps != Sleeps::Native && !begun.known.clock.is_running() {
        report(&format!("the clock of `{}` is paused; sleeps wait until it resumes or moves", begun.timeline));
    }
    let clock = Wrong::new(command.fault.fault(), &begun);
    let board = board::create(&client, &begun, &clock.displayed(), &mut chosen)?;
    let (timeline, name) = (command.timeline.clone(), command.follow.clone());
    let opening = Opening::of(&name);
    let opened = opening.clone();
    let follow = move |board: Arc<timenav_exec::Board>| {
        let page = show(clock, board::Page(board), name.is_named());
        let whose = (&timeline, &name, &opened);
        let Err(error) = page.and_then(|page| following::follow(&client, whose, &page, &board::WORDS, begun.known));
        output::note(&format!("timenav exec: the clock is no longer followed: {error}"));
        opened.is_over();
    };
    let plan = Plan {
        command: &command.command,
        board,
        chosen,
        out_of_reach: program.out_of_reach(),
        until_followed: &|| opening.wait(),
        report: &report,
    };
    run.supervise(plan, follow).map_err(anyhow::Error::new)?;
    Ok(())
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn start(_: &ExecCommand, _: &Surroundings) -> Result<(), Failure> {
    Err(anyhow::anyhow!(ELSEWHERE).into())
}
