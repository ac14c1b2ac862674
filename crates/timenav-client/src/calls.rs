//! Every operation of the API.
//!
//! Written by `cargo xtask rust-client` from docs/api/openapi.json. Do not edit it.

use reqwest::Body;
use serde_json::{Map, Value};

use crate::arguments::{Bucket, EntityTag, Length, Moment, TimeRange};
use crate::call::{Call, List, Operation, Page, Pages, Sent, Timeline, page, sent};
use crate::client::Client;
use crate::error::Error;
use crate::instant::Instant;
use crate::request::Request;
use crate::response::{Events, Response};
use crate::schemas;
use crate::sse::SentEvent;
use crate::watch::Watch;

/// Ends a timeline: it can no longer be read, and its name cannot be reused (`DELETE /timeline/{timeline_id}`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct EndTimelineCall<'a> {
    call: Call<'a>,
}

impl EndTimelineCall<'_> {
    /// A request with a key is carried out once; a repeat within 24 hours gets the same response.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }
}

sent!(EndTimelineCall, schemas::TimelineEndedBody, json);

impl Client {
    /// Ends a timeline: it can no longer be read, and its name cannot be reused (`DELETE /timeline/{timeline_id}`).
    ///
    /// - `timeline_id`: The timeline.
    pub fn end_timeline(&self, timeline_id: &str) -> EndTimelineCall<'_> {
        const SENT: Operation = Operation::new("DELETE", &["timeline", "{}"]).once();
        let call = Call::new(self, &SENT, &[timeline_id]);

        EndTimelineCall { call }
    }
}

/// Reads a timeline (`GET /timeline/{timeline_id}`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct TimelineCall<'a> {
    call: Call<'a>,
}

sent!(TimelineCall, schemas::TimelineReadBody, json);

impl Client {
    /// Reads a timeline (`GET /timeline/{timeline_id}`).
    ///
    /// - `timeline_id`: The timeline.
    pub fn timeline(&self, timeline_id: &str) -> TimelineCall<'_> {
        const SENT: Operation = Operation::new("GET", &["timeline", "{}"]);
        let call = Call::new(self, &SENT, &[timeline_id]);

        TimelineCall { call }
    }
}

/// Exports a timeline as one file that can be verified offline (`GET /timeline/{timeline_id}/bundle`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct BundleCall<'a> {
    call: Call<'a>,
}

sent!(BundleCall, Response, response);

impl Client {
    /// Exports a timeline as one file that can be verified offline (`GET /timeline/{timeline_id}/bundle`).
    ///
    /// - `timeline_id`: The timeline.
    pub fn bundle(&self, timeline_id: &str) -> BundleCall<'_> {
        const SENT: Operation = Operation::new("GET", &["timeline", "{}", "bundle"]);
        let call = Call::new(self, &SENT, &[timeline_id]);

        BundleCall { call }
    }
}

/// Returns the latest signed checkpoint (`GET /timeline/{timeline_id}/checkpoint`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct CheckpointCall<'a> {
    call: Call<'a>,
}

impl<'a> CheckpointCall<'a> {
    /// Whether to return the very latest checkpoint. Defaults to false: of `system`, and of timelines that the
    /// operator has named to witnesses, the latest one that a witness has cosigned, if any has.
    pub fn newest(mut self, newest: bool) -> Self {
        self.call.query("newest", newest);
        self
    }

    /// Sends the call, and returns the signed text, to be kept and checked elsewhere.
    #[must_use = "it is sent when it is awaited"]
    pub fn text(self) -> Sent<'a, String> {
        self.call.text()
    }
}

sent!(CheckpointCall, schemas::CheckpointBody, json);

impl Client {
    /// Returns the latest signed checkpoint (`GET /timeline/{timeline_id}/checkpoint`).
    ///
    /// - `timeline_id`: The timeline.
    pub fn checkpoint(&self, timeline_id: &str) -> CheckpointCall<'_> {
        const SENT: Operation = Operation::new("GET", &["timeline", "{}", "checkpoint"]);
        let call = Call::new(self, &SENT, &[timeline_id]);

        CheckpointCall { call }
    }
}

/// Reads ledger entries with their salts and payloads (`GET /timeline/{timeline_id}/entries`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct EntriesCall<'a> {
    call: Call<'a>,
}

impl EntriesCall<'_> {
    /// The position of the first entry, counted from 0. Defaults to 0.
    pub fn from(mut self, from: u64) -> Self {
        self.call.query("from", from);
        self
    }

    /// The maximum number per page. A page of long entries can be shorter.
    pub fn limit(mut self, limit: u32) -> Self {
        self.call.query("limit", limit);
        self
    }
}

sent!(EntriesCall, schemas::EntriesBody, json);

impl Client {
    /// Reads ledger entries with their salts and payloads (`GET /timeline/{timeline_id}/entries`).
    ///
    /// - `timeline_id`: The timeline.
    pub fn entries(&self, timeline_id: &str) -> EntriesCall<'_> {
        const SENT: Operation = Operation::new("GET", &["timeline", "{}", "entries"]);
        let call = Call::new(self, &SENT, &[timeline_id]);

        EntriesCall { call }
    }
}

/// Returns the latest head statement (`GET /timeline/{timeline_id}/head`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct HeadStatementCall<'a> {
    call: Call<'a>,
}

impl<'a> HeadStatementCall<'a> {
    /// Sends the call, and returns the signed text, to be kept and checked elsewhere.
    #[must_use = "it is sent when it is awaited"]
    pub fn text(self) -> Sent<'a, String> {
        self.call.text()
    }
}

sent!(HeadStatementCall, schemas::HeadStatementBody, json);

impl Client {
    /// Returns the latest head statement (`GET /timeline/{timeline_id}/head`).
    ///
    /// - `timeline_id`: The timeline.
    pub fn head_statement(&self, timeline_id: &str) -> HeadStatementCall<'_> {
        const SENT: Operation = Operation::new("GET", &["timeline", "{}", "head"]);
        let call = Call::new(self, &SENT, &[timeline_id]);

        HeadStatementCall { call }
    }
}

/// Proves that an entry is in the ledger, or that the ledger only grew (`GET /timeline/{timeline_id}/proof`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct ProofCall<'a> {
    call: Call<'a>,
}

impl<'a> ProofCall<'a> {
    /// The form of the proof: `json`, `cose` for JSON with a COSE receipt, or, for an entry, `tlog-proof` for a file
    /// that can be verified offline. Defaults to `json`; for an entry, unless `Accept` asks for `text/plain`.
    pub fn format(mut self, format: schemas::ProofFormat) -> Self {
        self.call.query("format", format);
        self
    }

    /// The size of an earlier checkpoint, to prove that the ledger continues it.
    pub fn from(mut self, from: u64) -> Self {
        self.call.query("from", from);
        self
    }

    /// The position of an entry, counted from 0, to prove that it is in the ledger.
    pub fn position(mut self, position: u64) -> Self {
        self.call.query("position", position);
        self
    }

    /// Whether to prove the entry by a checkpoint of `system` that witnesses have cosigned. Defaults to false. The
    /// answer is JSON, and can be verified offline.
    pub fn witnessed(mut self, witnessed: bool) -> Self {
        self.call.query("witnessed", witnessed);
        self
    }

    /// Sends the call, and returns the signed text, to be kept and checked elsewhere.
    #[must_use = "it is sent when it is awaited"]
    pub fn text(self) -> Sent<'a, String> {
        self.call.text()
    }
}

sent!(ProofCall, schemas::ProofBody, json);

impl Client {
    /// Proves that an entry is in the ledger, or that the ledger only grew (`GET /timeline/{timeline_id}/proof`).
    ///
    /// - `timeline_id`: The timeline.
    pub fn proof(&self, timeline_id: &str) -> ProofCall<'_> {
        const SENT: Operation = Operation::new("GET", &["timeline", "{}", "proof"]);
        let call = Call::new(self, &SENT, &[timeline_id]);

        ProofCall { call }
    }
}

/// Returns one tile of the tree, or one bundle of entries (`entries/…`) (`GET /timeline/{timeline_id}/tile/{tile}`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct TileCall<'a> {
    call: Call<'a>,
}

sent!(TileCall, Vec<u8>, bytes);

impl Client {
    /// Returns one tile of the tree, or one bundle of entries (`entries/…`) (`GET
    /// /timeline/{timeline_id}/tile/{tile}`).
    ///
    /// - `timeline_id`: The timeline.
    /// - `tile`: The tile.
    pub fn tile(&self, timeline_id: &str, tile: &str) -> TileCall<'_> {
        const SENT: Operation = Operation::new("GET", &["timeline", "{}", "tile", "{/}"]);
        let call = Call::new(self, &SENT, &[timeline_id, tile]);

        TileCall { call }
    }
}

/// Lists the timelines that the caller can read (`GET /timelines`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct TimelinesCall<'a> {
    call: Call<'a>,
}

impl<'a> TimelinesCall<'a> {
    /// The `next_cursor` of the previous page.
    pub fn cursor(mut self, cursor: impl Into<String>) -> Self {
        let cursor: String = cursor.into();
        self.call.query("cursor", cursor);
        self
    }

    /// The maximum number per page.
    pub fn limit(mut self, limit: u32) -> Self {
        self.call.query("limit", limit);
        self
    }

    /// Returns page after page, each asked for when it is wanted.
    #[must_use]
    pub fn pages(self) -> Pages<'a, schemas::TimelinesBody> {
        Pages::new(self.call)
    }
}

sent!(TimelinesCall, schemas::TimelinesBody, json);

impl Client {
    /// Lists the timelines that the caller can read (`GET /timelines`).
    pub fn timelines(&self) -> TimelinesCall<'_> {
        const SENT: Operation = Operation::new("GET", &["timelines"]);
        let call = Call::new(self, &SENT, &[]);

        TimelinesCall { call }
    }
}

/// Creates a timeline, with the caller as its admin (`POST /timelines`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct CreateTimelineCall<'a> {
    call: Call<'a>,
}

impl CreateTimelineCall<'_> {
    /// A request with a key is carried out once; a repeat within 24 hours gets the same response.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// A moment of the ledger: a position, an anchor id, or a host time. Defaults to now.
    pub fn at(mut self, at: impl Into<Moment>) -> Self {
        let at: Moment = at.into();
        self.call.member("at", at);
        self
    }

    /// With `fork_of`: whether webhooks of timers that come along are sent, to the receivers of the other timeline.
    /// Defaults to `false`: their firings fail then. Needs `write` on the other timeline.
    pub fn deliver_webhooks(mut self, deliver_webhooks: bool) -> Self {
        self.call.member("deliver_webhooks", deliver_webhooks);
        self
    }

    /// How long it lasts, in host time: then it ends automatically.
    pub fn expires_in(mut self, expires_in: impl Into<Length>) -> Self {
        let expires_in: Length = expires_in.into();
        self.call.member("expires_in", expires_in);
        self
    }

    /// The timeline to fork. History is shared up to `at`; after that, neither sees the other's. Timers come along as
    /// they stood at `at`.
    pub fn fork_of(mut self, fork_of: impl Into<String>) -> Self {
        let fork_of: String = fork_of.into();
        self.call.member("fork_of", fork_of);
        self
    }
}

sent!(CreateTimelineCall, schemas::TimelineMadeBody, json);

impl Client {
    /// Creates a timeline, with the caller as its admin (`POST /timelines`).
    ///
    /// - `timeline_id`: The name: 1 to 128 letters, digits, `.`, `_`, `-`, `:` and `@`, starting with a letter or
    ///   digit.
    pub fn create_timeline(&self, timeline_id: impl Into<String>) -> CreateTimelineCall<'_> {
        const SENT: Operation = Operation::new("POST", &["timelines"]).once().body();
        let mut call = Call::new(self, &SENT, &[]);
        let timeline_id: String = timeline_id.into();
        call.member("timeline_id", timeline_id);
        CreateTimelineCall { call }
    }
}

/// Adopts a timeline from another service (`POST /timelines/adopt`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Debug)]
pub struct AdoptTimelineCall<'a> {
    call: Call<'a>,
    content: Body,
}

impl AdoptTimelineCall<'_> {
    /// Maps users of the other service to users here, as `there=here` pairs: a user here gets the role that the user
    /// there had. Without it, only you have access.
    pub fn map(mut self, map: impl Into<String>) -> Self {
        let map: String = map.into();
        self.call.query("map", map);
        self
    }

    /// Checkpoints signed by two keys, for rotations that the bundle has no notes for: each in base64url, separated
    /// by commas.
    pub fn rotations(mut self, rotations: impl Into<String>) -> Self {
        let rotations: String = rotations.into();
        self.call.query("rotations", rotations);
        self
    }

    /// Of what kind the content is, by its media type.
    pub fn content_type(mut self, kind: impl Into<String>) -> Self {
        self.call.head("content-type", kind.into());
        self
    }
}

sent!(AdoptTimelineCall, schemas::AdoptedBody, upload "application/x-ndjson");

impl Client {
    /// Adopts a timeline from another service (`POST /timelines/adopt`).
    ///
    /// - `verifier_key`: The public key of the ledger at the other service, as shown by `GET
    ///   /timeline/{timeline_id}/checkpoint` there. Get it through another channel than the file.
    pub fn adopt_timeline(&self, verifier_key: impl Into<String>, content: impl Into<Body>) -> AdoptTimelineCall<'_> {
        const SENT: Operation = Operation::new("POST", &["timelines", "adopt"]);
        let mut call = Call::new(self, &SENT, &[]);
        let verifier_key: String = verifier_key.into();
        call.query("verifier_key", verifier_key);
        AdoptTimelineCall { call, content: content.into() }
    }
}

/// Lists the events, timers or firings that differ between two related timelines: one forked from the other, or both
/// from the same one (`GET /timelines/diff`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct TimelinesDiffCall<'a> {
    call: Call<'a>,
}

impl<'a> TimelinesDiffCall<'a> {
    /// The `next_cursor` of the previous page.
    pub fn cursor(mut self, cursor: impl Into<String>) -> Self {
        let cursor: String = cursor.into();
        self.call.query("cursor", cursor);
        self
    }

    /// The maximum number per page.
    pub fn limit(mut self, limit: u32) -> Self {
        self.call.query("limit", limit);
        self
    }

    /// What to compare: `events`, `timers` (what is armed), or `firings` (their outcomes). Defaults to `events`.
    pub fn of(mut self, of: schemas::DiffWord) -> Self {
        self.call.query("of", of);
        self
    }

    /// Returns page after page, each asked for when it is wanted.
    #[must_use]
    pub fn pages(self) -> Pages<'a, schemas::DiffBody> {
        Pages::new(self.call)
    }
}

sent!(TimelinesDiffCall, schemas::DiffBody, json);

impl Client {
    /// Lists the events, timers or firings that differ between two related timelines: one forked from the other, or
    /// both from the same one (`GET /timelines/diff`).
    ///
    /// - `a`: One timeline.
    /// - `b`: The other.
    pub fn timelines_diff(&self, a: impl Into<String>, b: impl Into<String>) -> TimelinesDiffCall<'_> {
        const SENT: Operation = Operation::new("GET", &["timelines", "diff"]);
        let mut call = Call::new(self, &SENT, &[]);
        let a: String = a.into();
        call.query("a", a);
        let b: String = b.into();
        call.query("b", b);
        TimelinesDiffCall { call }
    }
}

/// Reads the permissions of a timeline (`GET /v1/access-control`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct AccessControlCall<'a> {
    call: Call<'a>,
}

sent!(AccessControlCall, schemas::AccessControlBody, json);

impl Client {
    /// Reads the permissions of a timeline (`GET /v1/access-control`).
    ///
    /// - `timeline_id`: The timeline.
    pub fn access_control(&self, timeline_id: impl Into<String>) -> AccessControlCall<'_> {
        const SENT: Operation = Operation::new("GET", &["v1", "access-control"]);
        let mut call = Call::new(self, &SENT, &[]);
        let timeline_id: String = timeline_id.into();
        call.query("timeline_id", timeline_id);
        AccessControlCall { call }
    }
}

