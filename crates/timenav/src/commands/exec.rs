//! `timenav exec`: runs programs in any language on a virtual clock.

mod inspecting;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod board;

use std::ffi::OsString;

use timenav_exec::ways::{Via, Way};

use crate::client::{ServiceOptions, TimelineOptions};
use crate::exit::Failure;
use crate::following::FollowOption;
use crate::following::faults::FaultOptions;
use crate::surroundings::Surroundings;

/// Runs a program on the virtual clock of a timeline, with all that it starts.
///
/// Whatever its language, the program sees the clock as if it were this host's: date, time zones, certificates,
/// databases. It follows each change at once, also jumps back, pauses and other rates. Nothing is installed and no file
/// is changed. Monotonic clocks, and what sleeps or waits by them, go by host time. docs/programs.md says what gets
/// virtual time and what does not.
///
/// The exit code is that of the program; 127 if there is no such program, 126 if it cannot be executed. If the service
/// cannot be reached any more, programs keep the last clock, and one line says so. It works on Linux, on x86-64.
#[derive(Debug, clap::Args)]
pub(crate) struct ExecCommand {
    /// How programs get the clock: `exec` puts it in place when a program is executed, and is out of the way then.
    /// `trace` traces programs for as long as they run, for systems without seccomp listeners: no debugger works in them.
    /// `preload` has programs load a library, for systems where neither is allowed: it does not reach programs that are
    /// linked statically, written in Go, or get rights by their file. `auto` takes the first of them that can be had;
    /// `--inspect` says which, and why.
    #[arg(long, value_enum, value_name = "WAY", default_value_t, hide_possible_values = true)]
    via: ViaOption,
    /// Start no program that cannot be put on the clock, such as a 32-bit one. Without this, it runs on host time, and a
    /// line says so.
    #[arg(long)]
    strict: bool,
    /// Say what would be done with the command, and why, and start nothing. With the id of a process in the place of the
    /// command, say on which clock it is, and which processes are on it too.
    #[arg(long)]
    inspect: bool,
    #[command(flatten)]
    follow: FollowOption,
    #[command(flatten)]
    fault: FaultOptions,
    #[command(flatten)]
    service: ServiceOptions,
    #[command(flatten)]
    timeline: TimelineOptions,
    /// The program, and its arguments. Write `--` before them.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
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

/// The error on unsupported systems.
const ELSEWHERE: &str = "timenav exec works on Linux on x86-64 only, for now; on this system, let programs ask the \
                         service, or use a client with a virtual clock (docs/clients.md)";

/// Runs a program and exits with its status.
///
/// # Errors
/// The program cannot be started on the clock, or the service does not return the clock.
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

    use timenav_exec::{Half, Plan};

    use crate::client::Client;
    use crate::following::Opening;
    use crate::following::faults::{Wrong, show};
    use crate::{following, output};

    let report = |text: &str| output::note(&format!("timenav exec: {text}"));
    // Before any thread is started: the client starts some.
    let run = match timenav_exec::divide().map_err(anyhow::Error::new)? {
        Half::Front(front) => front.wait(&report),
        Half::Supervisor(run) => run,
    };
    let mut chosen = timenav_exec::choose(command.via.into(), command.strict).map_err(anyhow::Error::new)?;
    let program = inspecting::Program::look(&command.command[0], surroundings);
    if let Some(warning) = program.warning(chosen.way()) {
        report(&warning);
    }
    let client = Client::new(&command.service, surroundings)?;
    let begun = following::begin(&client, &command.timeline)?;
    let clock = Wrong::new(command.fault.fault(), &begun);
    let board = board::create(&client, &begun, &clock.shown(), &mut chosen)?;
    let (timeline, name) = (command.timeline.clone(), command.follow.clone());
    let opening = Opening::of(&name);
    let opened = opening.clone();
    let follow = move |board: Arc<timenav_exec::Board>| {
        let page = show(clock, board::Page(board), name.is_named());
        let whose = (&timeline, &name, &opened);
        let Err(error) = page.and_then(|page| following::follow(&client, whose, &page, &board::WORDS, begun.known));
        output::note(&format!("timenav exec: the clock is not followed: {error}"));
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
