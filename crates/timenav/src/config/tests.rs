use std::fmt::Debug;

use clap::{CommandFactory as _, Parser};

use super::file::FLAGS_ALONE;
use super::*;

#[derive(Parser)]
struct Serve {
    #[command(flatten)]
    options: ServeOptions,
}

fn options(flags: &[&str]) -> ServeOptions {
    let flags = std::iter::once("serve").chain(flags.iter().copied());
    Serve::try_parse_from(flags).unwrap().options
}

fn layer(flags: &[&str], file: ServeOptions) -> Settings {
    Settings::layer(options(flags), file).unwrap()
}

fn file(text: &str) -> ServeOptions {
    ServeOptions::parse(text).unwrap()
}

fn refusal(text: &str) -> String {
    format!("{:#}", ServeOptions::parse(text).unwrap_err())
}

/// Checks a setting by default, from the file, and from a flag that overrides the file.
#[track_caller]
fn check<T: PartialEq + Debug>(of: fn(Settings) -> T, flags: &[&str], text: &str, expected: &[T]) {
    let default = of(layer(&[], ServeOptions::default()));
    let by_file = of(layer(&[], file(text)));
    let by_flag = of(layer(flags, file(text)));
    assert_eq!([default, by_file, by_flag].as_slice(), expected);
}

#[test]
fn flags_override_the_file_and_the_file_overrides_defaults() {
    let address = |text: &str| -> SocketAddr { text.parse().unwrap() };
    check(
        |settings| settings.listen,
        &["--listen", "[::1]:3"],
        "listen = '0.0.0.0:2'",
        &[address("127.0.0.1:8080"), address("0.0.0.0:2"), address("[::1]:3")],
    );
    check(|settings| settings.data, &["--data", "c"], "data = 'b'", &["./timenav-data".into(), "b".into(), "c".into()]);
    check(
        |settings| settings.service_name,
        &["--service-name", "c"],
        "service_name = 'b'",
        &[None, Some("b".into()), Some("c".into())],
    );
    check(
        |settings| settings.limited_access_window_days,
        &["--limited-access-window-days", "3"],
        "limited_access_window_days = 2",
        &[30, 2, 3],
    );
    check(
        |settings| settings.timelines_by_first_write,
        &["--timelines-by-first-write", "yes"],
        "timelines_by_first_write = false",
        &[true, false, true],
    );
    check(
        |settings| settings.timelines_by_first_write,
        &["--no-timelines-by-first-write"],
        "timelines_by_first_write = true",
        &[true, true, false],
    );
    check(
        |settings| settings.checkpoints,
        &["--checkpoints", "c"],
        "checkpoints = 'b'",
        &[None, Some("b".into()), Some("c".into())],
    );
    check(|settings| settings.drain, &["--drain-secs", "3"], "drain_secs = 2", &[0, 2, 3].map(Duration::from_secs));
    check(
        |settings| settings.shutdown_deadline,
        &["--shutdown-deadline-secs", "3"],
        "shutdown_deadline_secs = 2",
        &[10, 2, 3].map(Duration::from_secs),
    );
    check(
        |settings| settings.log_format,
        &["--log-format", "text"],
        "log_format = 'json'",
        &[LogFormat::Text, LogFormat::Json, LogFormat::Text],
    );
    check(
        |settings| settings.log_filter,
        &["--log-filter", "c"],
        "log_filter = 'b'",
        &["info".into(), "b".into(), "c".into()],
    );
    check(
        |settings| settings.otlp_endpoint.map(|url| url.traces().to_string()),
        &["--otlp-endpoint", "http://c.test"],
        "otlp_endpoint = 'http://b.test/'",
        &[None, Some("http://b.test/v1/traces".to_owned()), Some("http://c.test/v1/traces".to_owned())],
    );
    check(|settings| settings.demo, &["--demo=false"], "demo = true", &[false, true, false]);
}

#[test]
fn recording_settings_are_layered() {
    check(
        |settings| settings.recording.read_log,
        &["--read-log", "buffered"],
        "read_log = 'durable'",
        &[ReadLogChoice::Buffered, ReadLogChoice::Durable, ReadLogChoice::Buffered],
    );
    check(
        |settings| settings.recording.log_clock_reads,
        &["--log-clock-reads"],
        "log_clock_reads = false",
        &[false, false, true],
    );
    check(
        |settings| settings.recording.checkpoint_lag.get(),
        &["--checkpoint-lag", "0"],
        "checkpoint_lag = 7",
        &[50, 7, 0],
    );
}