/// Reads the access log of a timeline (`GET /v1/access-logs`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct AccessLogsCall<'a> {
    call: Call<'a>,
}

impl<'a> AccessLogsCall<'a> {
    /// Only this action, such as `read` or `unauthorized_access_attempt`.
    pub fn action(mut self, action: impl Into<String>) -> Self {
        let action: String = action.into();
        self.call.query("action", action);
        self
    }

    /// The `next_cursor` of the previous page.
    pub fn cursor(mut self, cursor: impl Into<String>) -> Self {
        let cursor: String = cursor.into();
        self.call.query("cursor", cursor);
        self
    }

    /// The maximum number per page.
    pub fn limit(mut self, limit: u32) -> Self {
        self.call.query("limit", limit);
        self
    }

    /// Which entries come first. Defaults to the oldest.
    pub fn order(mut self, order: schemas::OrderBody) -> Self {
        self.call.query("order", order);
        self
    }

    /// Only what this user did; `unknown` for callers that could not be identified.
    pub fn user_id(mut self, user_id: impl Into<String>) -> Self {
        let user_id: String = user_id.into();
        self.call.query("user_id", user_id);
        self
    }

    /// Returns page after page, each asked for when it is wanted.
    #[must_use]
    pub fn pages(self) -> Pages<'a, schemas::AccessLogsBody> {
        Pages::new(self.call)
    }
}

sent!(AccessLogsCall, schemas::AccessLogsBody, json);

impl Client {
    /// Reads the access log of a timeline (`GET /v1/access-logs`).
    ///
    /// - `timeline_id`: The timeline.
    /// - `time_range`: `<start>/<end>` in host time, both ends included; `..` leaves an end open.
    pub fn access_logs(&self, timeline_id: impl Into<String>, time_range: impl Into<TimeRange>) -> AccessLogsCall<'_> {
        const SENT: Operation = Operation::new("GET", &["v1", "access-logs"]);
        let mut call = Call::new(self, &SENT, &[]);
        let timeline_id: String = timeline_id.into();
        call.query("timeline_id", timeline_id);
        let time_range: TimeRange = time_range.into();
        call.query("time_range", time_range);
        AccessLogsCall { call }
    }
}

/// Moves the clock to the next moment of a timer (`POST /v1/advance-to-next`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct AdvanceToNextCall<'a> {
    call: Call<'a>,
}

impl AdvanceToNextCall<'_> {
    /// A request with a key is carried out once; a repeat within 24 hours gets the same response.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// Only if the clock still has this generation, in quotation marks: `"7"`.
    pub fn if_match(mut self, tag: impl Into<EntityTag>) -> Self {
        self.call.if_match(tag.into());
        self
    }

    /// Whether to tell only what would fire. Nothing moves. Defaults to `false`.
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.call.member("dry_run", dry_run);
        self
    }

    /// Which followers of the clock have to confirm the change before the answer is sent: `all` of users who may
    /// write to the timeline, or names, as a list or separated by commas. The answer tells who has and who has not;
    /// the change stays either way. Defaults to none.
    pub fn followers(mut self, followers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let followers: Vec<String> = followers.into_iter().map(Into::into).collect();
        self.call.member("followers", followers);
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.member("timeline_id", timeline_id);
        self
    }

    /// The moment to go to if no timer fires before it. A clock that has come there already stays. Without it, the
    /// clock goes to the next timer, however far away, and the request is refused if none is armed.
    pub fn until(mut self, until: Instant) -> Self {
        self.call.member("until", until);
        self
    }

    /// How long the answer waits for timers and then for followers, in host time. The clock goes on without it.
    /// Defaults to `30s` if a timer fires, otherwise to `5s`; `0s` does not wait.
    pub fn wait(mut self, wait: impl Into<Length>) -> Self {
        let wait: Length = wait.into();
        self.call.longer(&wait);
        self.call.member("wait", wait);
        self
    }
}

sent!(AdvanceToNextCall, schemas::ClockBody, json);

impl Client {
    /// Moves the clock to the next moment of a timer (`POST /v1/advance-to-next`).
    pub fn advance_to_next(&self) -> AdvanceToNextCall<'_> {
        const SENT: Operation =
            Operation::new("POST", &["v1", "advance-to-next"]).once().body().timeline(Timeline::InBody);
        let call = Call::new(self, &SENT, &[]);

        AdvanceToNextCall { call }
    }
}

/// Tells what fired while the clock moved, and what came of it (`GET /v1/advances/{advance_id}`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct ReceiptCall<'a> {
    call: Call<'a>,
}

impl ReceiptCall<'_> {
    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.query("timeline_id", timeline_id);
        self
    }

    /// How long to wait while it goes on, in host time. Defaults to `0s`.
    pub fn wait(mut self, wait: impl Into<Length>) -> Self {
        let wait: Length = wait.into();
        self.call.longer(&wait);
        self.call.query("wait", wait);
        self
    }
}

sent!(ReceiptCall, schemas::ReceiptBody, json);

impl Client {
    /// Tells what fired while the clock moved, and what came of it (`GET /v1/advances/{advance_id}`).
    ///
    /// - `advance_id`: The advance.
    pub fn receipt(&self, advance_id: &str) -> ReceiptCall<'_> {
        const SENT: Operation = Operation::new("GET", &["v1", "advances", "{}"]).timeline(Timeline::InQuery);
        let call = Call::new(self, &SENT, &[advance_id]);

        ReceiptCall { call }
    }
}

/// Counts events by time, cell, actor, source or attribute (`GET /v1/aggregate-events`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct AggregateEventsCall<'a> {
    call: Call<'a>,
}

impl<'a> AggregateEventsCall<'a> {
    /// Only events with exactly this actor.
    pub fn actor(mut self, actor: impl Into<String>) -> Self {
        let actor: String = actor.into();
        self.call.query("actor", actor);
        self
    }

    /// A moment of the ledger: a position, an anchor id, or a host time. Defaults to now.
    pub fn as_of(mut self, as_of: impl Into<Moment>) -> Self {
        let as_of: Moment = as_of.into();
        self.call.query("as_of", as_of);
        self
    }

    /// Only events with these values of attributes, by key: in a query string `attribute.KEY=VALUE`, as often as you
    /// like. A value is a text, a number or a truth value, or one of those in a list. `FROM/TO` stands for the
    /// numbers from one to the other, with `..` for an open end. Dots lead into objects.
    pub fn attribute(mut self, key: &str, value: impl Into<String>) -> Self {
        self.call.query_attribute(key, value.into());
        self
    }

    /// For `time`: the length of a group, such as `P1D` or `PT1H`, in UTC; or the number of groups, from 1 to 1000,
    /// all of the same length between the first event and the last. Defaults to 24 groups.
    pub fn bucket(mut self, bucket: impl Into<Bucket>) -> Self {
        let bucket: Bucket = bucket.into();
        self.call.query("bucket", bucket);
        self
    }

    /// The `next_cursor` of an earlier answer to the same question: counts the events after those that it counted, of
    /// the same state of the ledger. Add up what the answers say.
    pub fn cursor(mut self, cursor: impl Into<String>) -> Self {
        let cursor: String = cursor.into();
        self.call.query("cursor", cursor);
        self
    }

    /// The maximum number of groups: the first ones for `time`, the largest ones otherwise.
    pub fn limit(mut self, limit: u32) -> Self {
        self.call.query("limit", limit);
        self
    }

    /// A location, as in `monitor-events`. Defaults to anywhere.
    pub fn location(mut self, location: impl Into<String>) -> Self {
        let location: String = location.into();
        self.call.query("location", location);
        self
    }

    /// For `cell`: the height and width of a cell, in degrees. Defaults to 10.
    pub fn resolution(mut self, resolution: f64) -> Self {
        self.call.query("resolution", resolution);
        self
    }

    /// Only events with exactly this source.
    pub fn source(mut self, source: impl Into<String>) -> Self {
        let source: String = source.into();
        self.call.query("source", source);
        self
    }

    /// Only events whose name, description, location, id, actors or attributes contain these words, or words that
    /// start with them. Case and accents are ignored.
    pub fn text(mut self, text: impl Into<String>) -> Self {
        let text: String = text.into();
        self.call.query("text", text);
        self
    }

    /// `<start>/<end>`, both ends included, as in `monitor-events`. Defaults to all time.
    pub fn time_range(mut self, time_range: impl Into<TimeRange>) -> Self {
        let time_range: TimeRange = time_range.into();
        self.call.query("time_range", time_range);
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.query("timeline_id", timeline_id);
        self
    }

    /// Returns page after page, each asked for when it is wanted.
    #[must_use]
    pub fn pages(self) -> Pages<'a, schemas::AggregatedBody> {
        Pages::new(self.call)
    }
}

sent!(AggregateEventsCall, schemas::AggregatedBody, json);

impl Client {
    /// Counts events by time, cell, actor, source or attribute (`GET /v1/aggregate-events`).
    ///
    /// - `by`: What makes a group: `time`, `cell`, `actor`, `source`, or an attribute as `attribute.KEY`.
    pub fn aggregate_events(&self, by: impl Into<String>) -> AggregateEventsCall<'_> {
        const SENT: Operation = Operation::new("GET", &["v1", "aggregate-events"]).timeline(Timeline::InQuery);
        let mut call = Call::new(self, &SENT, &[]);
        let by: String = by.into();
        call.query("by", by);
        AggregateEventsCall { call }
    }
}

/// Lists anchors in the order they were set, inherited ones first (`GET /v1/anchors`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct AnchorsCall<'a> {
    call: Call<'a>,
}

impl<'a> AnchorsCall<'a> {
    /// The `next_cursor` of the previous page.
    pub fn cursor(mut self, cursor: impl Into<String>) -> Self {
        let cursor: String = cursor.into();
        self.call.query("cursor", cursor);
        self
    }

    /// The maximum number per page.
    pub fn limit(mut self, limit: u32) -> Self {
        self.call.query("limit", limit);
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.query("timeline_id", timeline_id);
        self
    }

    /// Returns page after page, each asked for when it is wanted.
    #[must_use]
    pub fn pages(self) -> Pages<'a, schemas::AnchorsBody> {
        Pages::new(self.call)
    }
}

sent!(AnchorsCall, schemas::AnchorsBody, json);

impl Client {
    /// Lists anchors in the order they were set, inherited ones first (`GET /v1/anchors`).
    pub fn anchors(&self) -> AnchorsCall<'_> {
        const SENT: Operation = Operation::new("GET", &["v1", "anchors"]).timeline(Timeline::InQuery);
        let call = Call::new(self, &SENT, &[]);

        AnchorsCall { call }
    }
}

/// Lists the keys of a user, without their secrets (`GET /v1/api-keys`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct ApiKeysCall<'a> {
    call: Call<'a>,
}

impl<'a> ApiKeysCall<'a> {
    /// The `next_cursor` of the previous page.
    pub fn cursor(mut self, cursor: impl Into<String>) -> Self {
        let cursor: String = cursor.into();
        self.call.query("cursor", cursor);
        self
    }

    /// The maximum number per page.
    pub fn limit(mut self, limit: u32) -> Self {
        self.call.query("limit", limit);
        self
    }

    /// The user. Defaults to the caller.
    pub fn user_id(mut self, user_id: impl Into<String>) -> Self {
        let user_id: String = user_id.into();
        self.call.query("user_id", user_id);
        self
    }

    /// Returns page after page, each asked for when it is wanted.
    #[must_use]
    pub fn pages(self) -> Pages<'a, schemas::KeysBody> {
        Pages::new(self.call)
    }
}

sent!(ApiKeysCall, schemas::KeysBody, json);

impl Client {
    /// Lists the keys of a user, without their secrets (`GET /v1/api-keys`).
    pub fn api_keys(&self) -> ApiKeysCall<'_> {
        const SENT: Operation = Operation::new("GET", &["v1", "api-keys"]);
        let call = Call::new(self, &SENT, &[]);

        ApiKeysCall { call }
    }
}

/// Creates an API key and shows it once (`POST /v1/api-keys`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct CreateApiKeyCall<'a> {
    call: Call<'a>,
}

impl CreateApiKeyCall<'_> {
    /// A request with a key is carried out once; a repeat within 24 hours gets the same response.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// When the key expires, in host time. Defaults to never.
    pub fn expires_at(mut self, expires_at: Instant) -> Self {
        self.call.member("expires_at", expires_at);
        self
    }

    /// `clock` if the key sees no later than the clock of its timeline shows when it asks. Such a key can only read
    /// its own timeline.
    pub fn horizon(mut self, horizon: schemas::HorizonWord) -> Self {
        self.call.member("horizon", horizon);
        self
    }

    /// A moment of the ledger: a position, an anchor id, or a host time. Defaults to now.
    pub fn known_at(mut self, known_at: impl Into<Moment>) -> Self {
        let known_at: Moment = known_at.into();
        self.call.member("known_at", known_at);
        self
    }

    /// What the key is for.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        let label: String = label.into();
        self.call.member("label", label);
        self
    }

    /// What the key can be used for: `timeline:read`, `timeline:write`, `timeline:admin`, `operator`, each including
    /// the ones before. Defaults to everything the user can do.
    pub fn scopes(mut self, scopes: impl IntoIterator<Item = schemas::KeyScope>) -> Self {
        let scopes: Vec<schemas::KeyScope> = scopes.into_iter().collect();
        self.call.member("scopes", scopes);
        self
    }

    /// The timeline for requests that name none. Defaults to `main`.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.member("timeline_id", timeline_id);
        self
    }

    /// The user. Defaults to the caller; only operators can name others.
    pub fn user_id(mut self, user_id: impl Into<String>) -> Self {
        let user_id: String = user_id.into();
        self.call.member("user_id", user_id);
        self
    }
}

sent!(CreateApiKeyCall, schemas::KeyMadeBody, json);

impl Client {
    /// Creates an API key and shows it once (`POST /v1/api-keys`).
    pub fn create_api_key(&self) -> CreateApiKeyCall<'_> {
        const SENT: Operation = Operation::new("POST", &["v1", "api-keys"]).once().body();
        let call = Call::new(self, &SENT, &[]);

        CreateApiKeyCall { call }
    }
}

/// Revokes an API key (`DELETE /v1/api-keys/{key_id}`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct RevokeApiKeyCall<'a> {
    call: Call<'a>,
}

sent!(RevokeApiKeyCall, schemas::KeyStoppedBody, json);

impl Client {
    /// Revokes an API key (`DELETE /v1/api-keys/{key_id}`).
    ///
    /// - `key_id`: The key.
    pub fn revoke_api_key(&self, key_id: &str) -> RevokeApiKeyCall<'_> {
        const SENT: Operation = Operation::new("DELETE", &["v1", "api-keys", "{}"]);
        let call = Call::new(self, &SENT, &[key_id]);

        RevokeApiKeyCall { call }
    }
}

/// Certifies what a key with a horizon has seen (`GET /v1/certificates`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct CertificateCall<'a> {
    call: Call<'a>,
}

impl CertificateCall<'_> {
    /// The position of the first entry. Defaults to 0.
    pub fn from(mut self, from: u64) -> Self {
        self.call.query("from", from);
        self
    }

    /// The position of the last entry. Defaults to the newest.
    pub fn to(mut self, to: u64) -> Self {
        self.call.query("to", to);
        self
    }
}

sent!(CertificateCall, schemas::CertificateBody, json);

impl Client {
    /// Certifies what a key with a horizon has seen (`GET /v1/certificates`).
    ///
    /// - `key_id`: The key. Its owner can ask, and whoever administers its timeline.
    pub fn certificate(&self, key_id: impl Into<String>) -> CertificateCall<'_> {
        const SENT: Operation = Operation::new("GET", &["v1", "certificates"]);
        let mut call = Call::new(self, &SENT, &[]);
        let key_id: String = key_id.into();
        call.query("key_id", key_id);
        CertificateCall { call }
    }
}

/// Checks whether an event occurs (`GET /v1/check-timeline`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct CheckTimelineCall<'a> {
    call: Call<'a>,
}

