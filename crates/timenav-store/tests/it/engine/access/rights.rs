//! Permissions as tables: a row per operation, a column per caller.
//!
//! Every rejection is recorded as one entry, `unauthorized_access_attempt`, on the timeline it was aimed at.

use crate::engine::*;

/// Initial state of every test here: a timeline of the owner's, with permissions and anchors.
struct Shared<'a> {
    home: Home<'a>,
    /// Set while the clock ran at host speed.
    near: AnchorId,
    /// Set while it ran at double speed.
    fast: AnchorId,
    key_of_owner: KeyId,
}

async fn shared(house: &House) -> Shared<'_> {
    let home = house.open().await;
    let owner = home.user("owner", false).await;
    for name in ["stranger", "reader", "writer"] {
        home.engine.create_user(&home.admin, user_id(name), false, None).await.unwrap();
    }
    let request = || anchor_now();
    let near = home.engine.set_anchor(&owner, on("shared"), request(), None).await.unwrap().change.anchor_id;
    let double = ClockCommand::SetRate(Rate::from_factor(2.0).unwrap());
    home.engine.change_clock(&owner, on("shared"), double, None).await.unwrap();
    let fast = home.engine.set_anchor(&owner, on("shared"), request(), None).await.unwrap().change.anchor_id;
    let normal = ClockCommand::SetRate(Rate::NORMAL);
    home.engine.change_clock(&owner, on("shared"), normal, None).await.unwrap();
    let lists = PermissionsChange {
        read: Some(users(["reader"])),
        write: Some(users(["writer"])),
        ..PermissionsChange::default()
    };
    home.engine.set_access_control(&owner, timeline_id("shared"), lists, None).await.unwrap();
    Shared { home, near, fast, key_of_owner: crate::sample::key_id(&owner) }
}

/// Returns the time this many days from host time.
fn days(house: &House, days: i64) -> Instant<Virtual> {
    Instant::from_micros(house.clock.now().micros() + days * DAY).unwrap()
}

