use clap::builder::PossibleValuesParser;
use serde_json::{Value, json};
use timenav_core::access::Role;

use super::pages::{page_text, show_pages_as};
use crate::client::{Client, ServiceOptions, TimelineOptions};
use crate::commands::arguments::extend;
use crate::exit::Failure;
use crate::output::{self, Records};
use crate::wiring::surroundings::Surroundings;

pub(crate) mod key;
pub(crate) mod user;

const LOGS: Records = Records {
    member: "logs",
    fields: &["position", "index", "timestamp", "user_id", "action", "subject", "clock_time"],
    columns: &[
        ("POSITION", "position"),
        ("TIME", "timestamp"),
        ("USER", "user_id"),
        ("ACTION", "action"),
        ("SUBJECT", "subject"),
    ],
};

/// Shows and sets permissions on a timeline, and shows its access log.
#[derive(Debug, clap::Args)]
pub(crate) struct AccessCommand {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    service: ServiceOptions,
    #[command(flatten)]
    timeline: TimelineOptions,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Shows the permissions on a timeline that you administer.
    Show,
    /// Sets permissions. Each list replaces the current one; users who stay in a list keep their expiry.
    Set(Set),
    /// Gives one user a role, permanently or until it expires.
    Grant(Grant),
    /// Shows the access log of a timeline that you administer, including reads and rejected attempts.
    Log(Log),
}

#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("lists").args(["read", "write", "admin"]).multiple(true).required(true)))]
struct Set {
    /// Readers: user ids, separated by commas; '' for none.
    #[arg(long, value_name = "USER_IDS")]
    read: Option<String>,
    /// Users who can read and write.
    #[arg(long, value_name = "USER_IDS")]
    write: Option<String>,
    /// Users who can also administer the timeline. At least one.
    #[arg(long, value_name = "USER_IDS")]
    admin: Option<String>,
}

#[derive(Debug, clap::Args)]
struct Grant {
    /// The user.
    user_id: String,
    /// The role. Each role includes the ones before it.
    #[arg(long, value_parser = PossibleValuesParser::new(Role::ALL.map(Role::as_str)))]
    role: String,
    /// When it expires, in host time: RFC 3339 with a zone. Defaults to never.
    #[arg(long, value_name = "TIME", conflicts_with = "expires_in")]
    expires_at: Option<String>,
    /// How long it lasts in host time, such as `12h` or `P7D`. Defaults to forever.
    #[arg(long, value_name = "DURATION")]
    expires_in: Option<String>,
}

#[derive(Debug, clap::Args)]
struct Log {
    /// The range of host time, inclusive: `<start>/<end>` or `<start>/<duration>`; `..` is an open end.
    #[arg(long, default_value = "../..", allow_hyphen_values = true)]
    time_range: String,
    /// Only actions of this user.
    #[arg(long, value_name = "USER_ID")]
    user: Option<String>,
    /// Only this action, such as `travel` or `record_event`.
    #[arg(long)]
    action: Option<String>,
    /// Newest first.
    #[arg(long)]
    newest_first: bool,
    /// The maximum number of entries, or per page with `--all`.
    #[arg(long, value_name = "COUNT")]
    limit: Option<u32>,
    /// Show all pages. With `--json`, one response per page.
    #[arg(long)]
    all: bool,
}

pub(crate) fn run(command: AccessCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let client = Client::new(&command.service, surroundings)?;
    match command.action {
        Action::Show => {
            let answer = client.get(&["v1", "access-control"], &command.timeline.required_query())?;
            client.show(&answer, permissions_text)
        }
        Action::Set(set) => {
            let mut body = command.timeline.required_body();
            body.insert("permissions".to_owned(), permissions(set));
            client.show(&client.post(&["v1", "set-access-control"], body)?, output::status)
        }
        Action::Grant(grant) => {
            let (now, tag) = client.get_tagged(&["v1", "access-control"], &command.timeline.required_query())?;
            let mut body = command.timeline.required_body();
            body.insert("permissions".to_owned(), granted(&now.value["permissions"], grant));
            client.show(&client.post_if(&["v1", "set-access-control"], body, tag.as_deref())?, output::status)
        }
        Action::Log(log) => show_log(&client, log, command.timeline.required_query()),
    }
}