impl CheckTimelineCall<'_> {
    /// A moment of the ledger: a position, an anchor id, or a host time. Defaults to now.
    pub fn as_of(mut self, as_of: impl Into<Moment>) -> Self {
        let as_of: Moment = as_of.into();
        self.call.query("as_of", as_of);
        self
    }
}

sent!(CheckTimelineCall, schemas::CheckBody, json);

impl Client {
    /// Checks whether an event occurs (`GET /v1/check-timeline`).
    ///
    /// - `timeline_id`: The timeline.
    /// - `significant_event`: The id, the name or the exact description of an event, even if it was cancelled.
    pub fn check_timeline(
        &self,
        timeline_id: impl Into<String>,
        significant_event: impl Into<String>,
    ) -> CheckTimelineCall<'_> {
        const SENT: Operation = Operation::new("GET", &["v1", "check-timeline"]);
        let mut call = Call::new(self, &SENT, &[]);
        let timeline_id: String = timeline_id.into();
        call.query("timeline_id", timeline_id);
        let significant_event: String = significant_event.into();
        call.query("significant_event", significant_event);
        CheckTimelineCall { call }
    }
}

/// Reads the clock (`GET /v1/clock`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct ClockCall<'a> {
    call: Call<'a>,
}

impl ClockCall<'_> {
    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.query("timeline_id", timeline_id);
        self
    }
}

sent!(ClockCall, schemas::ClockBody, json);

impl Client {
    /// Reads the clock (`GET /v1/clock`).
    pub fn clock(&self) -> ClockCall<'_> {
        const SENT: Operation = Operation::new("GET", &["v1", "clock"]).timeline(Timeline::InQuery);
        let call = Call::new(self, &SENT, &[]);

        ClockCall { call }
    }
}

/// Watches the clock: one message for each change (`GET /v1/clock/stream`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct ClockStreamCall<'a> {
    call: Call<'a>,
}

impl ClockStreamCall<'_> {
    /// Whether the follower shows its clock wrong where `POST /v1/followers/{follower_id}/fault` says so: each
    /// message has the `fault` then. Needs `follow`. Defaults to `false`.
    pub fn faults(mut self, faults: bool) -> Self {
        self.call.query("faults", faults);
        self
    }

    /// The name to follow under. Each message has a `follower_id` then, and `POST /v1/followers/confirm` says which
    /// change was applied; a clock change with `followers` waits for that. Without it, nobody waits for this
    /// listener.
    pub fn follow(mut self, follow: impl Into<String>) -> Self {
        let follow: String = follow.into();
        self.call.query("follow", follow);
        self
    }

    /// Whether the follower confirms each `step` of an advance too. Then the firings of an instant are handed out
    /// once it has, so that no handler meets a follower at an earlier time; after 5 seconds they are handed out all
    /// the same. Needs `follow`. Defaults to `false`.
    pub fn steps(mut self, steps: bool) -> Self {
        self.call.query("steps", steps);
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.query("timeline_id", timeline_id);
        self
    }

    /// The id of the last message received: later ones are sent first.
    pub fn after(mut self, last_event_id: impl Into<String>) -> Self {
        self.call.head("last-event-id", last_event_id.into());
        self
    }

    /// With `follow`, the name of the host on which the follower runs: `followers` tells it.
    pub fn timenav_host(mut self, timenav_host: impl Into<String>) -> Self {
        self.call.head("timenav-host", timenav_host.into());
        self
    }

    /// With `follow`, the id of its process on that host, or in its container.
    pub fn timenav_process(mut self, timenav_process: impl Into<String>) -> Self {
        self.call.head("timenav-process", timenav_process.into());
        self
    }
}

sent!(ClockStreamCall, Watch<SentEvent>, watch);

impl Client {
    /// Watches the clock: one message for each change (`GET /v1/clock/stream`).
    ///
    /// Messages come across lost connections. The data of each is a [`ClockBody`](crate::ClockBody).
    /// [`Client::virtual_clock`] follows them.
    pub fn clock_stream(&self) -> ClockStreamCall<'_> {
        const SENT: Operation = Operation::new("GET", &["v1", "clock", "stream"]).timeline(Timeline::InQuery);
        let call = Call::new(self, &SENT, &[]);

        ClockStreamCall { call }
    }
}

/// Corrects an event (`POST /v1/correct-event`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct CorrectEventCall<'a> {
    call: Call<'a>,
}

impl CorrectEventCall<'_> {
    /// A request with a key is carried out once; a repeat within 24 hours gets the same response.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// Only if this is still the current version.
    pub fn if_match(mut self, tag: impl Into<EntityTag>) -> Self {
        self.call.if_match(tag.into());
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.member("timeline_id", timeline_id);
        self
    }
}

sent!(CorrectEventCall, schemas::CorrectedBody, json);

impl Client {
    /// Corrects an event (`POST /v1/correct-event`).
    ///
    /// - `event`: The complete event: a field you leave out here is removed. Its `event_id` identifies it.
    pub fn correct_event(&self, event: schemas::CorrectedRecord) -> CorrectEventCall<'_> {
        const SENT: Operation =
            Operation::new("POST", &["v1", "correct-event"]).once().body().timeline(Timeline::InBody);
        let mut call = Call::new(self, &SENT, &[]);
        call.member("event", event);
        CorrectEventCall { call }
    }
}

/// Decrypts stored data with its key (`POST /v1/decrypt-data`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct DecryptDataCall<'a> {
    call: Call<'a>,
}

impl DecryptDataCall<'_> {
    /// Only its format is checked: the response is not stored, and a repeated request runs again.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// The timeline, as an extra check. Defaults to the record's own.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.member("timeline_id", timeline_id);
        self
    }
}

sent!(DecryptDataCall, schemas::DecryptedBody, json);

impl Client {
    /// Decrypts stored data with its key (`POST /v1/decrypt-data`).
    ///
    /// - `data_id`: The record.
    /// - `encryption_key`: The key it was sealed with.
    pub fn decrypt_data(&self, data_id: impl Into<String>, encryption_key: impl Into<String>) -> DecryptDataCall<'_> {
        const SENT: Operation =
            Operation::new("POST", &["v1", "decrypt-data"]).once().body().timeline(Timeline::InBody);
        let mut call = Call::new(self, &SENT, &[]);
        let data_id: String = data_id.into();
        call.member("data_id", data_id);
        let encryption_key: String = encryption_key.into();
        call.member("encryption_key", encryption_key);
        DecryptDataCall { call }
    }
}

/// Scans a timeline for tampering (`POST /v1/detect-tampering`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct DetectTamperingCall<'a> {
    call: Call<'a>,
}

impl<'a> DetectTamperingCall<'a> {
    /// Only its format is checked: the response is not stored, and a repeated request runs again.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// How much to read: `full` reads everything, `quick` the latest checkpoint and its tree, `tail:<n>` the last `n`
    /// entries and the tree over the others, `sample:<n>` that many random entries. Defaults to `full`.
    pub fn scan_depth(mut self, scan_depth: impl Into<String>) -> Self {
        let scan_depth: String = scan_depth.into();
        self.call.member("scan_depth", scan_depth);
        self
    }

    /// Sends the call, and returns messages that say how far it has come, and then the result.
    #[must_use = "it is sent when it is awaited"]
    pub fn events(self) -> Sent<'a, Events> {
        self.call.events()
    }
}

sent!(DetectTamperingCall, schemas::TamperingBody, json);

impl Client {
    /// Scans a timeline for tampering (`POST /v1/detect-tampering`).
    ///
    /// - `timeline_id`: The timeline; for operators also `system`.
    pub fn detect_tampering(&self, timeline_id: impl Into<String>) -> DetectTamperingCall<'_> {
        const SENT: Operation = Operation::new("POST", &["v1", "detect-tampering"]).once().body().long();
        let mut call = Call::new(self, &SENT, &[]);
        let timeline_id: String = timeline_id.into();
        call.member("timeline_id", timeline_id);
        DetectTamperingCall { call }
    }
}

/// Encrypts and stores data that only its key opens (`POST /v1/encrypt-data`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct EncryptDataCall<'a> {
    call: Call<'a>,
}

impl EncryptDataCall<'_> {
    /// A request with a key is carried out once; a repeat within 24 hours gets the same response.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// `*`: only if the timeline exists; does not create it.
    pub fn if_match(mut self, tag: impl Into<EntityTag>) -> Self {
        self.call.if_match(tag.into());
        self
    }
}

sent!(EncryptDataCall, schemas::EncryptedBody, json);

impl Client {
    /// Encrypts and stores data that only its key opens (`POST /v1/encrypt-data`).
    ///
    /// - `timeline_id`: The timeline.
    /// - `data`: What to seal: an object of at most 1,048,576 bytes.
    /// - `encryption_key`: The key: 32 random bytes as 64 hexadecimal digits or 44 characters of base64, or a
    ///   passphrase. The service does not keep it.
    pub fn encrypt_data(
        &self,
        timeline_id: impl Into<String>,
        data: Map<String, Value>,
        encryption_key: impl Into<String>,
    ) -> EncryptDataCall<'_> {
        const SENT: Operation = Operation::new("POST", &["v1", "encrypt-data"]).once().body();
        let mut call = Call::new(self, &SENT, &[]);
        let timeline_id: String = timeline_id.into();
        call.member("timeline_id", timeline_id);
        call.member("data", data);
        let encryption_key: String = encryption_key.into();
        call.member("encryption_key", encryption_key);
        EncryptDataCall { call }
    }
}

/// Erases sealed data, or the content of an event (`POST /v1/erase-data`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct EraseDataCall<'a> {
    call: Call<'a>,
}

impl EraseDataCall<'_> {
    /// A request with a key is carried out once; a repeat within 24 hours gets the same response.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// The record.
    pub fn data_id(mut self, data_id: impl Into<String>) -> Self {
        let data_id: String = data_id.into();
        self.call.member("data_id", data_id);
        self
    }

    /// The event.
    pub fn event_id(mut self, event_id: impl Into<String>) -> Self {
        let event_id: String = event_id.into();
        self.call.member("event_id", event_id);
        self
    }

    /// The event's timeline. Defaults to the API key's. Not needed for a record.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.member("timeline_id", timeline_id);
        self
    }
}

sent!(EraseDataCall, schemas::ErasedBody, json);

impl Client {
    /// Erases sealed data, or the content of an event (`POST /v1/erase-data`).
    pub fn erase_data(&self) -> EraseDataCall<'_> {
        const SENT: Operation = Operation::new("POST", &["v1", "erase-data"]).once().body().timeline(Timeline::InBody);
        let call = Call::new(self, &SENT, &[]);

        EraseDataCall { call }
    }
}

/// Erases events with all their versions (`POST /v1/erase-events`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct EraseEventsCall<'a> {
    call: Call<'a>,
}

impl EraseEventsCall<'_> {
    /// A request with a key is carried out once; a repeat within 24 hours gets the same response.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// Whether to report what would be erased without erasing it.
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.call.member("dry_run", dry_run);
        self
    }

    /// The `evaluated_at` from a dry run. Required to erase by `location` or `older_than`.
    pub fn evaluated_at(mut self, evaluated_at: u64) -> Self {
        self.call.member("evaluated_at", evaluated_at);
        self
    }

    /// The events: at most 1,000, fewer if there are forks. As a list, or separated by commas.
    pub fn event_ids(mut self, event_ids: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let event_ids: Vec<String> = event_ids.into_iter().map(Into::into).collect();
        self.call.member("event_ids", event_ids);
        self
    }

    /// Whether to erase the events from forks of this timeline too. You must be an admin of each.
    pub fn include_forks(mut self, include_forks: bool) -> Self {
        self.call.member("include_forks", include_forks);
        self
    }

    /// Where the events to erase are, as in `monitor-events`. Inherited events are not included.
    pub fn location(mut self, location: impl Into<String>) -> Self {
        let location: String = location.into();
        self.call.member("location", location);
        self
    }

    /// Events that have not changed for this long in host time, including cancelled ones. No months or years.
    pub fn older_than(mut self, older_than: impl Into<Length>) -> Self {
        let older_than: Length = older_than.into();
        self.call.member("older_than", older_than);
        self
    }

    /// When they occur, in virtual time: `<start>/<end>`, both ends included.
    pub fn time_range(mut self, time_range: impl Into<TimeRange>) -> Self {
        let time_range: TimeRange = time_range.into();
        self.call.member("time_range", time_range);
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.member("timeline_id", timeline_id);
        self
    }
}

sent!(EraseEventsCall, schemas::ErasedEventsBody, json);

impl Client {
    /// Erases events with all their versions (`POST /v1/erase-events`).
    pub fn erase_events(&self) -> EraseEventsCall<'_> {
        const SENT: Operation =
            Operation::new("POST", &["v1", "erase-events"]).once().body().timeline(Timeline::InBody);
        let call = Call::new(self, &SENT, &[]);

        EraseEventsCall { call }
    }
}

/// Erases single reads from the access log (`POST /v1/erase-reads`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct EraseReadsCall<'a> {
    call: Call<'a>,
}

impl EraseReadsCall<'_> {
    /// A request with a key is carried out once; a repeat within 24 hours gets the same response.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// The `index` of each read in the access log.
    pub fn reads(mut self, reads: impl IntoIterator<Item = u32>) -> Self {
        let reads: Vec<u32> = reads.into_iter().collect();
        self.call.member("reads", reads);
        self
    }

    /// The timeline; can be `system`. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.member("timeline_id", timeline_id);
        self
    }

    /// Whose reads to erase.
    pub fn user_id(mut self, user_id: impl Into<String>) -> Self {
        let user_id: String = user_id.into();
        self.call.member("user_id", user_id);
        self
    }
}

sent!(EraseReadsCall, schemas::ErasedReadsBody, json);

impl Client {
    /// Erases single reads from the access log (`POST /v1/erase-reads`).
    ///
    /// - `position`: The `position` of the reads in the access log.
    pub fn erase_reads(&self, position: u64) -> EraseReadsCall<'_> {
        const SENT: Operation = Operation::new("POST", &["v1", "erase-reads"]).once().body().timeline(Timeline::InBody);
        let mut call = Call::new(self, &SENT, &[]);
        call.member("position", position);
        EraseReadsCall { call }
    }
}

/// Records one or more events, all or none (`POST /v1/events`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct RecordEventsCall<'a> {
    call: Call<'a>,
}

impl RecordEventsCall<'_> {
    /// The timeline.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.query("timeline_id", timeline_id);
        self
    }

    /// A request with a key is carried out once; a repeat within 24 hours gets the same response.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// `*`: only if the timeline exists; does not create it.
    pub fn if_match(mut self, tag: impl Into<EntityTag>) -> Self {
        self.call.if_match(tag.into());
        self
    }
}

sent!(RecordEventsCall, schemas::RecordedBody, json);

impl Client {
    /// Records one or more events, all or none (`POST /v1/events`).
    pub fn record_events(&self, events: impl Into<schemas::EventsRequest>) -> RecordEventsCall<'_> {
        const SENT: Operation = Operation::new("POST", &["v1", "events"]).once().body().timeline(Timeline::InQuery);
        let mut call = Call::new(self, &SENT, &[]);
        let events: schemas::EventsRequest = events.into();
        call.whole(events);
        RecordEventsCall { call }
    }
}

/// Reads an event with its versions and interventions (`GET /v1/events/{event_id}`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct EventCall<'a> {
    call: Call<'a>,
}

impl EventCall<'_> {
    /// A moment of the ledger: a position, an anchor id, or a host time. Defaults to now.
    pub fn as_of(mut self, as_of: impl Into<Moment>) -> Self {
        let as_of: Moment = as_of.into();
        self.call.query("as_of", as_of);
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.query("timeline_id", timeline_id);
        self
    }
}

sent!(EventCall, schemas::EventReadBody, json);

