//! `cargo xtask test`: everything that a change must pass, one step after the other.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::ValueEnum;

use crate::step::{FUZZ, Step};
use crate::{clients, console, process, tidy, tools};

/// Longest time in which the database of advisories has to be fetched.
const FETCH_TIME_MAX: Duration = Duration::from_mins(1);

/// Says where a libFuzzer is that need not be built, which would take a C++ compiler.
const LIBFUZZER: &str = "CUSTOM_LIBFUZZER_PATH";

/// Tests of the engine that stay on SQLite: they look into its file, change it behind the service's back, or count on it that
/// the store answers at once.
const OF_THE_FILE: [&str; 27] = [
    "adoption::forks::layers_go_with_the_fork_and_not_before",
    "adoption::forks::sealed_records_of_a_timeline_come_with_each_of_its_forks",
    "adoption::forks::what_came_with_a_fork_cannot_be_changed",
    "adoption::mutated::",
    "adoption::who_did_what_there_cannot_be_made_somebody_here",
    "bundles::what_is_missing_and_was_not_erased_ends_it",
    "checkpoints::a_database_with_checkpoints_in_it_is_carried_over",
    "checkpoints::a_group_that_fails_leaves_no_checkpoint",
    "checkpoints::what_both_keys_have_signed_is_kept_after_a_crash_too",
    "ends::a_row_that_says_that_a_timeline_expires_is_not_believed",
    "ends::contents_go_after_the_grace_and_leaves_stay",
    "ends::letting_go_that_was_cut_off_is_finished_later",
    "ends::what_a_fork_inherits_stays_as_long_as_it_stands",
    "engine::erasing::",
    "engine::rollback::",
    "engine::whole_lives::",
    "failures::two_engines_on_one_file_never_write_over_each_other",
    "first_start::the_key_is_kept_before_anything_is_committed",
    "host_clock::the_contents_of_what_has_ended_stay",
    "host_clock::who_was_away_for_three_weeks_says_so_and_goes_on",
    "long_work::a_few_names_are_searched_for_at_a_time",
    "rotation::a_next_signature_that_is_wrong_counts_for_nothing",
    "second_writer::rows_of_which_no_entry_tells_are_not_taken_over",
    "second_writer::where_nobody_else_may_write_nothing_is_signed",
    "shared_reads::each_is_listed_by_itself_once_however_it_is_asked",
    "shared_reads::what_is_kept_deflated_cannot_be_changed",
    "streams::who_falls_too_far_behind_begins_anew",
];

/// Runs the chosen steps, and stops at the first that fails.
pub(crate) fn run(root: &Path, only: &[Step], skip: &[Step]) -> anyhow::Result<()> {
    let steps = chosen(only, skip);
    tools::require(&steps)?;
    let mut times = Vec::with_capacity(steps.len());
    for step in steps {
        println!("\n== {step}: {}", headline(step));
        let start = Instant::now();
        let result = run_step(root, step);
        times.push((step, start.elapsed()));
        if let Err(error) = result {
            print_times(&times);
            return Err(error.context(format!("step {step} failed; repeat it with `cargo xtask test --only {step}`")));
        }
    }
    print_times(&times);
    Ok(())
}

fn chosen(only: &[Step], skip: &[Step]) -> Vec<Step> {
    let all = Step::value_variants().iter().copied();
    all.filter(|step| (only.is_empty() || only.contains(step)) && !skip.contains(step)).collect()
}

fn headline(step: Step) -> String {
    match step {
        Step::Console => "npm run check && npm test && npm run build && npm run e2e, in console/".to_owned(),
        Step::Clients => {
            "ruff, mypy and pytest in clients/python, npm run … and npm test in clients/typescript".to_owned()
        }
        Step::Deny => "cargo deny check licenses bans sources advisories".to_owned(),
        Step::Machete => "cargo machete".to_owned(),
        Step::Tidy => "cargo xtask tidy".to_owned(),
        Step::Fmt | Step::Clippy | Step::Test | Step::Doc => {
            let calls: Vec<String> =
                step.cargo_calls().iter().map(|arguments| format!("cargo {}", arguments.join(" "))).collect();
            calls.join(" && ")
        }
    }
}

