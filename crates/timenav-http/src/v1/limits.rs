use crate::schema::ToSchema;
use axum::Json;
use serde::Serialize;
use serde_json::{Map, Value};
use timenav_core::ledger::{ERASED_OUTCOMES_MAX, POSITION_RUNS_MAX};
use timenav_core::limits as core;
use timenav_core::scan::{FINDINGS_PER_KIND_MAX, SAMPLE_ENTRIES_MAX};
use timenav_core::time::{DURATION_BYTES_MAX, TIME_RANGE_BYTES_MAX, TIMESTAMP_BYTES_MAX};
use timenav_engine::{
    BUNDLE_LINE_BYTES_MAX, BUNDLE_MISSING_MAX, COUNTED_NAMED_MAX, COUNTED_NETWORKS_MAX, COUNTS_RUNNING_MAX,
    ENTRIES_PAGE_BYTES_MAX, ERASE_EVENTS_BATCH_MAX, ERASE_EVENTS_SELECTED_MAX, EVENTS_PAGE_BYTES_MAX,
    IMPORT_DRY_RUN_RECORDS_MAX, LOG_ENTRIES_READ_MAX, LONG_WORK_RUNNING_MAX, NAME_SEARCHES_RUNNING_MAX,
    PENDING_FIRINGS_MAX, QUEUE_SUBMISSIONS_MAX, READ_PARAMETERS_BYTES_MAX, RETAINED_CHANGES_MAX, SCANS_RUNNING_MAX,
    SCANS_RUNNING_PER_USER_MAX, SWEEP_ENTRIES_READ_MAX, SWEEP_POSITIONS_MAX, VIEWS_BEHIND_MAX, VIEWS_RUNNING_MAX,
};
use timenav_import::limits as import;

use super::parameters::NoParameters;
use super::replica::ReplicaBody;
use super::streaming::{STREAMS_MAX, STREAMS_PER_USER_MAX};
use crate::rate::{
    ADDRESS_LOGINS_PER_MINUTE_MAX, ADDRESS_SCANS_PER_MINUTE_MAX, FAILED_ATTEMPTS_PER_MINUTE_MAX,
    KNOWN_LOGINS_PER_MINUTE_MAX, LOGINS_PER_MINUTE_MAX, NETWORK_REJECTIONS_LOGGED_PER_MINUTE_MAX,
    RECORDS_PER_REQUEST_MAX, REJECTIONS_LOGGED_PER_MINUTE_MAX, SCANS_PER_MINUTE_MAX, USER_LOGINS_PER_MINUTE_MAX,
};
use crate::request::body::{
    BUFFERED_BODY_BYTES_MAX, BUFFERED_BODY_BYTES_PER_USER_MAX, BUFFERED_RESPONSE_BYTES_MAX,
    BUFFERED_RESPONSE_BYTES_PER_USER_MAX, BUFFERED_UNAUTHENTICATED_BYTES_MAX,
    BUFFERED_UNAUTHENTICATED_BYTES_PER_NETWORK_MAX, CHANGE_BODY_BYTES_MAX, LOOKUP_BODY_BYTES_MAX,
    UNAUTHENTICATED_BODY_BYTES_MAX,
};
use crate::request::call::Read;
use crate::request::idempotency::KEY_CHARS_MAX;
use crate::request::params::JSON_DEPTH_MAX;
use crate::response::finish::TOO_MANY_REQUESTS_HELD_MILLIS;
use crate::response::refusals::COUNTED_SECONDS_MAX;
use crate::route::Route;
use crate::state::REQUESTS_AT_ONCE_PER_USER_MAX;
use crate::v1::events::import::{
    IMPORT_BYTES_PER_MINUTE_MIN, IMPORT_IDLE_SECONDS_MAX, IMPORT_TURN_SECONDS_MAX, IMPORTS_PER_USER_MAX,
    IMPORTS_RUNNING_MAX, REFUSALS_LISTED_MAX,
};

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::lookup_unlogged("/limits", "limits", "Lists every limit by name", limits)
            .takes::<NoParameters>()
            .gives::<LimitsBody>()
            .tag("service"),
    ]
}

