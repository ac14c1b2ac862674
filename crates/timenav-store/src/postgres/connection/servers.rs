//! Splits an address that names several servers into single ones.

use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::Host;

/// The port of a server whose address does not have one.
const PORT_DEFAULT: u16 = 5432;

pub(in crate::postgres) fn one_by_one(config: &Config) -> Vec<Config> {
    let (hosts, addresses, ports) = (config.get_hosts(), config.get_hostaddrs(), config.get_ports());
    let one = |at: usize| {
        let mut one = Config::new();
        match hosts.get(at) {
            Some(Host::Tcp(host)) => one.host(host),
            Some(Host::Unix(folder)) => one.host_path(folder),
            None => &mut one,
        };
        if let Some(address) = addresses.get(at) {
            one.hostaddr(*address);
        }
        if let Some(port) = ports.get(at).or_else(|| ports.first()) {
            one.port(*port);
        }
        copy_rest(config, &mut one);
        one
    };
    (0..hosts.len().max(addresses.len())).map(one).collect()
}

/// Copies the settings that all servers share.
fn copy_rest(from: &Config, to: &mut Config) {
    if let Some(user) = from.get_user() {
        to.user(user);
    }
    if let Some(password) = from.get_password() {
        to.password(password);
    }
    if let Some(name) = from.get_dbname() {
        to.dbname(name);
    }
    if let Some(options) = from.get_options() {
        to.options(options);
    }
    if let Some(name) = from.get_application_name() {
        to.application_name(name);
    }
    if let Some(wait) = from.get_connect_timeout() {
        to.connect_timeout(*wait);
    }
    if let Some(wait) = from.get_tcp_user_timeout() {
        to.tcp_user_timeout(*wait);
    }
    if let Some(interval) = from.get_keepalives_interval() {
        to.keepalives_interval(interval);
    }
    if let Some(retries) = from.get_keepalives_retries() {
        to.keepalives_retries(retries);
    }
    to.ssl_mode(from.get_ssl_mode())
        .ssl_negotiation(from.get_ssl_negotiation())
        .keepalives(from.get_keepalives())
        .keepalives_idle(from.get_keepalives_idle())
        .target_session_attrs(from.get_target_session_attrs())
        .channel_binding(from.get_channel_binding());
}

pub(in crate::postgres) fn silent(server: &Config, wait: Duration) -> String {
    format!("PostgreSQL: {} has accepted no connection for {} seconds", place_of(server), wait.as_secs())
}

/// Describes a server: `the server HOST, port PORT`.
pub(in crate::postgres) fn place_of(server: &Config) -> String {
    let host = match server.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        Some(Host::Unix(folder)) => folder.display().to_string(),
        None => server.get_hostaddrs().first().map(ToString::to_string).unwrap_or_default(),
    };
    let port = server.get_ports().first().copied().unwrap_or(PORT_DEFAULT);
    format!("the server {host}, port {port},")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(url: &str) -> Config {
        url.parse().unwrap()
    }

    /// A setting missing from the copy would make the two differ.
    #[test]
    fn single_server_config_keeps_every_setting() {
        let config = parsed(
            "postgres://ada:secret@db.example:5433/time?application_name=a&channel_binding=require&connect_timeout=3\
             &hostaddr=127.0.0.1&keepalives=0&keepalives_idle=7&keepalives_interval=8&keepalives_retries=9\
             &options=-c%20geqo%3Doff&sslmode=require&sslnegotiation=direct&target_session_attrs=read-write\
             &tcp_user_timeout=4",
        );
        assert_eq!(one_by_one(&config), [config]);
    }

    #[test]
    fn multiple_hosts_are_split_into_one_config_each() {
        let config = parsed("postgres://ada@one.example:1,two.example:2/time?connect_timeout=3");
        let expected = ["one.example:1", "two.example:2"];
        assert_eq!(
            one_by_one(&config),
            expected.map(|host| parsed(&format!("postgres://ada@{host}/time?connect_timeout=3")))
        );
        let config = parsed("postgres:///time?host=/run/pg&host=db.example&port=7");
        let expected = ["/run/pg", "db.example"];
        assert_eq!(one_by_one(&config), expected.map(|host| parsed(&format!("postgres:///time?host={host}&port=7"))));
        let one = &one_by_one(&config)[0];
        assert_eq!(
            silent(one, Duration::from_secs(10)),
            "PostgreSQL: the server /run/pg, port 7, has accepted no connection for 10 seconds"
        );
    }
}