#[test]
fn login_settings_are_layered() {
    check(
        |settings| settings.public_url.map(|url| url.origin().to_owned()),
        &["--public-url", "https://c.test"],
        "public_url = 'https://b.test/below'",
        &[None, Some("https://b.test".to_owned()), Some("https://c.test".to_owned())],
    );
    check(
        |settings| settings.allow_insecure_login,
        &["--allow-insecure-login=false"],
        "allow_insecure_login = true",
        &[false, true, false],
    );
    check(
        |settings| settings.session_idle_secs.get(),
        &["--session-idle-secs", "3"],
        "session_idle_secs = 2",
        &[1_800, 2, 3],
    );
    check(
        |settings| settings.session_max_secs.get(),
        &["--session-max-secs", "3"],
        "session_max_secs = 2",
        &[43_200, 2, 3],
    );
}

#[test]
fn connection_settings_are_layered() {
    check(
        |settings| settings.connections.connections_max,
        &["--connections-max", "3"],
        "connections_max = 2",
        &[None, NonZeroU32::new(2), NonZeroU32::new(3)],
    );
    check(
        |settings| settings.connections.connections_per_address_max,
        &["--connections-per-address-max", "3"],
        "connections_per_address_max = 2",
        &[None, NonZeroU32::new(2), NonZeroU32::new(3)],
    );
    check(
        |settings| settings.connections.idle.get(),
        &["--connection-idle-secs", "3"],
        "connection_idle_secs = 2",
        &[60, 2, 3],
    );
    check(
        |settings| settings.connections.handshake.get(),
        &["--handshake-secs", "3"],
        "handshake_secs = 2",
        &[10, 2, 3],
    );
}

#[test]
fn metrics_address_is_layered() {
    let at = |text: &str| text.parse().ok();
    check(
        |settings| settings.metrics_listen,
        &["--metrics-listen", "127.0.0.1:3"],
        "metrics_listen = '127.0.0.1:2'",
        &[None, at("127.0.0.1:2"), at("127.0.0.1:3")],
    );
}

#[test]
fn replica_drains_by_default() {
    check(
        |settings| settings.drain,
        &["--drain-secs", "0"],
        "store = 'postgres://db/time'\nreplicas = true",
        &[0, 5, 0].map(Duration::from_secs),
    );
}

#[test]
fn encryption_is_enabled_by_default() {
    let check = |flags: &[&str], text: &str, expected| assert_eq!(layer(flags, file(text)).encryption, expected);
    check(&[], "", true);
    check(&[], "encryption = false", false);
    check(&["--encryption", "yes"], "encryption = false", true);
    check(&["--no-encryption"], "encryption = true", false);
}

#[test]
fn rollback_is_accepted_only_by_a_flag() {
    assert!(!layer(&[], ServeOptions::default()).accept_rollback);
    assert!(layer(&["--accept-rollback"], ServeOptions::default()).accept_rollback);
    assert!(refusal("accept_rollback = true").contains("--accept-rollback"));
    let store = "postgres://u@h/d".parse().ok();
    let options = ServeOptions { store, replicas: Some(true), accept_rollback: Some(true), ..ServeOptions::default() };
    let error = Settings::resolve(options).unwrap_err().to_string();
    assert!(error.contains("timenav accept-rollback"), "{error}");
}

#[test]
fn every_flag_has_an_environment_variable() {
    for argument in Serve::command().get_arguments() {
        let id = argument.get_id().as_str();
        let variable = argument.get_env().map(|name| name.to_string_lossy().into_owned());
        let expected = (!id.starts_with("no_")).then(|| format!("TIMENAV_{}", id.to_uppercase()));
        assert_eq!(variable, expected, "{id}");
    }
}

#[test]
fn every_flag_is_a_file_key_except_listed_ones() {
    let command = Serve::command();
    for argument in command.get_arguments().map(|argument| argument.get_id().as_str()) {
        // No setting is a list of dates, so every key is rejected: for its value, or because it is unknown.
        let refused = toml::from_str::<ServeOptions>(&format!("{argument} = [1979-05-27]")).unwrap_err().to_string();
        assert_eq!(refused.contains("unknown field"), FLAGS_ALONE.contains(&argument), "{argument}: {refused}");
        assert_ne!(
            ServeOptions::keys().iter().any(|key| key == argument),
            FLAGS_ALONE.contains(&argument),
            "{argument}"
        );
    }
}

