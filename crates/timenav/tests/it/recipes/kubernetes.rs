//! Kubernetes manifests: consistency with each other and the command line, and what the containers run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use super::containers::{Container, Engine, provide};
use super::yaml::{documents, texts};
use crate::support::service::{run, timenav};

/// Checks a manifest, and provides a program that starts its containers.
pub(super) fn provide_kubernetes(text: &str, folder: &Path) {
    let documents = documents(text);
    check_manifest(&documents);
    let [document] = &documents[..] else { panic!("one deployment") };
    let pod = &document["spec"]["template"]["spec"];
    let mut containers = Vec::new();
    for (one, is_first) in all_containers(pod) {
        let name = one["name"].as_str().unwrap().to_owned();
        let sidecar = one["restartPolicy"] == "Always";
        let command = [texts(&one["command"]), texts(&one["args"])].concat();
        // The entry point is defined by the Dockerfile; that of timenav is the program.
        let entry = if one["command"].is_null() { vec!["timenav".to_owned()] } else { Vec::new() };
        let command = [entry, command].concat();
        let is_once = is_first && !sidecar;
        let (once, command) = if is_once { (command, Vec::new()) } else { (Vec::new(), command) };
        let probe = texts(&one["startupProbe"]["exec"]["command"]);
        let mut here = vec![
            ("127.0.0.1:8080".to_owned(), "127.0.0.1:0".to_owned()),
            ("/usr/bin/timenav".to_owned(), env!("CARGO_BIN_EXE_timenav").to_owned()),
        ];
        for (volume, path) in mounts(one) {
            let host = if kind_of(pod, &volume) == "configMap" { folder.to_owned() } else { folder.join(&volume) };
            std::fs::create_dir_all(&host).unwrap();
            here.push((path, host.to_str().unwrap().to_owned()));
        }
        containers.push(Container { name, command, once, probe, environment: environment(one), here });
    }
    provide(Engine::Kubernetes, folder, &containers);
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Returns the containers of a pod in start order, and whether they are init containers.
fn all_containers(pod: &Value) -> impl Iterator<Item = (&Value, bool)> {
    let first = list(&pod["initContainers"]).map(|one| (one, true));
    first.chain(list(&pod["containers"]).map(|one| (one, false)))
}

/// Returns the volumes of a container and their mount points.
fn mounts(container: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    list(&container["volumeMounts"]).map(|mount| (text(&mount["name"]), text(&mount["mountPath"]))).collect()
}

fn environment(container: &Value) -> BTreeMap<String, String> {
    let given = list(&container["env"]).filter(|one| one["value"].is_string());
    given.map(|one| (one["name"].as_str().unwrap().to_owned(), one["value"].as_str().unwrap().to_owned())).collect()
}

/// Returns the type of a pod's volume.
fn kind_of<'pod>(pod: &'pod Value, volume: &str) -> &'pod str {
    let found = list(&pod["volumes"]).find(|one| one["name"] == volume).unwrap_or_else(|| panic!("no {volume}"));
    found.as_object().unwrap().keys().find(|name| *name != "name").unwrap()
}

/// Returns the environment variables of a command's options.
fn variables(command: &str) -> String {
    run(timenav().args([command, "--help"]), "").1
}

/// Checks that all references in a manifest exist and have the expected kind.
pub(super) fn check_manifest(documents: &[Value]) {
    let names: Vec<_> = documents.iter().map(|one| (one["kind"].as_str(), one["metadata"]["name"].as_str())).collect();
    for document in documents {
        let (kind, what) = (document["kind"].as_str().unwrap(), &document["metadata"]["name"]);
        assert!(document["apiVersion"].is_string(), "{what}");
        let spec = &document["spec"];
        match kind {
            "Deployment" | "StatefulSet" => {
                check_labels(document);
                let claims: Vec<&Value> =
                    list(&spec["volumeClaimTemplates"]).map(|one| &one["metadata"]["name"]).collect();
                check_pod(&spec["template"]["spec"], &claims);
                if kind == "StatefulSet" {
                    assert!(names.contains(&(Some("Service"), spec["serviceName"].as_str())), "{what}");
                }
                let account = spec["template"]["spec"]["serviceAccountName"].as_str();
                assert!(account.is_none() || names.contains(&(Some("ServiceAccount"), account)), "{what}");
            }
            "Service" => check_service(document, documents),
            "PodDisruptionBudget" => assert!(selected(&spec["selector"]["matchLabels"], documents).is_some(), "{what}"),
            "ServiceAccount" => {}
            other => panic!("the test does not know what a {other} is"),
        }
    }
}