impl Client {
    /// Reads an event with its versions and interventions (`GET /v1/events/{event_id}`).
    ///
    /// - `event_id`: The event.
    pub fn event(&self, event_id: &str) -> EventCall<'_> {
        const SENT: Operation = Operation::new("GET", &["v1", "events", "{}"]).timeline(Timeline::InQuery);
        let call = Call::new(self, &SENT, &[event_id]);

        EventCall { call }
    }
}

/// Exports the events of a place and time as a file (`GET /v1/export-events`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct ExportEventsCall<'a> {
    call: Call<'a>,
}

impl ExportEventsCall<'_> {
    /// Only events with exactly this actor.
    pub fn actor(mut self, actor: impl Into<String>) -> Self {
        let actor: String = actor.into();
        self.call.query("actor", actor);
        self
    }

    /// A moment of the ledger: a position, an anchor id, or a host time. Defaults to now.
    pub fn as_of(mut self, as_of: impl Into<Moment>) -> Self {
        let as_of: Moment = as_of.into();
        self.call.query("as_of", as_of);
        self
    }

    /// Only events with these values of attributes, by key: in a query string `attribute.KEY=VALUE`, as often as you
    /// like. A value is a text, a number or a truth value, or one of those in a list. `FROM/TO` stands for the
    /// numbers from one to the other, with `..` for an open end. Dots lead into objects.
    pub fn attribute(mut self, key: &str, value: impl Into<String>) -> Self {
        self.call.query_attribute(key, value.into());
        self
    }

    /// Attributes that get a column of their own, behind all others and named like the attribute: a list of
    /// `attribute.KEY`, separated by commas. Only with `csv`, whose column `attributes` still has them all.
    pub fn columns(mut self, columns: impl Into<String>) -> Self {
        let columns: String = columns.into();
        self.call.query("columns", columns);
        self
    }

    /// `ndjson`, `csv`, `geojson` or `icalendar`. Defaults to what `Accept` asks for, or `ndjson`.
    pub fn format(mut self, format: schemas::ExportFormat) -> Self {
        self.call.query("format", format);
        self
    }

    /// Where, as in `monitor-events`. Defaults to anywhere.
    pub fn location(mut self, location: impl Into<String>) -> Self {
        let location: String = location.into();
        self.call.query("location", location);
        self
    }

    /// Which events come first. Defaults to the earliest.
    pub fn order(mut self, order: schemas::EventOrder) -> Self {
        self.call.query("order", order);
        self
    }

    /// Only events with exactly this source.
    pub fn source(mut self, source: impl Into<String>) -> Self {
        let source: String = source.into();
        self.call.query("source", source);
        self
    }

    /// Only events whose name, description, location, id, actors or attributes contain these words, or words that
    /// start with them. Case and accents are ignored.
    pub fn text(mut self, text: impl Into<String>) -> Self {
        let text: String = text.into();
        self.call.query("text", text);
        self
    }

    /// `<start>/<end>`, both ends included, as in `monitor-events`. Defaults to all time.
    pub fn time_range(mut self, time_range: impl Into<TimeRange>) -> Self {
        let time_range: TimeRange = time_range.into();
        self.call.query("time_range", time_range);
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.query("timeline_id", timeline_id);
        self
    }
}

sent!(ExportEventsCall, Response, response);

impl Client {
    /// Exports the events of a place and time as a file (`GET /v1/export-events`).
    pub fn export_events(&self) -> ExportEventsCall<'_> {
        const SENT: Operation = Operation::new("GET", &["v1", "export-events"]).timeline(Timeline::InQuery);
        let call = Call::new(self, &SENT, &[]);

        ExportEventsCall { call }
    }
}

/// Moves the clock forward by a duration (`POST /v1/fast-forward`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct FastForwardCall<'a> {
    call: Call<'a>,
}

impl FastForwardCall<'_> {
    /// A request with a key is carried out once; a repeat within 24 hours gets the same response.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// Only if the clock still has this generation, in quotation marks: `"7"`.
    pub fn if_match(mut self, tag: impl Into<EntityTag>) -> Self {
        self.call.if_match(tag.into());
        self
    }

    /// Whether to tell only what would fire on the way. Nothing moves. Defaults to `false`.
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.call.member("dry_run", dry_run);
        self
    }

    /// Which followers of the clock have to confirm the change before the answer is sent: `all` of users who may
    /// write to the timeline, or names, as a list or separated by commas. The answer tells who has and who has not;
    /// the change stays either way. Defaults to none.
    pub fn followers(mut self, followers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let followers: Vec<String> = followers.into_iter().map(Into::into).collect();
        self.call.member("followers", followers);
        self
    }

    /// Whether the clock stands still at each timer on its way until what fires is done. Otherwise it jumps, and they
    /// fire after that. Defaults to `true`.
    pub fn settle(mut self, settle: bool) -> Self {
        self.call.member("settle", settle);
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.member("timeline_id", timeline_id);
        self
    }

    /// How long the answer waits for timers on the way and then for followers, in host time. The clock goes on
    /// without it. Defaults to `30s` if there are timers on the way, otherwise to `5s`; `0s` does not wait.
    pub fn wait(mut self, wait: impl Into<Length>) -> Self {
        let wait: Length = wait.into();
        self.call.longer(&wait);
        self.call.member("wait", wait);
        self
    }
}

sent!(FastForwardCall, schemas::ClockBody, json);

impl Client {
    /// Moves the clock forward by a duration (`POST /v1/fast-forward`).
    ///
    /// - `duration`: One or more numbers with units (`s`, `m` for minutes, `h`, `d`, `w`), or ISO 8601.
    pub fn fast_forward(&self, duration: impl Into<Length>) -> FastForwardCall<'_> {
        const SENT: Operation =
            Operation::new("POST", &["v1", "fast-forward"]).once().body().timeline(Timeline::InBody);
        let mut call = Call::new(self, &SENT, &[]);
        let duration: Length = duration.into();
        call.member("duration", duration);
        FastForwardCall { call }
    }
}

/// Lists firings in the order in which they fell due (`GET /v1/firings`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct FiringsCall<'a> {
    call: Call<'a>,
}

impl<'a> FiringsCall<'a> {
    /// The advance in which they fired, at the moments that it passed.
    pub fn advance_id(mut self, advance_id: impl Into<String>) -> Self {
        let advance_id: String = advance_id.into();
        self.call.query("advance_id", advance_id);
        self
    }

    /// The `next_cursor` of the previous page.
    pub fn cursor(mut self, cursor: impl Into<String>) -> Self {
        let cursor: String = cursor.into();
        self.call.query("cursor", cursor);
        self
    }

    /// The maximum number per page.
    pub fn limit(mut self, limit: u32) -> Self {
        self.call.query("limit", limit);
        self
    }

    /// The queue that they wait in, or waited in: `timenav:webhook` for those that the service sends.
    pub fn queue(mut self, queue: impl Into<String>) -> Self {
        let queue: String = queue.into();
        self.call.query("queue", queue);
        self
    }

    /// What came of them: `pending`, `acknowledged`, `failed` or `superseded`.
    pub fn state(mut self, state: schemas::FiringStateWord) -> Self {
        self.call.query("state", state);
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.query("timeline_id", timeline_id);
        self
    }

    /// The timer that fired.
    pub fn timer_id(mut self, timer_id: impl Into<String>) -> Self {
        let timer_id: String = timer_id.into();
        self.call.query("timer_id", timer_id);
        self
    }

    /// Returns page after page, each asked for when it is wanted.
    #[must_use]
    pub fn pages(self) -> Pages<'a, schemas::FiringsBody> {
        Pages::new(self.call)
    }
}

sent!(FiringsCall, schemas::FiringsBody, json);

impl Client {
    /// Lists firings in the order in which they fell due (`GET /v1/firings`).
    pub fn firings(&self) -> FiringsCall<'_> {
        const SENT: Operation = Operation::new("GET", &["v1", "firings"]).timeline(Timeline::InQuery);
        let call = Call::new(self, &SENT, &[]);

        FiringsCall { call }
    }
}

/// Says that firings are done (`POST /v1/firings/ack`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct AcknowledgeFiringsCall<'a> {
    call: Call<'a>,
}

impl AcknowledgeFiringsCall<'_> {
    /// A request with a key is carried out once; a repeat within 24 hours gets the same response.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// The leases that the firings were claimed under, as `claim` told them. With them, a firing that somebody else
    /// has claimed since is refused (`lease_lost`). Without them it is refused if another user has claimed it.
    pub fn lease_ids(mut self, lease_ids: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let lease_ids: Vec<String> = lease_ids.into_iter().map(Into::into).collect();
        self.call.member("lease_ids", lease_ids);
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.member("timeline_id", timeline_id);
        self
    }
}

sent!(AcknowledgeFiringsCall, schemas::FiringsSettledBody, json);

impl Client {
    /// Says that firings are done (`POST /v1/firings/ack`).
    ///
    /// - `firing_ids`: The firings.
    pub fn acknowledge_firings(
        &self,
        firing_ids: impl IntoIterator<Item = impl Into<String>>,
    ) -> AcknowledgeFiringsCall<'_> {
        const SENT: Operation =
            Operation::new("POST", &["v1", "firings", "ack"]).once().body().timeline(Timeline::InBody);
        let mut call = Call::new(self, &SENT, &[]);
        let firing_ids: Vec<String> = firing_ids.into_iter().map(Into::into).collect();
        call.member("firing_ids", firing_ids);
        AcknowledgeFiringsCall { call }
    }
}

/// Keeps claimed firings for longer (`POST /v1/firings/extend`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct ExtendFiringsCall<'a> {
    call: Call<'a>,
}

impl ExtendFiringsCall<'_> {
    /// Only its format is checked: the response is not stored, and a repeated request runs again.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// The leases that the firings were claimed under, as `claim` told them. With them, a firing that somebody else
    /// has claimed since is `lost`. Without them it is lost if another user has claimed it.
    pub fn lease_ids(mut self, lease_ids: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let lease_ids: Vec<String> = lease_ids.into_iter().map(Into::into).collect();
        self.call.member("lease_ids", lease_ids);
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.member("timeline_id", timeline_id);
        self
    }

    /// For how long they are yours from now on, in host time. Defaults to `30s`.
    pub fn ttl(mut self, ttl: impl Into<Length>) -> Self {
        let ttl: Length = ttl.into();
        self.call.member("ttl", ttl);
        self
    }
}

sent!(ExtendFiringsCall, schemas::ExtendedBody, json);

impl Client {
    /// Keeps claimed firings for longer (`POST /v1/firings/extend`).
    ///
    /// - `firing_ids`: The firings.
    pub fn extend_firings(&self, firing_ids: impl IntoIterator<Item = impl Into<String>>) -> ExtendFiringsCall<'_> {
        const SENT: Operation =
            Operation::new("POST", &["v1", "firings", "extend"]).once().body().timeline(Timeline::InBody);
        let mut call = Call::new(self, &SENT, &[]);
        let firing_ids: Vec<String> = firing_ids.into_iter().map(Into::into).collect();
        call.member("firing_ids", firing_ids);
        ExtendFiringsCall { call }
    }
}

/// Says that an attempt at firings failed (`POST /v1/firings/fail`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct FailFiringsCall<'a> {
    call: Call<'a>,
}

impl FailFiringsCall<'_> {
    /// A request with a key is carried out once; a repeat within 24 hours gets the same response.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// The leases that the firings were claimed under, as `claim` told them. With them, a firing that somebody else
    /// has claimed since is refused (`lease_lost`). Without them it is refused if another user has claimed it.
    pub fn lease_ids(mut self, lease_ids: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let lease_ids: Vec<String> = lease_ids.into_iter().map(Into::into).collect();
        self.call.member("lease_ids", lease_ids);
        self
    }

    /// Why.
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        let reason: String = reason.into();
        self.call.member("reason", reason);
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.member("timeline_id", timeline_id);
        self
    }
}

sent!(FailFiringsCall, schemas::FiringsSettledBody, json);

impl Client {
    /// Says that an attempt at firings failed (`POST /v1/firings/fail`).
    ///
    /// - `firing_ids`: The firings.
    pub fn fail_firings(&self, firing_ids: impl IntoIterator<Item = impl Into<String>>) -> FailFiringsCall<'_> {
        const SENT: Operation =
            Operation::new("POST", &["v1", "firings", "fail"]).once().body().timeline(Timeline::InBody);
        let mut call = Call::new(self, &SENT, &[]);
        let firing_ids: Vec<String> = firing_ids.into_iter().map(Into::into).collect();
        call.member("firing_ids", firing_ids);
        FailFiringsCall { call }
    }
}

/// Observes firings: one message for each thing that happens to one. It claims none (`GET /v1/firings/stream`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct FiringsStreamCall<'a> {
    call: Call<'a>,
}

impl FiringsStreamCall<'_> {
    /// Only firings of this queue; `timenav:webhook` for those that the service sends to webhooks. Defaults to all
    /// firings of the timeline.
    pub fn queue(mut self, queue: impl Into<String>) -> Self {
        let queue: String = queue.into();
        self.call.query("queue", queue);
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.query("timeline_id", timeline_id);
        self
    }

    /// The id of the last message received: later ones are sent first.
    pub fn after(mut self, last_event_id: impl Into<String>) -> Self {
        self.call.head("last-event-id", last_event_id.into());
        self
    }
}

sent!(FiringsStreamCall, Watch<SentEvent>, watch);

impl Client {
    /// Observes firings: one message for each thing that happens to one. It claims none (`GET /v1/firings/stream`).
    ///
    /// Messages come across lost connections. [`Client::watch_firings`] reads them.
    pub fn firings_stream(&self) -> FiringsStreamCall<'_> {
        const SENT: Operation = Operation::new("GET", &["v1", "firings", "stream"]).timeline(Timeline::InQuery);
        let call = Call::new(self, &SENT, &[]);

        FiringsStreamCall { call }
    }
}

/// Delivers a firing again that has failed (`POST /v1/firings/{firing_id}/redeliver`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct RedeliverFiringCall<'a> {
    call: Call<'a>,
}

impl RedeliverFiringCall<'_> {
    /// A request with a key is carried out once; a repeat within 24 hours gets the same response.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.member("timeline_id", timeline_id);
        self
    }
}

sent!(RedeliverFiringCall, schemas::FiringsSettledBody, json);

impl Client {
    /// Delivers a firing again that has failed (`POST /v1/firings/{firing_id}/redeliver`).
    ///
    /// - `firing_id`: The firing.
    pub fn redeliver_firing(&self, firing_id: &str) -> RedeliverFiringCall<'_> {
        const SENT: Operation =
            Operation::new("POST", &["v1", "firings", "{}", "redeliver"]).once().body().timeline(Timeline::InBody);
        let call = Call::new(self, &SENT, &[firing_id]);

        RedeliverFiringCall { call }
    }
}

/// Lists who follows the clock under a name, and which change each has confirmed (`GET /v1/followers`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct FollowersCall<'a> {
    call: Call<'a>,
}

impl FollowersCall<'_> {
    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.query("timeline_id", timeline_id);
        self
    }
}

sent!(FollowersCall, schemas::FollowersBody, json);

impl Client {
    /// Lists who follows the clock under a name, and which change each has confirmed (`GET /v1/followers`).
    pub fn followers(&self) -> FollowersCall<'_> {
        const SENT: Operation = Operation::new("GET", &["v1", "followers"]).timeline(Timeline::InQuery);
        let call = Call::new(self, &SENT, &[]);

        FollowersCall { call }
    }
}

/// Confirms that a follower has applied a change of the clock (`POST /v1/followers/confirm`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct ConfirmClockCall<'a> {
    call: Call<'a>,
}

impl ConfirmClockCall<'_> {
    /// Only its format is checked: the response is not stored, and a repeated request runs again.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// The step of the advance of that generation that was applied, as `advance` of the message names it. It confirms
    /// all before. Defaults to none.
    pub fn step(mut self, step: u64) -> Self {
        self.call.member("step", step);
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.member("timeline_id", timeline_id);
        self
    }
}

sent!(ConfirmClockCall, schemas::ConfirmedBody, json);

