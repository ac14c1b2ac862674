//! Checks that `deploy/monitoring` only uses existing metrics.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::postgres::Cluster;
use crate::ledger::witness::stub_witness::StubWitness;
use crate::support::http::Request;
use crate::support::service::Service;

/// Prefixes of metric names.
const PREFIXES: [&str; 2] = ["timenav_", "process_"];

/// Returns the metric names in a text.
fn names(text: &str) -> BTreeSet<String> {
    let is_part = |one: char| one.is_ascii_alphanumeric() || one == '_';
    let words = text.split(|one| !is_part(one));
    words.filter(|word| PREFIXES.iter().any(|prefix| word.starts_with(prefix))).map(str::to_owned).collect()
}

#[test]
fn monitored_metrics_are_all_served() {
    let cluster = Cluster::start();
    let mut service = Service::with(&["--store", &cluster.url]);
    assert!(service.stop().success());
    let witness = StubWitness::start("silent.test", |_, _| None).option();
    let witnessed = ["--witness", &witness, "--witness-timeline", "main"];
    let replica = ["--store", &cluster.url, "--replicas", "--replica-name", "one \"or\" other"];
    service.arguments(&[&replica[..], &witnessed].concat());
    service.start_again();
    service.get("/v1/clock", &[]);
    let text = service.send(Request::get("/metrics").anonymous()).text();
    let served: BTreeSet<String> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split(['{', ' ']).next())
        .map(str::to_owned)
        .collect();
    assert!(text.contains("timenav_replica_info{replica=\"one \\\"or\\\" other\"} 1\n"), "{text}");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/monitoring");
    let mut watched = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        if path.extension().is_some_and(|extension| extension == "json") {
            let dashboard: Value = serde_json::from_str(&text).unwrap();
            assert!(dashboard["panels"].as_array().unwrap().len() > 10);
        }
        watched.extend(names(&text));
    }
    assert!(watched.len() > 20, "{watched:?}");
    let missing: Vec<_> = watched.difference(&served).collect();
    assert!(missing.is_empty(), "nobody serves {missing:?}: {served:?}");
    // docs/postgresql.md lists all replica metrics, and only existing ones.
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/postgresql.md");
    let documented = std::fs::read_to_string(docs).unwrap();
    let documented = names(&documented);
    let of_replicas = |name: &&String| {
        ["timenav_replica_", "timenav_database_", "timenav_host_clock_offset"]
            .iter()
            .any(|start| name.starts_with(start))
    };
    let undocumented: Vec<_> = served.iter().filter(of_replicas).filter(|name| !documented.contains(*name)).collect();
    let unserved: Vec<_> = documented.iter().filter(of_replicas).filter(|name| !served.contains(*name)).collect();
    assert!(undocumented.is_empty() && unserved.is_empty(), "{undocumented:?} {unserved:?}");
    // Every metric is documented on some page.
    let page = |name: &str| {
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/{name}.md"))).unwrap()
    };
    let documented = names(&["operations", "postgresql"].map(page).concat());
    let name_of = |name: &str| {
        ["_bucket", "_count", "_sum"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name).to_owned()
    };
    let undocumented: Vec<String> =
        served.iter().map(|name| name_of(name)).filter(|name| !documented.contains(name)).collect();
    assert!(undocumented.is_empty(), "no page tells of {undocumented:?}");
    let replica = service.get("/v1/limits", &[])["replica"].clone();
    assert_eq!(replica["name"], "one \"or\" other");
    assert!(replica["lag_seconds"].is_number() && replica["lag_positions"].is_number(), "{replica:#}");
    assert!(replica["connections"]["open"].as_u64() > Some(0), "{replica:#}");
    let offset = replica["clock"]["offset_seconds"].as_f64().unwrap_or_else(|| panic!("{replica:#}"));
    assert!(offset.abs() < 2.0 && replica["clock"]["max_seconds"] == 2.0, "{replica:#}");
    service.audit();
}