/// All limits.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LimitsBody {
    /// A sentence that sums up the result.
    status: String,
    /// The limits by name. Names end in the unit and `max`, `min` or `default`.
    #[schema(value_type = Object)]
    limits: Map<String, Value>,
    /// The state of this service among others on one database. Only with PostgreSQL.
    #[serde(skip_serializing_if = "Option::is_none")]
    replica: Option<ReplicaBody>,
}

/// The limits are the same for all callers and not secret. With PostgreSQL, the state of this replica is included.
async fn limits(Read { app, .. }: Read<NoParameters>) -> Json<LimitsBody> {
    let mut limits: Map<String, Value> =
        sizes().into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
    limits.insert("event_sequence_max".to_owned(), core::EVENT_SEQUENCE_MAX.into());
    limits.insert("stream_entries_max".to_owned(), core::STREAM_ENTRIES_MAX.into());
    limits.insert("timelines_max".to_owned(), app.engine.options().timelines_max.into());
    let options = app.engine.options();
    limits.insert("timelines_per_user_max".to_owned(), options.timelines_per_user_max.into());
    limits.insert("ended_grace_days".to_owned(), options.ended_grace_days.into());
    limits.insert("expires_in_seconds_min".to_owned(), core::EXPIRES_IN_SECONDS_MIN.into());
    limits.insert("expires_in_days_max".to_owned(), core::EXPIRES_IN_DAYS_MAX.into());
    limits.insert("users_max".to_owned(), options.users_max.into());
    limits.insert("data_records_per_timeline_max".to_owned(), options.data_records_per_timeline_max.into());
    limits.insert("host_clock_behind_seconds_max".to_owned(), core::HOST_CLOCK_BEHIND_SECONDS_MAX.into());
    limits.insert("views_events_max".to_owned(), app.engine.options().views_events_max.into());
    limits.insert("view_idle_seconds_max".to_owned(), core::VIEW_IDLE_SECONDS_MAX.into());
    limits.insert("host_clock_offset_millis_max".to_owned(), options.host_clock_offset_millis_max.into());
    limits.insert("host_clock_step_seconds_max".to_owned(), core::HOST_CLOCK_STEP_SECONDS_MAX.into());
    limits.insert("retention_floor_seconds_min".to_owned(), options.retention_floor_seconds.into());
    limits.insert("retention_policies_max".to_owned(), core::RETENTION_POLICIES_MAX.into());
    limits.insert("erase_events_batch_max".to_owned(), ERASE_EVENTS_BATCH_MAX.into());
    limits.insert("erase_events_selected_max".to_owned(), ERASE_EVENTS_SELECTED_MAX.into());
    limits.insert("erased_outcomes_max".to_owned(), ERASED_OUTCOMES_MAX.into());
    limits.insert("sweep_entries_read_max".to_owned(), SWEEP_ENTRIES_READ_MAX.into());
    limits.insert("sweep_positions_max".to_owned(), SWEEP_POSITIONS_MAX.into());
    limits.insert("sweep_runs_max".to_owned(), POSITION_RUNS_MAX.into());
    limits.insert("radius_meters_max".to_owned(), core::RADIUS_METERS_MAX.into());
    limits.insert("radius_meters_default".to_owned(), core::RADIUS_METERS_DEFAULT.into());
    limits.insert("log_entries_read_max".to_owned(), LOG_ENTRIES_READ_MAX.into());
    limits.insert("sample_entries_max".to_owned(), SAMPLE_ENTRIES_MAX.into());
    limits.insert("findings_per_kind_max".to_owned(), FINDINGS_PER_KIND_MAX.into());
    limits.insert("failed_attempts_per_minute_max".to_owned(), FAILED_ATTEMPTS_PER_MINUTE_MAX.into());
    limits.insert("rejections_logged_per_minute_max".to_owned(), REJECTIONS_LOGGED_PER_MINUTE_MAX.into());
    limits
        .insert("network_rejections_logged_per_minute_max".to_owned(), NETWORK_REJECTIONS_LOGGED_PER_MINUTE_MAX.into());
    limits.insert("rejections_counted_seconds_max".to_owned(), COUNTED_SECONDS_MAX.into());
    limits.insert("import_turn_seconds_max".to_owned(), IMPORT_TURN_SECONDS_MAX.into());
    limits.insert("import_idle_seconds_max".to_owned(), IMPORT_IDLE_SECONDS_MAX.into());
    limits.insert("import_bytes_per_minute_min".to_owned(), IMPORT_BYTES_PER_MINUTE_MIN.into());
    limits.insert("scans_per_minute_max".to_owned(), SCANS_PER_MINUTE_MAX.into());
    limits.insert("address_scans_per_minute_max".to_owned(), ADDRESS_SCANS_PER_MINUTE_MAX.into());
    limits.insert("logins_per_minute_max".to_owned(), LOGINS_PER_MINUTE_MAX.into());
    limits.insert("known_logins_per_minute_max".to_owned(), KNOWN_LOGINS_PER_MINUTE_MAX.into());
    limits.insert("address_logins_per_minute_max".to_owned(), ADDRESS_LOGINS_PER_MINUTE_MAX.into());
    limits.insert("user_logins_per_minute_max".to_owned(), USER_LOGINS_PER_MINUTE_MAX.into());
    limits.insert("session_idle_seconds_max".to_owned(), app.engine.options().session_idle_seconds.into());
    limits.insert("session_seconds_max".to_owned(), app.engine.options().session_seconds.into());
    for (name, value) in &app.options.connection_limits {
        limits.insert((*name).to_owned(), (*value).into());
    }
    if let Some(requests) = app.options.requests_per_minute {
        limits.insert("requests_per_minute".to_owned(), requests.get().into());
    }
    limits.insert("rate_micros_min".to_owned(), core::RATE_MICROS_MIN.into());
    limits.insert("rate_micros_max".to_owned(), core::RATE_MICROS_MAX.into());
    of_timers(&mut limits);
    limits.insert("too_many_requests_held_millis_min".to_owned(), TOO_MANY_REQUESTS_HELD_MILLIS.into());
    limits.insert("decrypt_wait_seconds_min".to_owned(), core::DECRYPT_WAIT_SECONDS_MIN.into());
    limits.insert("decrypt_wait_seconds_max".to_owned(), core::DECRYPT_WAIT_SECONDS_MAX.into());
    limits.insert("decrypt_failures_kept_seconds_max".to_owned(), core::DECRYPT_FAILURES_KEPT_SECONDS_MAX.into());
    limits.insert("limited_access_window_days".to_owned(), app.engine.options().limited_access_window_days.into());
    let replica = app.engine.replica().map(ReplicaBody::of);
    Json(LimitsBody { status: format!("{} limits.", limits.len()), limits, replica })
}

