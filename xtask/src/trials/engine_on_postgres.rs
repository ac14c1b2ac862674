//! Runs the engine tests on PostgreSQL, as part of `cargo xtask soak`. `cargo test` runs them on SQLite.

use std::path::Path;
use std::process::Command;

use crate::process;

/// Engine tests that change the database file directly, or rely on a store that responds immediately.
const OF_THE_FILE: [&str; 21] = [
    "bundles::missing_unerased_contents_end_a_bundle_export",
    "checkpoints::database_with_embedded_checkpoints_is_migrated",
    "checkpoints::failed_group_leaves_no_checkpoint",
    "checkpoints::rotation_notes_survive_a_crash",
    "ends::forged_expiry_row_does_not_end_a_timeline",
    "ends::contents_of_ended_timeline_are_pruned_after_the_grace_period",
    "ends::interrupted_pruning_is_completed_later",
    "ends::inherited_contents_are_kept_until_the_last_fork_ends",
    "engine::events::erasing::",
    "engine::integrity::rollback::",
    "engine::timelines::whole_lives::",
    "first_start::first_key_is_stored_before_the_first_commit",
    "host_clock::contents_of_ended_timelines_survive_a_doubted_host_clock",
    "host_clock::start_after_three_weeks_doubts_the_host_clock",
    "long_work::concurrent_name_searches_are_limited",
    "rotation::forged_signature_of_the_next_key_is_ignored",
    "second_writer::rows_without_an_entry_are_not_adopted_from_another_writer",
    "second_writer::exclusive_engine_stops_after_a_foreign_write",
    "shared_reads::reads_sharing_an_entry_are_listed_individually_once",
    "shared_reads::tampering_with_a_compressed_entry_is_detected",
    "streams::lagging_listener_is_reset",
];

pub(crate) fn call(root: &Path) -> Command {
    let mut call = process::cargo(root, &["test", "--package", "timenav-store", "--test", "it", "engine::", "--"]);
    for name in OF_THE_FILE {
        call.args(["--skip", name]);
    }
    call.env("TIMENAV_TEST_STORE", "postgres");
    call
}