fn show_log(client: &Client, log: Log, mut query: Vec<(&'static str, String)>) -> Result<(), Failure> {
    let parameters = [
        ("time_range", Some(log.time_range)),
        ("user_id", log.user),
        ("action", log.action),
        ("order", log.newest_first.then(|| "newest".to_owned())),
        ("limit", log.limit.map(|limit| limit.to_string())),
    ];
    extend(&mut query, parameters);
    show_pages_as(client, &["v1", "access-logs"], query, (log.all, &LOGS), log_text)
}

/// Returns the given lists. An empty list removes everybody.
fn permissions(set: Set) -> Value {
    let users = |ids: String| -> Value { ids.split(',').map(str::trim).filter(|id| !id.is_empty()).collect() };
    let lists = [("read", set.read), ("write", set.write), ("admin", set.admin)];
    lists.into_iter().filter_map(|(role, ids)| Some((role.to_owned(), users(ids?)))).collect()
}

fn granted(permissions: &Value, grant: Grant) -> Value {
    let Grant { user_id, role, expires_at, expires_in } = grant;
    let mut users: Vec<Value> = permissions[&role].as_array().cloned().unwrap_or_default();
    if !users.iter().any(|user| *user == user_id) {
        users.push(user_id.clone().into());
    }
    let (field, end) = match expires_in {
        Some(duration) => ("expires_in", Value::from(duration)),
        None => ("expires_at", Value::from(expires_at)),
    };
    json!({ &role: users, field: { &role: { user_id: end } } })
}

fn permissions_text(answer: &Value) -> String {
    let users = |list: &str| match users_text(&answer["permissions"], list) {
        users if users.is_empty() => "(nobody)".to_owned(),
        users => users,
    };
    let document = json!({ "timeline": answer["timeline_id"], "read": users("read"), "write": users("write"),
        "admin": users("admin") });
    output::fields(&document, &["timeline", "read", "write", "admin"].map(|name| (name, name)))
}

pub(super) fn users_text(permissions: &Value, list: &str) -> String {
    let named = permissions[list].as_array().into_iter().flatten().filter_map(Value::as_str);
    let layout: Vec<String> = named.map(|user| with_end(user, &permissions["expires_at"][list][user])).collect();
    layout.join(", ")
}

fn with_end(user: &str, end: &Value) -> String {
    let user = output::printable(user);
    end.as_str().map_or_else(|| user.clone(), |end| format!("{user} (until {})", output::printable(end)))
}

fn log_text(page: &Value, is_first: bool) -> String {
    let listed = page_text(page, LOGS.member, LOGS.columns, is_first);
    let gaps = page["redacted"].as_array().into_iter().flatten().map(gap_text);
    // If nothing is listed, the status sentence already mentions pruned entries.
    [listed].into_iter().chain(gaps).collect()
}

fn gap_text(gap: &Value) -> String {
    let text = |name: &str| output::member(gap, name);
    let (first, last) = (text("first_position"), text("last_position"));
    let where_it_is = if first == last { format!("position {first}") } else { format!("positions {first} to {last}") };
    let when = format!("{where_it_is}, {} to {}", text("from"), text("to"));
    if gap["reason"] == "erased" {
        let (reads, entries) =
            (counted(gap, "reads", ["read", "reads"]), counted(gap, "entries", ["entry", "entries"]));
        return format!("{reads} of {entries} erased ({when}); see --action erase_reads.\n");
    }
    let entries = counted(gap, "entries", ["entry", "entries"]);
    let policy = match (&gap["policy"]["position"], gap["policy"]["reads"].as_str()) {
        (Value::Null, _) => "no policy was in force, so scan the timeline".to_owned(),
        (position, Some(stored)) => {
            format!("recorded under the policy at position {position}, which kept reads for {stored}")
        }
        (position, None) => format!("recorded under the policy at position {position}, which kept reads forever"),
    };
    format!("{entries} of reads pruned ({when}): {policy}; see --action sweep.\n")
}

fn counted(gap: &Value, name: &str, [one, more]: [&str; 2]) -> String {
    match gap[name].as_u64().unwrap_or_default() {
        1 => format!("1 {one}"),
        count => format!("{count} {more}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_given_permission_lists_are_sent() {
        let set = Set { read: Some(" ada, bob ,".to_owned()), write: None, admin: Some(String::new()) };
        assert_eq!(json!(permissions(set)), json!({"read": ["ada", "bob"], "admin": []}));
    }

    #[test]
    fn grant_adds_one_user_and_keeps_the_others() {
        let grant = |expires_at: Option<&str>, expires_in: Option<&str>| Grant {
            user_id: "bob".to_owned(),
            role: "read".to_owned(),
            expires_at: expires_at.map(str::to_owned),
            expires_in: expires_in.map(str::to_owned),
        };
        let before = json!({ "read": ["ada"], "write": ["cyd"], "admin": ["admin"] });
        assert_eq!(
            granted(&before, grant(None, Some("P7D"))),
            json!({ "read": ["ada", "bob"], "expires_in": { "read": { "bob": "P7D" } } })
        );
        let again = json!({ "read": ["bob"] });
        let end = "2030-01-01T00:00:00Z";
        assert_eq!(
            granted(&again, grant(Some(end), None)),
            json!({ "read": ["bob"], "expires_at": { "read": { "bob": end } } })
        );
        assert_eq!(
            granted(&again, grant(None, None)),
            json!({ "read": ["bob"], "expires_at": { "read": { "bob": null } } })
        );
    }

    #[test]
    fn permissions_are_shown_with_their_expiry() {
        let ends = json!({ "read": { "bob": "2030-01-01T00:00:00Z" } });
        let lists = json!({ "read": ["ada", "bob"], "write": [], "admin": ["admin"], "expires_at": ends });
        let text = permissions_text(&json!({ "timeline_id": "main", "permissions": lists }));
        assert!(text.contains("ada, bob (until 2030-01-01T00:00:00Z)\n"), "{text}");
        assert!(text.contains("(nobody)"), "{text}");
    }

    #[test]
    fn access_log_is_shown_in_columns() {
        let log = serde_json::json!({"position": 4, "timestamp": "2026-01-01T00:00:00Z", "user_id": "ada",
            "action": "travel", "subject": "clock"});
        let expected = "POSITION  TIME                  USER  ACTION  SUBJECT\n\
                        4         2026-01-01T00:00:00Z  ada   travel  clock\n";
        assert_eq!(log_text(&serde_json::json!({"status": "1 entry.", "logs": [log]}), true), expected);
        let (from, to) = ("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z");
        let pruned = serde_json::json!({"reason": "pruned", "entries": 3, "first_position": 5, "last_position": 9,
            "from": from, "to": to, "policy": {"position": 2, "reads": "P30D"}});
        let erased = serde_json::json!({"reason": "erased", "entries": 1, "reads": 2, "first_position": 11,
            "last_position": 11, "from": to, "to": to});
        let page = serde_json::json!({"status": "1 entry.", "logs": [log], "redacted": [pruned, erased]});
        let gaps = "3 entries of reads pruned (positions 5 to 9, 2026-01-01T00:00:00Z to 2026-01-02T00:00:00Z): recorded \
                    under the policy at position 2, which kept reads for P30D; see --action sweep.\n\
                    2 reads of 1 entry erased (position 11, 2026-01-02T00:00:00Z to 2026-01-02T00:00:00Z); see --action \
                    erase_reads.\n";
        assert_eq!(log_text(&page, true), format!("{expected}{gaps}"));
    }
}