fn of_timers(limits: &mut Map<String, Value>) {
    limits.insert("timers_per_timeline_max".to_owned(), core::TIMERS_PER_TIMELINE_MAX.into());
    limits.insert("timer_payload_bytes_max".to_owned(), core::TIMER_PAYLOAD_BYTES_MAX.into());
    limits.insert("timer_event_bytes_max".to_owned(), core::TIMER_EVENT_BYTES_MAX.into());
    limits.insert("timer_order_key_bytes_max".to_owned(), core::TIMER_ORDER_KEY_BYTES_MAX.into());
    limits.insert("firings_at_once_max".to_owned(), core::FIRINGS_AT_ONCE_MAX.into());
    limits.insert("firings_per_advance_max".to_owned(), core::FIRINGS_PER_ADVANCE_MAX.into());
    limits.insert("firings_at_instant_max".to_owned(), core::FIRINGS_AT_INSTANT_MAX.into());
    limits.insert("firings_per_request_max".to_owned(), core::FIRINGS_PER_REQUEST_MAX.into());
    limits.insert("leases_max".to_owned(), core::LEASES_MAX.into());
    limits.insert("attempts_in_advance_max".to_owned(), core::ATTEMPTS_IN_ADVANCE_MAX.into());
    limits.insert("attempts_max".to_owned(), core::ATTEMPTS_MAX.into());
    limits.insert("holds_per_timeline_max".to_owned(), core::HOLDS_PER_TIMELINE_MAX.into());
    limits.insert("hold_reason_bytes_max".to_owned(), core::HOLD_REASON_BYTES_MAX.into());
    limits.insert("hold_seconds_max".to_owned(), core::HOLD_SECONDS_MAX.into());
    limits.insert("lease_seconds_default".to_owned(), core::LEASE_SECONDS_DEFAULT.into());
    limits.insert("lease_seconds_min".to_owned(), core::LEASE_SECONDS_MIN.into());
    limits.insert("lease_seconds_max".to_owned(), core::LEASE_SECONDS_MAX.into());
    limits.insert("queue_listener_seconds_max".to_owned(), core::QUEUE_LISTENER_SECONDS.into());
    limits.insert("claim_wait_seconds_max".to_owned(), core::CLAIM_WAIT_SECONDS_MAX.into());
    limits.insert("settle_wait_seconds_default".to_owned(), core::SETTLE_WAIT_SECONDS_DEFAULT.into());
    limits.insert("settle_wait_seconds_max".to_owned(), core::SETTLE_WAIT_SECONDS_MAX.into());
    limits.insert("failure_reason_bytes_max".to_owned(), core::FAILURE_REASON_BYTES_MAX.into());
    limits.insert("receipt_firings_max".to_owned(), core::RECEIPT_FIRINGS_MAX.into());
    limits.insert("faults_per_timeline_max".to_owned(), core::FAULTS_PER_TIMELINE_MAX.into());
    limits.insert("followers_per_timeline_max".to_owned(), core::FOLLOWERS_PER_TIMELINE_MAX.into());
    limits.insert("followers_named_max".to_owned(), core::FOLLOWERS_NAMED_MAX.into());
    limits.insert("followers_away_max".to_owned(), core::FOLLOWERS_AWAY_MAX.into());
    limits.insert("follower_host_bytes_max".to_owned(), core::FOLLOWER_HOST_BYTES_MAX.into());
    limits.insert("follower_process_max".to_owned(), core::FOLLOWER_PROCESS_MAX.into());
    limits.insert("follower_away_seconds_max".to_owned(), core::FOLLOWER_AWAY_SECONDS.into());
    limits.insert("follower_step_seconds_max".to_owned(), core::FOLLOWER_STEP_SECONDS_MAX.into());
    limits.insert("follower_wait_seconds_default".to_owned(), core::FOLLOWER_WAIT_SECONDS_DEFAULT.into());
    limits.insert("pending_of_rules_max".to_owned(), core::PENDING_OF_RULES_MAX.into());
    limits.insert("catch_up_moments_max".to_owned(), core::CATCH_UP_MOMENTS_MAX.into());
    limits.insert("restored_firings_max".to_owned(), core::RESTORED_FIRINGS_MAX.into());
    limits.insert("restored_bytes_max".to_owned(), core::RESTORED_BYTES_MAX.into());
    limits.insert("restore_scanned_max".to_owned(), core::RESTORE_SCANNED_MAX.into());
    limits.insert("firings_scanned_max".to_owned(), core::FIRINGS_SCANNED_MAX.into());
    limits.insert("dry_run_firings_max".to_owned(), core::DRY_RUN_FIRINGS_MAX.into());
    limits.insert("webhook_url_bytes_max".to_owned(), core::WEBHOOK_URL_BYTES_MAX.into());
    limits.insert("webhook_secret_bytes_min".to_owned(), core::WEBHOOK_SECRET_BYTES_MIN.into());
    limits.insert("webhook_secret_bytes_max".to_owned(), core::WEBHOOK_SECRET_BYTES_MAX.into());
    limits.insert("webhook_seconds_max".to_owned(), core::WEBHOOK_SECONDS_MAX.into());
    limits.insert("webhooks_per_host_max".to_owned(), core::WEBHOOKS_PER_HOST_MAX.into());
    limits.insert("webhooks_per_timeline_max".to_owned(), core::WEBHOOKS_PER_TIMELINE_MAX.into());
    limits.insert("webhook_retry_backlog_max".to_owned(), core::WEBHOOK_RETRY_BACKLOG_MAX.into());
    limits.insert("webhook_hosts_max".to_owned(), core::WEBHOOK_HOSTS_MAX.into());
    limits.insert("rule_bytes_max".to_owned(), core::RULE_BYTES_MAX.into());
    limits.insert("rule_count_max".to_owned(), core::RULE_COUNT_MAX.into());
}