fn check_labels(document: &Value) {
    let labels = document["spec"]["template"]["metadata"]["labels"].as_object().unwrap();
    for (name, value) in document["spec"]["selector"]["matchLabels"].as_object().unwrap() {
        assert_eq!(labels.get(name), Some(value), "the selector names {name}");
    }
}

/// Returns the workload whose pods have these labels.
fn selected<'all>(labels: &Value, documents: &'all [Value]) -> Option<&'all Value> {
    documents.iter().find(|one| {
        let has = &one["spec"]["template"]["metadata"]["labels"];
        has.is_object() && labels.as_object().unwrap().iter().all(|(name, value)| has[name] == *value)
    })
}

fn check_service(document: &Value, documents: &[Value]) {
    let what = &document["metadata"]["name"];
    let target = selected(&document["spec"]["selector"], documents).expect("pods of the service");
    let containers = list(&target["spec"]["template"]["spec"]["containers"]);
    let ports: Vec<&Value> = containers.flat_map(|one| list(&one["ports"])).map(|port| &port["name"]).collect();
    for port in list(&document["spec"]["ports"]) {
        assert!(ports.contains(&&port["targetPort"]), "{what}: {port}");
    }
}

fn check_pod(pod: &Value, claims: &[&Value]) {
    let declared: Vec<&Value> =
        list(&pod["volumes"]).map(|volume| &volume["name"]).chain(claims.iter().copied()).collect();
    let mut seen = BTreeSet::new();
    let mut used = BTreeSet::new();
    for (one, _) in all_containers(pod) {
        let name = one["name"].as_str().unwrap();
        assert!(seen.insert(name), "two containers are called {name}");
        for (volume, path) in mounts(one) {
            assert!(declared.iter().any(|one| **one == volume), "{name}: there is no volume {volume}");
            assert!(path.starts_with('/'), "{name}: {path}");
            used.insert(volume);
        }
        check_command(name, one, pod);
        check_probes(name, one);
    }
    for volume in declared {
        assert!(used.contains(volume.as_str().unwrap()), "nobody uses the volume {volume}");
    }
}

/// Checks that the command line accepts the arguments of a container, and that its data is on a volume.
fn check_command(name: &str, one: &Value, pod: &Value) {
    let words = [texts(&one["command"]), texts(&one["args"])].concat();
    let known = match (words.first().map(String::as_str), words.get(1).map(String::as_str)) {
        (Some("serve"), _) => variables("serve"),
        (Some(program), Some("exec")) => {
            let copied =
                list(&pod["initContainers"]).filter_map(|one| texts(&one["command"]).pop()).any(|to| to == program);
            assert!(copied, "{name}: nobody copies {program}");
            let end = words.iter().position(|word| word == "--").expect("the program comes after `--`");
            let help = variables("exec");
            for option in words[..end].iter().filter(|word| word.starts_with("--")) {
                assert!(help.contains(&format!("      {option}")), "{name}: {option}");
            }
            help
        }
        _ => return,
    };
    for variable in list(&one["env"]).map(|one| one["name"].as_str().unwrap()) {
        let is_known = ["=", "]"].iter().any(|end| known.contains(&format!("[env: {variable}{end}")));
        assert!(is_known, "{name}: {variable} is no setting of {words:?}");
    }
    let data = environment(one).remove("TIMENAV_DATA").expect("the folder of the data is named");
    assert!(mounts(one).iter().any(|(_, path)| data.starts_with(&format!("{path}/"))), "{name}: {data}");
}

/// Checks that probes use the listening address and can reach it.
fn check_probes(name: &str, one: &Value) {
    let environment = environment(one);
    let listens_by = |variable: &str| environment.get(variable).map(|address| address.rsplit_once(':').unwrap());
    let listens = listens_by("TIMENAV_LISTEN");
    for port in list(&one["ports"]) {
        let variable = if port["name"] == "metrics" { "TIMENAV_METRICS_LISTEN" } else { "TIMENAV_LISTEN" };
        let number = port["containerPort"].to_string();
        assert_eq!(listens_by(variable).map(|(_, number)| number), Some(&*number), "{name}");
    }
    for probe in ["startupProbe", "readinessProbe", "livenessProbe"] {
        let http = &one[probe]["httpGet"];
        if http.is_object() {
            assert!(list(&one["ports"]).any(|port| port["name"] == http["port"]), "{name}: {probe}");
            assert_eq!(listens.map(|(address, _)| address), Some("0.0.0.0"), "{name}: a probe comes from outside");
            assert!(["/healthz", "/readyz"].contains(&http["path"].as_str().unwrap()), "{name}: {probe}");
        }
    }
}
