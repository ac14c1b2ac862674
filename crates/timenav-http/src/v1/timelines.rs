use std::collections::{BTreeMap, BTreeSet};

use crate::schema::ToSchema;
use axum::Json;
use serde::{Deserialize, Serialize};
use timenav_core::access::{Ends, Permissions, Role};
use timenav_core::ids::{TimelineId, UserId};
use timenav_core::limits::{EXPIRES_IN_DAYS_MAX, EXPIRES_IN_SECONDS_MIN};
use timenav_core::text::counted;
use timenav_core::time::{Duration, Span};
use timenav_engine::{Answer, NewTimeline, TimelineView};

use self::retention::RetentionBody;
use super::clock::ClockBody;
use super::parameters::{NoParameters, named};
use crate::request::call::{Change, Read};
use crate::request::params::InPath;
use crate::response::answer::{Changed, LedgerBody};
use crate::response::problem::Failure;
use crate::route::{Form, Route};
use crate::wire::{self, MomentText, Text, items_max};

pub(crate) mod bundles;
pub(crate) mod diff;
pub(crate) mod retention;

const TAG: &str = "timelines";

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::change(
            "/timelines",
            "create_timeline",
            "Creates a timeline, with the caller as its admin",
            create_timeline,
        )
        .takes::<TimelineRequest>()
        .form(Form::default().without("at").without("deliver_webhooks"))
        .form(Form::default().with("fork_of"))
        .gives::<TimelineCreatedBody>()
        .created()
        .bare()
        .tag(TAG),
        Route::lookup("/timelines", "timelines", "Lists the timelines that the caller can read", timelines)
            .takes::<TimelinesRequest>()
            .gives::<TimelinesBody>()
            .bare()
            .tag(TAG),
        Route::lookup("/timeline/{timeline_id}", "timeline", "Reads a timeline", timeline)
            .takes::<NoParameters>()
            .gives::<TimelineReadBody>()
            .bare()
            .tag(TAG),
        Route::removal(
            "/timeline/{timeline_id}",
            "end_timeline",
            "Ends a timeline: it can no longer be read, and its name cannot be reused",
            end_timeline,
        )
        .gives::<TimelineEndedBody>()
        .stores_response()
        .bare()
        .tag(TAG),
    ]
}

/// A timeline to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TimelineRequest {
    /// The name: 1 to 128 letters, digits, `.`, `_`, `-`, `:` and `@`, starting with a letter or digit.
    #[schema(value_type = String, format = "id", example = "billing-2027")]
    timeline_id: Text<TimelineId>,
    /// The timeline to fork. The history up to `at` is shared; later changes are independent. Timers are inherited as
    /// of `at`.
    #[schema(value_type = Option<String>, format = "changeable-timeline-id", example = "main")]
    fork_of: Option<Text<TimelineId>>,
    /// Where to fork it: a ledger position, an anchor id, or a host time. Defaults to now.
    #[schema(schema_with = wire::moment_schema, required = false)]
    #[serde(default, deserialize_with = "wire::moment")]
    at: Option<MomentText>,
    /// How long the timeline lasts, in host time; then it ends automatically.
    #[schema(value_type = Option<String>, format = "duration", example = "2h")]
    expires_in: Option<Text<Duration>>,
    /// With `fork_of`: whether webhooks of inherited timers are sent to the parent's receivers. Defaults to `false`:
    /// their firings fail. Needs `write` on the parent.
    #[serde(default, deserialize_with = "wire::truth")]
    deliver_webhooks: Option<bool>,
}

/// Timelines to list.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TimelinesRequest {
    /// The maximum number per page.
    #[schema(minimum = 1, maximum = 1_000)]
    #[serde(default, deserialize_with = "wire::page_items")]
    limit: Option<usize>,
    /// The `next_cursor` of the previous page.
    #[schema(value_type = Option<String>, format = "id")]
    cursor: Option<Text<TimelineId>>,
}

/// A timeline that was created.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TimelineCreatedBody {
    /// A sentence that says what happened.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// Host time when it expires; absent if it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    /// The place of its creation in its own ledger.
    ledger: LedgerBody,
}

/// A timeline that has ended.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TimelineEndedBody {
    /// A sentence that says what happened.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// Its last signed tree. Compare stored checkpoints and proofs with it.
    head: HeadBody,
    /// Host time after which its contents are deleted.
    contents_until: String,
    /// Its forks. Inherited contents are kept as long as a fork exists.
    forks: u64,
    /// Its end's place in the ledger of `system`.
    ledger: LedgerBody,
}

/// One page of timelines, ordered by name.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TimelinesBody {
    /// A sentence that sums up the result.
    status: String,
    /// The timelines.
    timelines: Vec<TimelineBody>,
    /// The cursor of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// Whether there is another page.
    has_more: bool,
}

