//! Every limit of the domain, by name.
//!
//! Units come last in the names. `GET /v1/limits` shows them all, and `docs/limits.md` lists them.

/// Longest timeline, user, event, anchor, data or key id, in bytes.
pub const ID_BYTES_MAX: usize = 128;
/// Longest event name, in bytes.
pub const EVENT_NAME_BYTES_MAX: usize = 256;
/// Longest description of an event or an anchor, in bytes.
pub const DESCRIPTION_BYTES_MAX: usize = 16 * 1024;
/// Longest location text, in bytes.
pub const LOCATION_BYTES_MAX: usize = 512;
/// Longest source of an event, in bytes.
pub const SOURCE_BYTES_MAX: usize = 512;
/// Longest label of an API key, in bytes.
pub const LABEL_BYTES_MAX: usize = 256;
/// Most causes one event may name.
pub const EVENT_CAUSES_MAX: usize = 256;
/// Most actors one event may name.
pub const EVENT_ACTORS_MAX: usize = 256;
/// Most assertions of one event.
pub const EVENT_ASSERTS_MAX: usize = 64;
/// Longest value of one assertion, in bytes of canonical JSON.
pub const ASSERTION_BYTES_MAX: usize = 1_024;
/// Highest number that a source may give a record: the largest integer that every JSON reader holds
/// exactly (RFC 8259 §6).
pub const EVENT_SEQUENCE_MAX: u64 = (1 << 53) - 1;
/// Largest `attributes` of one event, in bytes of canonical JSON.
pub const EVENT_ATTRIBUTES_BYTES_MAX: usize = 64 * 1024;
/// Most events one `POST /v1/events` may record.
pub const EVENTS_PER_REQUEST_MAX: usize = 1_000;
/// Items on a page where the caller names no `limit`.
pub const PAGE_ITEMS_DEFAULT: usize = 100;
/// Most items on a page.
pub const PAGE_ITEMS_MAX: usize = 1_000;
/// Longest `text` that events are found by, in bytes.
pub const FIND_TEXT_BYTES_MAX: usize = 256;
/// Most words in it.
pub const FIND_WORDS_MAX: usize = 32;
/// Most values of attributes that events are found by at once.
pub const FIND_ATTRIBUTES_MAX: usize = 16;
/// Longest key of an attribute that events are found by, and longest value, in bytes.
pub const FIND_ATTRIBUTE_BYTES_MAX: usize = 1_024;
/// Most events that are looked through for one page of those that pass a filter.
pub const FIND_EVENTS_READ_MAX: usize = 50_000;
/// Most events that are counted for one answer, where an index has all that is needed of each.
pub const AGGREGATE_EVENTS_MAX: usize = 1_000_000;
/// Most events that are looked through for one answer that counts, where they have to be read.
pub const AGGREGATE_EVENTS_READ_MAX: usize = 100_000;
/// Most groups that events are counted in.
pub const AGGREGATE_GROUPS_MAX: usize = 10_000;
/// Longest rule or cron expression of a timer, in bytes.
pub const RULE_BYTES_MAX: usize = 1_024;
/// Highest `COUNT` of a rule: its moments are counted once, from the first to the last.
pub const RULE_COUNT_MAX: u32 = 10_000;
/// Slowest clock, in millionths of host speed.
pub const RATE_MICROS_MIN: u64 = 1;
/// Fastest clock, in millionths of host speed: a year passes in under 32 seconds.
pub const RATE_MICROS_MAX: u64 = 1_000_000 * 1_000_000;
/// Largest radius of a location, in metres: half the way around the earth.
pub const RADIUS_METRES_MAX: f64 = 20_037_508.0;
/// Radius of a point that names none, in metres.
pub const RADIUS_METRES_DEFAULT: f64 = 50_000.0;
/// How far from host time a user with `limited_access` may travel, in days, unless configured.
pub const LIMITED_ACCESS_WINDOW_DAYS_DEFAULT: u32 = 30;
/// Most user ids in one list of a timeline's permissions.
pub const PERMISSION_USERS_MAX: usize = 1_000;
/// Most unexpired API keys of one user.
pub const KEYS_PER_USER_MAX: usize = 100;
/// Fewest characters of a new password (ASVS 5.0, 6.2.1).
pub const PASSWORD_CHARS_MIN: usize = 8;
/// Longest password, in bytes: no more is hashed for whoever asks.
pub const PASSWORD_BYTES_MAX: usize = 1_024;
/// Most sessions of one user: a further one ends the oldest.
pub const SESSIONS_PER_USER_MAX: usize = 20;
/// How long the answer to a change waits for witnesses where they are required, in seconds, unless configured.
pub const WITNESS_WAIT_SECONDS_DEFAULT: u32 = 30;
/// How long a session lasts that nobody uses, in seconds, unless configured.
pub const SESSION_IDLE_SECONDS_DEFAULT: u32 = 30 * 60;
/// How long a session lasts at most, in seconds, unless configured.
pub const SESSION_SECONDS_DEFAULT: u32 = 12 * 3_600;
/// Longest that either may be configured to, in seconds.
pub const SESSION_SECONDS_MAX: u32 = 30 * 24 * 3_600;
/// Most sessions that have ended by themselves and are taken off the table when somebody logs in.
pub const SESSIONS_SWEPT_MAX: usize = 1_000;
/// How far the host's clock may be behind the newest entry before the service says that it is wrong, in seconds.
pub const HOST_CLOCK_BEHIND_SECONDS_MAX: i64 = 60;
/// How far the host's clock may be from the database's, in milliseconds, unless configured.
pub const HOST_CLOCK_OFFSET_MILLIS_MAX_DEFAULT: u32 = 2_000;
/// For how long the contents of a timeline that has ended stay, in days, unless configured.
pub const ENDED_GRACE_DAYS_DEFAULT: u32 = 7;
/// Longest that it may be configured to, in days.
pub const ENDED_GRACE_DAYS_MAX: u32 = 3_650;
/// Most timelines that are ended in one go because their time has come.
pub const EXPIRED_ENDED_AT_ONCE_MAX: usize = 256;
/// Most rows that are let go in one transaction.
pub const LET_GO_ROWS_MAX: usize = 2_048;
/// Shortest time after which a timeline ends by itself, in seconds.
pub const EXPIRES_IN_SECONDS_MIN: i64 = 1;
/// Longest time after which a timeline ends by itself, in days.
pub const EXPIRES_IN_DAYS_MAX: i64 = 3_660;
/// Longest that the host's clock may have gone on since it was last known to be right before nothing is destroyed until
/// an operator says that it is right, in seconds.
pub const HOST_CLOCK_STEP_SECONDS_MAX: i64 = 7 * 24 * 3_600;
/// The least that reads and refusals are kept where a timeline lets them go, in seconds, unless configured.
pub const RETENTION_FLOOR_SECONDS_DEFAULT: u32 = 24 * 3_600;
/// Most times that it may be said for one timeline how long reads and refusals are kept.
pub const RETENTION_POLICIES_MAX: usize = 1_000;
/// Most timelines of one service.
pub const TIMELINES_MAX: usize = 4_000_000;
/// Most timelines that one user makes, forks among them, unless configured.
pub const TIMELINES_PER_USER_MAX_DEFAULT: usize = 25_000;
/// Most users of one service.
pub const USERS_MAX: usize = 100_000;
/// Most anchors on one timeline.
pub const ANCHORS_PER_TIMELINE_MAX: usize = 10_000;
/// Most sealed records of one timeline, erased ones too.
pub const DATA_RECORDS_PER_TIMELINE_MAX: usize = 100_000;
/// Largest `data` of one record, in bytes of its JSON text as it was sent.
pub const DATA_BYTES_MAX: usize = 1024 * 1024;
/// Longest encryption key, in bytes.
pub const ENCRYPTION_KEY_BYTES_MAX: usize = 1_024;
/// Wrong keys that may be tried on one record before anybody has to wait.
pub const DECRYPT_FAILURES_FREE_MAX: u32 = 5;
/// How long nobody may try a record after one wrong key too many, in seconds. Each further wrong
/// key doubles it.
pub const DECRYPT_WAIT_SECONDS_MIN: u64 = 60;
/// Longest time that nobody may try a record, in seconds.
pub const DECRYPT_WAIT_SECONDS_MAX: u64 = 3_600;
/// How long a record's wrong keys are remembered after the last one, in seconds.
pub const DECRYPT_FAILURES_KEPT_SECONDS_MAX: u64 = 24 * 3_600;
/// Most records whose wrong keys are remembered.
pub const DECRYPT_RECORDS_WATCHED_MAX: usize = 10_000;
/// Most keys made from passphrases at the same moment, and as many passwords hashed: each takes 19 MiB and a core.
pub const KEY_DERIVATIONS_MAX: usize = 4;
/// Most requests that wait for their turn to seal or open, and as many that wait to have a password checked.
pub const KEY_DERIVATIONS_WAITING_MAX: usize = 128;
/// How many of these may be in one user's name.
pub const KEY_DERIVATIONS_WAITING_PER_USER_MAX: usize = 32;
/// Longest action of an intervention, in bytes.
pub const ACTION_BYTES_MAX: usize = 1_024;
/// Most events that one return to an anchor may change back.
pub const RETURN_EVENTS_MAX: usize = 10_000;
/// Most timelines that a fork may be away from one that is none: forks of forks.
pub const FORK_DEPTH_MAX: usize = 64;
/// Events and interventions that all views of timelines may hold together before those that were not
/// asked for longest are dropped.
pub const VIEWS_EVENTS_MAX: usize = 4_000_000;
/// How long a view stays that nobody looks at and nobody follows, in seconds.
pub const VIEW_IDLE_SECONDS_MAX: i64 = 300;
/// Most events that a summary of a scan counts.
pub const SUMMARY_EVENTS_MAX: usize = 100_000;
/// Most causes, effects or paradoxes that are listed of one event.
pub const EVENT_RELATIONS_MAX: usize = 100;
/// Most events whose names are looked through for near ones.
pub const NAMES_SEARCHED_MAX: usize = 20_000;
/// Rows of events looked through for a description.
pub const DESCRIPTIONS_SEARCHED_MAX: usize = 100_000;
/// Most ledger entries that are looked through to compare two timelines.
pub const DIFF_ENTRIES_MAX: usize = 1_000_000;
/// Most ledger entries that a stream goes back, or falls behind.
pub const STREAM_ENTRIES_MAX: u64 = 100_000;
/// Most armed timers on one timeline.
pub const TIMERS_PER_TIMELINE_MAX: usize = 100_000;
/// Largest `payload` of one timer, in bytes of its JSON text as it was sent.
pub const TIMER_PAYLOAD_BYTES_MAX: usize = 64 * 1024;
/// Largest event that the firings of one timer record, in bytes of its JSON text as it is kept: many such timers are read
/// at once where they fall due.
pub const TIMER_EVENT_BYTES_MAX: usize = 8 * 1024;
/// Longest `order_key` of a timer, in bytes.
pub const TIMER_ORDER_KEY_BYTES_MAX: usize = 256;
/// Most firings that one step, or one moment of a running clock, makes at once. What is left follows in the next one.
pub const FIRINGS_AT_ONCE_MAX: usize = 512;
/// Most firings without an outcome on one timeline before a running clock makes no more of rules: their moments are
/// skipped. Single timers always fire.
pub const PENDING_OF_RULES_MAX: u64 = 10_000;
/// Most firings without an outcome that are superseded, made again, or taken along, where timers stand as they did before.
pub const RESTORED_FIRINGS_MAX: usize = 100_000;
/// Most bytes of timers that stand as they did before, all at once: their schedules, payloads and names.
pub const RESTORED_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Most firings, or entries about timers, that are looked through to find how timers stood.
pub const RESTORED_LOOKED_MAX: usize = 1_000_000;
/// Most moments of a rule that had passed when its timer was set, and are caught up with.
pub const CATCH_UP_MOMENTS_MAX: u64 = 10_000;
/// Most firings that are looked through for one page of a list of those that fit a filter.
pub const FIRINGS_LOOKED_MAX: usize = 10_000;
/// Firings that a dry run lists.
pub const FORESEEN_FIRINGS_MAX: usize = 1_000;
/// Most firings of one advance, as far as rules tell before it begins.
pub const FIRINGS_PER_ADVANCE_MAX: u64 = 1_000_000;
/// Most firings at one instant of an advance: a timer that arms itself for now would never end.
pub const FIRINGS_AT_INSTANT_MAX: u64 = 10_000;
/// Most firings that one request claims, acknowledges, fails or extends.
pub const FIRINGS_PER_REQUEST_MAX: usize = 1_000;
/// Most firings that are leased at the same time, on one service.
pub const LEASES_MAX: usize = 100_000;
/// Firings of an advance that its receipt lists.
pub const RECEIPT_FIRINGS_MAX: usize = 100;
/// Most times that a firing is handed out within an advance before it has failed.
pub const ATTEMPTS_IN_ADVANCE_MAX: u32 = 3;
/// Most times that a firing is handed out otherwise.
pub const ATTEMPTS_MAX: u32 = 10;
/// Most firings without an outcome on a timeline whose webhooks are tried again for days. Beyond it, one that cannot be
/// reached fails within a quarter of an hour, so that what waits for it holds up no other.
pub const WEBHOOKS_PATIENT_PENDING_MAX: u64 = 1_000;
/// Longest that one instant of an advance is held, by the host, in seconds.
pub const HOLD_SECONDS_MAX: i64 = 600;
/// How long a firing is leased where nothing else is asked for, in seconds.
pub const LEASE_SECONDS_DEFAULT: i64 = 30;
/// Shortest lease, in seconds.
pub const LEASE_SECONDS_MIN: i64 = 1;
/// Longest lease, in seconds.
pub const LEASE_SECONDS_MAX: i64 = 600;
/// Leases that hold the advances of one timeline without a firing.
pub const HOLDS_PER_TIMELINE_MAX: usize = 100;
/// Bytes of the reason for such a lease.
pub const HOLD_REASON_BYTES_MAX: usize = 256;
/// How long a queue counts as heard after somebody waited for its firings, in seconds.
pub const QUEUE_HEARD_SECONDS: i64 = 10;
/// Longest that a claim waits for firings, in seconds.
pub const CLAIM_WAIT_SECONDS_MAX: i64 = 60;
/// How long the answer to a clock change waits for the advance to be settled, in seconds, unless asked otherwise.
pub const SETTLE_WAIT_SECONDS_DEFAULT: i64 = 30;
/// Longest that it waits, in seconds.
pub const SETTLE_WAIT_SECONDS_MAX: i64 = 600;
/// Longest address of a webhook, in bytes.
pub const WEBHOOK_URL_BYTES_MAX: usize = 2_048;
/// Shortest secret that webhooks are signed under, in bytes (Standard Webhooks 1.0.0, "Signature scheme").
pub const WEBHOOK_SECRET_BYTES_MIN: usize = 24;
/// Longest secret, in bytes.
pub const WEBHOOK_SECRET_BYTES_MAX: usize = 64;
/// How long a webhook may take to answer, in seconds: less than the firing is leased.
pub const WEBHOOK_SECONDS_MAX: u64 = 20;
/// Webhooks on their way to one host and port at the same moment.
pub const WEBHOOKS_PER_HOST_MAX: usize = 16;
/// Webhooks of one timeline on their way, or waiting for those of others.
pub const WEBHOOKS_PER_TIMELINE_MAX: usize = 4;
/// Most hosts and ports that webhooks may go to.
pub const WEBHOOK_HOSTS_MAX: usize = 64;
/// Longest reason for a firing that failed, in bytes.
pub const FAILURE_REASON_BYTES_MAX: usize = 1_024;
/// Most followers of one timeline's clock.
pub const FOLLOWERS_PER_TIMELINE_MAX: usize = 1_000;
/// Longest name of a follower's host, in bytes: that of names in the DNS (RFC 1035 §2.3.4).
pub const FOLLOWER_HOST_BYTES_MAX: usize = 253;
/// Largest id of a follower's process.
pub const FOLLOWER_PROCESS_MAX: u32 = 999_999_999;
/// How long the firings of an instant wait for followers that confirm each step of an advance, in seconds of host time.
pub const FOLLOWER_STEP_SECONDS_MAX: i64 = 5;
/// Most names of followers that one clock change waits for.
pub const FOLLOWERS_NAMED_MAX: usize = 100;
/// Most names of followers of one timeline whose clock is shown wrong.
pub const FAULTS_PER_TIMELINE_MAX: usize = 32;
/// Largest number that the jitter of a wrong clock is drawn from: every program reads it from JSON as it is.
pub const FAULT_SEED_MAX: u64 = 9_007_199_254_740_991;
/// How long a follower that went away is still listed, in seconds.
pub const FOLLOWER_AWAY_SECONDS: i64 = 60;
/// Most followers that are remembered after they went away, of all timelines together.
pub const FOLLOWERS_AWAY_MAX: usize = 1_000;
/// How long the answer to a clock change waits where it waits for followers alone, in seconds, unless asked otherwise.
pub const FOLLOWER_WAIT_SECONDS_DEFAULT: i64 = 5;
