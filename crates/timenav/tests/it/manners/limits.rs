//! Every limit at its edge: the maximum passes, one more is rejected by name.
//!
//! The table follows `GET /v1/limits`, so a limit without a test fails.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::support::http::{Request, target};
use crate::support::service::Service;

/// How the edge of a limit is tested.
enum Edge {
    /// Requests with this amount, and the field that is rejected above the limit.
    Requests(fn(u64) -> Vec<(Request, &'static str)>),
    /// A function in this file.
    Observed(fn(&Service, u64)),
    /// A test elsewhere: the file below `crates`, and its name.
    Tested(&'static str, &'static str),
}
use Edge::{Observed, Requests, Tested};

const DEEDS: &str = "timenav/tests/it/v1/events/manipulate_event.rs";
const HISTORY: &str = "timenav-store/tests/it/engine/events/history.rs";
const ENDS: &str = "timenav-store/tests/it/engine/timelines/ends.rs";
const RATES: &str = "timenav/tests/it/manners/rates.rs";
const BODY: &str = "timenav-http/src/request/body.rs";
const CROWDS: &str = "timenav/tests/it/manners/crowds.rs";
const PACE: &str = "timenav-http/src/v1/events/import/pace.rs";
const PASSWORD: &str = "timenav-core/src/password.rs";
const RETENTION: &str = "timenav-store/tests/it/tampering/erasure/retention.rs";
const SESSIONS: &str = "timenav-store/tests/it/engine/access/sessions.rs";
const ATTEMPTS: &str = "timenav-engine/src/requests/attempts.rs";
const VAULT: &str = "timenav-vault/src/tests.rs";
const PAGING: &str = "timenav/tests/it/v1/events/monitor_events/paging.rs";
const SEALING: &str = "timenav/tests/it/v1/data/encrypt_data.rs";
const CAPS: &str = "timenav/tests/it/connections/caps.rs";
const SILENT: &str = "timenav/tests/it/connections/silent.rs";
const HTTP2: &str = "timenav/tests/it/connections/http2.rs";
const HTTP2_LIMITS: &str = "timenav/src/server/limits/tests.rs";
const ERASING: &str = "timenav-store/tests/it/engine/events/erasing.rs";
const TIMERS: &str = "timenav/tests/it/v1/timers.rs";
const WEBHOOKS: &str = "timenav/tests/it/v1/timers/webhooks.rs";
const TIMER_RULES: &str = "timenav/tests/it/v1/timers/rules.rs";
const TIMERS_CORE: &str = "timenav-core/src/timers/tests.rs";
const TIMERS_AGAIN: &str = "timenav-core/src/timers/tests/again.rs";
const FOLLOWERS: &str = "timenav/tests/it/v1/clock/followers.rs";
const FAULTS: &str = "timenav-store/tests/it/engine/faults.rs";
const FOLLOWERS_CORE: &str = "timenav-core/src/followers/tests.rs";
const GEOJSON: &str = "timenav-import/src/files/geojson_file/tests.rs";

#[expect(clippy::too_many_lines, reason = "a table with a row for each limit")]
fn edge(name: &str) -> Option<Edge> {
    Some(match name {
        "id_bytes_max" => Requests(|n| {
            vec![
                (post("/v1/users", &json!({ "user_id": text(n) })), "user_id"),
                (post("/timelines", &json!({ "timeline_id": text(n) })), "timeline_id"),
                (event(&json!({ "event_id": text(n) })), "event_id"),
                (event(&json!({ "actors": ["ada", text(n)] })), "actors/1"),
                (event(&json!({ "causes": [text(n)] })), "causes/0"),
            ]
        }),
        "event_name_bytes_max" => Requests(|n| vec![(event(&json!({ "name": text(n) })), "name")]),
        "description_bytes_max" => Requests(|n| {
            let anchor = post("/v1/set-anchor", &json!({ "description": text(n) }));
            vec![(event(&json!({ "description": text(n) })), "description"), (anchor, "description")]
        }),
        "location_bytes_max" => Requests(|n| {
            let travel = json!({ "destination_time": "2000-01-01T00:00:00Z", "location": text(n) });
            vec![
                (event(&json!({ "location": text(n) })), "location"),
                (find(&[("location", &text(n))]), "location"),
                (post("/v1/travel", &travel), "location"),
            ]
        }),
        "source_bytes_max" => Requests(|n| vec![(event(&json!({ "source": text(n) })), "source")]),
        "label_bytes_max" => Requests(|n| vec![(post("/v1/api-keys", &json!({ "label": text(n) })), "label")]),
        "event_causes_max" => Requests(|n| vec![(event(&json!({ "causes": ids(n) })), "causes")]),
        "event_actors_max" => Requests(|n| vec![(event(&json!({ "actors": ids(n) })), "actors")]),
        "event_asserts_max" => Requests(|n| {
            let assert = |subject: String| json!({ "subject": subject, "predicate": "state", "value": 1 });
            let asserts: Vec<Value> = ids(n).into_iter().map(assert).collect();
            vec![(event(&json!({ "asserts": asserts })), "asserts")]
        }),
        "assertion_bytes_max" => Requests(|n| {
            let assert = json!({ "subject": "door", "predicate": "state", "value": text(n - 2) });
            vec![(event(&json!({ "asserts": [assert] })), "asserts/0/value")]
        }),
        "event_sequence_max" => Requests(|n| vec![(event(&json!({ "sequence": n })), "sequence")]),
        "action_bytes_max" => Tested(DEEDS, "action_length_is_limited"),
        "erase_events_batch_max" => Tested(ERASING, "many_events_are_erased_in_batches"),
        "erase_events_selected_max" => Tested("timenav-engine/src/events/erasing.rs", "selected_events_are_limited"),
        "erased_outcomes_max" => {
            Tested("timenav-engine/src/writer/deciding/erasing.rs", "erasure_over_the_entry_limit_is_split")
        }
        "return_events_max" => Tested(HISTORY, "return_of_too_many_events_is_rejected"),
        "fork_depth_max" => Tested(HISTORY, "fork_depth_is_limited"),
        "diff_entries_max" => Tested("timenav-engine/src/timelines/diff/tests.rs", "compared_entries_are_limited"),
        "stream_entries_max" => Tested(
            "timenav-engine/src/read/ledger_stream/continuity.rs",
            "listener_resumes_unless_it_was_away_too_long",
        ),
        "views_events_max" => {
            Tested("timenav-store/tests/it/engine/streams.rs", "paradox_streams_over_the_event_limit_are_rejected")
        }
        "view_idle_seconds_max" => {
            Tested("timenav-engine/src/paradoxes/view_board.rs", "idle_view_is_dropped_after_a_timeout")
        }
        "event_attributes_bytes_max" => Requests(|n| {
            let attributes = json!({ "a": text(n - r#"{"a":""}"#.len() as u64) });
            vec![(event(&json!({ "attributes": attributes })), "attributes")]
        }),
        "events_per_request_max" => Requests(|n| {
            let events: Vec<Value> = (0..n).map(|_| json!({ "time": "2000-01-01T00:00:00Z" })).collect();
            vec![(post("/v1/events", &events.into()), "")]
        }),
        "attributes_depth_max" => Requests(|n| {
            let nested = (1..n).fold(json!(0), |inside, _| json!([inside]));
            vec![(event(&json!({ "attributes": { "deep": nested } })), "attributes/deep")]
        }),
        "page_items_max" => Requests(|n| {
            let n = n.to_string();
            let logs = [("timeline_id", "main"), ("time_range", "../.."), ("limit", &n)];
            vec![
                (find(&[("limit", &n)]), "limit"),
                (Request::get(&target("/v1/anchors", &[("limit", &n)])), "limit"),
                (Request::get(&target("/timelines", &[("limit", &n)])), "limit"),
                (Request::get(&target("/v1/users", &[("limit", &n)])), "limit"),
                (Request::get(&target("/v1/api-keys", &[("limit", &n)])), "limit"),
                (
                    Request::get(&target("/timelines/diff", &[("base", "main"), ("compare", "main"), ("limit", &n)])),
                    "limit",
                ),
                (Request::get(&target("/v1/access-logs", &logs)), "limit"),
            ]
        }),
        "timestamp_bytes_max" => Requests(|n| {
            let travel = post("/v1/travel", &json!({ "destination_time": time(n) }));
            vec![(travel, "destination_time"), (event(&json!({ "time": time(n) })), "time")]
        }),
        "duration_bytes_max" => Requests(|n| {
            let duration = format!("{}1s", "0".repeat(size(n) - 2));
            vec![(post("/v1/fast-forward", &json!({ "duration": duration })), "duration")]
        }),
        "time_range_bytes_max" => Requests(|n| {
            let range = format!("{}/{}", time((n - 1) / 2), time(n - 1 - (n - 1) / 2));
            vec![(find(&[("time_range", &range)]), "time_range")]
        }),
        "sample_entries_max" => Requests(|n| {
            let sample = json!({ "timeline_id": "main", "scan_depth": format!("sample:{n}") });
            vec![(post("/v1/detect-tampering", &sample), "scan_depth")]
        }),
        "radius_meters_max" => Requests(|n| {
            let geo = json!({ "lat": 0, "lon": 0, "radius_m": n });
            let near = format!("geo:0,0;u={n}");
            vec![(event(&json!({ "geo": geo })), "geo/radius_m"), (find(&[("location", &near)]), "location")]
        }),
        "permission_users_max" => Requests(|n| {
            let body = json!({ "timeline_id": "main", "permissions": { "read": ids(n) } });
            vec![(post("/v1/set-access-control", &body), "permissions/read")]
        }),
        "json_depth_max" => Observed(json_depth),
        "radius_meters_default" => Observed(default_radius),
        "rate_micros_min" => Observed(slowest_rate),
        "rate_micros_max" => Observed(fastest_rate),
        "log_entries_read_max" => Observed(filtered_log),
        "find_text_bytes_max" => Requests(|n| vec![(find(&[("text", &text(n))]), "text")]),
        "find_words_max" => Requests(|n| {
            let words: Vec<String> = (0..n).map(|n| format!("w{n}")).collect();
            vec![(find(&[("text", &words.join(" "))]), "text")]
        }),
        "find_attributes_max" => Requests(|n| {
            let values: Vec<String> = (0..n).map(|n| format!("v{n}")).collect();
            let body = json!({ "location": "*", "time_range": "../..", "attribute": { "k": values } });
            vec![(Request::get("/v1/monitor-events").json(&body), "attribute")]
        }),
        "find_attribute_bytes_max" => Requests(|n| vec![(find(&[("attribute.k", &text(n))]), "attribute/k")]),
        "aggregate_events_max" | "aggregate_events_read_max" => Tested(
            "timenav-store/tests/it/engine/events/history/counted.rs",
            "event_counts_match_counting_one_at_a_time",
        ),
        "aggregate_events_searched_max" => {
            Tested("timenav/tests/it/v1/events/aggregate_events.rs", "count_continues_within_events_of_equal_time")
        }
        "aggregate_groups_max" => {
            Tested("timenav-engine/src/events/aggregate/tally/tests.rs", "tallied_groups_are_limited")
        }
        "aggregate_groups_per_event_max" => Tested(
            "timenav-engine/src/events/aggregate/tally/tests.rs",
            "groups_of_two_keys_are_limited_per_event_and_in_total",
        ),
        "aggregate_values_max" => Requests(|n| vec![(grouped(n), "values")]),
        "find_events_read_max" => {
            Tested("timenav/tests/it/v1/events/finding.rs", "rare_match_is_returned_on_a_later_page")
        }
        "stream_changes_kept_max" => Observed(stream_changes),
        "stream_firings_kept_max" => {
            Tested("timenav-engine/src/timers/observing.rs", "slow_observer_is_notified_of_missed_firings")
        }
        "events_page_bytes_max" => {
            Tested("timenav-store/tests/it/engine/events/pages.rs", "event_page_size_is_limited_in_bytes")
        }
        "views_behind_max" => {
            Tested("timenav-engine/src/paradoxes/view_board.rs", "private_views_are_limited_and_released")
        }
        "entries_page_bytes_max" => {
            Tested("timenav-store/tests/it/engine/events/entries.rs", "entry_page_size_is_limited_in_bytes")
        }
        "page_items_default" => Tested(PAGING, "page_length_follows_the_limit_parameter"),
        "password_bytes_max" => Tested(PASSWORD, "password_length_is_limited"),
        "password_chars_min" => Tested(PASSWORD, "short_or_guessable_new_password_is_rejected"),
        "sessions_per_user_max" | "sessions_swept_max" => {
            Tested(SESSIONS, "sessions_are_limited_per_user_and_expired_ones_are_removed")
        }
        "session_idle_seconds_max" | "session_seconds_max" => {
            Tested(SESSIONS, "session_expires_when_idle_and_at_its_maximum_age")
        }
        "logins_per_minute_max" => Tested(RATES, "failed_logins_per_user_and_address_are_limited"),
        "known_logins_per_minute_max" => Tested(RATES, "known_address_is_exempt_from_user_login_quota"),
        "user_logins_per_minute_max" => Tested(RATES, "failed_logins_per_user_are_limited_across_addresses"),
        "address_logins_per_minute_max" => Tested(RATES, "failed_logins_per_address_are_limited_across_users"),
        "keys_per_user_max" => Tested("timenav/tests/it/v1/access/api_keys.rs", "keys_per_user_are_limited"),
        "timer_payload_bytes_max" => {
            Requests(|n| vec![(post("/v1/timers", &json!({ "at": at(), "payload": text(n - 2) })), "payload")])
        }
        "timer_event_bytes_max" => Requests(|n| {
            let around = r#"{"to":"timeline","event":{"description":""}}"#.len() as u64;
            let deliver = json!({ "to": "timeline", "event": { "description": text(n - around) } });
            vec![(post("/v1/timers", &json!({ "at": at(), "deliver": deliver })), "deliver/event")]
        }),
        "timer_order_key_bytes_max" => {
            Requests(|n| vec![(post("/v1/timers", &json!({ "at": at(), "order_key": text(n) })), "order_key")])
        }
        "firings_per_request_max" => Requests(|n| vec![(post("/v1/queues/edge/claim", &json!({ "max": n })), "max")]),
        "claim_wait_seconds_max"
        | "lease_seconds_min"
        | "lease_seconds_max"
        | "settle_wait_seconds_max"
        | "failure_reason_bytes_max" => Tested(TIMERS, "invalid_timers_and_firing_requests_are_rejected"),
        "timers_per_timeline_max" => Tested(TIMERS_CORE, "armed_timers_are_limited"),
        "holds_per_timeline_max" => Tested(TIMERS_CORE, "hold_delays_an_advance_without_a_firing"),
        "hold_reason_bytes_max" => {
            Tested("timenav/tests/it/v1/timers/holding.rs", "advance_continues_once_its_hold_is_released")
        }
        "firings_at_instant_max" | "hold_seconds_max" => Tested(TIMERS_CORE, "instant_with_too_many_firings_is_stuck"),
        "firings_at_once_max" => Tested(TIMERS_CORE, "due_firings_are_in_sorted_order"),
        "restored_firings_max" | "restored_bytes_max" | "restore_scanned_max" => {
            Tested(TIMERS_AGAIN, "restored_timers_and_firings_are_limited")
        }
        "firings_scanned_max" => {
            Tested("timenav/tests/it/v1/timers/listing.rs", "firings_examined_per_page_are_limited")
        }
        "firings_per_advance_max" => Tested(TIMERS_CORE, "foreseen_firings_are_limited"),
        "pending_of_rules_max" | "dry_run_firings_max" => {
            Tested(TIMERS_CORE, "overdue_moments_fire_per_misfire_policy")
        }
        "catch_up_moments_max" => Tested(TIMER_RULES, "past_firing_times_are_caught_up_on_request"),
        "webhook_url_bytes_max" => Tested(WEBHOOKS, "disallowed_webhook_targets_are_rejected_at_their_field"),
        "webhook_secret_bytes_min" | "webhook_secret_bytes_max" => {
            Tested("timenav/src/background/webhooks/standard_webhooks.rs", "webhook_secret_is_decoded_as_specified")
        }
        "webhook_hosts_max" => {
            Tested("timenav/src/config/webhook_allow_host.rs", "loopback_webhooks_require_a_loopback_service")
        }
        "webhooks_per_host_max" | "webhooks_per_timeline_max" => {
            Tested(WEBHOOKS, "hanging_receiver_gets_a_limited_number_of_requests")
        }
        "webhook_retry_backlog_max" => Tested(
            "timenav-store/tests/it/engine/timers/webhooks_again.rs",
            "webhook_retries_are_shortened_if_too_many_are_pending",
        ),
        "webhook_seconds_max" => Tested("timenav/src/background/webhooks/sending.rs", "receiver_timeout_is_retried"),
        "rule_bytes_max" => Requests(|n| {
            let rule = format!("FREQ=DAILY;BYHOUR={}", "1,".repeat(size(n))).chars().take(size(n)).collect::<String>();
            let rule = rule.trim_end_matches(',').to_owned();
            let rule = format!("{rule}{}", " ".repeat(size(n) - rule.len()));
            vec![(post("/v1/timers", &json!({ "every": { "rule": rule } })), "every/rule")]
        }),
        "rule_count_max" => Requests(|n| {
            let rule = format!("FREQ=DAILY;COUNT={n}");
            vec![(post("/v1/timers", &json!({ "every": { "rule": rule } })), "every/rule")]
        }),
        "leases_max" => Tested(TIMERS_CORE, "leased_firings_are_limited"),
        "attempts_in_advance_max" | "attempts_max" => {
            Tested(TIMERS_CORE, "attempts_in_an_advance_end_within_ten_seconds")
        }
        "lease_seconds_default" => Tested(TIMERS, "expired_lease_is_given_to_another_worker"),
        "queue_listener_seconds_max" => Tested(TIMERS_CORE, "instant_is_held_by_claimed_firings_and_listeners"),
        "faults_per_timeline_max" => Tested(FAULTS, "fault_is_rejected_for_followers_without_fault_support"),
        "followers_per_timeline_max" | "followers_away_max" => {
            Tested(FOLLOWERS_CORE, "followers_per_timeline_are_limited")
        }
        "follower_host_bytes_max" | "follower_process_max" => {
            Tested(FOLLOWERS_CORE, "follower_host_and_process_are_validated")
        }
        "follower_away_seconds_max" => Tested(FOLLOWERS_CORE, "disconnected_follower_is_listed_for_a_limited_time"),
        "follower_step_seconds_max" => Tested(FOLLOWERS_CORE, "timed_out_follower_is_not_awaited_until_it_confirms"),
        "followers_named_max" => Tested(FOLLOWERS, "invalid_followers_are_rejected_with_advice"),
        "follower_wait_seconds_default" => Tested(FOLLOWERS, "change_waits_until_all_followers_confirm"),
        "settle_wait_seconds_default" | "receipt_firings_max" => {
            Tested("timenav/tests/it/v1/timers/advances.rs", "timers_without_listeners_do_not_hold_advance")
        }
        "anchors_per_timeline_max" => {
            Tested("timenav-store/tests/it/engine/events/pages.rs", "anchors_over_the_limit_are_rejected")
        }
        "timelines_max" => Tested("timenav-store/tests/it/engine/bounds.rs", "timelines_over_the_limit_are_rejected"),
        "timelines_per_user_max" => {
            Tested("timenav-store/tests/it/engine/bounds.rs", "timelines_over_the_user_limit_are_rejected")
        }
        "users_max" | "data_records_per_timeline_max" => {
            Tested("timenav-store/tests/it/engine/bounds.rs", "users_and_sealed_records_over_the_limit_are_rejected")
        }
        "ended_grace_days" | "prune_rows_max" => {
            Tested(ENDS, "contents_of_ended_timeline_are_pruned_after_the_grace_period")
        }
        "expired_ended_at_once_max" => Tested(ENDS, "expired_timelines_are_ended_in_bounded_batches"),
        "expires_in_seconds_min" | "expires_in_days_max" => {
            Tested("timenav/tests/it/timelines/ends.rs", "timeline_lifetime_has_a_minimum_and_maximum")
        }
        "host_clock_offset_millis_max" => {
            Tested("timenav-engine/src/clock/clock_offset.rs", "clock_offset_is_a_fault_only_if_certain")
        }
        "host_clock_step_seconds_max" => Tested(RETENTION, "host_clock_step_over_a_week_blocks_pruning"),
        "retention_floor_seconds_min" => Tested(RETENTION, "shorter_policy_applies_only_to_later_reads"),
        "retention_policies_max" => Tested(RETENTION, "policies_over_the_limit_are_rejected"),
        "sweep_positions_max" | "sweep_runs_max" | "sweep_entries_read_max" => {
            Tested(RETENTION, "sweep_size_is_limited")
        }
        "host_clock_behind_seconds_max" => {
            Tested("timenav-store/tests/it/engine/integrity/set_back.rs", "host_clock_setback_is_reported_in_stats")
        }
        "key_derivations_waiting_per_user_max" => {
            Tested("timenav-vault/src/turns.rs", "dropped_waiters_free_their_places")
        }
        "queue_submissions_max" => {
            Tested("timenav-store/tests/it/engine/bounds.rs", "submission_waits_if_the_queue_is_full")
        }
        "long_work_running_max" => {
            Tested("timenav-store/tests/it/engine/long_work.rs", "concurrent_counts_are_limited")
        }
        "counts_running_max" => Tested("timenav-store/tests/it/engine/long_work.rs", "concurrent_counts_are_limited"),
        "name_searches_running_max" => {
            Tested("timenav-store/tests/it/engine/long_work.rs", "concurrent_name_searches_are_limited")
        }
        "too_many_requests_held_millis_min" => Tested(RATES, "rate_limited_responses_are_held_back"),
        "views_running_max" => Tested(
            "timenav-store/tests/it/engine/long_work.rs",
            "concurrent_view_builds_are_limited_and_scheduled_fairly",
        ),
        "bundle_line_bytes_max" => {
            Tested("timenav/src/commands/service/verify/bundle/tests.rs", "overlong_line_is_rejected")
        }
        "bundle_gone_max" => {
            Tested("timenav-engine/src/timelines/bundles/missing.rs", "missing_bundle_contents_are_limited")
        }
        "scans_running_max" | "scans_running_per_user_max" => Tested(
            "timenav-store/tests/it/engine/integrity/scans.rs",
            "concurrent_scans_are_limited_and_dropped_ones_free_capacity",
        ),
        "limited_access_window_days" => {
            Tested("timenav-store/tests/it/engine/access/rights.rs", "travel_window_is_enforced_to_the_microsecond")
        }
        "findings_per_kind_max" => Tested("timenav-core/src/scan/tests.rs", "findings_per_kind_are_limited"),
        "lookup_body_bytes_max" | "change_body_bytes_max" => {
            Tested("timenav/tests/it/manners/errors.rs", "request_body_size_is_limited")
        }
        "idempotency_key_chars_max" => {
            Tested("timenav/tests/it/manners/idempotency.rs", "invalid_idempotency_keys_are_rejected")
        }
        "geometry_depth_max" => Tested(GEOJSON, "invalid_geometry_is_rejected"),
        "import_record_bytes_max" => {
            Tested("timenav-import/src/files/ndjson_file/tests.rs", "ndjson_line_length_is_limited")
        }
        "import_feature_bytes_max" => Tested(GEOJSON, "geojson_feature_size_is_limited"),
        "import_csv_columns_max" => Tested("timenav-import/src/files/csv_file/tests.rs", "csv_columns_are_limited"),
        "import_pattern_compiled_bytes_max" => {
            Tested("timenav-import/src/mapping/line_pattern.rs", "invalid_pattern_is_reported")
        }
        "import_pattern_line_bytes_max" => {
            Tested("timenav-import/src/mapping/line_pattern.rs", "named_groups_are_columns")
        }
        "import_mapping_bytes_max" => Tested("timenav-import/src/mapping/tests.rs", "mapping_length_is_limited"),
        "import_dry_run_records_max" => Tested(
            "timenav-engine/src/events/import_rehearsal.rs",
            "import_rehearsal_compares_records_with_earlier_ones",
        ),
        "import_refusals_listed_max" => Tested(
            "timenav/tests/it/v1/events/import_events/refusals.rs",
            "rejections_are_all_counted_and_first_hundred_listed",
        ),
        "import_trace_document_bytes_max" | "import_trace_spans_max" => {
            Tested("timenav-import/src/files/trace_file/tests.rs", "spans_per_document_are_limited")
        }
        "import_calendar_bytes_max" => {
            Tested("timenav-import/src/files/calendar_file/tests.rs", "lines_events_and_calendars_have_size_limits")
        }
        "data_bytes_max" | "encryption_key_bytes_max" => Tested(SEALING, "data_and_key_size_limits_are_enforced"),
        "decrypt_free_attempts_max"
        | "decrypt_wait_seconds_min"
        | "decrypt_wait_seconds_max"
        | "decrypt_failures_kept_seconds_max" => {
            Tested(ATTEMPTS, "decrypt_waits_begin_after_free_attempts_and_double_to_limit")
        }
        "decrypt_records_watched_max" => Tested(ATTEMPTS, "watched_decrypt_records_are_limited"),
        "key_derivations_max" | "key_derivations_waiting_max" => Tested(VAULT, "waiting_key_derivations_are_limited"),
        "failed_attempts_per_minute_max" => Tested(RATES, "failed_attempts_per_address_are_limited"),
        "connections_max" => Tested(CAPS, "new_connection_is_closed_if_all_others_are_busy"),
        "connections_per_address_max" => Tested(CAPS, "connections_per_address_are_limited_independently"),
        "connection_idle_seconds_max" => Tested(SILENT, "silent_connections_are_closed"),
        "connection_unacknowledged_seconds_max" => Tested(SILENT, "vanished_follower_is_removed"),
        "handshake_seconds_max" => Tested("timenav/tests/it/process/tls.rs", "unfinished_tls_handshake_is_closed"),
        "head_bytes_max" => Tested(HTTP2, "header_size_is_limited_in_both_http_versions"),
        "head_fields_max" => Tested("timenav/tests/it/manners/framing.rs", "header_field_count_is_limited"),
        "http2_streams_max" => Tested(HTTP2, "stream_beyond_the_limit_is_rejected"),
        "http2_frame_bytes_max" => Tested(HTTP2, "oversized_frame_closes_the_connection"),
        "http2_stream_window_bytes_max" | "http2_connection_window_bytes_max" => {
            Tested(HTTP2_LIMITS, "unread_request_data_is_limited_by_http2_windows")
        }
        "http2_send_buffer_bytes_max" => Tested(HTTP2_LIMITS, "buffered_response_data_is_limited"),
        "http2_resets_pending_max" => Tested(HTTP2, "rapid_stream_resets_close_the_connection"),
        "http2_faults_max" => Tested(HTTP2, "too_many_malformed_requests_close_the_connection"),
        "requests_per_minute" => Tested(RATES, "request_quota_is_per_user"),
        "records_per_request_max" => Tested(RATES, "recorded_events_count_against_request_quota"),
        "scans_per_minute_max" => Tested(RATES, "scan_quota_is_per_user"),
        "address_scans_per_minute_max" => Tested(RATES, "scan_quota_per_address_applies_across_users"),
        "network_rejections_logged_per_minute_max"
        | "rejections_logged_per_minute_max"
        | "rejections_counted_seconds_max" => Tested(RATES, "excess_rejections_are_aggregated_and_all_counted"),
        "refusals_counted_networks_max" | "refusals_counted_named_max" => {
            Tested("timenav-engine/src/requests/refused.rs", "counted_networks_are_limited_and_named_in_part")
        }
        "read_parameters_bytes_max" => Tested(RATES, "stored_read_parameters_are_truncated"),
        "unauthenticated_body_bytes_max"
        | "buffered_unauthenticated_bytes_max"
        | "buffered_unauthenticated_bytes_per_network_max" => {
            Tested(BODY, "unauthenticated_bodies_per_network_are_limited")
        }
        "buffered_body_bytes_max" | "buffered_body_bytes_per_user_max" => {
            Tested(BODY, "request_bodies_per_user_are_limited")
        }
        "buffered_response_bytes_max" | "buffered_response_bytes_per_user_max" => {
            Tested(BODY, "response_bytes_per_user_are_counted_until_sent")
        }
        "requests_at_once_per_user_max" => Tested(CROWDS, "concurrent_requests_per_user_are_limited"),
        "imports_running_max" | "streams_max" => {
            Tested("timenav-http/src/shares.rs", "shares_are_limited_per_user_and_in_total")
        }
        "imports_per_user_max" => Tested(CROWDS, "stalled_imports_do_not_block_other_users"),
        "import_turn_seconds_max" => Tested(CROWDS, "concurrent_imports_of_one_user_all_succeed"),
        "import_idle_seconds_max" => Tested(PACE, "idle_sender_times_out"),
        "import_bytes_per_minute_min" => Tested(PACE, "slow_sender_times_out"),
        "streams_per_user_max" => Tested(CROWDS, "streams_per_user_are_limited_and_use_little_memory"),
        _ => return None,
    })
}

fn size(n: u64) -> usize {
    usize::try_from(n).unwrap()
}

fn text(n: u64) -> String {
    "x".repeat(size(n))
}

/// Meters per degree along the equator of WGS 84.
const EQUATOR_DEGREE_METRES: f64 = 111_319.490_793;

/// Returns a timestamp of `n` bytes.
fn time(n: u64) -> String {
    format!("2024-07-20T20:17:40.{}Z", "1".repeat(size(n) - 21))
}

fn ids(n: u64) -> Vec<String> {
    (0..n).map(|number| format!("user-{number}")).collect()
}

fn post(path: &str, body: &Value) -> Request {
    Request::post(path).json(body)
}

/// A request that records an event with these fields.
fn event(fields: &Value) -> Request {
    let mut event = Map::from_iter([("time".to_owned(), json!("2000-01-01T00:00:00Z"))]);
    event.extend(fields.as_object().unwrap().clone());
    post("/v1/events", &event.into())
}

/// A search with these parameters instead of the usual ones.
fn find(parameters: &[(&str, &str)]) -> Request {
    let usual = [("location", "*"), ("time_range", "../..")].into_iter();
    let usual = usual.filter(|(name, _)| parameters.iter().all(|(given, _)| given != name));
    Request::get(&target("/v1/monitor-events", &usual.chain(parameters.iter().copied()).collect::<Vec<_>>()))
}

fn grouped(values_count: u64) -> Request {
    let values = serde_json::to_string(&(0..values_count).map(|_| "x").collect::<Vec<_>>()).unwrap();
    Request::get(&target("/v1/aggregate-events", &[("group_by", "actor"), ("values", &values)]))
}

#[test]
fn limits_accept_the_maximum_and_reject_one_more() {
    let service = Service::with(&["--requests-per-minute", "1000000"]);
    let answer = service.get("/v1/limits", &[]);
    let limits = answer["limits"].as_object().unwrap();
    for (name, max) in limits {
        let max =
            max.as_f64().filter(|max| max.fract() == 0.0).map(|max| format!("{max}").parse::<u64>().unwrap()).unwrap();
        match edge(name).unwrap_or_else(|| panic!("`{name}` has no edge in this table")) {
            Requests(requests) => {
                for ((at, _), (over, field)) in requests(max).into_iter().zip(requests(max + 1)) {
                    let (sent, passed) =
                        (format!("{name}: {} {}", at.method, at.target.split('?').next().unwrap()), service.send(at));
                    assert!(passed.status < 300, "{sent} {passed}");
                    let refused = service.send(over).refused(400, "invalid_parameter");
                    let pointer = if field.is_empty() { "#".to_owned() } else { format!("#/{field}") };
                    assert_eq!(refused["errors"][0]["pointer"], pointer, "{sent} {refused}");
                }
            }
            Observed(look) => look(&service, max),
            Tested(file, test) => {
                let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
                let source = std::fs::read_to_string(&path);
                let source = source.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                assert!(source.contains(&format!("fn {test}(")), "`{name}`: {file} has no test `{test}`");
            }
        }
    }
    service.audit();
}

/// The documented and the reported limits are the same.
#[test]
fn documented_limits_match_the_reported_ones() {
    let service = Service::start();
    let answer = service.get("/v1/limits", &[]);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/limits.md");
    let document = std::fs::read_to_string(path).unwrap();
    let (_, table) = document.split_once("## Shown by").unwrap();
    let (table, _) = table.split_once("\n## ").unwrap();
    let row = |line: &str| {
        let mut cells = line.strip_prefix("| `")?.split(" | ");
        Some((cells.next()?.trim_end_matches('`').to_owned(), cells.next()?.to_owned()))
    };
    let mut written: Vec<(String, String)> = table.lines().filter_map(row).collect();
    let number = |value: &Value| format!("{}", value.as_f64().unwrap());
    let mut reported: Vec<(String, String)> =
        answer["limits"].as_object().unwrap().iter().map(|(name, value)| (name.clone(), number(value))).collect();
    written.sort();
    reported.sort();
    assert_eq!(written, reported);
    service.audit();
}

/// A time that no clock reaches.
const fn at() -> &'static str {
    "9000-01-01T00:00:00Z"
}

fn json_depth(service: &Service, max: u64) {
    let nested = |depth: u64| {
        let inside = (1..depth - 1).fold(json!({}), |inside, _| json!({ "]\"": inside }));
        post("/v1/encrypt-data", &json!({ "timeline_id": "main", "data": inside, "encryption_key": "k" }))
    };
    service.send(nested(max)).expect(200);
    let refused = service.send(nested(max + 1)).refused(400, "malformed_json");
    assert_eq!(refused["detail"], format!("a body can be nested at most {max} levels deep"));
    let list = format!("{}{}", "[".repeat(size(max) + 1), "]".repeat(size(max) + 1));
    service.send(Request::post("/v1/events").body("application/json", list.as_bytes())).refused(400, "malformed_json");
    // Brackets inside strings are text.
    service.send(event(&json!({ "description": "[{\\\"".repeat(size(max)) }))).expect(201);
}

fn default_radius(service: &Service, max: u64) {
    let max = f64::from(u32::try_from(max).unwrap());
    for (name, metres) in [("inside", max - 0.01), ("outside", max + 0.01)] {
        let geo = json!({ "lat": 0, "lon": 120.0 + metres / EQUATOR_DEGREE_METRES });
        service.send(event(&json!({ "event_id": name, "geo": geo }))).expect(201);
    }
    let found = service.send(find(&[("location", "0,120")])).expect(200);
    assert_eq!(found["location_resolved"]["radius_m"].as_f64(), Some(max));
    let ids: Vec<&Value> = found["events"].as_array().unwrap().iter().map(|event| &event["event_id"]).collect();
    assert_eq!(ids, ["inside"]);
}

/// Sets a rate given as text and returns the response.
fn set_rate(service: &Service, rate: &str) -> crate::support::http::Answer {
    let body = format!("{{\"timeline_id\":\"rates\",\"rate\":{rate}}}");
    service.send(Request::post("/v1/set-rate").body("application/json", body.as_bytes()))
}

fn slowest_rate(service: &Service, min: u64) {
    assert_eq!(min, 1);
    set_rate(service, "0.000001").expect(200);
    for slower in ["0.0000001", "0", "-0.000001"] {
        let refused = set_rate(service, slower).refused(400, "invalid_parameter");
        assert_eq!(refused["errors"][0]["pointer"], "#/rate", "{slower}");
    }
}

fn fastest_rate(service: &Service, max: u64) {
    let whole = max / 1_000_000;
    set_rate(service, &whole.to_string()).expect(200);
    let refused = set_rate(service, &format!("{whole}.000001")).refused(400, "invalid_parameter");
    assert_eq!(refused["errors"][0]["pointer"], "#/rate");
    set_rate(service, "1").expect(200);
}

/// A filter without matches returns an empty page with a cursor, one entry beyond the limit.
fn filtered_log(service: &Service, max: u64) {
    let row = |number: u64| format!("{{\"time\":\"2000-01-01T00:00:00Z\",\"name\":\"{number}\"}}\n");
    let rows = (0..max - 4).map(row).collect::<Vec<_>>().concat();
    let import = Request::post("/v1/import-events?timeline_id=log").body("application/x-ndjson", rows.as_bytes());
    assert_eq!(service.send(import).expect(200)["imported"], max - 4);
    let filters = [("timeline_id", "log"), ("time_range", "../.."), ("action", "nothing")];
    // A page sees the entries before it and is an entry itself, so the ledger grows to the limit.
    for size in service.checkpoint("log").size..=max + 1 {
        let page = service.get("/v1/access-logs", &filters);
        assert_eq!(page["logs"], json!([]));
        assert_eq!(page["next_cursor"].is_string(), size > max, "{size}: {page}");
    }
}

/// A client that missed as many changes as are stored gets each of them; one more, and it must start over.
fn stream_changes(service: &Service, max: u64) {
    let change = |rate: u64| service.post("/v1/set-rate", &json!({ "timeline_id": "watched", "rate": rate }));
    let generation = || service.get("/v1/clock", &[("timeline_id", "watched")])["generation"].as_u64().unwrap();
    change(1_000);
    let first = generation();
    for rate in 1..=max {
        change(rate);
    }
    assert_eq!(generation(), first + max);
    for (seen, expected) in [(first, "clock"), (first - 1, "reset")] {
        let mut connection = service.connect();
        let ask = Request::get("/v1/clock/stream?timeline_id=watched").header("Last-Event-ID", &seen.to_string());
        connection.send_request(&service.signed(ask));
        let (status, headers) = connection.head().unwrap();
        assert_eq!(status, 200);
        let lines = std::io::BufRead::lines(std::io::BufReader::new(connection.body(&headers)));
        let name = lines.map_while(Result::ok).find_map(|line| Some(line.strip_prefix("event:")?.trim().to_owned()));
        assert_eq!(name.as_deref(), Some(expected), "{seen}");
    }
}