fn print_times(times: &[(Step, Duration)]) {
    println!();
    for (step, time) in times {
        println!("{:<8}{:>8.1} s", step.to_string(), time.as_secs_f64());
    }
}

fn run_step(root: &Path, step: Step) -> anyhow::Result<()> {
    if step == Step::Test {
        tools::postgres()?;
    }
    for arguments in step.cargo_calls() {
        let mut call = process::cargo(root, arguments);
        if step == Step::Doc {
            call.env("RUSTDOCFLAGS", "-D warnings");
        }
        if arguments.contains(&FUZZ) {
            // Any file will do: the lints link nothing.
            call.env(LIBFUZZER, root.join(FUZZ));
        }
        process::run(&mut call)?;
    }
    match step {
        Step::Console => console::run(root),
        Step::Clients => clients::run(root),
        Step::Deny => deny(root),
        Step::Machete => machete(root),
        Step::Tidy => tidy::run(root),
        Step::Test => engine_on_postgres(root),
        Step::Fmt | Step::Clippy | Step::Doc => Ok(()),
    }
}

/// Runs the tests of the engine once more, on PostgreSQL instead of SQLite.
fn engine_on_postgres(root: &Path) -> anyhow::Result<()> {
    println!("\nthe tests of the engine on PostgreSQL:");
    let mut call = process::cargo(root, &["test", "--package", "timenav-store", "--test", "it", "engine::", "--"]);
    for name in OF_THE_FILE {
        call.args(["--skip", name]);
    }
    process::run(call.env("TIMENAV_TEST_STORE", "postgres"))
}

fn deny(root: &Path) -> anyhow::Result<()> {
    let program = tools::cargo_deny(root)?;
    let deny = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(arguments).current_dir(root);
        command
    };
    // Two versions of a crate are worth a look with `cargo deny check bans`, and not one at every run.
    process::run(&mut deny(&["--log-level", "error", "check", "licenses", "bans", "sources"]))
        .context("deny.toml says what is allowed, and why")?;
    if !process::succeeds(&mut deny(&["fetch", "db"]), FETCH_TIME_MAX) {
        println!("advisories skipped: their database cannot be fetched from this machine");
        return Ok(());
    }
    if process::run(&mut deny(&["--log-level", "error", "check", "--disable-fetch", "advisories"])).is_err() {
        bail!("a dependency has a known defect: update it, or list the advisory in deny.toml with a reason");
    }
    Ok(())
}

fn machete(root: &Path) -> anyhow::Result<()> {
    let mut command = Command::new(tools::cargo_machete(root)?);
    // It is the words in the sources that it looks for, and reads nothing that Git does not know.
    process::run(command.current_dir(root)).context("a manifest names a dependency that nothing uses: remove it there")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_chosen_in_their_own_order() {
        assert_eq!(chosen(&[], &[]), Step::value_variants());
        assert_eq!(chosen(&[Step::Tidy, Step::Fmt], &[]), [Step::Fmt, Step::Tidy]);
        let rest = [Step::Fmt, Step::Clippy, Step::Test, Step::Tidy];
        assert_eq!(chosen(&[], &[Step::Deny, Step::Machete, Step::Doc, Step::Console, Step::Clients]), rest);
    }

    #[test]
    fn a_step_is_named_as_it_is_typed() {
        assert_eq!(Step::Fmt.to_string(), "fmt");
        assert_eq!(headline(Step::Test), "cargo test --workspace");
        assert_eq!(headline(Step::Fmt), "cargo fmt --all --check && cargo fmt --manifest-path fuzz/Cargo.toml --check");
    }
}