/// A timeline.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TimelineReadBody {
    /// A sentence that sums up the result.
    status: String,
    #[serde(flatten)]
    timeline: TimelineBody,
}

/// A timeline.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TimelineBody {
    /// The timeline.
    timeline_id: String,
    /// Its clock; absent for `system`, and if a restriction hides clocks from the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    clock: Option<ClockBody>,
    /// The number of events, without canceled ones.
    events: u64,
    /// The number of anchors.
    anchors: u64,
    /// The parent; absent if the timeline is not a fork.
    #[serde(skip_serializing_if = "Option::is_none")]
    fork: Option<ForkBody>,
    /// Its latest signed tree.
    head: HeadBody,
    /// The caller's role: `read`, `write` or `admin`; `operator` for an operator who is not listed.
    #[schema(value_type = String)]
    role: &'static str,
    /// Host time when that role expires; absent if it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    role_expires_at: Option<String>,
    /// Host time when it was created.
    created_at: String,
    /// Host time when it expires; absent if it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    /// How long the contents of reads and rejected attempts are kept; absent if never set, which means forever.
    #[serde(skip_serializing_if = "Option::is_none")]
    retention: Option<RetentionBody>,
    /// Its permissions; only for its admins.
    #[serde(skip_serializing_if = "Option::is_none")]
    permissions: Option<PermissionsBody>,
}

/// The parent of a fork.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ForkBody {
    /// The parent timeline.
    parent: String,
    /// The number of shared entries.
    size: u64,
    /// `true` if webhooks of inherited timers are sent. Absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    deliver_webhooks: Option<bool>,
}

/// A timeline's latest signed tree.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HeadBody {
    /// Entries in the ledger.
    size: u64,
    /// The root of the tree: 64 hexadecimal digits.
    root: String,
    /// The signed note over size and root.
    checkpoint: String,
}

/// The permission lists of a timeline.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PermissionsBody {
    /// Users with read access.
    read: Vec<String>,
    /// Users with write access.
    write: Vec<String>,
    /// Users with admin access.
    admin: Vec<String>,
    /// Host times when permissions expire; absent if none does. Expired permissions are listed until they are removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<PermissionExpiriesBody>,
}

/// When permissions expire, in host time. Permissions of listed users who are not named here do not expire.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PermissionExpiriesBody {
    /// When read access expires, by user id.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(required = false)]
    read: BTreeMap<String, String>,
    /// When write access expires, by user id.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(required = false)]
    write: BTreeMap<String, String>,
    /// When admin access expires, by user id.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(required = false)]
    admin: BTreeMap<String, String>,
}

async fn create_timeline(
    Change { app, caller, idempotency, request, .. }: Change<TimelineRequest>,
) -> Result<Changed<TimelineCreatedBody>, Failure> {
    let timeline_id = request.timeline_id.0;
    let engine = &app.engine;
    let expires_in = request.expires_in.map(|Text(duration)| expires_in("expires_in", duration)).transpose()?;
    let deliver_webhooks = request.deliver_webhooks.unwrap_or(false);
    let engine_request = NewTimeline { timeline_id: timeline_id.clone(), expires_in, deliver_webhooks };
    let (status, made) = match (request.fork_of, request.at) {
        (None, at) if at.is_some() || request.deliver_webhooks.is_some() => return Err(Failure::missing("fork_of")),
        (None, _) => {
            let made = engine.create_timeline(&caller, engine_request, idempotency).await?;
            (format!("The timeline `{timeline_id}` was created; you are its admin."), made)
        }
        (Some(Text(of)), at) => {
            let at = at.map(|moment| moment.as_of);
            let made = engine.fork_timeline(&caller, engine_request, &of, at.as_ref(), idempotency).await?;
            (format!("The timeline `{timeline_id}` was forked from `{of}`; you are its admin."), made)
        }
    };
    let Answer { change, ledger, replayed, .. } = made;
    let expires_at = change.expires_at.map(|at| at.to_string());
    let timeline_id = timeline_id.to_string();
    Ok(Changed::created(TimelineCreatedBody { status, timeline_id, expires_at, ledger: ledger.into() }, replayed))
}

pub(super) fn expires_in(field: &str, duration: Duration) -> Result<Span, Failure> {
    let span = Some(duration.exact()).filter(|span| {
        let (min, max) = (EXPIRES_IN_SECONDS_MIN * 1_000_000, EXPIRES_IN_DAYS_MAX * 86_400_000_000);
        duration.months() == 0 && (min..=max).contains(&span.micros())
    });
    span.ok_or_else(|| {
        let detail = format!(
            "give {EXPIRES_IN_SECONDS_MIN} second to {EXPIRES_IN_DAYS_MAX} days, such as \"90m\" or \"2h\"; months \
             and years differ in length"
        );
        Failure::invalid(field, detail)
    })
}