impl Shared<'_> {
    /// Attempts an operation and returns its result in the form of [`outcome_text`].
    async fn attempt(&self, caller: &Caller, operation: &str) -> String {
        let (engine, shared) = (&self.home.engine, timeline_id("shared"));
        let house = &self.home.house;
        let change = async |change| outcome_text(&engine.change_clock(caller, on("shared"), change, None).await);
        let anchor = async |timestamp| {
            let request = AnchorRequest { timestamp, description: String::new(), fixed: true };
            outcome_text(&engine.set_anchor(caller, on("shared"), request, None).await)
        };
        let back = async |anchor| {
            outcome_text(&engine.return_to_anchor(caller, on("shared"), anchor, ReturnScope::Clock, None).await)
        };
        match operation {
            "clock" => outcome_text(&engine.read_clock(caller, on("shared")).await),
            "clock_stream" => outcome_text(&engine.watch_clock(caller, on("shared"), None).await),
            "stream" => outcome_text(
                &engine.watch_ledger(caller, WatchLedger { timeline: on("shared"), ..watch(&Topic::ALL, None) }).await,
            ),
            "timelines_diff" => {
                let shared = timeline_id("shared");
                let request =
                    TimelinesDiff { a: shared.clone(), b: shared, of: DiffOf::Events, items_max: 10, cursor: None };
                outcome_text(&engine.timelines_diff(caller, request).await)
            }
            "anchors" => outcome_text(&engine.anchors(caller, on("shared"), 10, None).await),
            "monitor_events" => outcome_text(&engine.monitor_events(caller, everything()).await),
            "timeline" => outcome_text(&engine.timeline(caller, &shared).await),
            "checkpoint" => outcome_text(&engine.checkpoint(caller, &shared, true).await),
            "proof" => outcome_text(&engine.inclusion_proof(caller, &shared, 0).await),
            "entries" => {
                let request = EntriesRequest { timeline: shared, from: 0, items_max: 10 };
                outcome_text(&engine.entries(caller, request).await)
            }
            "travel" => change(ClockCommand::Travel { to: days(house, 29), location: None }).await,
            "travel/far" => change(ClockCommand::Travel { to: days(house, -31), location: None }).await,
            "pause_time" => change(ClockCommand::Pause).await,
            "set_rate" => change(ClockCommand::SetRate(Rate::NORMAL)).await,
            "set_anchor" => anchor(None).await,
            "set_anchor/far" => anchor(Some(days(house, 31))).await,
            "return_to_anchor" => back(&self.near).await,
            "return_to_anchor/fast" => back(&self.fast).await,
            "record_event" => outcome_text(
                &engine.record_events(caller, on("shared"), vec![EventDraft::at(Instant::EPOCH, "")], None).await,
            ),
            "record_event/import" => outcome_text(&engine.import_events(caller, &shared, Vec::new()).await),
            other => self.attempt_on_system(caller, other).await,
        }
    }

    async fn attempt_on_system(&self, caller: &Caller, operation: &str) -> String {
        let engine = &self.home.engine;
        match operation {
            "users" => outcome_text(&engine.users(caller, 100, None).await),
            "timeline/system" => outcome_text(&engine.timeline(caller, &timeline_id("system")).await),
            "create_timeline" => outcome_text(&engine.create_timeline(caller, timeline_id("main"), None).await),
            "api_keys" => outcome_text(&engine.api_keys(caller, None, 100, None).await),
            "api_keys/other" => outcome_text(&engine.api_keys(caller, Some(user_id("owner")), 100, None).await),
            "create_user" => outcome_text(&engine.create_user(caller, user_id("admin"), false, None).await),
            "create_api_key" => outcome_text(&engine.create_api_key(caller, key_for(None), None).await),
            "create_api_key/other" => outcome_text(&engine.create_api_key(caller, key_for(Some("owner")), None).await),
            "revoke_api_key/other" => {
                let result = engine.revoke_api_key(caller, self.key_of_owner.clone()).await;
                if result.is_ok() { "ok".to_owned() } else { outcome_text(&result) }
            }
            "revoke_api_key/none" => outcome_text(&engine.revoke_api_key(caller, KeyId::new("none").unwrap()).await),
            other => panic!("no such operation: {other}"),
        }
    }

    /// Attempts an operation and checks that a rejection is recorded as one entry, and that a success is not.
    async fn check(&self, caller: &Caller, operation: &str, expected: &str) {
        let name = operation.split('/').next().unwrap();
        let is_on_system =
            operation.contains("api_key") || operation.contains("user") || operation.ends_with("/system");
        let aimed = match operation {
            "create_timeline" => "main",
            _ if is_on_system => "system",
            _ => "shared",
        };
        let before = self.home.store.open().await.unwrap().heads;
        let found = self.attempt(caller, operation).await;
        // The advice differs between operations.
        let is_expected = found == expected || expected.ends_with("instead: ") && found.starts_with(expected);
        assert!(is_expected, "{operation} by {}: {found}, not {expected}", caller.user_id);
        let Some(code) = code_of(expected) else { return };
        for head in self.home.store.open().await.unwrap().heads {
            let size = before.iter().find(|one| one.id == head.id).unwrap().frontier.size();
            let grown = head.frontier.size() - size;
            assert_eq!(grown, u64::from(head.id.as_str() == aimed), "{operation}: entries on {}", head.id);
        }
        let (key, last) = (self.home.key(&timeline_id(aimed)).await, self.home.size(aimed).await - 1);
        let entry = timenav_engine::OneFact::entry(&*self.home.store, key, last).await.unwrap().unwrap();
        let line = crate::audit::lines_of(&entry).remove(0);
        assert_eq!(line.short(), format!("{aimed} {} unauthorized_access_attempt {name}", caller.user_id));
        assert_eq!(line.payload["operation"], name);
        assert_eq!(line.payload["code"], code, "{operation}");
    }

    /// Checks a table: callers in the first line, then one line per operation.
    async fn check_table(&self, callers: &[Caller], table: &str) {
        let mut lines = table.lines().filter(|line| !line.trim().is_empty());
        let names: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
        assert_eq!(names.len(), callers.len());
        for line in lines {
            let (operation, cells) = line.trim().split_once(' ').unwrap();
            let cells: Vec<&str> = cells.split_whitespace().collect();
            assert_eq!(cells.len(), callers.len(), "{operation}");
            for (caller, cell) in callers.iter().zip(cells) {
                self.check(caller, operation, written_out(cell)).await;
            }
        }
    }
}

