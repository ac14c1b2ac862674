//! The files in `deploy/`: consistency with each other, the command line and the docs. `process::deploy` checks the
//! metrics.

use std::collections::BTreeSet;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::compose::{Image, volumes};
use super::kubernetes::check_manifest;
use super::yaml::{document, documents, texts};
use crate::support::service::{run, timenav};

/// Maximum duration of a shutdown: five seconds of accepting requests, and ten for those in progress.
const STOP_SECONDS_MIN: i64 = 16;

/// The runbook prefix that operators replace.
const RUNBOOKS: &str = "https://example.org/timenav/docs/";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn help(command: &[&str]) -> String {
    let (code, stdout, stderr) = run(timenav().args(command).arg("--help"), "");
    assert_eq!(code, Some(0), "{stderr}");
    stdout
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

/// Checks that a check fails on a modified file.
#[track_caller]
fn check_finds(check: impl Fn(&str) + std::panic::RefUnwindSafe, right: &str, from: &str, to: &str) {
    assert!(right.contains(from), "there is no {from}");
    let wrong = right.replace(from, to);
    assert!(catch_unwind(|| check(&wrong)).is_err(), "{from} may become {to}");
}

/// Checks a Compose file with several replicas.
fn check_compose(yaml: &str, caddyfile: &str) {
    let file = document(yaml);
    let services = file["services"].as_object().unwrap();
    let declared: BTreeSet<&str> = file["volumes"].as_object().unwrap().keys().map(String::as_str).collect();
    let all = services.values().flat_map(volumes).map(|(from, ..)| from);
    let used: BTreeSet<String> = all.filter(|from| !from.starts_with('.')).collect();
    assert_eq!(used.iter().map(String::as_str).collect::<BTreeSet<_>>(), declared);
    for (name, one) in services {
        for (needed, how) in one["depends_on"].as_object().into_iter().flatten() {
            let needed = services.get(needed).unwrap_or_else(|| panic!("{name}: there is no {needed}"));
            match text(&how["condition"]) {
                "service_healthy" => assert!(needed["healthcheck"]["test"].is_array(), "{name}"),
                "service_completed_successfully" => assert!(needed["restart"].is_null(), "{name} waits for its end"),
                other => panic!("{name}: {other}"),
            }
        }
    }
    // The supported version that the tests run with.
    let tested = read("docs/postgresql.md").split("the tests run with ").nth(1).unwrap()[..2].to_owned();
    let image = text(&services["postgres"]["image"]);
    assert!(image.starts_with(&format!("postgres:{tested}-")), "{image}: the tests run with {tested}");
    check_address(yaml, &file);
    let replicas: Vec<(&String, &Value)> = services.iter().filter(|(name, _)| name.starts_with("timenav-")).collect();
    assert!(replicas.len() > 1);
    for (name, one) in &replicas {
        check_replica(name, one, services);
    }
    check_proxy(&services["proxy"], caddyfile, &replicas);
}

fn check_replica(name: &str, one: &Value, services: &serde_json::Map<String, Value>) {
    let (image, serve) = (Image::read(), help(&["serve"]));
    assert_eq!((&one["entrypoint"], &one["command"]), (&Value::Null, &Value::Null), "as the image has it");
    for variable in one["environment"].as_object().unwrap().keys() {
        let is_known = ["=", "]"].iter().any(|end| serve.contains(&format!("[env: {variable}{end}")));
        assert!(is_known, "{name}: `timenav serve` does not know {variable}");
    }
    let set = |variable: &str| text(&one["environment"][variable]).to_owned();
    assert_eq!((set("TIMENAV_REPLICAS"), set("TIMENAV_REPLICA_NAME")), ("true".to_owned(), name.to_owned()));
    assert_eq!(set("TIMENAV_LISTEN"), format!("0.0.0.0:{}", image.port));
    let (folder, file) =
        set("TIMENAV_SIGNING_KEY").rsplit_once('/').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    assert_eq!(volumes(one), [(name.to_owned(), image.data, false), ("keys".to_owned(), folder.clone(), true)]);
    check_keys(&services["keys"], (&folder, &file));
    let seconds = text(&one["stop_grace_period"]).trim_end_matches('s').parse::<i64>().unwrap();
    assert!(seconds >= STOP_SECONDS_MIN, "{name}: {seconds}");
    assert_eq!(set("TIMENAV_STORE_FILE"), "/run/secrets/store", "{name}");
    assert_eq!((texts(&one["secrets"]), one["mem_limit"].is_string()), (vec!["store".to_owned()], true), "{name}");
}

/// Checks that the URL at the top of a file matches the database and its password.
fn check_address(yaml: &str, file: &Value) {
    let postgres = &file["services"]["postgres"];
    let set = |what: &str| text(&postgres["environment"][what]).to_owned();
    let secret = |name: &str| text(&file["secrets"][name]["file"]).trim_start_matches("./").to_owned();
    let (password, store) = (secret("password"), secret("store"));
    assert_eq!(
        (set("POSTGRES_PASSWORD_FILE").as_str(), texts(&postgres["secrets"])),
        ("/run/secrets/password", vec!["password".to_owned()])
    );
    let address = format!("\"postgres://{}:$(cat {password})@postgres/{}?", set("POSTGRES_USER"), set("POSTGRES_DB"));
    let line = yaml.lines().find(|line| line.contains(&address)).unwrap_or_else(|| panic!("nobody writes {address}"));
    assert!(line.ends_with(&format!("> {store}")), "{line}");
}

/// Checks that the key is created where each replica expects it, and is readable for them.
fn check_keys(keys: &Value, (folder, file): (&str, &str)) {
    assert!(help(&["signing-key", "new"]).contains("Usage: timenav signing-key new"));
    let script = texts(&keys["command"]).concat();
    assert!(script.contains(&format!("timenav signing-key new {folder}/{file}\n")), "{script}");
    assert!(script.contains(&format!("chown -R timenav:timenav {folder}\n")), "{script}");
    assert_eq!(volumes(keys), [("keys".to_owned(), folder.to_owned(), false)]);
}

/// Checks that the proxy sends requests to ready replicas and matches their public URL.
fn check_proxy(proxy: &Value, caddyfile: &str, replicas: &[(&String, &Value)]) {
    let words: Vec<&str> = caddyfile.split_whitespace().collect();
    let after = |word: &str| {
        words[words.iter().position(|one| *one == word).unwrap_or_else(|| panic!("no {word}")) + 1..].iter()
    };
    let to: BTreeSet<String> =
        after("reverse_proxy").take_while(|word| **word != "{").map(|word| (*word).to_owned()).collect();
    let expected = replicas.iter().map(|(name, _)| format!("{name}:{}", Image::read().port));
    assert_eq!(to, expected.collect());
    assert_eq!(after("health_uri").next(), Some(&"/readyz"));
    let public = text(&replicas[0].1["environment"]["TIMENAV_PUBLIC_URL"]);
    assert!(words.contains(&public), "{public} is served");
    let port = public.rsplit(':').next().unwrap();
    assert_eq!(texts(&proxy["ports"]), [format!("127.0.0.1:{port}:{port}")]);
    let mounted = volumes(proxy).into_iter().find(|(_, to, _)| to == "/etc/caddy/Caddyfile").expect("its file");
    assert!(root().join("deploy/compose").join(mounted.0).exists());
}

#[test]
fn replica_compose_file_is_consistent() {
    let (right, caddyfile) = (read("deploy/compose/compose.yaml"), read("deploy/compose/Caddyfile"));
    let check = |yaml: &str| check_compose(yaml, &caddyfile);
    check(&right);
    for (from, to) in [
        ("TIMENAV_JOIN:", "TIMENAV_JOINS:"),
        ("POSTGRES_USER: timenav", "POSTGRES_USER: other"),
        ("TIMENAV_SIGNING_KEY: /keys/signing.key", "TIMENAV_SIGNING_KEY: /keys/service.key"),
        ("\"keys:/keys:ro\"", "\"keys:/other:ro\""),
        ("chown -R timenav:timenav /keys", "chown -R timenav:timenav /"),
        ("\"timenav-2:/var/lib/timenav\"", "\"timenav-1:/var/lib/timenav\""),
        ("TIMENAV_LISTEN: 0.0.0.0:8080", "TIMENAV_LISTEN: 0.0.0.0:8081"),
        ("127.0.0.1:8443:8443", "127.0.0.1:8443:443"),
        ("stop_grace_period: 45s", "stop_grace_period: 15s"),
        ("TIMENAV_STORE_FILE: /run/secrets/store", "TIMENAV_STORE_FILE: /run/secrets/other"),
        ("./secrets/password", "./secrets/other"),
        ("    healthcheck:", "    health:"),
        ("postgres:15-", "postgres:16-"),
    ] {
        check_finds(check, &right, from, to);
    }
    check_finds(|caddyfile| check_compose(&right, caddyfile), &caddyfile, "timenav-2:8080", "timenav-3:8080");
    check_finds(|caddyfile| check_compose(&right, caddyfile), &caddyfile, "/readyz", "/healthz");
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Checks the manifest of several replicas, in addition to the checks of all manifests.
fn check_kubernetes(yaml: &str) {
    let all = documents(yaml);
    check_manifest(&all);
    let of = |kind: &str| all.iter().find(|one| one["kind"] == kind).unwrap_or_else(|| panic!("no {kind}"));
    let (set, budget) = (of("StatefulSet"), of("PodDisruptionBudget"));
    let replicas = set["spec"]["replicas"].as_i64().unwrap();
    let left = budget["spec"]["minAvailable"].as_i64().unwrap();
    assert!(0 < left && left < replicas, "{left} of {replicas} stay, and a node can be emptied");
    let pod = &set["spec"]["template"]["spec"];
    assert!(pod["terminationGracePeriodSeconds"].as_i64().unwrap() >= STOP_SECONDS_MIN);
    // The replicas are spread, independently of other pods.
    let labels = &set["spec"]["selector"]["matchLabels"];
    assert_eq!(budget["spec"]["selector"]["matchLabels"], *labels);
    let mut spread = list(&pod["topologySpreadConstraints"]).peekable();
    assert!(spread.peek().is_some() && spread.all(|one| one["labelSelector"]["matchLabels"] == *labels));
    for probe in ["startupProbe", "readinessProbe", "livenessProbe"] {
        assert!(pod["containers"][0][probe]["httpGet"]["path"].is_string(), "there is no {probe}");
    }
    assert_eq!(pod["containers"][0]["readinessProbe"]["httpGet"]["path"], "/readyz");
    assert_eq!(pod["containers"][0]["livenessProbe"]["httpGet"]["path"], "/healthz", "a restart does not help");
    let scraped = &set["spec"]["template"]["metadata"]["annotations"];
    let of_metrics = list(&pod["containers"][0]["ports"]).find(|port| port["name"] == "metrics").unwrap();
    let port = of_metrics["containerPort"].to_string();
    assert_eq!((&scraped["prometheus.io/port"], &scraped["prometheus.io/path"]), (&port.into(), &"/metrics".into()));
    check_secrets(yaml, pod);
}

/// Checks that the used secrets are those in the instructions at the top of the file.
fn check_secrets(yaml: &str, pod: &Value) {
    let head: String = yaml.lines().filter_map(|line| line.strip_prefix('#')).collect::<Vec<_>>().join(" ");
    let mut made = BTreeSet::new();
    for rest in head.split("create secret generic ").skip(1) {
        let mut words = rest.split_whitespace();
        let name = words.next().unwrap();
        for key in words.map_while(|word| word.strip_prefix("--from-file=").or(word.strip_prefix("--from-literal="))) {
            made.insert((name.to_owned(), key.split('=').next().unwrap().to_owned()));
        }
    }
    let container = &pod["containers"][0];
    let mut used = BTreeSet::new();
    for volume in list(&pod["volumes"]).filter(|one| one["secret"].is_object()) {
        let mounted =
            list(&container["volumeMounts"]).find(|one| one["name"] == volume["name"]).expect("it is mounted");
        let folder = format!("{}/", text(&mounted["mountPath"]));
        // Files that a setting or the instructions name.
        let settings = list(&container["env"]).filter_map(|one| one["value"].as_str());
        let named = settings.chain(head.split(['=', '\'', '&']));
        for file in named.filter_map(|word| word.strip_prefix(&folder)) {
            used.insert((text(&volume["secret"]["secretName"]).to_owned(), file.to_owned()));
        }
    }
    assert_eq!(used, made);
}

#[test]
fn replica_kubernetes_manifest_is_consistent() {
    let right = read("deploy/kubernetes/timenav.yaml");
    check_kubernetes(&right);
    for (from, to) in [
        ("secretName: timenav-signing-key", "secretName: timenav-key"),
        ("value: /secret/store/url", "value: /secret/store/address"),
        ("sslrootcert=/secret/store/ca.crt", "sslrootcert=/secret/store/root.crt"),
        ("value: 0.0.0.0:9464", "value: 0.0.0.0:9465"),
        ("prometheus.io/port: \"9464\"", "prometheus.io/port: \"8080\""),
        ("name: TIMENAV_JOIN,", "name: TIMENAV_JOINS,"),
        ("minAvailable: 1", "minAvailable: 2"),
        ("readinessProbe:", "readyProbe:"),
        ("httpGet: { path: /readyz, port: http }", "httpGet: { path: /ready, port: http }"),
        ("serviceName: timenav-replicas", "serviceName: timenav-other"),
        ("selector: { app.kubernetes.io/name: timenav }", "selector: { app.kubernetes.io/name: other }"),
        (
            "selector: { matchLabels: { app.kubernetes.io/name: timenav } }",
            "selector: { matchLabels: { app: timenav } }",
        ),
        ("containerPort: 8080", "containerPort: 8081"),
        ("value: /secret/signing-key/signing.key", "value: /keys/signing.key"),
        ("value: /secret/signing-key/signing.key", "value: /secret/signing-key/service.key"),
    ] {
        check_finds(check_kubernetes, &right, from, to);
    }
}

/// Checks that a Prometheus expression is well-formed and uses existing metrics.
fn check_expression(what: &str, expression: &str) {
    assert!(["timenav_", "up{"].iter().any(|name| expression.contains(name)), "{what}: {expression}");
    let pages = ["operations", "postgresql"].map(|page| read(&format!("docs/{page}.md")));
    let words = expression.split(|one: char| !one.is_ascii_alphanumeric() && one != '_');
    for name in words.filter(|word| word.starts_with("timenav_")) {
        let name = ["_bucket", "_count", "_sum"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        let is_reported =
            pages.iter().any(|page| page.contains(&format!("`{name}`")) || page.contains(&format!("`{name}{{")));
        assert!(is_reported, "{what}: no page tells of {name}");
    }
    for (open, close) in [('(', ')'), ('[', ']'), ('{', '}')] {
        let count = |wanted: char| expression.chars().filter(|one| *one == wanted).count();
        assert_eq!(count(open), count(close), "{what}: {expression}");
    }
    assert_eq!(expression.matches('"').count() % 2, 0, "{what}: {expression}");
}

/// Checks that the heading or error code of a runbook link exists.
fn check_runbook(alert: &str, url: &str) {
    let (page, anchor) =
        url.strip_prefix(RUNBOOKS).and_then(|rest| rest.split_once('#')).expect("a page and a heading");
    let anchor_of = |heading: &str| {
        let is_word = |one: &char| one.is_alphanumeric() || [' ', '-', '_'].contains(one);
        heading.to_lowercase().chars().filter(is_word).collect::<String>().trim().replace(' ', "-")
    };
    let page = read(&format!("docs/{page}"));
    let mut headings = page.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#'));
    let is_row = page.contains(&format!("<a id=\"{anchor}\">"));
    assert!(is_row || headings.any(|heading| anchor_of(heading) == anchor), "{alert}: there is no heading for {url}");
}

/// Checks Prometheus rules.
fn check_rules(yaml: &str) {
    let (rules, serve) = (document(yaml), help(&["serve"]));
    let mut names = BTreeSet::new();
    for rule in list(&rules["groups"]).flat_map(|group| list(&group["rules"])) {
        let name = text(&rule["alert"]);
        assert!(names.insert(name.to_owned()), "two alerts are called {name}");
        check_expression(name, text(&rule["expr"]));
        assert!(["info", "warning", "critical"].contains(&text(&rule["labels"]["severity"])), "{name}");
        assert!(!text(&rule["annotations"]["summary"]).is_empty(), "{name}");
        check_runbook(name, text(&rule["annotations"]["runbook_url"]));
        let more = rule["annotations"]["description"].as_str().unwrap_or_default();
        // Linked documentation must exist.
        for (at, _) in more.match_indices("docs/") {
            let (page, rest) = more[at..].split_once(".md").unwrap();
            let page = read(&format!("{page}.md"));
            if let Some(heading) = rest.strip_prefix(", \"").and_then(|rest| rest.split('"').next()) {
                let heading = heading.trim_end_matches('.');
                let is_there =
                    page.lines().any(|line| line.trim_start_matches('#').trim() == heading && line.starts_with('#'));
                assert!(is_there, "{name}: there is no heading {heading}");
            }
        }
        for option in more.split(['(', ')', ' ']).filter(|word| word.starts_with("--")) {
            assert!(serve.contains(&format!("{option} ")), "{name}: `timenav serve` does not know {option}");
        }
    }
    assert!(names.len() > 10, "{names:?}");
}

#[test]
fn alert_rules_are_complete_and_link_existing_runbooks() {
    let right = read("deploy/monitoring/timenav.rules.yaml");
    check_rules(&right);
    for (from, to) in [
        ("alert: TimenavLag", "alert: TimenavDown"),
        ("severity: critical", "severity: fatal"),
        ("timenav_replica_unverified", "timenav_replica_unknown"),
        ("\"Losing a replica\"", "\"Losing replicas\""),
        ("#losing-a-replica", "#losing-replicas"),
        ("--host-clock-offset-max-millis", "--host-clock-offset-max"),
        (
            "increase(timenav_replica_outcomes_unknown_total[10m])",
            "increase(timenav_replica_outcomes_unknown_total[10m]",
        ),
    ] {
        check_finds(check_rules, &right, from, to);
    }
}

#[test]
fn kubernetes_alerts_match_the_rules_file() {
    let rules = document(&read("deploy/monitoring/timenav.rules.yaml"));
    let of_operator = document(&read("deploy/kubernetes/monitoring/prometheus-rule.yaml"));
    assert_eq!(of_operator["spec"]["groups"], rules["groups"]);
    let tests = read("deploy/monitoring/timenav.rules.test.yaml");
    let names: BTreeSet<&str> = list(&rules["groups"][0]["rules"]).map(|rule| text(&rule["alert"])).collect();
    let tested = tests.split("alertname: ").skip(1).filter_map(|rest| rest.split([' ', '\n', '}']).next());
    for name in tested {
        assert!(names.contains(name), "there is no alert {name}");
    }
}

#[test]
fn kustomizations_reference_existing_files() {
    for folder in ["", "gateway/", "jobs/", "monitoring/"] {
        let folder = format!("deploy/kubernetes/{folder}");
        let kustomization = document(&read(&format!("{folder}kustomization.yaml")));
        for resource in texts(&kustomization["resources"]) {
            assert!(!documents(&read(&format!("{folder}{resource}"))).is_empty(), "{folder}{resource}");
        }
    }
}

#[test]
fn kubernetes_jobs_mount_the_replica_volume() {
    let set = documents(&read("deploy/kubernetes/timenav.yaml"));
    let set = set.iter().find(|one| one["kind"] == "StatefulSet").unwrap();
    let first = format!("{}-0", text(&set["metadata"]["name"]));
    let claim = format!("{}-{first}", text(&set["spec"]["volumeClaimTemplates"][0]["metadata"]["name"]));
    let verify = help(&["verify"]);
    for job in documents(&read("deploy/kubernetes/jobs/jobs.yaml")).iter().filter(|one| one["kind"] == "CronJob") {
        let pod = &job["spec"]["jobTemplate"]["spec"]["template"]["spec"];
        let claims: Vec<&str> =
            list(&pod["volumes"]).filter_map(|one| one["persistentVolumeClaim"]["claimName"].as_str()).collect();
        assert!(claims.contains(&&*claim), "{claims:?}");
        let near = &pod["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0];
        assert_eq!(near["labelSelector"]["matchLabels"]["statefulset.kubernetes.io/pod-name"], *first);
        let words = texts(&pod["containers"][0]["args"]);
        for option in words.iter().filter_map(|word| word.split_once('=')).map(|(option, _)| option) {
            assert!(!option.starts_with("--") || verify.contains(&format!("{option} <")), "{option}");
        }
    }
}

/// Checks a Grafana dashboard.
fn check_dashboard(json: &str) {
    let dashboard: Value = serde_json::from_str(json).unwrap();
    let declared: Vec<&str> = list(&dashboard["templating"]["list"]).map(|one| text(&one["name"])).collect();
    let (mut ids, mut taken) = (BTreeSet::new(), BTreeSet::new());
    for panel in list(&dashboard["panels"]) {
        let title = text(&panel["title"]);
        assert!(ids.insert(panel["id"].as_i64().unwrap()), "{title}: two panels have its id");
        assert_eq!(panel["datasource"]["uid"], "${datasource}", "{title}");
        let at = |name: &str| panel["gridPos"][name].as_i64().unwrap();
        assert!(at("x") + at("w") <= 24, "{title} is wider than the dashboard");
        for x in at("x")..at("x") + at("w") {
            for y in at("y")..at("y") + at("h") {
                assert!(taken.insert((x, y)), "{title} lies on another panel");
            }
        }
        assert!(panel["type"] == "row" || list(&panel["targets"]).next().is_some(), "{title} shows nothing");
        for target in list(&panel["targets"]) {
            let expression = text(&target["expr"]);
            check_expression(title, expression);
            for variable in expression.split('$').skip(1) {
                let name: String = variable
                    .trim_start_matches('{')
                    .chars()
                    .take_while(|one| one.is_alphanumeric() || *one == '_')
                    .collect();
                let is_known = declared.contains(&name.as_str()) || name.starts_with("__");
                assert!(is_known, "{title}: there is no ${name}");
            }
        }
    }
    assert!(ids.len() > 10);
}

#[test]
fn dashboard_definition_is_consistent() {
    let right = read("deploy/monitoring/timenav-dashboard.json");
    check_dashboard(&right);
    for (from, to) in [
        ("\"id\": 2,", "\"id\": 1,"),
        ("$job", "$jobs"),
        ("\"x\": 12", "\"x\": 0"),
        ("\"uid\": \"${datasource}\"", "\"uid\": \"prometheus\""),
    ] {
        check_finds(check_dashboard, &right, from, to);
    }
}

/// Every setting of `timenav serve` is in the table of settings.
#[test]
fn settings_table_lists_every_serve_flag() {
    let page = read("docs/operations.md");
    let (_, table) = page.split_once("\n## Configuration\n").unwrap();
    let (table, _) = table.split_once("\n## ").unwrap();
    let help = help(&["serve"]);
    let options = help.lines().map(str::trim_start).filter(|line| line.starts_with("--"));
    let flags = options.filter_map(|line| line.split([' ', '=', '[']).next()).filter(|flag| *flag != "--help");
    let flags: BTreeSet<&str> = flags.collect();
    let undocumented: Vec<_> = flags.iter().filter(|flag| !table.contains(&format!("`{flag}`"))).collect();
    assert!(flags.len() > 30 && undocumented.is_empty(), "{undocumented:?}");
}
