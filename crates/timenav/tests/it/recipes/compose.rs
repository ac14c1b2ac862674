//! Compose files: consistency and what the services run.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::containers::{Container, Engine, provide};
use super::yaml::{document, texts};
use crate::support::service::Service;

/// The name of the timenav service in the file.
const CLOCK: &str = "timenav";

/// The image of timenav according to its Dockerfile.
pub(super) struct Image {
    pub(super) port: String,
    pub(super) data: String,
}

impl Image {
    pub(super) fn read() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/Dockerfile");
        let text = std::fs::read_to_string(path).unwrap();
        let of = |word: &str| text.lines().find_map(|line| line.strip_prefix(word)).unwrap().to_owned();
        assert_eq!((of("ENTRYPOINT ").as_str(), of("CMD ").as_str()), ("[\"timenav\"]", "[\"serve\"]"));
        Self { port: of("EXPOSE "), data: of("VOLUME ") }
    }
}

/// Checks a file, and provides a program that starts its services.
pub(super) fn provide_compose(yaml: &str, folder: &Path, service: &Service) {
    let file = document(yaml);
    let services = file["services"].as_object().unwrap();
    check_clock(&services[CLOCK]);
    let is_healthy = texts(&services[CLOCK]["healthcheck"]["test"]);
    assert_eq!(is_healthy[0], "CMD", "a list of words");
    let data = service.data().to_str().unwrap().to_owned();
    let mut containers = vec![Container {
        name: CLOCK.to_owned(),
        probe: is_healthy[1..].to_vec(),
        environment: BTreeMap::from([("TIMENAV_DATA".to_owned(), data.clone())]),
        ..Container::default()
    }];
    for (name, one) in services.iter().filter(|(name, _)| *name != CLOCK) {
        check_service(name, one, services);
        let mut here = vec![(format!("http://{CLOCK}:{}", Image::read().port), service.url())];
        for (from, to, _) in volumes(one) {
            match from.as_str() {
                "./" => here.push((to, folder.to_str().unwrap().to_owned())),
                CLOCK => here.push((to, data.clone())),
                other => panic!("{name}: the test does not know the volume {other}"),
            }
        }
        let environment = one["environment"].as_object().unwrap();
        containers.push(Container {
            name: name.clone(),
            command: [texts(&one["entrypoint"]), texts(&one["command"])].concat(),
            environment: environment.iter().map(|(name, value)| (name.clone(), text(value))).collect(),
            here,
            ..Container::default()
        });
    }
    let declared: Vec<&String> = file["volumes"].as_object().unwrap().keys().collect();
    let used = services.values().flat_map(volumes).filter(|(from, ..)| !from.starts_with('.'));
    assert!(used.map(|(from, ..)| from).all(|from| declared.contains(&&from)), "{declared:?}");
    provide(Engine::Compose, folder, &containers);
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

/// Returns the volumes of a service: source, mount point, and whether it is read-only.
pub(super) fn volumes(service: &Value) -> Vec<(String, String, bool)> {
    let volumes = texts(&service["volumes"]).into_iter().map(|volume| {
        let parts: Vec<&str> = volume.split(':').collect();
        let is_read_only = parts.get(2).is_some_and(|mode| *mode == "ro");
        (parts[0].to_owned(), parts[1].to_owned(), is_read_only)
    });
    volumes.collect()
}

/// Checks that the timenav service runs the same as its image and has its data on a volume.
fn check_clock(clock: &Value) {
    assert_eq!((&clock["entrypoint"], &clock["command"]), (&Value::Null, &Value::Null), "as the image has it");
    assert_eq!(volumes(clock), [(CLOCK.to_owned(), Image::read().data, false)]);
}

/// Checks that a service is on the clock and has its dependencies.
fn check_service(name: &str, one: &Value, services: &serde_json::Map<String, Value>) {
    let expected = ["timenav", "exec", "--strict", "--follow", name, "--"];
    assert_eq!(texts(&one["entrypoint"]), expected, "{name}");
    assert!(!texts(&one["command"]).is_empty(), "{name} runs something");
    assert_eq!(one["environment"]["TIMENAV_URL"], format!("http://{CLOCK}:{}", Image::read().port), "{name}");
    let mounted = volumes(one);
    let keys = mounted.iter().find(|(from, ..)| from == CLOCK).expect("it has the key");
    assert_eq!((one["environment"]["TIMENAV_DATA"].as_str().unwrap(), keys.2), (keys.1.as_str(), true), "{name}");
    let own = mounted.iter().find(|(from, ..)| from == "./").expect("it has its program");
    assert_eq!(one["working_dir"], *own.1, "{name}");
    for (needed, how) in one["depends_on"].as_object().unwrap() {
        assert_eq!(how["condition"], "service_healthy", "{name}: {needed}");
        assert!(services[needed]["healthcheck"].is_object(), "{name} waits until {needed} is healthy");
    }
}