fn everything() -> MonitorEvents {
    MonitorEvents { items_max: 10, ..every_event(on("shared")) }
}

fn key_for(name: Option<&str>) -> ApiKeyRequest {
    let user_id = name.map(user_id);
    ApiKeyRequest { user_id, timeline_id: None, label: String::new(), scopes: None, expires_at: None }
}

/// Returns the code in the ledger, or `None` if the result is not a denial.
fn code_of(outcome: &str) -> Option<&'static str> {
    match outcome.split(' ').next() {
        Some("Hidden") => Some("not_found"),
        Some("Permission" | "OperatorOnly") => Some("permission_denied"),
        Some("Restricted" | "TooFar") => Some("time_travel_restricted"),
        Some("Scope") => Some("insufficient_scope"),
        _ => None,
    }
}

/// Returns the result that a table cell stands for.
fn written_out(cell: &str) -> &'static str {
    match cell {
        "ok" => "ok",
        "hidden" => "Hidden",
        "write" => "Permission { needs: Write }",
        "operator" => "OperatorOnly",
        "limited" => "Restricted { level: LimitedAccess }",
        "read_only" => "Restricted { level: ReadOnly }",
        "no_access" => "Restricted { level: NoAccess }",
        "far" => "TooFar { window_days: 30 }",
        "s:read" => "Scope { needs: TimelineRead }",
        "s:write" => "Scope { needs: TimelineWrite }",
        "s:operator" => "Scope { needs: Operator }",
        "exists" => r#"AlreadyExists { what: "user", id: "admin" }"#,
        "made" => r#"AlreadyExists { what: "timeline", id: "main" }"#,
        "no_key" => r#"NotFound { what: "API key", id: "none" }"#,
        other => panic!("a cell `{other}`"),
    }
}

const ROLES: &str = "
                      stranger  reader    writer    owner     operator
clock                 hidden    ok        ok        ok        ok
clock_stream          hidden    ok        ok        ok        ok
stream                hidden    ok        ok        ok        ok
timelines_diff        hidden    ok        ok        ok        ok
anchors               hidden    ok        ok        ok        ok
monitor_events        hidden    ok        ok        ok        ok
timeline              hidden    ok        ok        ok        ok
checkpoint            hidden    ok        ok        ok        ok
proof                 hidden    ok        ok        ok        ok
entries               hidden    ok        ok        ok        ok
travel                hidden    write     ok        ok        ok
pause_time            hidden    write     ok        ok        ok
set_rate              hidden    write     ok        ok        ok
set_anchor            hidden    write     ok        ok        ok
return_to_anchor      hidden    write     ok        ok        ok
record_event          hidden    write     ok        ok        ok
record_event/import   hidden    write     ok        ok        ok
users                 operator  operator  operator  operator  ok
create_user           operator  operator  operator  operator  exists
timeline/system       hidden    hidden    hidden    hidden    ok
api_keys              ok        ok        ok        ok        ok
api_keys/other        operator  operator  operator  ok        ok
create_api_key        ok        ok        ok        ok        ok
create_api_key/other  operator  operator  operator  ok        ok
revoke_api_key/none   hidden    hidden    hidden    hidden    no_key
create_timeline       made      made      made      made      made
";

#[tokio::test]
async fn operations_are_allowed_or_rejected_by_role() {
    let house = House::new();
    let shared = shared(&house).await;
    let mut callers = Vec::new();
    for name in ["stranger", "reader", "writer", "owner"] {
        callers.push(shared.home.caller(name, None).await);
    }
    callers.push(shared.home.admin.clone());
    shared.check_table(&callers, ROLES).await;
    for caller in &callers[..3] {
        shared.check(caller, "revoke_api_key/other", "Hidden").await;
    }
    shared.check(&callers[3], "revoke_api_key/other", "ok").await;
    shared.home.close().await;
}

const RESTRICTIONS: &str = "
                       full      limited   read_only  no_access  read_only_operator
