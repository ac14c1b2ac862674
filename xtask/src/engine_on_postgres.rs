//! Runs the engine tests on PostgreSQL, as part of `cargo xtask soak`. `cargo test` runs them on SQLite.

use std::path::Path;
use std::process::Command;

use crate::process;

/// Engine tests that work only on SQLite: they read or change the database file directly, or rely on a store that
/// responds immediately.
const OF_THE_FILE: [&str; 22] = [
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

/// Returns the Cargo command that runs them.
pub(crate) fn call(root: &Path) -> Command {
    let mut call = process::cargo(root, &["test", "--package", "timenav-store", "--test", "it", "engine::", "--"]);
    for name in OF_THE_FILE {
        call.args(["--skip", name]);
    }
    call.env("TIMENAV_TEST_STORE", "postgres");
    call
}