fn sizes() -> Vec<(&'static str, usize)> {
    [storage_limits(), file_limits(), caller_limits()].concat()
}

fn storage_limits() -> Vec<(&'static str, usize)> {
    vec![
        ("id_bytes_max", core::ID_BYTES_MAX),
        ("event_name_bytes_max", core::EVENT_NAME_BYTES_MAX),
        ("description_bytes_max", core::DESCRIPTION_BYTES_MAX),
        ("location_bytes_max", core::LOCATION_BYTES_MAX),
        ("source_bytes_max", core::SOURCE_BYTES_MAX),
        ("label_bytes_max", core::LABEL_BYTES_MAX),
        ("event_causes_max", core::EVENT_CAUSES_MAX),
        ("event_actors_max", core::EVENT_ACTORS_MAX),
        ("event_asserts_max", core::EVENT_ASSERTS_MAX),
        ("assertion_bytes_max", core::ASSERTION_BYTES_MAX),
        ("action_bytes_max", core::ACTION_BYTES_MAX),
        ("return_events_max", core::RETURN_EVENTS_MAX),
        ("fork_depth_max", core::FORK_DEPTH_MAX),
        ("diff_entries_max", core::DIFF_ENTRIES_MAX),
        ("event_attributes_bytes_max", core::EVENT_ATTRIBUTES_BYTES_MAX),
        ("events_per_request_max", core::EVENTS_PER_REQUEST_MAX),
        ("page_items_default", core::PAGE_ITEMS_DEFAULT),
        ("page_items_max", core::PAGE_ITEMS_MAX),
        ("find_text_bytes_max", core::FIND_TEXT_BYTES_MAX),
        ("find_words_max", core::FIND_WORDS_MAX),
        ("find_attributes_max", core::FIND_ATTRIBUTES_MAX),
        ("find_attribute_bytes_max", core::FIND_ATTRIBUTE_BYTES_MAX),
        ("find_events_read_max", core::FIND_EVENTS_READ_MAX),
        ("aggregate_events_max", core::AGGREGATE_EVENTS_MAX),
        ("aggregate_events_read_max", core::AGGREGATE_EVENTS_READ_MAX),
        ("aggregate_events_searched_max", core::AGGREGATE_EVENTS_SEARCHED_MAX),
        ("aggregate_groups_max", core::AGGREGATE_GROUPS_MAX),
        ("aggregate_groups_per_event_max", core::AGGREGATE_GROUPS_PER_EVENT_MAX),
        ("aggregate_values_max", core::AGGREGATE_VALUES_MAX),
        ("views_behind_max", VIEWS_BEHIND_MAX),
        ("entries_page_bytes_max", ENTRIES_PAGE_BYTES_MAX),
        ("events_page_bytes_max", EVENTS_PAGE_BYTES_MAX),
        ("anchors_per_timeline_max", core::ANCHORS_PER_TIMELINE_MAX),
        ("timestamp_bytes_max", TIMESTAMP_BYTES_MAX),
        ("duration_bytes_max", DURATION_BYTES_MAX),
        ("time_range_bytes_max", TIME_RANGE_BYTES_MAX),
        ("json_depth_max", JSON_DEPTH_MAX),
        ("stream_changes_kept_max", RETAINED_CHANGES_MAX),
        ("stream_firings_kept_max", PENDING_FIRINGS_MAX),
        ("data_bytes_max", core::DATA_BYTES_MAX),
        ("encryption_key_bytes_max", core::ENCRYPTION_KEY_BYTES_MAX),
    ]
}

