//! Every limit of the domain, by name.
//!
//! Units come last in the names. `GET /v1/limits` shows them all, and `docs/limits.md` lists them.

/// Longest timeline, user, event, anchor, data or key id, in bytes.
pub const ID_BYTES_MAX: usize = 128;
pub const EVENT_NAME_BYTES_MAX: usize = 256;
pub const DESCRIPTION_BYTES_MAX: usize = 16 * 1024;
pub const LOCATION_BYTES_MAX: usize = 512;
pub const SOURCE_BYTES_MAX: usize = 512;
pub const LABEL_BYTES_MAX: usize = 256;
pub const EVENT_CAUSES_MAX: usize = 256;
pub const EVENT_ACTORS_MAX: usize = 256;
pub const EVENT_ASSERTS_MAX: usize = 64;
/// Longest value of one assertion, in bytes of canonical JSON.
pub const ASSERTION_BYTES_MAX: usize = 1_024;
/// Highest sequence number of a source: the largest integer of every JSON parser (RFC 8259 §6).
pub const EVENT_SEQUENCE_MAX: u64 = (1 << 53) - 1;
/// Largest `attributes` of one event, in bytes of canonical JSON.
pub const EVENT_ATTRIBUTES_BYTES_MAX: usize = 64 * 1024;
pub const EVENTS_PER_REQUEST_MAX: usize = 1_000;
/// Items on a page if the request has no `limit`.
pub const PAGE_ITEMS_DEFAULT: usize = 100;
pub const PAGE_ITEMS_MAX: usize = 1_000;
pub const FIND_TEXT_BYTES_MAX: usize = 256;
pub const FIND_WORDS_MAX: usize = 32;
pub const FIND_ATTRIBUTES_MAX: usize = 16;
/// Longest key and value of an attribute filter, in bytes.
pub const FIND_ATTRIBUTE_BYTES_MAX: usize = 1_024;
/// Most events read for one page of filtered events.
pub const FIND_EVENTS_READ_MAX: usize = 50_000;
/// Most events aggregated in one response if an index has all required fields.
pub const AGGREGATE_EVENTS_MAX: usize = 1_000_000;
/// Most events aggregated in one response if the events have to be read.
pub const AGGREGATE_EVENTS_READ_MAX: usize = 400_000;
/// Most events aggregated in one response if words are searched in them.
pub const AGGREGATE_EVENTS_SEARCHED_MAX: usize = 100_000;
pub const AGGREGATE_GROUPS_MAX: usize = 10_000;
/// Most combinations of two keys that one event can be counted in.
pub const AGGREGATE_GROUPS_PER_EVENT_MAX: usize = 1_000;
/// Most values to which one request can limit its groups.
pub const AGGREGATE_VALUES_MAX: usize = 100;
/// Longest rule or cron expression of a timer, in bytes.
pub const RULE_BYTES_MAX: usize = 1_024;
/// Highest `COUNT` of a rule. All its moments are visited once, to find the last one.
pub const RULE_COUNT_MAX: u32 = 10_000;
/// Slowest clock, in millionths of host speed.
pub const RATE_MICROS_MIN: u64 = 1;
/// Fastest clock, in millionths of host speed: a year passes in under 32 seconds.
pub const RATE_MICROS_MAX: u64 = 1_000_000 * 1_000_000;
/// Largest radius of a location, in meters: half the circumference of the earth.
pub const RADIUS_METERS_MAX: f64 = 20_037_508.0;
pub const RADIUS_METERS_DEFAULT: f64 = 50_000.0;
/// Default of how far from host time a user with `limited_access` may travel, in days.
pub const LIMITED_ACCESS_WINDOW_DAYS_DEFAULT: u32 = 30;
pub const PERMISSION_USERS_MAX: usize = 1_000;
/// Most unexpired API keys of one user.
pub const KEYS_PER_USER_MAX: usize = 100;
/// Fewest characters of a new password (ASVS 5.0, 6.2.1).
pub const PASSWORD_CHARS_MIN: usize = 8;
/// Longest password, in bytes. Bounds the cost of hashing for unauthenticated callers.
pub const PASSWORD_BYTES_MAX: usize = 1_024;
/// Most sessions of one user. Another login ends the oldest one.
pub const SESSIONS_PER_USER_MAX: usize = 20;
/// Default of how long a change waits for required witnesses, in seconds.
pub const WITNESS_WAIT_SECONDS_DEFAULT: u32 = 30;
pub const SESSION_IDLE_SECONDS_DEFAULT: u32 = 30 * 60;
/// Default of the maximum lifetime of sessions, in seconds.
pub const SESSION_SECONDS_DEFAULT: u32 = 12 * 3_600;
/// Highest configurable lifetime and idle time of sessions, in seconds.
pub const SESSION_SECONDS_MAX: u32 = 30 * 24 * 3_600;
pub const SESSIONS_SWEPT_MAX: usize = 1_000;
/// How far the host clock may be behind the newest entry before the service reports it as wrong, in seconds.
pub const HOST_CLOCK_BEHIND_SECONDS_MAX: i64 = 60;
/// Default of the allowed difference between the clocks of host and database, in milliseconds.
pub const HOST_CLOCK_OFFSET_MILLIS_MAX_DEFAULT: u32 = 2_000;
/// Highest configurable time between a response and its checkpoint outside the database, in milliseconds.
pub const CHECKPOINT_LAG_MILLIS_MAX: u32 = 1_000;
/// Default of how long the contents of an ended timeline are kept, in days.
pub const ENDED_GRACE_DAYS_DEFAULT: u32 = 7;
/// Highest configurable value, in days.
pub const ENDED_GRACE_DAYS_MAX: u32 = 3_650;
pub const EXPIRED_ENDED_AT_ONCE_MAX: usize = 256;
/// Most rows deleted in one transaction.
pub const PRUNE_ROWS_MAX: usize = 2_048;
/// Shortest time to the expiry of a timeline, in seconds.
pub const EXPIRES_IN_SECONDS_MIN: i64 = 1;
/// Longest time to the expiry of a timeline, in days.
pub const EXPIRES_IN_DAYS_MAX: i64 = 3_660;
/// Largest step of the host clock since it was last trusted, in seconds. After a larger one, nothing is destroyed until
/// an operator confirms the clock.
pub const HOST_CLOCK_STEP_SECONDS_MAX: i64 = 7 * 24 * 3_600;
/// Default of the shortest retention of reads and refusals, in seconds.
pub const RETENTION_FLOOR_SECONDS_DEFAULT: u32 = 24 * 3_600;
pub const RETENTION_POLICIES_MAX: usize = 1_000;
pub const TIMELINES_MAX: usize = 4_000_000;
/// Default of how many timelines one user can create, including forks.
pub const TIMELINES_PER_USER_MAX_DEFAULT: usize = 25_000;
pub const USERS_MAX: usize = 100_000;
pub const ANCHORS_PER_TIMELINE_MAX: usize = 10_000;
/// Most sealed records of one timeline, including erased ones.
pub const DATA_RECORDS_PER_TIMELINE_MAX: usize = 100_000;
/// Largest `data` of one record, in bytes of JSON as sent.
pub const DATA_BYTES_MAX: usize = 1024 * 1024;
pub const ENCRYPTION_KEY_BYTES_MAX: usize = 1_024;
/// Wrong keys that may be tried on one record before callers have to wait.
pub const DECRYPT_FREE_ATTEMPTS_MAX: u32 = 5;
/// First waiting time after too many wrong keys for a record, in seconds. Each further wrong key doubles it.
pub const DECRYPT_WAIT_SECONDS_MIN: u64 = 60;
pub const DECRYPT_WAIT_SECONDS_MAX: u64 = 3_600;
/// How long wrong keys of a record are remembered after the last one, in seconds.
pub const DECRYPT_FAILURES_KEPT_SECONDS_MAX: u64 = 24 * 3_600;
/// Most records for which wrong keys are remembered.
pub const DECRYPT_RECORDS_WATCHED_MAX: usize = 10_000;
/// Most concurrent key derivations from passphrases, and as many password hashes. Each takes 19 MiB and a core.
pub const KEY_DERIVATIONS_MAX: usize = 4;
/// Most queued requests to seal or open records, and as many queued password checks.
pub const KEY_DERIVATIONS_WAITING_MAX: usize = 128;
pub const KEY_DERIVATIONS_WAITING_PER_USER_MAX: usize = 32;
pub const ACTION_BYTES_MAX: usize = 1_024;
/// Most events that one return to an anchor may change.
pub const RETURN_EVENTS_MAX: usize = 10_000;
pub const FORK_DEPTH_MAX: usize = 64;
/// Most events and interventions in all views. Beyond it, the views unused for longest are dropped.
pub const VIEWS_EVENTS_MAX: usize = 4_000_000;
/// How long an unused view without followers is kept, in seconds.
pub const VIEW_IDLE_SECONDS_MAX: i64 = 300;
pub const SUMMARY_EVENTS_MAX: usize = 100_000;
/// Most causes, effects or paradoxes listed for one event.
pub const EVENT_RELATIONS_MAX: usize = 100;
/// Most events whose names are searched for similar ones.
pub const NAMES_SEARCHED_MAX: usize = 20_000;
/// Most event rows searched for a description.
pub const DESCRIPTIONS_SEARCHED_MAX: usize = 100_000;
/// Most ledger entries read to compare two timelines.
pub const DIFF_ENTRIES_MAX: usize = 1_000_000;
/// Most ledger entries that a stream can start in the past, or fall behind.
pub const STREAM_ENTRIES_MAX: u64 = 100_000;
pub const TIMERS_PER_TIMELINE_MAX: usize = 100_000;
/// Largest `payload` of one timer, in bytes of JSON as sent.
pub const TIMER_PAYLOAD_BYTES_MAX: usize = 64 * 1024;
/// Largest event that firings record, in bytes of JSON. Many such timers are read at once when they fall due.
pub const TIMER_EVENT_BYTES_MAX: usize = 8 * 1024;
pub const TIMER_ORDER_KEY_BYTES_MAX: usize = 256;
/// Most firings created by one step, or at one moment of a running clock. The remaining ones follow in the next one.
pub const FIRINGS_AT_ONCE_MAX: usize = 512;
/// Most pending firings on one timeline before a running clock skips the moments of rules. One-time timers always fire.
pub const PENDING_OF_RULES_MAX: u64 = 10_000;
/// Most pending firings that are superseded, recreated, or inherited when timers are restored.
pub const RESTORED_FIRINGS_MAX: usize = 100_000;
/// Largest total size of timers that are restored at once, in bytes of schedules, payloads and names.
pub const RESTORED_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Most firings and timer entries read to reconstruct earlier timers.
pub const RESTORE_SCANNED_MAX: usize = 1_000_000;
/// Most past moments of a rule that are caught up when its timer is set.
pub const CATCH_UP_MOMENTS_MAX: u64 = 10_000;
/// Most firings read for one page of a filtered list.
pub const FIRINGS_SCANNED_MAX: usize = 10_000;
/// Most firings listed by a dry run.
pub const DRY_RUN_FIRINGS_MAX: usize = 1_000;
/// Most firings of one advance, as far as rules predict them before it starts.
pub const FIRINGS_PER_ADVANCE_MAX: u64 = 1_000_000;
/// Most firings at one instant of an advance. Stops a timer that keeps arming itself for the current instant.
pub const FIRINGS_AT_INSTANT_MAX: u64 = 10_000;
/// Most firings that one request claims, acknowledges, fails or extends.
pub const FIRINGS_PER_REQUEST_MAX: usize = 1_000;
/// Most concurrently leased firings of one service.
pub const LEASES_MAX: usize = 100_000;
pub const RECEIPT_FIRINGS_MAX: usize = 100;
pub const ATTEMPTS_IN_ADVANCE_MAX: u32 = 3;
/// Most attempts at a firing outside of an advance.
pub const ATTEMPTS_MAX: u32 = 10;
/// Most pending firings on a timeline whose webhooks are retried for days. Beyond it, an unreachable webhook fails
/// within a quarter of an hour, so that its firings do not delay others.
pub const WEBHOOK_RETRY_BACKLOG_MAX: u64 = 1_000;
/// Longest time that one instant of an advance is held, in seconds of host time.
pub const HOLD_SECONDS_MAX: i64 = 600;
pub const LEASE_SECONDS_DEFAULT: i64 = 30;
pub const LEASE_SECONDS_MIN: i64 = 1;
pub const LEASE_SECONDS_MAX: i64 = 600;
pub const HOLDS_PER_TIMELINE_MAX: usize = 100;
pub const HOLD_REASON_BYTES_MAX: usize = 256;
/// How long a queue counts as having listeners after the last one, in seconds.
pub const QUEUE_LISTENER_SECONDS: i64 = 10;
pub const CLAIM_WAIT_SECONDS_MAX: i64 = 60;
/// Default of how long a clock change waits for its advance to settle, in seconds.
pub const SETTLE_WAIT_SECONDS_DEFAULT: i64 = 30;
pub const SETTLE_WAIT_SECONDS_MAX: i64 = 600;
pub const WEBHOOK_URL_BYTES_MAX: usize = 2_048;
/// Shortest secret for signing webhooks, in bytes (Standard Webhooks 1.0.0, "Signature scheme").
pub const WEBHOOK_SECRET_BYTES_MIN: usize = 24;
pub const WEBHOOK_SECRET_BYTES_MAX: usize = 64;
/// Timeout of a webhook, in seconds. Shorter than the lease of its firing.
pub const WEBHOOK_SECONDS_MAX: u64 = 20;
pub const WEBHOOKS_PER_HOST_MAX: usize = 16;
/// Most webhooks of one timeline that are in flight or queued.
pub const WEBHOOKS_PER_TIMELINE_MAX: usize = 4;
pub const WEBHOOK_HOSTS_MAX: usize = 64;
pub const FAILURE_REASON_BYTES_MAX: usize = 1_024;
pub const FOLLOWERS_PER_TIMELINE_MAX: usize = 1_000;
/// Longest host name of a follower, in bytes: that of DNS names (RFC 1035 §2.3.4).
pub const FOLLOWER_HOST_BYTES_MAX: usize = 253;
pub const FOLLOWER_PROCESS_MAX: u32 = 999_999_999;
/// How long the firings of an instant wait for followers that confirm each step of an advance, in seconds of host time.
pub const FOLLOWER_STEP_SECONDS_MAX: i64 = 5;
/// Most follower names that one clock change waits for.
pub const FOLLOWERS_NAMED_MAX: usize = 100;
/// Most follower names of one timeline with a faulty clock.
pub const FAULTS_PER_TIMELINE_MAX: usize = 32;
/// Largest seed of a faulty clock's jitter: every JSON parser represents it exactly.
pub const FAULT_SEED_MAX: u64 = 9_007_199_254_740_991;
/// How long a disconnected follower is listed, in seconds.
pub const FOLLOWER_AWAY_SECONDS: i64 = 60;
/// Most disconnected followers that are remembered, of all timelines together.
pub const FOLLOWERS_AWAY_MAX: usize = 1_000;
/// Default of how long a clock change waits that waits only for followers, in seconds.
pub const FOLLOWER_WAIT_SECONDS_DEFAULT: i64 = 5;
