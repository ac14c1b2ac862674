//! Timelines that go over from one service to another: a bundle is adopted, and a timeline is handed over.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::BufReader;
use std::time::Duration;

use crate::schema::ToSchema;
use axum::body::{Body, HttpBody as _};
use axum::extract::State;
use data_encoding::BASE64URL_NOPAD;
use serde::{Deserialize, Serialize};
use timenav_core::ids::{TimelineId, UserId};
use timenav_core::ledger::VerifierKey;
use timenav_core::limits::PERMISSION_USERS_MAX;
use timenav_engine::{ADOPT_BYTES_MAX, ADOPT_ROTATIONS_MAX, AdoptRequest, AdoptedTimeline, Refusal, UnreadBundle};

use super::import::{IMPORT_TURN_SECONDS_MAX, as_it_comes};
use crate::answer::{Changed, LedgerBody};
use crate::auth::{ADOPT_PATH, Authenticated, while_live};
use crate::body::{drain, drain_rest};
use crate::idempotency::Idempotent;
use crate::params::{Params, QueryParams};
use crate::problem::Failure;
use crate::route::Route;
use crate::state::App;
use crate::wire::Text;

/// Bundles that are read and kept at the same time. Further ones wait for their turn.
pub(crate) const ADOPTIONS_RUNNING_MAX: usize = 1;
/// After how many seconds one is to be tried again that did not get its turn.
const RETRY_SECONDS: u32 = 10;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::change(ADOPT_PATH, "adopt_timeline", "Adopts a timeline from another service", adopt)
            .takes_file::<AdoptParameters>(vec!["application/x-ndjson"])
            .gives::<AdoptedBody>()
            .created()
            .bare()
            .tag("timelines"),
        Route::change(
            "/hand-over",
            "hand_over",
            "Hands a timeline over to another service: it becomes read-only here",
            hand_over,
        )
        .takes::<HandOverRequest>()
        .gives::<HandedOverBody>()
        .tag("timelines"),
    ]
}

/// How to adopt a timeline. The body is its bundle.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AdoptParameters {
    /// The public key of the ledger at the other service, as shown by `GET /timeline/{timeline_id}/checkpoint` there.
    /// Get it through another channel than the file.
    #[schema(format = "verifier-key", min_length = 1, example = "timenav.local/main+31d8a2e1+AQ…")]
    verifier_key: String,
    /// Maps users of the other service to users here, as `there=here` pairs: a user here gets the role that the user
    /// there had. Without it, only you have access.
    #[schema(format = "user-map", example = "alice=alice,bob=robert")]
    map: Option<String>,
    /// Checkpoints signed by two keys, for rotations that the bundle has no notes for: each in base64url, separated by
    /// commas.
    #[schema(format = "notes")]
    rotations: Option<String>,
}

/// A timeline that was adopted.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AdoptedBody {
    /// A sentence that says what happened.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The name of its ledger at the other service. Users from there are shown with it.
    origin: String,
    /// Entries signed by the other service.
    entries: u64,
    /// If it is a fork, the timelines it descends from, oldest first, by the names that responses show. They came with
    /// it and cannot be queried themselves.
    layers: Vec<String>,
    /// Contents that were erased or pruned there, each listed by an entry.
    erased: u64,
    /// Of these, contents of reads and refusals that were pruned there, as the retention of the timeline allowed.
    let_go: u64,
    /// Sealed records that came with it, including erased ones. Their keys remain with those who sealed them.
    sealed: u64,
    /// How many key rotations were followed from the key that you gave.
    rotations_followed: u64,
    /// SHA-256 of the file: 64 hexadecimal digits.
    bundle_sha256: String,
    /// The adoption's place in the ledger.
    ledger: LedgerBody,
}

/// What is handed over.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HandOverRequest {
    /// The timeline.
    #[schema(value_type = String, format = "changeable-timeline-id", example = "billing-2027")]
    timeline_id: Text<TimelineId>,
}

/// A timeline that was handed over.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HandedOverBody {
    /// A sentence that says what happened.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The place of its last entry.
    ledger: LedgerBody,
}

/// Adopts a timeline from another service: all of it, or nothing.
async fn adopt(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    QueryParams(parameters): QueryParams<AdoptParameters>,
    body: Body,
) -> Result<Changed<AdoptedBody>, Failure> {
    let told_bytes = body.size_hint().lower();
    let may = async {
        let request = parameters.request(told_bytes)?;
        let timeline = app.engine.admit_adoption(&caller, &request.key).await?;
        if told_bytes > ADOPT_BYTES_MAX {
            return Err(unread(UnreadBundle::TooLarge));
        }
        let wait = Duration::from_secs(IMPORT_TURN_SECONDS_MAX);
        let full = |spent| Failure::Full { what: "adoptions", spent, retry_after_seconds: RETRY_SECONDS };
        let turn = app.adoptions.take_within(&caller.user_id, 1, wait).await.map_err(full)?;
        Ok((request, timeline, turn))
    };
    let (request, timeline, turn) = match may.await {
        Ok(may) => may,
        Err(failure) => {
            drain(body).await;
            return Err(failure);
        }
    };
    let mut body = body.into_data_stream();
    let (sending, file) = as_it_comes();
    let engine = app.engine.clone();
    let reading = tokio::task::spawn_blocking(move || {
        // Given back when nobody reads any more.
        let read = engine.read_arrival(request, BufReader::new(file));
        (read, turn)
    });
    let adopting = async {
        let ((), read) = tokio::join!(sending.feed(&mut body, || app.engine.now()), reading);
        let (arrival, turn) = read.map_err(|error| Refusal::Unavailable(error.to_string()))?;
        let adopted = app.engine.adopt(&caller, arrival.map_err(unread)?).await;
        drop(turn);
        Ok(adopted?)
    };
    let adopted = Box::pin(while_live(&app.engine, &caller, (&timeline, "adopt"), adopting)).await;
    if adopted.is_err() {
        drain_rest(body).await;
    }
    adopted.map(|adopted| Changed::created(adopted.into(), false))
}