#[test]
fn unknown_keys_are_reported_with_a_suggestion() {
    let check = |text: &str, expected: &str| assert_eq!(refusal(text), expected);
    check("lisen = 'x'", "there is no setting `lisen`; did you mean `listen`?");
    check("log-format = 'x'", "there is no setting `log-format`; did you mean `log_format`?");
    check("[service]\nname = 1", "there is no setting `service`; did you mean `service_name`?");
    let all = refusal("xyzzy = 1");
    assert!(all.starts_with("there is no setting `xyzzy`; the settings are listen, tls_cert,"), "{all}");
}

#[test]
fn invalid_values_are_reported_with_their_line() {
    let refused = refusal("data = 'x'\nlisten = 'nowhere'");
    assert!(refused.contains("line 2") && refused.contains("nowhere"), "{refused}");
    assert!(refusal("demo = ").contains("line 1"));
    let refused = refusal("data = 'x'\nhandshake_secs = 86401");
    assert!(refused.contains("line 2") && refused.contains("give 1 to 86400 seconds"), "{refused}");
    assert!(refusal("public_url = 'http://x.test'").contains("must start with https://"));
    assert!(refusal("session_idle_secs = 0").contains("give 1 to 2592000 seconds"));
}

#[test]
fn malformed_address_in_the_file_is_reported_without_its_password() {
    for line in [
        "store = 'postgress://ada:hunter2@db/time'",
        "store = 'postgres://ada:hunter2@@db/time'",
        "store = 'ada:hunter2/db'",
        "store = 'host=db password=hunter2'",
        "store = 'postgres://ada:hunter2@db/time",
        "otlp_endpoint = 'http://ada:hunter2@collector:4318'",
        "webhook_allow_host = ['https://ada:hunter2@hooks.example.com']",
    ] {
        let refused = refusal(&format!("demo = true\n{line}"));
        assert!(refused.contains("line 2") && !refused.contains("hunter2"), "{refused}");
    }
}

#[test]
fn missing_config_file_is_named() {
    let refused = format!("{:#}", Settings::resolve(options(&["--config", "/no/such.toml"])).unwrap_err());
    assert!(refused.contains("/no/such.toml"), "{refused}");
}

#[test]
fn certificate_requires_its_key() {
    let both = layer(&["--tls-cert", "a.pem"], file("tls_key = 'b.pem'"));
    assert_eq!(both.tls, Some(TlsFiles { cert: "a.pem".into(), key: "b.pem".into() }));
    assert_eq!(layer(&[], ServeOptions::default()).tls, None);
    for (flags, missing) in [(["--tls-cert", "a.pem"], "--tls-key"), (["--tls-key", "b.pem"], "--tls-cert")] {
        let refused = Settings::layer(options(&flags), ServeOptions::default()).unwrap_err();
        assert!(refused.to_string().contains(missing), "{refused}");
    }
}

/// The configuration file of the packages, and the settings in its comments.
#[test]
fn deploy_config_is_valid_with_each_comment_enabled() {
    let text = include_str!("../../../../deploy/timenav.toml");
    let settings = Settings::layer(ServeOptions::default(), ServeOptions::parse(text).unwrap()).unwrap();
    assert_eq!((settings.data.to_str(), settings.log_format), (Some("/var/lib/timenav"), LogFormat::Json));
    let enabled: Vec<String> = text
        .lines()
        .map(|line| line.strip_prefix('#').filter(|rest| !rest.starts_with(' ')).unwrap_or(line).to_owned())
        .collect();
    assert_ne!(enabled.join("\n"), text.trim_end());
    let enabled = Settings::layer(ServeOptions::default(), ServeOptions::parse(&enabled.join("\n")).unwrap()).unwrap();
    let is_listed = |key: &str| text.lines().any(|line| line.starts_with(&format!("#{key} = \"")));
    assert!(is_listed("listen") && enabled.listen == LISTEN_DEFAULT);
    assert!(
        is_listed("tls_cert") && enabled.tls.is_some() && enabled.public_url.is_some() && enabled.checkpoints.is_some()
    );
}