fn file_limits() -> Vec<(&'static str, usize)> {
    vec![
        ("attributes_depth_max", import::ATTRIBUTES_DEPTH_MAX),
        ("geometry_depth_max", import::GEOMETRY_DEPTH_MAX),
        ("import_record_bytes_max", import::RECORD_BYTES_MAX),
        ("import_feature_bytes_max", import::FEATURE_BYTES_MAX),
        ("import_trace_document_bytes_max", import::TRACE_DOCUMENT_BYTES_MAX),
        ("import_trace_spans_max", import::TRACE_SPANS_MAX),
        ("import_calendar_bytes_max", import::CALENDAR_BYTES_MAX),
        ("import_csv_columns_max", import::CSV_COLUMNS_MAX),
        ("import_pattern_compiled_bytes_max", import::PATTERN_COMPILED_BYTES_MAX),
        ("import_pattern_line_bytes_max", import::PATTERN_LINE_BYTES_MAX),
        ("import_mapping_bytes_max", import::MAPPING_BYTES_MAX),
        ("import_dry_run_records_max", IMPORT_DRY_RUN_RECORDS_MAX),
        ("import_refusals_listed_max", REFUSALS_LISTED_MAX),
    ]
}

fn caller_limits() -> Vec<(&'static str, usize)> {
    vec![
        ("keys_per_user_max", core::KEYS_PER_USER_MAX),
        ("password_chars_min", core::PASSWORD_CHARS_MIN),
        ("password_bytes_max", core::PASSWORD_BYTES_MAX),
        ("sessions_per_user_max", core::SESSIONS_PER_USER_MAX),
        ("sessions_swept_max", core::SESSIONS_SWEPT_MAX),
        ("lookup_body_bytes_max", LOOKUP_BODY_BYTES_MAX),
        ("change_body_bytes_max", CHANGE_BODY_BYTES_MAX),
        ("unauthenticated_body_bytes_max", UNAUTHENTICATED_BODY_BYTES_MAX),
        ("buffered_body_bytes_max", BUFFERED_BODY_BYTES_MAX),
        ("buffered_body_bytes_per_user_max", BUFFERED_BODY_BYTES_PER_USER_MAX),
        ("buffered_response_bytes_max", BUFFERED_RESPONSE_BYTES_MAX),
        ("buffered_response_bytes_per_user_max", BUFFERED_RESPONSE_BYTES_PER_USER_MAX),
        ("buffered_unauthenticated_bytes_max", BUFFERED_UNAUTHENTICATED_BYTES_MAX),
        ("buffered_unauthenticated_bytes_per_network_max", BUFFERED_UNAUTHENTICATED_BYTES_PER_NETWORK_MAX),
        ("requests_at_once_per_user_max", REQUESTS_AT_ONCE_PER_USER_MAX),
        ("imports_running_max", IMPORTS_RUNNING_MAX),
        ("imports_per_user_max", IMPORTS_PER_USER_MAX),
        ("streams_max", STREAMS_MAX),
        ("streams_per_user_max", STREAMS_PER_USER_MAX),
        ("records_per_request_max", RECORDS_PER_REQUEST_MAX),
        ("read_parameters_bytes_max", READ_PARAMETERS_BYTES_MAX),
        ("refusals_counted_networks_max", COUNTED_NETWORKS_MAX),
        ("refusals_counted_named_max", COUNTED_NAMED_MAX),
        ("idempotency_key_chars_max", KEY_CHARS_MAX),
        ("expired_ended_at_once_max", core::EXPIRED_ENDED_AT_ONCE_MAX),
        ("prune_rows_max", core::PRUNE_ROWS_MAX),
        ("permission_users_max", core::PERMISSION_USERS_MAX),
        ("queue_submissions_max", QUEUE_SUBMISSIONS_MAX),
        ("bundle_line_bytes_max", BUNDLE_LINE_BYTES_MAX),
        ("bundle_gone_max", BUNDLE_MISSING_MAX),
        ("scans_running_max", SCANS_RUNNING_MAX),
        ("scans_running_per_user_max", SCANS_RUNNING_PER_USER_MAX),
        ("long_work_running_max", LONG_WORK_RUNNING_MAX),
        ("views_running_max", VIEWS_RUNNING_MAX),
        ("counts_running_max", COUNTS_RUNNING_MAX),
        ("name_searches_running_max", NAME_SEARCHES_RUNNING_MAX),
        ("decrypt_free_attempts_max", core::DECRYPT_FREE_ATTEMPTS_MAX as usize),
        ("decrypt_records_watched_max", core::DECRYPT_RECORDS_WATCHED_MAX),
        ("key_derivations_max", core::KEY_DERIVATIONS_MAX),
        ("key_derivations_waiting_max", core::KEY_DERIVATIONS_WAITING_MAX),
        ("key_derivations_waiting_per_user_max", core::KEY_DERIVATIONS_WAITING_PER_USER_MAX),
    ]
}