impl Client {
    /// Confirms that a follower has applied a change of the clock (`POST /v1/followers/confirm`).
    ///
    /// - `follower_id`: The follower, as the messages of its stream name it.
    /// - `generation`: The generation of the clock that was applied. It confirms all before.
    pub fn confirm_clock(&self, follower_id: impl Into<String>, generation: u64) -> ConfirmClockCall<'_> {
        const SENT: Operation =
            Operation::new("POST", &["v1", "followers", "confirm"]).once().body().timeline(Timeline::InBody);
        let mut call = Call::new(self, &SENT, &[]);
        let follower_id: String = follower_id.into();
        call.member("follower_id", follower_id);
        call.member("generation", generation);
        ConfirmClockCall { call }
    }
}

/// Has a follower show the clock wrong, or right again (`POST /v1/followers/{follower_id}/fault`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct SetFaultCall<'a> {
    call: Call<'a>,
}

impl SetFaultCall<'_> {
    /// A request with a key is carried out once; a repeat within 24 hours gets the same response.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.member("timeline_id", timeline_id);
        self
    }
}

sent!(SetFaultCall, schemas::FaultSetBody, json);

impl Client {
    /// Has a follower show the clock wrong, or right again (`POST /v1/followers/{follower_id}/fault`).
    ///
    /// - `follower_id`: The follower.
    /// - `fault`: What is to be wrong with the clock; `null` if it is to be right again.
    pub fn set_fault(&self, follower_id: &str, fault: impl Into<Option<schemas::FaultBody>>) -> SetFaultCall<'_> {
        const SENT: Operation =
            Operation::new("POST", &["v1", "followers", "{}", "fault"]).once().body().timeline(Timeline::InBody);
        let mut call = Call::new(self, &SENT, &[follower_id]);
        let fault: Option<schemas::FaultBody> = fault.into();
        call.member("fault", fault);
        SetFaultCall { call }
    }
}

/// Hands a timeline over to another service: it becomes read-only here (`POST /v1/hand-over`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct HandOverCall<'a> {
    call: Call<'a>,
}

impl HandOverCall<'_> {
    /// A request with a key is carried out once; a repeat within 24 hours gets the same response.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }
}

sent!(HandOverCall, schemas::HandedOverBody, json);

impl Client {
    /// Hands a timeline over to another service: it becomes read-only here (`POST /v1/hand-over`).
    ///
    /// - `timeline_id`: The timeline.
    pub fn hand_over(&self, timeline_id: impl Into<String>) -> HandOverCall<'_> {
        const SENT: Operation = Operation::new("POST", &["v1", "hand-over"]).once().body();
        let mut call = Call::new(self, &SENT, &[]);
        let timeline_id: String = timeline_id.into();
        call.member("timeline_id", timeline_id);
        HandOverCall { call }
    }
}

/// Imports the events of a file, as many as possible (`POST /v1/import-events`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Debug)]
pub struct ImportEventsCall<'a> {
    call: Call<'a>,
    content: Body,
}

impl ImportEventsCall<'_> {
    /// Whether to read and check the whole file, answer what would become of it, and record nothing. The timeline
    /// must be there.
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.call.query("dry_run", dry_run);
        self
    }

    /// `ndjson`, `json`, `logfmt`, `csv`, `geojson`, `cloudevents`, `icalendar`, `zipkin`, `jaeger`, `otlp` or `git`;
    /// taken from the `Content-Type` by default.
    pub fn format(mut self, format: schemas::FileFormat) -> Self {
        self.call.query("format", format);
        self
    }

    /// Which column, property or member is which field, and how a table is written, as `field=column` pairs or JSON.
    /// For `csv`, `geojson`, `ndjson`, `json` and `logfmt`.
    pub fn map(mut self, map: impl Into<String>) -> Self {
        let map: String = map.into();
        self.call.query("map", map);
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.query("timeline_id", timeline_id);
        self
    }

    /// `*`: only if the timeline exists; does not create it.
    pub fn if_match(mut self, tag: impl Into<EntityTag>) -> Self {
        self.call.if_match(tag.into());
        self
    }

    /// Of what kind the content is, by its media type.
    pub fn content_type(mut self, kind: impl Into<String>) -> Self {
        self.call.head("content-type", kind.into());
        self
    }
}

sent!(ImportEventsCall, schemas::ImportedBody, upload "application/octet-stream");

impl Client {
    /// Imports the events of a file, as many as possible (`POST /v1/import-events`).
    pub fn import_events(&self, content: impl Into<Body>) -> ImportEventsCall<'_> {
        const SENT: Operation = Operation::new("POST", &["v1", "import-events"]).timeline(Timeline::InQuery);
        let call = Call::new(self, &SENT, &[]);

        ImportEventsCall { call, content: content.into() }
    }
}

/// Lists leases that hold the clock (`GET /v1/leases`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct LeasesCall<'a> {
    call: Call<'a>,
}

impl LeasesCall<'_> {
    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.query("timeline_id", timeline_id);
        self
    }
}

sent!(LeasesCall, schemas::LeasesBody, json);

impl Client {
    /// Lists leases that hold the clock (`GET /v1/leases`).
    pub fn leases(&self) -> LeasesCall<'_> {
        const SENT: Operation = Operation::new("GET", &["v1", "leases"]).timeline(Timeline::InQuery);
        let call = Call::new(self, &SENT, &[]);

        LeasesCall { call }
    }
}

/// Holds the clock at its instant while it is moved past timers (`POST /v1/leases`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct HoldAdvancesCall<'a> {
    call: Call<'a>,
}

impl HoldAdvancesCall<'_> {
    /// A request with a key is carried out once; a repeat within 24 hours gets the same response.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// A lease of yours that is to last longer. Without it, you get a new one.
    pub fn lease_id(mut self, lease_id: impl Into<String>) -> Self {
        let lease_id: String = lease_id.into();
        self.call.member("lease_id", lease_id);
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.member("timeline_id", timeline_id);
        self
    }

    /// For how long from now on, in host time. Defaults to `30s`; at most `10m`.
    pub fn ttl(mut self, ttl: impl Into<Length>) -> Self {
        let ttl: Length = ttl.into();
        self.call.member("ttl", ttl);
        self
    }
}

sent!(HoldAdvancesCall, schemas::HeldBody, json);

impl Client {
    /// Holds the clock at its instant while it is moved past timers (`POST /v1/leases`).
    ///
    /// - `reason`: Why: whoever waits for the advance is told.
    pub fn hold_advances(&self, reason: impl Into<String>) -> HoldAdvancesCall<'_> {
        const SENT: Operation = Operation::new("POST", &["v1", "leases"]).once().body().timeline(Timeline::InBody);
        let mut call = Call::new(self, &SENT, &[]);
        let reason: String = reason.into();
        call.member("reason", reason);
        HoldAdvancesCall { call }
    }
}

/// Ends a lease that holds the clock (`POST /v1/leases/{lease_id}/release`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct ReleaseLeaseCall<'a> {
    call: Call<'a>,
}

impl ReleaseLeaseCall<'_> {
    /// Only its format is checked: the response is not stored, and a repeated request runs again.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.member("timeline_id", timeline_id);
        self
    }
}

sent!(ReleaseLeaseCall, schemas::ReleasedBody, json);

impl Client {
    /// Ends a lease that holds the clock (`POST /v1/leases/{lease_id}/release`).
    ///
    /// - `lease_id`: The lease.
    pub fn release_lease(&self, lease_id: &str) -> ReleaseLeaseCall<'_> {
        const SENT: Operation =
            Operation::new("POST", &["v1", "leases", "{}", "release"]).once().body().timeline(Timeline::InBody);
        let call = Call::new(self, &SENT, &[lease_id]);

        ReleaseLeaseCall { call }
    }
}

/// Lists every limit by name (`GET /v1/limits`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct LimitsCall<'a> {
    call: Call<'a>,
}

sent!(LimitsCall, schemas::LimitsBody, json);

impl Client {
    /// Lists every limit by name (`GET /v1/limits`).
    pub fn limits(&self) -> LimitsCall<'_> {
        const SENT: Operation = Operation::new("GET", &["v1", "limits"]);
        let call = Call::new(self, &SENT, &[]);

        LimitsCall { call }
    }
}

/// Starts a session and sets its cookie (`POST /v1/log-in`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct LogInCall<'a> {
    call: Call<'a>,
}

impl LogInCall<'_> {
    /// Only its format is checked: the response is not stored, and a repeated request runs again.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }
}

sent!(LogInCall, schemas::SessionBody, json);

impl Client {
    /// Starts a session and sets its cookie (`POST /v1/log-in`).
    ///
    /// - `user_id`: The user.
    /// - `password`: The user's password. It is not stored.
    pub fn log_in(&self, user_id: impl Into<String>, password: impl Into<String>) -> LogInCall<'_> {
        const SENT: Operation = Operation::new("POST", &["v1", "log-in"]).once().body();
        let mut call = Call::new(self, &SENT, &[]);
        let user_id: String = user_id.into();
        call.member("user_id", user_id);
        let password: String = password.into();
        call.member("password", password);
        LogInCall { call }
    }
}

/// Ends the session, or all sessions of the user (`POST /v1/log-out`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct LogOutCall<'a> {
    call: Call<'a>,
}

impl LogOutCall<'_> {
    /// Only its format is checked: the response is not stored, and a repeated request runs again.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// Whether to end all sessions of the user. Defaults to only this one.
    pub fn everywhere(mut self, everywhere: bool) -> Self {
        self.call.member("everywhere", everywhere);
        self
    }
}

sent!(LogOutCall, schemas::StatusBody, json);

impl Client {
    /// Ends the session, or all sessions of the user (`POST /v1/log-out`).
    pub fn log_out(&self) -> LogOutCall<'_> {
        const SENT: Operation = Operation::new("POST", &["v1", "log-out"]).once().body();
        let call = Call::new(self, &SENT, &[]);

        LogOutCall { call }
    }
}

/// Intervenes in an event (`POST /v1/manipulate-event`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct ManipulateEventCall<'a> {
    call: Call<'a>,
}

impl ManipulateEventCall<'_> {
    /// A request with a key is carried out once; a repeat within 24 hours gets the same response.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// Events that caused the intervention.
    pub fn causes(mut self, causes: impl IntoIterator<Item = impl Into<schemas::CauseRecord>>) -> Self {
        let causes: Vec<schemas::CauseRecord> = causes.into_iter().map(Into::into).collect();
        self.call.member("causes", causes);
        self
    }

    /// Whether to report what would happen without changing anything.
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.call.member("dry_run", dry_run);
        self
    }

    /// What to do, instead of the words in `action`.
    pub fn effect(mut self, effect: schemas::EffectRequest) -> Self {
        self.call.member("effect", effect);
        self
    }

    /// Whether to refuse an intervention that would create a paradox (`refuse`), or only report the paradox (`tell`,
    /// the default).
    pub fn on_paradox(mut self, on_paradox: schemas::OnParadoxWord) -> Self {
        self.call.member("on_paradox", on_paradox);
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.member("timeline_id", timeline_id);
        self
    }
}

sent!(ManipulateEventCall, schemas::ManipulatedBody, json);

impl Client {
    /// Intervenes in an event (`POST /v1/manipulate-event`).
    ///
    /// - `event_id`: The event.
    /// - `action`: What to do, in words. Start with a verb: `prevent`, `cancel`, `stop` or `remove`; `restore`;
    ///   `delay` or `advance` and a duration; `move` or `reschedule` and a timestamp; `relocate to` a place; `describe`
    ///   or `rename` and a text. Anything else is saved as a note.
    /// - `time`: The moment of the intervention, on the timeline's clock.
    pub fn manipulate_event(
        &self,
        event_id: impl Into<String>,
        action: impl Into<String>,
        time: Instant,
    ) -> ManipulateEventCall<'_> {
        const SENT: Operation =
            Operation::new("POST", &["v1", "manipulate-event"]).once().body().timeline(Timeline::InBody);
        let mut call = Call::new(self, &SENT, &[]);
        let event_id: String = event_id.into();
        call.member("event_id", event_id);
        let action: String = action.into();
        call.member("action", action);
        call.member("time", time);
        ManipulateEventCall { call }
    }
}

/// Finds events by place and time (`GET /v1/monitor-events`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct MonitorEventsCall<'a> {
    call: Call<'a>,
}

impl<'a> MonitorEventsCall<'a> {
    /// Only events with exactly this actor.
    pub fn actor(mut self, actor: impl Into<String>) -> Self {
        let actor: String = actor.into();
        self.call.query("actor", actor);
        self
    }

    /// A moment of the ledger: a position, an anchor id, or a host time. Defaults to now.
    pub fn as_of(mut self, as_of: impl Into<Moment>) -> Self {
        let as_of: Moment = as_of.into();
        self.call.query("as_of", as_of);
        self
    }

    /// Only events with these values of attributes, by key: in a query string `attribute.KEY=VALUE`, as often as you
    /// like. A value is a text, a number or a truth value, or one of those in a list. `FROM/TO` stands for the
    /// numbers from one to the other, with `..` for an open end. Dots lead into objects.
    pub fn attribute(mut self, key: &str, value: impl Into<String>) -> Self {
        self.call.query_attribute(key, value.into());
        self
    }

    /// The `next_cursor` of the previous page.
    pub fn cursor(mut self, cursor: impl Into<String>) -> Self {
        let cursor: String = cursor.into();
        self.call.query("cursor", cursor);
        self
    }

    /// The maximum number per page.
    pub fn limit(mut self, limit: u32) -> Self {
        self.call.query("limit", limit);
        self
    }

    /// Which events come first. Defaults to the earliest.
    pub fn order(mut self, order: schemas::EventOrder) -> Self {
        self.call.query("order", order);
        self
    }

    /// Whether events count too that began before the range and last into it. Defaults to `false`.
    pub fn overlapping(mut self, overlapping: bool) -> Self {
        self.call.query("overlapping", overlapping);
        self
    }

    /// Only events with exactly this source.
    pub fn source(mut self, source: impl Into<String>) -> Self {
        let source: String = source.into();
        self.call.query("source", source);
        self
    }

    /// Only events whose name, description, location, id, actors or attributes contain these words, or words that
    /// start with them. Case and accents are ignored.
    pub fn text(mut self, text: impl Into<String>) -> Self {
        let text: String = text.into();
        self.call.query("text", text);
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.query("timeline_id", timeline_id);
        self
    }

    /// Returns page after page, each asked for when it is wanted.
    #[must_use]
    pub fn pages(self) -> Pages<'a, schemas::EventsBody> {
        Pages::new(self.call)
    }
}

sent!(MonitorEventsCall, schemas::EventsBody, json);

impl Client {
    /// Finds events by place and time (`GET /v1/monitor-events`).
    ///
    /// - `location`: `*` for anywhere, `lat,lon` or a `geo:` URI with `;u=metres`, `bbox:west,south,east,north`, or
    ///   the text of the events' own location.
    /// - `time_range`: `<start>/<end>`, both ends included; `..` leaves an end open, and one end can be a duration.
    pub fn monitor_events(
        &self,
        location: impl Into<String>,
        time_range: impl Into<TimeRange>,
    ) -> MonitorEventsCall<'_> {
        const SENT: Operation = Operation::new("GET", &["v1", "monitor-events"]).timeline(Timeline::InQuery);
        let mut call = Call::new(self, &SENT, &[]);
        let location: String = location.into();
        call.query("location", location);
        let time_range: TimeRange = time_range.into();
        call.query("time_range", time_range);
        MonitorEventsCall { call }
    }
}

/// Lists the paradoxes of a timeline (`GET /v1/monitor-paradox`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct MonitorParadoxCall<'a> {
    call: Call<'a>,
}

impl<'a> MonitorParadoxCall<'a> {
    /// A moment of the ledger: a position, an anchor id, or a host time. Defaults to now.
    pub fn as_of(mut self, as_of: impl Into<Moment>) -> Self {
        let as_of: Moment = as_of.into();
        self.call.query("as_of", as_of);
        self
    }

    /// The `next_cursor` of the previous page.
    pub fn cursor(mut self, cursor: impl Into<String>) -> Self {
        let cursor: String = cursor.into();
        self.call.query("cursor", cursor);
        self
    }