/// Hands a timeline over.
async fn hand_over(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Idempotent(idempotency): Idempotent,
    Params(request): Params<HandOverRequest>,
) -> Result<Changed<HandedOverBody>, Failure> {
    let timeline_id = request.timeline_id.0;
    let (ledger, replayed) = app.engine.hand_over(&caller, timeline_id.clone(), idempotency).await?;
    let status =
        format!("The timeline `{timeline_id}` was handed over; export its bundle and adopt it at the other service.");
    Ok(Changed::ok(HandedOverBody { status, timeline_id: timeline_id.to_string(), ledger: ledger.into() }, replayed))
}

fn unread(unread: UnreadBundle) -> Failure {
    match unread {
        UnreadBundle::Broken(_) => Failure::BodyLost,
        UnreadBundle::TooLarge => {
            Failure::TooLarge { bytes_max: usize::try_from(ADOPT_BYTES_MAX).unwrap_or(usize::MAX) }
        }
        UnreadBundle::NoRoom { .. } | UnreadBundle::NotKept(_) => Refusal::Unavailable(unread.to_string()).into(),
        UnreadBundle::Refused(refusal) => refusal.into(),
    }
}

impl AdoptParameters {
    fn request(&self, bytes_min: u64) -> Result<AdoptRequest, Failure> {
        let key = VerifierKey::parse(&self.verifier_key);
        let key = key.map_err(|error| Failure::invalid("verifier_key", error.to_string()))?;
        let map = user_map(self.map.as_deref().unwrap_or_default())?;
        let rotations = notes(self.rotations.as_deref().unwrap_or_default())?;
        Ok(AdoptRequest { key, map, rotations, bytes_min })
    }
}

fn user_map(text: &str) -> Result<BTreeMap<UserId, UserId>, Failure> {
    let wrong = |detail: String| Failure::invalid("map", detail);
    let mut map = BTreeMap::new();
    for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        let (theirs, ours) = pair.split_once('=').ok_or_else(|| wrong(format!("`{pair}` is not `there=here`")))?;
        let user = |name: &str| UserId::new(name).map_err(|error| wrong(format!("`{name}`: {error}")));
        if map.insert(user(theirs)?, user(ours)?).is_some() {
            return Err(wrong(format!("`{theirs}` is mapped twice")));
        }
    }
    if map.len() > PERMISSION_USERS_MAX {
        return Err(wrong(format!("at most {PERMISSION_USERS_MAX} users can be mapped")));
    }
    Ok(map)
}

fn notes(text: &str) -> Result<Vec<String>, Failure> {
    let parts: Vec<&str> = text.split(',').filter(|part| !part.is_empty()).collect();
    if parts.len() > ADOPT_ROTATIONS_MAX {
        return Err(Failure::invalid(
            "rotations",
            format!("at most {ADOPT_ROTATIONS_MAX} notes can be sent with a bundle"),
        ));
    }
    let note = |part: &&str| {
        let bytes = BASE64URL_NOPAD.decode(part.as_bytes()).ok();
        let note = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        note.ok_or_else(|| Failure::invalid("rotations", "send a note in base64url without padding"))
    };
    parts.iter().map(note).collect()
}

impl From<AdoptedTimeline> for AdoptedBody {
    fn from(adopted: AdoptedTimeline) -> Self {
        let AdoptedTimeline { bundle, sealed, ledger } = adopted;
        let entries = bundle.layers.last().map_or(0, |(_, size)| *size);
        let (timeline, origin) = (&bundle.timeline_id, &bundle.origin);
        let inherited = bundle.layers.iter().rev().skip(1).rev();
        let layers = inherited.map(|(layer, _)| TimelineId::layer_of(timeline, layer).to_string()).collect();
        let mut status = format!(
            "The timeline `{timeline}` was adopted with the {entries} entries of `{origin}`; its clock is paused"
        );
        // Writing to a string cannot fail.
        let _ = match bundle.layers.len().saturating_sub(1) {
            0 => write!(status, "."),
            1 => write!(status, ", and the timeline it was forked from came with it."),
            count => write!(status, ", and the {count} timelines it descends from came with it."),
        };
        Self {
            status,
            timeline_id: bundle.timeline_id.to_string(),
            origin: bundle.origin,
            entries,
            layers,
            erased: bundle.gone,
            let_go: bundle.let_go,
            sealed,
            rotations_followed: bundle.rotations_followed,
            bundle_sha256: bundle.sha256.to_hex(),
            ledger: ledger.into(),
        }
    }
}