clock                  ok        ok        ok         no_access  ok
clock_stream           ok        ok        ok         no_access  ok
stream                 ok        ok        ok         no_access  ok
timelines_diff         ok        ok        ok         no_access  ok
anchors                ok        ok        ok         no_access  ok
monitor_events         ok        ok        ok         no_access  ok
timeline               ok        ok        ok         ok         ok
checkpoint             ok        ok        ok         ok         ok
proof                  ok        ok        ok         no_access  ok
entries                ok        ok        ok         no_access  ok
travel                 ok        ok        read_only  no_access  read_only
travel/far             ok        far       read_only  no_access  read_only
set_anchor/far         ok        far       read_only  no_access  read_only
return_to_anchor       ok        ok        read_only  no_access  read_only
set_anchor             ok        ok        read_only  no_access  read_only
pause_time             ok        ok        read_only  no_access  read_only
set_rate               ok        limited   read_only  no_access  read_only
record_event           ok        ok        read_only  no_access  read_only
return_to_anchor/fast  ok        limited   read_only  no_access  read_only
api_keys               ok        ok        ok         ok         ok
users                  operator  operator  operator   operator   ok
create_timeline        made      made      read_only  no_access  read_only
";

#[tokio::test]
async fn operations_are_allowed_or_rejected_by_restriction_level() {
    let house = House::new();
    let shared = shared(&house).await;
    let names = ["full", "limited", "looks", "blind", "boss"];
    let levels = [0, 1, 2, 3, 2].map(|number| RestrictionLevel::ALL[number]);
    let mut callers = Vec::new();
    for (name, level) in names.into_iter().zip(levels) {
        callers.push(shared.home.user(name, name == "boss").await);
        shared.home.restrict(name, level).await;
    }
    let writers = users(["full", "limited", "looks", "blind"]);
    let lists = PermissionsChange { write: Some(writers), ..PermissionsChange::default() };
    let owner = shared.home.caller("owner", None).await;
    shared.home.engine.set_access_control(&owner, timeline_id("shared"), lists, None).await.unwrap();
    shared.check_table(&callers, RESTRICTIONS).await;
    for (caller, sees_clock) in callers.iter().zip([true, true, true, false, true]) {
        let view = shared.home.engine.timeline(caller, &timeline_id("shared")).await.unwrap();
        assert_eq!(view.clock.is_some(), sees_clock, "{}", caller.user_id);
    }
    // The clock runs at double speed now, and returning to a near anchor would change that.
    shared.check(&callers[1], "return_to_anchor", written_out("limited")).await;
    shared.home.close().await;
}

const SCOPES: &str = "
                none        read        write       admin       operator  read+write
clock           s:read      ok          ok          ok          ok        ok
timeline        s:read      ok          ok          ok          ok        ok
travel          s:write     s:write     ok          ok          ok        ok
set_rate        s:write     s:write     ok          ok          ok        ok
record_event    s:write     s:write     ok          ok          ok        ok
users           s:operator  s:operator  s:operator  s:operator  ok        s:operator
create_user     s:operator  s:operator  s:operator  s:operator  exists    s:operator
create_api_key  s:operator  s:operator  s:operator  s:operator  ok        s:operator
create_timeline s:write     s:write     made        made        made      made
";

#[tokio::test]
async fn operations_are_allowed_or_rejected_by_key_scope() {
    let house = House::new();
    let shared = shared(&house).await;
    let all = Scope::ALL;
    let mut callers = Vec::new();
    for scopes in [vec![], vec![all[0]], vec![all[1]], vec![all[2]], vec![all[3]], vec![all[0], all[1]]] {
        callers.push(shared.home.caller("admin", Some(scopes)).await);
    }
    shared.check_table(&callers, SCOPES).await;
    shared.home.close().await;
}

#[tokio::test]
async fn travel_window_is_enforced_to_the_microsecond() {
    let house = House::new();
    house.clock.stop();
    let home = house.open().await;
    home.user("ada", false).await;
    home.restrict("ada", RestrictionLevel::LimitedAccess).await;
    let ada = home.caller("ada", None).await;
    for (micros, expected) in [
        (30 * DAY, "ok"),
        (30 * DAY + 1, "TooFar { window_days: 30 }"),
        (-30 * DAY, "ok"),
        (-30 * DAY - 1, "TooFar { window_days: 30 }"),
    ] {
        let to = days(&house, 0).checked_add(Span::from_micros(micros)).unwrap();
        let travel = ClockCommand::Travel { to, location: None };
        assert_eq!(outcome_text(&home.engine.change_clock(&ada, on("hers"), travel, None).await), expected, "{micros}");
    }
    home.close().await;
}