async fn end_timeline(
    InPath(timeline_id): InPath,
    Change { app, caller, idempotency, .. }: Change<NoParameters>,
) -> Result<Changed<TimelineEndedBody>, Failure> {
    let timeline_id = named(&timeline_id)?;
    let end = app.engine.end_timeline(&caller, timeline_id.clone(), idempotency).await?;
    let forks = match end.forks_count {
        0 => String::new(),
        1 => "; contents inherited by its 1 fork are kept as long as that fork exists".to_owned(),
        count => {
            format!("; contents inherited by its {count} forks are kept as long as one of them exists")
        }
    };
    Ok(Changed::ok(
        TimelineEndedBody {
            status: format!(
                "The timeline `{timeline_id}` has ended. It can no longer be read, and its name cannot be reused. Its \
                 contents will be deleted after {}{forks}.",
                end.contents_until
            ),
            timeline_id: timeline_id.to_string(),
            head: HeadBody { size: end.size, root: end.root.to_hex(), checkpoint: end.checkpoint },
            contents_until: end.contents_until.to_string(),
            forks: end.forks_count as u64,
            ledger: end.ledger.into(),
        },
        end.replayed,
    ))
}

/// Lists the timelines that the caller can read.
async fn timelines(Read { app, caller, request }: Read<TimelinesRequest>) -> Result<Json<TimelinesBody>, Failure> {
    let after = request.cursor.map(|cursor| cursor.0);
    let (found, next) = app.engine.timelines(&caller, items_max(request.limit), after.as_ref()).await?;
    let timelines: Vec<TimelineBody> = found.iter().map(TimelineBody::from).collect();
    let status = format!("{}.", counted(timelines.len(), "timeline"));
    let next_cursor = next.map(|next| next.to_string());
    Ok(Json(TimelinesBody { status, timelines, has_more: next_cursor.is_some(), next_cursor }))
}

async fn timeline(
    InPath(timeline_id): InPath,
    Read { app, caller, .. }: Read<NoParameters>,
) -> Result<Json<TimelineReadBody>, Failure> {
    let timeline_id = named(&timeline_id)?;
    let timeline = TimelineBody::from(&app.engine.timeline(&caller, &timeline_id).await?);
    Ok(Json(TimelineReadBody { status: format!("The timeline `{timeline_id}`."), timeline }))
}

impl ForkBody {
    pub(super) fn new(of: &TimelineId, size: u64) -> Self {
        Self { parent: of.to_string(), size, deliver_webhooks: None }
    }
}

impl From<&TimelineView> for TimelineBody {
    fn from(view: &TimelineView) -> Self {
        let head = &view.state.head;
        let fork = head.fork.zip(view.forked_from.as_ref());
        Self {
            timeline_id: head.id.to_string(),
            clock: view.clock.as_ref().map(ClockBody::part),
            events: head.events_count,
            anchors: head.anchors_count,
            fork: fork.map(|(fork, of)| ForkBody {
                deliver_webhooks: Some(true).filter(|_| head.timers.sends_carried()),
                ..ForkBody::new(of, fork.size)
            }),
            head: HeadBody {
                size: head.frontier.size(),
                root: view.state.root.to_hex(),
                checkpoint: view.checkpoint.to_string(),
            },
            role: view.role.map_or("operator", Role::as_str),
            role_expires_at: view.role_end.map(|at| at.to_string()),
            created_at: head.created_at.to_string(),
            expires_at: head.expires_at.map(|at| at.to_string()),
            retention: (!head.retention.as_slice().is_empty()).then(|| head.retention.in_force().into()),
            permissions: view.sees_permissions().then(|| PermissionsBody::from(&*head.permissions)),
        }
    }
}

impl From<&Permissions> for PermissionsBody {
    fn from(permissions: &Permissions) -> Self {
        let names = |users: &BTreeSet<UserId>| users.iter().map(ToString::to_string).collect();
        Self {
            read: names(&permissions.read),
            write: names(&permissions.write),
            admin: names(&permissions.admin),
            expires_at: (!permissions.ends.is_empty()).then(|| PermissionExpiriesBody::from(&permissions.ends)),
        }
    }
}

impl From<&Ends> for PermissionExpiriesBody {
    fn from(ends: &Ends) -> Self {
        let one = |role| ends.of(role).iter().map(|(user, end)| (user.to_string(), end.to_string())).collect();
        Self { read: one(Role::Read), write: one(Role::Write), admin: one(Role::Admin) }
    }
}