    /// What else to include: `observations` about the data.
    pub fn include(mut self, include: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let include: Vec<String> = include.into_iter().map(Into::into).collect();
        self.call.query("include", include);
        self
    }

    /// Only paradoxes of these kinds, by code (`P01`) or name (`effect_before_cause`), as a list or separated by
    /// commas.
    pub fn kinds(mut self, kinds: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let kinds: Vec<String> = kinds.into_iter().map(Into::into).collect();
        self.call.query("kinds", kinds);
        self
    }

    /// The maximum number per page.
    pub fn limit(mut self, limit: u32) -> Self {
        self.call.query("limit", limit);
        self
    }

    /// The top speed of actors in km/h, for `P07`. Defaults to 900.
    pub fn speed_kmh(mut self, speed_kmh: f64) -> Self {
        self.call.query("speed_kmh", speed_kmh);
        self
    }

    /// How much clocks may differ before one time counts as earlier than another. Defaults to none.
    pub fn tolerance(mut self, tolerance: impl Into<Length>) -> Self {
        let tolerance: Length = tolerance.into();
        self.call.query("tolerance", tolerance);
        self
    }

    /// Returns page after page, each asked for when it is wanted.
    #[must_use]
    pub fn pages(self) -> Pages<'a, schemas::ParadoxesBody> {
        Pages::new(self.call)
    }
}

sent!(MonitorParadoxCall, schemas::ParadoxesBody, json);

impl Client {
    /// Lists the paradoxes of a timeline (`GET /v1/monitor-paradox`).
    ///
    /// - `timeline_id`: The timeline.
    /// - `time_range`: `<start>/<end>`, both ends included: paradoxes with an event in it. `../..` for all.
    pub fn monitor_paradox(
        &self,
        timeline_id: impl Into<String>,
        time_range: impl Into<TimeRange>,
    ) -> MonitorParadoxCall<'_> {
        const SENT: Operation = Operation::new("GET", &["v1", "monitor-paradox"]);
        let mut call = Call::new(self, &SENT, &[]);
        let timeline_id: String = timeline_id.into();
        call.query("timeline_id", timeline_id);
        let time_range: TimeRange = time_range.into();
        call.query("time_range", time_range);
        MonitorParadoxCall { call }
    }
}

/// Pauses the clock (`POST /v1/pause-time`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct PauseTimeCall<'a> {
    call: Call<'a>,
}

impl PauseTimeCall<'_> {
    /// A request with a key is carried out once; a repeat within 24 hours gets the same response.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// Only if the clock still has this generation, in quotation marks: `"7"`.
    pub fn if_match(mut self, tag: impl Into<EntityTag>) -> Self {
        self.call.if_match(tag.into());
        self
    }

    /// Which followers of the clock have to confirm the change before the answer is sent: `all` of users who may
    /// write to the timeline, or names, as a list or separated by commas. The answer tells who has and who has not;
    /// the change stays either way. Defaults to none.
    pub fn followers(mut self, followers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let followers: Vec<String> = followers.into_iter().map(Into::into).collect();
        self.call.member("followers", followers);
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.member("timeline_id", timeline_id);
        self
    }

    /// How long the answer waits for followers, in host time. Defaults to `5s`; `0s` does not wait.
    pub fn wait(mut self, wait: impl Into<Length>) -> Self {
        let wait: Length = wait.into();
        self.call.longer(&wait);
        self.call.member("wait", wait);
        self
    }
}

sent!(PauseTimeCall, schemas::ClockBody, json);

impl Client {
    /// Pauses the clock (`POST /v1/pause-time`).
    pub fn pause_time(&self) -> PauseTimeCall<'_> {
        const SENT: Operation = Operation::new("POST", &["v1", "pause-time"]).once().body().timeline(Timeline::InBody);
        let call = Call::new(self, &SENT, &[]);

        PauseTimeCall { call }
    }
}

/// Prunes contents whose retention has passed (`POST /v1/prune`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct PruneCall<'a> {
    call: Call<'a>,
}

impl PruneCall<'_> {
    /// A request with a key is carried out once; a repeat within 24 hours gets the same response.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// Whether to confirm that the host's clock is right when it is in doubt. Operators only.
    pub fn accept_host_clock(mut self, accept_host_clock: bool) -> Self {
        self.call.member("accept_host_clock", accept_host_clock);
        self
    }

    /// Whether to report what would be pruned next without pruning it.
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.call.member("dry_run", dry_run);
        self
    }
}

sent!(PruneCall, schemas::PrunedBody, json);

impl Client {
    /// Prunes contents whose retention has passed (`POST /v1/prune`).
    ///
    /// - `timeline_id`: The timeline; can be `system`.
    pub fn prune(&self, timeline_id: impl Into<String>) -> PruneCall<'_> {
        const SENT: Operation = Operation::new("POST", &["v1", "prune"]).once().body();
        let mut call = Call::new(self, &SENT, &[]);
        let timeline_id: String = timeline_id.into();
        call.member("timeline_id", timeline_id);
        PruneCall { call }
    }
}

/// Claims firings of a queue, and waits for some (`POST /v1/queues/{queue}/claim`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct ClaimFiringsCall<'a> {
    call: Call<'a>,
}

impl ClaimFiringsCall<'_> {
    /// Only its format is checked: the response is not stored, and a repeated request runs again.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// For how long the firings are yours, in host time. Defaults to `30s`; after that others are given them.
    pub fn ack_timeout(mut self, ack_timeout: impl Into<Length>) -> Self {
        let ack_timeout: Length = ack_timeout.into();
        self.call.member("ack_timeout", ack_timeout);
        self
    }

    /// The maximum number of firings. Defaults to 1.
    pub fn max(mut self, max: u32) -> Self {
        self.call.member("max", max);
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.member("timeline_id", timeline_id);
        self
    }

    /// How long to wait if there is none, in host time. Defaults to `0s`; at most `60s`.
    pub fn wait(mut self, wait: impl Into<Length>) -> Self {
        let wait: Length = wait.into();
        self.call.longer(&wait);
        self.call.member("wait", wait);
        self
    }
}

sent!(ClaimFiringsCall, schemas::ClaimedBody, json);

impl Client {
    /// Claims firings of a queue, and waits for some (`POST /v1/queues/{queue}/claim`).
    ///
    /// - `queue`: The queue.
    pub fn claim_firings(&self, queue: &str) -> ClaimFiringsCall<'_> {
        const SENT: Operation =
            Operation::new("POST", &["v1", "queues", "{}", "claim"]).once().body().timeline(Timeline::InBody);
        let call = Call::new(self, &SENT, &[queue]);

        ClaimFiringsCall { call }
    }
}

/// Restricts a user's time travel (`POST /v1/restrict-time-travel`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct RestrictTimeTravelCall<'a> {
    call: Call<'a>,
}

impl RestrictTimeTravelCall<'_> {
    /// A request with a key is carried out once; a repeat within 24 hours gets the same response.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }
}

sent!(RestrictTimeTravelCall, schemas::RestrictedBody, json);

impl Client {
    /// Restricts a user's time travel (`POST /v1/restrict-time-travel`).
    ///
    /// - `user_id`: The user.
    /// - `restriction_level`: `full_access` lifts a restriction; `limited_access` allows only moments near host time;
    ///   `read_only` allows only reading; `no_access` not even that.
    pub fn restrict_time_travel(
        &self,
        user_id: impl Into<String>,
        restriction_level: schemas::RestrictionLevel,
    ) -> RestrictTimeTravelCall<'_> {
        const SENT: Operation = Operation::new("POST", &["v1", "restrict-time-travel"]).once().body();
        let mut call = Call::new(self, &SENT, &[]);
        let user_id: String = user_id.into();
        call.member("user_id", user_id);
        call.member("restriction_level", restriction_level);
        RestrictTimeTravelCall { call }
    }
}

/// Lists users whose time travel is restricted (`GET /v1/restrictions`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct RestrictionsCall<'a> {
    call: Call<'a>,
}

sent!(RestrictionsCall, schemas::RestrictionsBody, json);

impl Client {
    /// Lists users whose time travel is restricted (`GET /v1/restrictions`).
    pub fn restrictions(&self) -> RestrictionsCall<'_> {
        const SENT: Operation = Operation::new("GET", &["v1", "restrictions"]);
        let call = Call::new(self, &SENT, &[]);

        RestrictionsCall { call }
    }
}

/// Resumes the clock from where it was paused (`POST /v1/resume-time`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct ResumeTimeCall<'a> {
    call: Call<'a>,
}

impl ResumeTimeCall<'_> {
    /// A request with a key is carried out once; a repeat within 24 hours gets the same response.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// Only if the clock still has this generation, in quotation marks: `"7"`.
    pub fn if_match(mut self, tag: impl Into<EntityTag>) -> Self {
        self.call.if_match(tag.into());
        self
    }

    /// Which followers of the clock have to confirm the change before the answer is sent: `all` of users who may
    /// write to the timeline, or names, as a list or separated by commas. The answer tells who has and who has not;
    /// the change stays either way. Defaults to none.
    pub fn followers(mut self, followers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let followers: Vec<String> = followers.into_iter().map(Into::into).collect();
        self.call.member("followers", followers);
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.member("timeline_id", timeline_id);
        self
    }

    /// How long the answer waits for followers, in host time. Defaults to `5s`; `0s` does not wait.
    pub fn wait(mut self, wait: impl Into<Length>) -> Self {
        let wait: Length = wait.into();
        self.call.longer(&wait);
        self.call.member("wait", wait);
        self
    }
}

sent!(ResumeTimeCall, schemas::ClockBody, json);

impl Client {
    /// Resumes the clock from where it was paused (`POST /v1/resume-time`).
    pub fn resume_time(&self) -> ResumeTimeCall<'_> {
        const SENT: Operation = Operation::new("POST", &["v1", "resume-time"]).once().body().timeline(Timeline::InBody);
        let call = Call::new(self, &SENT, &[]);

        ResumeTimeCall { call }
    }
}

/// Returns the clock, events and timers to an anchor (`POST /v1/return-to-anchor`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct ReturnToAnchorCall<'a> {
    call: Call<'a>,
}

impl ReturnToAnchorCall<'_> {
    /// A request with a key is carried out once; a repeat within 24 hours gets the same response.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// Only if the clock still has this generation, in quotation marks: `"7"`.
    pub fn if_match(mut self, tag: impl Into<EntityTag>) -> Self {
        self.call.if_match(tag.into());
        self
    }

    /// Whether to tell only which timers would be armed again or not any more, which firings would be superseded or
    /// handed out, and which events would be changed back. Nothing changes. Defaults to `false`.
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.call.member("dry_run", dry_run);
        self
    }

    /// Which followers of the clock have to confirm the change before the answer is sent: `all` of users who may
    /// write to the timeline, or names, as a list or separated by commas. The answer tells who has and who has not;
    /// the change stays either way. Defaults to none.
    pub fn followers(mut self, followers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let followers: Vec<String> = followers.into_iter().map(Into::into).collect();
        self.call.member("followers", followers);
        self
    }

    /// What to restore: `clock` for its moment, place, rate and state; or `all` for events and timers too, as they
    /// were when the anchor was set. Defaults to `all`.
    pub fn scope(mut self, scope: schemas::Scope) -> Self {
        self.call.member("scope", scope);
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.member("timeline_id", timeline_id);
        self
    }

    /// How long the answer waits for followers, in host time. Defaults to `5s`; `0s` does not wait.
    pub fn wait(mut self, wait: impl Into<Length>) -> Self {
        let wait: Length = wait.into();
        self.call.longer(&wait);
        self.call.member("wait", wait);
        self
    }
}

sent!(ReturnToAnchorCall, schemas::ClockBody, json);

impl Client {
    /// Returns the clock, events and timers to an anchor (`POST /v1/return-to-anchor`).
    ///
    /// - `anchor_id`: The anchor.
    pub fn return_to_anchor(&self, anchor_id: impl Into<String>) -> ReturnToAnchorCall<'_> {
        const SENT: Operation =
            Operation::new("POST", &["v1", "return-to-anchor"]).once().body().timeline(Timeline::InBody);
        let mut call = Call::new(self, &SENT, &[]);
        let anchor_id: String = anchor_id.into();
        call.member("anchor_id", anchor_id);
        ReturnToAnchorCall { call }
    }
}

/// Moves the clock back by a duration (`POST /v1/rewind`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct RewindCall<'a> {
    call: Call<'a>,
}

impl RewindCall<'_> {
    /// A request with a key is carried out once; a repeat within 24 hours gets the same response.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// Only if the clock still has this generation, in quotation marks: `"7"`.
    pub fn if_match(mut self, tag: impl Into<EntityTag>) -> Self {
        self.call.if_match(tag.into());
        self
    }

    /// Whether to tell only what `refire` would do: timers that would be armed again, and firings that would be
    /// superseded. Nothing moves. Defaults to `false`.
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.call.member("dry_run", dry_run);
        self
    }

    /// Which followers of the clock have to confirm the change before the answer is sent: `all` of users who may
    /// write to the timeline, or names, as a list or separated by commas. The answer tells who has and who has not;
    /// the change stays either way. Defaults to none.
    pub fn followers(mut self, followers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let followers: Vec<String> = followers.into_iter().map(Into::into).collect();
        self.call.member("followers", followers);
        self
    }

    /// Whether timers fire again whose moments come again, where the clock goes back. Firings of theirs that are not
    /// done are superseded. Otherwise what fell due stays so. Defaults to `false`.
    pub fn refire(mut self, refire: bool) -> Self {
        self.call.member("refire", refire);
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.member("timeline_id", timeline_id);
        self
    }

    /// How long the answer waits for followers, in host time. Defaults to `5s`; `0s` does not wait.
    pub fn wait(mut self, wait: impl Into<Length>) -> Self {
        let wait: Length = wait.into();
        self.call.longer(&wait);
        self.call.member("wait", wait);
        self
    }
}

sent!(RewindCall, schemas::ClockBody, json);

impl Client {
    /// Moves the clock back by a duration (`POST /v1/rewind`).
    ///
    /// - `duration`: One or more numbers with units (`s`, `m` for minutes, `h`, `d`, `w`), or ISO 8601.
    pub fn rewind(&self, duration: impl Into<Length>) -> RewindCall<'_> {
        const SENT: Operation = Operation::new("POST", &["v1", "rewind"]).once().body().timeline(Timeline::InBody);
        let mut call = Call::new(self, &SENT, &[]);
        let duration: Length = duration.into();
        call.member("duration", duration);
        RewindCall { call }
    }
}

/// Finds events with their effects, interventions and paradoxes (`POST /v1/scan-events`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct ScanEventsCall<'a> {
    call: Call<'a>,
}

impl<'a> ScanEventsCall<'a> {
    /// Only its format is checked: the response is not stored, and a repeated request runs again.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// Only events with exactly this actor.
    pub fn actor(mut self, actor: impl Into<String>) -> Self {
        let actor: String = actor.into();
        self.call.member("actor", actor);
        self
    }

    /// A moment of the ledger: a position, an anchor id, or a host time. Defaults to now.
    pub fn as_of(mut self, as_of: impl Into<Moment>) -> Self {
        let as_of: Moment = as_of.into();
        self.call.member("as_of", as_of);
        self
    }

    /// Only events with these values of attributes, by key: in a query string `attribute.KEY=VALUE`, as often as you
    /// like. A value is a text, a number or a truth value, or one of those in a list. `FROM/TO` stands for the
    /// numbers from one to the other, with `..` for an open end. Dots lead into objects.
    pub fn attribute(mut self, key: &str, value: impl Into<String>) -> Self {
        self.call.member_attribute(key, value.into());
        self
    }

    /// The `next_cursor` of the previous page.
    pub fn cursor(mut self, cursor: impl Into<String>) -> Self {
        let cursor: String = cursor.into();
        self.call.member("cursor", cursor);
        self
    }

    /// The maximum number per page.
    pub fn limit(mut self, limit: u32) -> Self {
        self.call.member("limit", limit);
        self
    }

    /// Which events come first. Defaults to the earliest.
    pub fn order(mut self, order: schemas::EventOrder) -> Self {
        self.call.member("order", order);
        self
    }

    /// Only events with exactly this source.
    pub fn source(mut self, source: impl Into<String>) -> Self {
        let source: String = source.into();
        self.call.member("source", source);
        self
    }

    /// Only events whose name, description, location, id, actors or attributes contain these words, or words that
    /// start with them. Case and accents are ignored.
    pub fn text(mut self, text: impl Into<String>) -> Self {
        let text: String = text.into();
        self.call.member("text", text);
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.member("timeline_id", timeline_id);
        self
    }

    /// Returns page after page, each asked for when it is wanted.
    #[must_use]
    pub fn pages(self) -> Pages<'a, schemas::ScannedBody> {
        Pages::new(self.call)
    }
}

sent!(ScanEventsCall, schemas::ScannedBody, json);

impl Client {
    /// Finds events with their effects, interventions and paradoxes (`POST /v1/scan-events`).
    ///
    /// - `location`: Where, as in `monitor-events`.
    /// - `time_range`: `<start>/<end>`, both ends included, as in `monitor-events`.
    pub fn scan_events(&self, location: impl Into<String>, time_range: impl Into<TimeRange>) -> ScanEventsCall<'_> {
        const SENT: Operation = Operation::new("POST", &["v1", "scan-events"]).once().body().timeline(Timeline::InBody);
        let mut call = Call::new(self, &SENT, &[]);
        let location: String = location.into();
        call.member("location", location);
        let time_range: TimeRange = time_range.into();
        call.member("time_range", time_range);
        ScanEventsCall { call }
    }
}

/// Returns the caller and their session (`GET /v1/session`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct SessionCall<'a> {
    call: Call<'a>,
}

sent!(SessionCall, schemas::SessionBody, json);

impl Client {
    /// Returns the caller and their session (`GET /v1/session`).
    pub fn session(&self) -> SessionCall<'_> {
        const SENT: Operation = Operation::new("GET", &["v1", "session"]);
        let call = Call::new(self, &SENT, &[]);

        SessionCall { call }
    }
}

/// Lists the sessions of a user (`GET /v1/sessions`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct SessionsCall<'a> {
    call: Call<'a>,
}

impl SessionsCall<'_> {
    /// The user. Defaults to the caller; only operators can name others.
    pub fn user_id(mut self, user_id: impl Into<String>) -> Self {
        let user_id: String = user_id.into();
        self.call.query("user_id", user_id);
        self
    }
}

sent!(SessionsCall, schemas::SessionsBody, json);

impl Client {
    /// Lists the sessions of a user (`GET /v1/sessions`).
    pub fn sessions(&self) -> SessionsCall<'_> {
        const SENT: Operation = Operation::new("GET", &["v1", "sessions"]);
        let call = Call::new(self, &SENT, &[]);

        SessionsCall { call }
    }
}

/// Ends a session (`DELETE /v1/sessions/{session_id}`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct EndSessionCall<'a> {
    call: Call<'a>,
}

sent!(EndSessionCall, schemas::StatusBody, json);

impl Client {
    /// Ends a session (`DELETE /v1/sessions/{session_id}`).
    ///
    /// - `session_id`: The session.
    pub fn end_session(&self, session_id: &str) -> EndSessionCall<'_> {
        const SENT: Operation = Operation::new("DELETE", &["v1", "sessions", "{}"]);
        let call = Call::new(self, &SENT, &[session_id]);

        EndSessionCall { call }
    }
}

/// Sets the permissions of a timeline (`POST /v1/set-access-control`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct SetAccessControlCall<'a> {
    call: Call<'a>,
}

impl SetAccessControlCall<'_> {
    /// A request with a key is carried out once; a repeat within 24 hours gets the same response.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// Only if the permissions still have this tag.
    pub fn if_match(mut self, tag: impl Into<EntityTag>) -> Self {
        self.call.if_match(tag.into());
        self
    }
}

sent!(SetAccessControlCall, schemas::AccessControlSetBody, json);

impl Client {
    /// Sets the permissions of a timeline (`POST /v1/set-access-control`).
    ///
    /// - `timeline_id`: The timeline.
    /// - `permissions`: The lists. A list you give replaces the current one; a list you leave out stays as it is.
    pub fn set_access_control(
        &self,
        timeline_id: impl Into<String>,
        permissions: schemas::PermissionsRequest,
    ) -> SetAccessControlCall<'_> {
        const SENT: Operation = Operation::new("POST", &["v1", "set-access-control"]).once().body();
        let mut call = Call::new(self, &SENT, &[]);
        let timeline_id: String = timeline_id.into();
        call.member("timeline_id", timeline_id);
        call.member("permissions", permissions);
        SetAccessControlCall { call }
    }
}

/// Sets an anchor at a moment that you can return to (`POST /v1/set-anchor`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct SetAnchorCall<'a> {
    call: Call<'a>,
}

impl SetAnchorCall<'_> {
    /// A request with a key is carried out once; a repeat within 24 hours gets the same response.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// `*`: only if the timeline exists; does not create it.
    pub fn if_match(mut self, tag: impl Into<EntityTag>) -> Self {
        self.call.if_match(tag.into());
        self
    }

    /// What the anchor is for.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        let description: String = description.into();
        self.call.member("description", description);
        self
    }

    /// Whether changing history before the anchor is a paradox. Defaults to `true`.
    pub fn fixed(mut self, fixed: bool) -> Self {
        self.call.member("fixed", fixed);
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.member("timeline_id", timeline_id);
        self
    }

    /// The moment to mark. Defaults to the clock's current time.
    pub fn timestamp(mut self, timestamp: Instant) -> Self {
        self.call.member("timestamp", timestamp);
        self
    }
}

sent!(SetAnchorCall, schemas::AnchorSetBody, json);

impl Client {
    /// Sets an anchor at a moment that you can return to (`POST /v1/set-anchor`).
    pub fn set_anchor(&self) -> SetAnchorCall<'_> {
        const SENT: Operation = Operation::new("POST", &["v1", "set-anchor"]).once().body().timeline(Timeline::InBody);
        let call = Call::new(self, &SENT, &[]);

        SetAnchorCall { call }
    }
}

/// Sets a password and ends the user's other sessions (`POST /v1/set-password`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct SetPasswordCall<'a> {
    call: Call<'a>,
}

impl SetPasswordCall<'_> {
    /// Only its format is checked: the response is not stored, and a repeated request runs again.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// The current password. Required to change your own password in a session.
    pub fn current_password(mut self, current_password: impl Into<String>) -> Self {
        let current_password: String = current_password.into();
        self.call.member("current_password", current_password);
        self
    }

    /// The user. Defaults to the caller; only operators can name others.
    pub fn user_id(mut self, user_id: impl Into<String>) -> Self {
        let user_id: String = user_id.into();
        self.call.member("user_id", user_id);
        self
    }
}

sent!(SetPasswordCall, schemas::PasswordSetBody, json);

impl Client {
    /// Sets a password and ends the user's other sessions (`POST /v1/set-password`).
    ///
    /// - `password`: The new password: at least 8 characters, not one of the most common ones, and not the user's
    ///   name.
    pub fn set_password(&self, password: impl Into<String>) -> SetPasswordCall<'_> {
        const SENT: Operation = Operation::new("POST", &["v1", "set-password"]).once().body();
        let mut call = Call::new(self, &SENT, &[]);
        let password: String = password.into();
        call.member("password", password);
        SetPasswordCall { call }
    }
}

/// Changes the rate of the clock without moving it (`POST /v1/set-rate`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct SetRateCall<'a> {
    call: Call<'a>,
}

impl SetRateCall<'_> {
    /// A request with a key is carried out once; a repeat within 24 hours gets the same response.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// Only if the clock still has this generation, in quotation marks: `"7"`.
    pub fn if_match(mut self, tag: impl Into<EntityTag>) -> Self {
        self.call.if_match(tag.into());
        self
    }

    /// Which followers of the clock have to confirm the change before the answer is sent: `all` of users who may
    /// write to the timeline, or names, as a list or separated by commas. The answer tells who has and who has not;
    /// the change stays either way. Defaults to none.
    pub fn followers(mut self, followers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let followers: Vec<String> = followers.into_iter().map(Into::into).collect();
        self.call.member("followers", followers);
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.member("timeline_id", timeline_id);
        self
    }

    /// How long the answer waits for followers, in host time. Defaults to `5s`; `0s` does not wait.
    pub fn wait(mut self, wait: impl Into<Length>) -> Self {
        let wait: Length = wait.into();
        self.call.longer(&wait);
        self.call.member("wait", wait);
        self
    }
}

sent!(SetRateCall, schemas::ClockBody, json);

impl Client {
    /// Changes the rate of the clock without moving it (`POST /v1/set-rate`).
    ///
    /// - `rate`: Virtual seconds per host second: more than 0, with up to six decimal places.
    pub fn set_rate(&self, rate: f64) -> SetRateCall<'_> {
        const SENT: Operation = Operation::new("POST", &["v1", "set-rate"]).once().body().timeline(Timeline::InBody);
        let mut call = Call::new(self, &SENT, &[]);
        call.member("rate", rate);
        SetRateCall { call }
    }
}

/// Sets how long the contents of reads and refusals are kept (`POST /v1/set-retention`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct SetRetentionCall<'a> {
    call: Call<'a>,
}

impl SetRetentionCall<'_> {
    /// A request with a key is carried out once; a repeat within 24 hours gets the same response.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// How long to keep payloads of reads, in host time: whole seconds, no months. `null` keeps them forever.
    pub fn reads(mut self, reads: impl Into<Option<Length>>) -> Self {
        let reads: Option<Length> = reads.into();
        self.call.member("reads", reads);
        self
    }

    /// How long to keep payloads of refused attempts, in the same form.
    pub fn refusals(mut self, refusals: impl Into<Option<Length>>) -> Self {
        let refusals: Option<Length> = refusals.into();
        self.call.member("refusals", refusals);
        self
    }
}

sent!(SetRetentionCall, schemas::RetentionSetBody, json);

impl Client {
    /// Sets how long the contents of reads and refusals are kept (`POST /v1/set-retention`).
    ///
    /// - `timeline_id`: The timeline; can be `system`.
    pub fn set_retention(&self, timeline_id: impl Into<String>) -> SetRetentionCall<'_> {
        const SENT: Operation = Operation::new("POST", &["v1", "set-retention"]).once().body();
        let mut call = Call::new(self, &SENT, &[]);
        let timeline_id: String = timeline_id.into();
        call.member("timeline_id", timeline_id);
        SetRetentionCall { call }
    }
}

/// Moves a paused clock by what somebody's work cost (`POST /v1/spend`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct SpendCall<'a> {
    call: Call<'a>,
}

impl SpendCall<'_> {
    /// A request with a key is carried out once; a repeat within 24 hours gets the same response.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// Only if the clock still has this generation, in quotation marks: `"7"`.
    pub fn if_match(mut self, tag: impl Into<EntityTag>) -> Self {
        self.call.if_match(tag.into());
        self
    }

    /// Whether to tell only what would fire on the way. Nothing moves. Defaults to `false`.
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.call.member("dry_run", dry_run);
        self
    }

    /// Which followers of the clock have to confirm the change before the answer is sent: `all` of users who may
    /// write to the timeline, or names, as a list or separated by commas. The answer tells who has and who has not;
    /// the change stays either way. Defaults to none.
    pub fn followers(mut self, followers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let followers: Vec<String> = followers.into_iter().map(Into::into).collect();
        self.call.member("followers", followers);
        self
    }

    /// What the clock showed when the work began. The clock goes to `duration` after that, or stays if it is there
    /// already, so what several spend at the same time passes once. Otherwise it goes on from what it shows, and what
    /// several spend adds up.
    pub fn since(mut self, since: Instant) -> Self {
        self.call.member("since", since);
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.member("timeline_id", timeline_id);
        self
    }

    /// How long to wait, in host time, for advances of others that come before; and how long the answer waits then
    /// for timers on the way and followers. The clock goes on without it. Defaults to `30s`; `0s` does not wait.
    pub fn wait(mut self, wait: impl Into<Length>) -> Self {
        let wait: Length = wait.into();
        self.call.longer(&wait);
        self.call.member("wait", wait);
        self
    }
}

sent!(SpendCall, schemas::ClockBody, json);

impl Client {
    /// Moves a paused clock by what somebody's work cost (`POST /v1/spend`).
    ///
    /// - `duration`: What it cost: one or more numbers with units (`s`, `m` for minutes, `h`, `d`, `w`), or ISO 8601.
    pub fn spend(&self, duration: impl Into<Length>) -> SpendCall<'_> {
        const SENT: Operation = Operation::new("POST", &["v1", "spend"]).once().body().timeline(Timeline::InBody);
        let mut call = Call::new(self, &SENT, &[]);
        let duration: Length = duration.into();
        call.member("duration", duration);
        SpendCall { call }
    }
}

/// Watches a timeline: one message for each change in the chosen topics (`GET /v1/stream`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct StreamCall<'a> {
    call: Call<'a>,
}

impl StreamCall<'_> {
    /// Only events with exactly this actor.
    pub fn actor(mut self, actor: impl Into<String>) -> Self {
        let actor: String = actor.into();
        self.call.query("actor", actor);
        self
    }

    /// Only events with these values of attributes, by key: in a query string `attribute.KEY=VALUE`, as often as you
    /// like. A value is a text, a number or a truth value, or one of those in a list. `FROM/TO` stands for the
    /// numbers from one to the other, with `..` for an open end. Dots lead into objects.
    pub fn attribute(mut self, key: &str, value: impl Into<String>) -> Self {
        self.call.query_attribute(key, value.into());
        self
    }

    /// What else to include: `observations` about the data.
    pub fn include(mut self, include: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let include: Vec<String> = include.into_iter().map(Into::into).collect();
        self.call.query("include", include);
        self
    }

    /// Only paradoxes of these kinds, by code (`P01`) or name (`effect_before_cause`), as a list or separated by
    /// commas.
    pub fn kinds(mut self, kinds: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let kinds: Vec<String> = kinds.into_iter().map(Into::into).collect();
        self.call.query("kinds", kinds);
        self
    }

    /// Only events with exactly this source.
    pub fn source(mut self, source: impl Into<String>) -> Self {
        let source: String = source.into();
        self.call.query("source", source);
        self
    }

    /// The top speed of actors in km/h, for `P07`. Defaults to 900.
    pub fn speed_kmh(mut self, speed_kmh: f64) -> Self {
        self.call.query("speed_kmh", speed_kmh);
        self
    }

    /// Only events whose name, description, location, id, actors or attributes contain these words, or words that
    /// start with them, before or after a change. Case and accents are ignored. Clocks, paradoxes and `due` are
    /// reported regardless.
    pub fn text(mut self, text: impl Into<String>) -> Self {
        let text: String = text.into();
        self.call.query("text", text);
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.query("timeline_id", timeline_id);
        self
    }

    /// How much clocks may differ before one time counts as earlier than another. Defaults to none.
    pub fn tolerance(mut self, tolerance: impl Into<Length>) -> Self {
        let tolerance: Length = tolerance.into();
        self.call.query("tolerance", tolerance);
        self
    }

    /// What to watch, separated by commas: `clock`, `events` (recorded and corrected ones), `interventions`,
    /// `paradoxes` (created and resolved), `advances` (as they begin, at each instant, and as they end), `due` (which
    /// events the clock has passed, as ranges of time). Defaults to all but `due`.
    pub fn topics(mut self, topics: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let topics: Vec<String> = topics.into_iter().map(Into::into).collect();
        self.call.query("topics", topics);
        self
    }

    /// The id of the last message received: later ones are sent first.
    pub fn after(mut self, last_event_id: impl Into<String>) -> Self {
        self.call.head("last-event-id", last_event_id.into());
        self
    }
}

sent!(StreamCall, Watch<SentEvent>, watch);

impl Client {
    /// Watches a timeline: one message for each change in the chosen topics (`GET /v1/stream`).
    ///
    /// Messages come across lost connections. The data of each is a [`StreamMessage`](crate::StreamMessage).
    pub fn stream(&self) -> StreamCall<'_> {
        const SENT: Operation = Operation::new("GET", &["v1", "stream"]).timeline(Timeline::InQuery);
        let call = Call::new(self, &SENT, &[]);

        StreamCall { call }
    }
}

/// Tells when a timer would fire by a rule, without setting one (`GET /v1/timer-moments`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct TimerMomentsCall<'a> {
    call: Call<'a>,
}

impl TimerMomentsCall<'_> {
    /// Only moments later than this one. Defaults to what the clock shows.
    pub fn after(mut self, after: Instant) -> Self {
        self.call.query("after", after);
        self
    }

    /// The maximum number of moments.
    pub fn limit(mut self, limit: u32) -> Self {
        self.call.query("limit", limit);
        self
    }

    /// From when on a rule of iCalendar counts. Defaults to what the clock shows.
    pub fn starts(mut self, starts: Instant) -> Self {
        self.call.query("starts", starts);
        self
    }

    /// The timeline whose clock counts. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.query("timeline_id", timeline_id);
        self
    }

    /// The time zone on whose calendar and clocks it counts. Defaults to `UTC`.
    pub fn zone(mut self, zone: impl Into<String>) -> Self {
        let zone: String = zone.into();
        self.call.query("zone", zone);
        self
    }
}

sent!(TimerMomentsCall, schemas::TimerMomentsBody, json);

impl Client {
    /// Tells when a timer would fire by a rule, without setting one (`GET /v1/timer-moments`).
    ///
    /// - `rule`: A rule of iCalendar, which is an RRULE of RFC 5545 with `SKIP` of RFC 7529; or a cron expression of
    ///   five fields: minute, hour, day of month, month, weekday.
    pub fn timer_moments(&self, rule: impl Into<String>) -> TimerMomentsCall<'_> {
        const SENT: Operation = Operation::new("GET", &["v1", "timer-moments"]).timeline(Timeline::InQuery);
        let mut call = Call::new(self, &SENT, &[]);
        let rule: String = rule.into();
        call.query("rule", rule);
        TimerMomentsCall { call }
    }
}

/// Lists timers, the next ones first (`GET /v1/timers`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct TimersCall<'a> {
    call: Call<'a>,
}

impl<'a> TimersCall<'a> {
    /// The `next_cursor` of the previous page.
    pub fn cursor(mut self, cursor: impl Into<String>) -> Self {
        let cursor: String = cursor.into();
        self.call.query("cursor", cursor);
        self
    }

    /// The maximum number per page.
    pub fn limit(mut self, limit: u32) -> Self {
        self.call.query("limit", limit);
        self
    }

    /// `armed` for those that will fire, by their next moment; `done` for those that have, or `cancelled`. Defaults
    /// to `armed`.
    pub fn state(mut self, state: schemas::StandingWord) -> Self {
        self.call.query("state", state);
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.query("timeline_id", timeline_id);
        self
    }

    /// Returns page after page, each asked for when it is wanted.
    #[must_use]
    pub fn pages(self) -> Pages<'a, schemas::TimersBody> {
        Pages::new(self.call)
    }
}

sent!(TimersCall, schemas::TimersBody, json);

impl Client {
    /// Lists timers, the next ones first (`GET /v1/timers`).
    pub fn timers(&self) -> TimersCall<'_> {
        const SENT: Operation = Operation::new("GET", &["v1", "timers"]).timeline(Timeline::InQuery);
        let call = Call::new(self, &SENT, &[]);

        TimersCall { call }
    }
}

/// Sets a timer that fires when the clock shows its moment (`POST /v1/timers`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct SetTimerCall<'a> {
    call: Call<'a>,
}

impl SetTimerCall<'_> {
    /// A request with a key is carried out once; a repeat within 24 hours gets the same response.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// `*`: only if the timeline exists; does not create it.
    pub fn if_match(mut self, tag: impl Into<EntityTag>) -> Self {
        self.call.if_match(tag.into());
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.member("timeline_id", timeline_id);
        self
    }
}

sent!(SetTimerCall, schemas::TimerSetBody, json);

impl Client {
    /// Sets a timer that fires when the clock shows its moment (`POST /v1/timers`).
    pub fn set_timer(&self, timer: &crate::Timer) -> SetTimerCall<'_> {
        const SENT: Operation = Operation::new("POST", &["v1", "timers"]).once().body().timeline(Timeline::InBody);
        let mut call = Call::new(self, &SENT, &[]);
        call.members(timer.members());
        SetTimerCall { call }
    }
}

/// Cancels a timer (`DELETE /v1/timers/{timer_id}`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct CancelTimerCall<'a> {
    call: Call<'a>,
}

impl CancelTimerCall<'_> {
    /// A request with a key is carried out once; a repeat within 24 hours gets the same response.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.member("timeline_id", timeline_id);
        self
    }
}

sent!(CancelTimerCall, schemas::TimerSetBody, json);

impl Client {
    /// Cancels a timer (`DELETE /v1/timers/{timer_id}`).
    ///
    /// - `timer_id`: The timer.
    pub fn cancel_timer(&self, timer_id: &str) -> CancelTimerCall<'_> {
        const SENT: Operation =
            Operation::new("DELETE", &["v1", "timers", "{}"]).once().body().timeline(Timeline::InBody);
        let call = Call::new(self, &SENT, &[timer_id]);

        CancelTimerCall { call }
    }
}

/// Shows a timer and its latest firings (`GET /v1/timers/{timer_id}`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct TimerCall<'a> {
    call: Call<'a>,
}

impl TimerCall<'_> {
    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.query("timeline_id", timeline_id);
        self
    }
}

sent!(TimerCall, schemas::TimerShownBody, json);

impl Client {
    /// Shows a timer and its latest firings (`GET /v1/timers/{timer_id}`).
    ///
    /// - `timer_id`: The timer.
    pub fn timer(&self, timer_id: &str) -> TimerCall<'_> {
        const SENT: Operation = Operation::new("GET", &["v1", "timers", "{}"]).timeline(Timeline::InQuery);
        let call = Call::new(self, &SENT, &[timer_id]);

        TimerCall { call }
    }
}

/// Changes an armed timer (`PATCH /v1/timers/{timer_id}`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct ChangeTimerCall<'a> {
    call: Call<'a>,
}

impl ChangeTimerCall<'_> {
    /// A request with a key is carried out once; a repeat within 24 hours gets the same response.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// The moment at which the timer fires.
    pub fn at(mut self, at: Instant) -> Self {
        self.call.member("at", at);
        self
    }

    /// A cron expression by which the timer fires again and again.
    pub fn cron(mut self, cron: schemas::CronRequest) -> Self {
        self.call.member("cron", cron);
        self
    }

    /// Where firings go.
    pub fn deliver(mut self, deliver: schemas::DeliverRequest) -> Self {
        self.call.member("deliver", deliver);
        self
    }

    /// A rule of iCalendar by which the timer fires again and again.
    pub fn every(mut self, every: schemas::EveryRequest) -> Self {
        self.call.member("every", every);
        self
    }

    /// What becomes of moments of a rule that come together: `all`, `once` or `skip`. Without a new rule, of the
    /// timer's.
    pub fn misfire(mut self, misfire: schemas::MisfireWord) -> Self {
        self.call.member("misfire", misfire);
        self
    }

    /// Firings with the same key are worked on one after the other; null removes it.
    pub fn order_key(mut self, order_key: impl Into<Option<String>>) -> Self {
        let order_key: Option<String> = order_key.into();
        self.call.member("order_key", order_key);
        self
    }

    /// Any JSON, handed to whoever claims a firing: at most 65,536 bytes.
    pub fn payload(mut self, payload: impl Into<Value>) -> Self {
        let payload: Value = payload.into();
        self.call.member("payload", payload);
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.member("timeline_id", timeline_id);
        self
    }
}

sent!(ChangeTimerCall, schemas::TimerSetBody, json);

impl Client {
    /// Changes an armed timer (`PATCH /v1/timers/{timer_id}`).
    ///
    /// - `timer_id`: The timer.
    pub fn change_timer(&self, timer_id: &str) -> ChangeTimerCall<'_> {
        const SENT: Operation =
            Operation::new("PATCH", &["v1", "timers", "{}"]).once().body().timeline(Timeline::InBody);
        let call = Call::new(self, &SENT, &[timer_id]);

        ChangeTimerCall { call }
    }
}

/// Moves the clock to a date, time and place (`POST /v1/travel`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct TravelCall<'a> {
    call: Call<'a>,
}

impl TravelCall<'_> {
    /// A request with a key is carried out once; a repeat within 24 hours gets the same response.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// Only if the clock still has this generation, in quotation marks: `"7"`.
    pub fn if_match(mut self, tag: impl Into<EntityTag>) -> Self {
        self.call.if_match(tag.into());
        self
    }

    /// Whether to tell only what would fire on the way, and with `refire` what would come again. Nothing moves.
    /// Defaults to `false`.
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.call.member("dry_run", dry_run);
        self
    }

    /// Which followers of the clock have to confirm the change before the answer is sent: `all` of users who may
    /// write to the timeline, or names, as a list or separated by commas. The answer tells who has and who has not;
    /// the change stays either way. Defaults to none.
    pub fn followers(mut self, followers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let followers: Vec<String> = followers.into_iter().map(Into::into).collect();
        self.call.member("followers", followers);
        self
    }

    /// The place to travel to: any text. An IANA zone name, coordinates, or the name of a known place also set the
    /// calendar and the local time. Defaults to the current place.
    pub fn location(mut self, location: impl Into<String>) -> Self {
        let location: String = location.into();
        self.call.member("location", location);
        self
    }

    /// Whether timers fire again whose moments come again, where the clock goes back. Firings of theirs that are not
    /// done are superseded. Otherwise what fell due stays so. Defaults to `false`.
    pub fn refire(mut self, refire: bool) -> Self {
        self.call.member("refire", refire);
        self
    }

    /// Whether the clock stands still at each timer on its way forward until what fires is done. Otherwise it jumps,
    /// and they fire after that. Defaults to `true`.
    pub fn settle(mut self, settle: bool) -> Self {
        self.call.member("settle", settle);
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.member("timeline_id", timeline_id);
        self
    }

    /// How long the answer waits for timers on the way and then for followers, in host time. The clock goes on
    /// without it. Defaults to `30s` if there are timers on the way, otherwise to `5s`; `0s` does not wait.
    pub fn wait(mut self, wait: impl Into<Length>) -> Self {
        let wait: Length = wait.into();
        self.call.longer(&wait);
        self.call.member("wait", wait);
        self
    }
}

sent!(TravelCall, schemas::ClockBody, json);

impl Client {
    /// Moves the clock to a date, time and place (`POST /v1/travel`).
    ///
    /// - `destination_time`: The moment to go to, past or future: an ISO 8601 timestamp with a zone.
    pub fn travel(&self, destination_time: Instant) -> TravelCall<'_> {
        const SENT: Operation = Operation::new("POST", &["v1", "travel"]).once().body().timeline(Timeline::InBody);
        let mut call = Call::new(self, &SENT, &[]);
        call.member("destination_time", destination_time);
        TravelCall { call }
    }
}

/// Cancels the events of an import and frees their ids (`POST /v1/undo-import`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct UndoImportCall<'a> {
    call: Call<'a>,
}

impl UndoImportCall<'_> {
    /// A request with a key is carried out once; a repeat within 24 hours gets the same response.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// The timeline. Defaults to the API key's.
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.call.member("timeline_id", timeline_id);
        self
    }
}

sent!(UndoImportCall, schemas::ImportUndoneBody, json);

impl Client {
    /// Cancels the events of an import and frees their ids (`POST /v1/undo-import`).
    ///
    /// - `import_id`: The `import_id` that the import answered, or the `rest` of the previous request.
    pub fn undo_import(&self, import_id: impl Into<String>) -> UndoImportCall<'_> {
        const SENT: Operation = Operation::new("POST", &["v1", "undo-import"]).once().body().timeline(Timeline::InBody);
        let mut call = Call::new(self, &SENT, &[]);
        let import_id: String = import_id.into();
        call.member("import_id", import_id);
        UndoImportCall { call }
    }
}

/// Lists users (`GET /v1/users`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct UsersCall<'a> {
    call: Call<'a>,
}

impl<'a> UsersCall<'a> {
    /// The `next_cursor` of the previous page.
    pub fn cursor(mut self, cursor: impl Into<String>) -> Self {
        let cursor: String = cursor.into();
        self.call.query("cursor", cursor);
        self
    }

    /// The maximum number per page.
    pub fn limit(mut self, limit: u32) -> Self {
        self.call.query("limit", limit);
        self
    }

    /// Returns page after page, each asked for when it is wanted.
    #[must_use]
    pub fn pages(self) -> Pages<'a, schemas::UsersBody> {
        Pages::new(self.call)
    }
}

sent!(UsersCall, schemas::UsersBody, json);

impl Client {
    /// Lists users (`GET /v1/users`).
    pub fn users(&self) -> UsersCall<'_> {
        const SENT: Operation = Operation::new("GET", &["v1", "users"]);
        let call = Call::new(self, &SENT, &[]);

        UsersCall { call }
    }
}

/// Creates a user (`POST /v1/users`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct CreateUserCall<'a> {
    call: Call<'a>,
}

impl CreateUserCall<'_> {
    /// A request with a key is carried out once; a repeat within 24 hours gets the same response.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.head("idempotency-key", key.into());
        self
    }

    /// Whether the user administers the service. Defaults to `false`.
    pub fn operator(mut self, operator: bool) -> Self {
        self.call.member("operator", operator);
        self
    }
}

sent!(CreateUserCall, schemas::UserChangedBody, json);

impl Client {
    /// Creates a user (`POST /v1/users`).
    ///
    /// - `user_id`: The name: 1 to 128 letters, digits, `.`, `_`, `-`, `:` and `@`, starting with a letter or digit.
    pub fn create_user(&self, user_id: impl Into<String>) -> CreateUserCall<'_> {
        const SENT: Operation = Operation::new("POST", &["v1", "users"]).once().body();
        let mut call = Call::new(self, &SENT, &[]);
        let user_id: String = user_id.into();
        call.member("user_id", user_id);
        CreateUserCall { call }
    }
}

/// Removes a user and revokes their API keys (`DELETE /v1/users/{user_id}`).
#[must_use = "a call is sent when it is awaited"]
#[derive(Clone, Debug)]
pub struct DeleteUserCall<'a> {
    call: Call<'a>,
}

sent!(DeleteUserCall, schemas::UserChangedBody, json);

impl Client {
    /// Removes a user and revokes their API keys (`DELETE /v1/users/{user_id}`).
    ///
    /// - `user_id`: The user.
    pub fn delete_user(&self, user_id: &str) -> DeleteUserCall<'_> {
        const SENT: Operation = Operation::new("DELETE", &["v1", "users", "{}"]);
        let call = Call::new(self, &SENT, &[user_id]);

        DeleteUserCall { call }
    }
}

page!(schemas::AccessLogsBody, logs, schemas::LogBody);
page!(schemas::AggregatedBody, groups, schemas::GroupBody);
page!(schemas::AnchorsBody, anchors, schemas::AnchorBody);
page!(schemas::DiffBody);
page!(schemas::EventsBody, events, schemas::EventBody);
page!(schemas::FiringsBody, firings, schemas::FiringBody);
page!(schemas::KeysBody, api_keys, schemas::KeyBody);
page!(schemas::ParadoxesBody, paradoxes, schemas::ParadoxBody);
page!(schemas::ScannedBody, events, schemas::ScannedEventBody);
page!(schemas::TimelinesBody, timelines, schemas::TimelineBody);
page!(schemas::TimersBody, timers, schemas::TimerBody);
page!(schemas::UsersBody, users, schemas::UserBody);
