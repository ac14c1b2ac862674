//! Webhooks over HTTPS: only receivers with a valid certificate get requests.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use serde_json::{Value, json};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig, ServerConnection, StreamOwned};

use crate::process::refused_start;
use crate::support::service::Service;
use crate::v1::create_paused;

fn authority(folder: &Path, name: &str) -> (CertifiedIssuer<'static, KeyPair>, PathBuf) {
    let mut of_it = CertificateParams::new(Vec::new()).unwrap();
    of_it.distinguished_name.push(DnType::CommonName, name);
    of_it.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(of_it, KeyPair::generate().unwrap()).unwrap();
    let file = folder.join(format!("{name}.pem"));
    std::fs::write(&file, issuer.pem()).unwrap();
    (issuer, file)
}

/// The server name of the handshake and the request, or the handshake error.
type Sent = Result<(Option<String>, String), String>;

struct Receiving {
    address: SocketAddr,
    sent: Receiver<Sent>,
}

impl Receiving {
    fn start(certificate: CertificateDer<'static>, key: &KeyPair) -> Self {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let config = config.with_no_client_auth().with_single_cert(vec![certificate], key).unwrap();
        let (config, listener) = (Arc::new(config), TcpListener::bind("127.0.0.1:0").unwrap());
        let (address, (sender, sent)) = (listener.local_addr().unwrap(), channel());
        std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                if sender.send(receive(Arc::clone(&config), stream)).is_err() {
                    return;
                }
            }
        });
        Self { address, sent }
    }

    fn url(&self, host: &str) -> String {
        format!("https://{host}:{}/in", self.address.port())
    }
}

fn receive(config: Arc<ServerConfig>, stream: TcpStream) -> Sent {
    let connection = ServerConnection::new(config).map_err(|error| error.to_string())?;
    let mut reader = BufReader::new(StreamOwned::new(connection, stream));
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        let count = reader.read_line(&mut head).map_err(|error| error.to_string())?;
        if count == 0 {
            return Err("it ended".to_owned());
        }
    }
    let length =
        head.to_lowercase().split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).map_err(|error| error.to_string())?;
    let mut stream = reader.into_inner();
    let name = stream.conn.server_name().map(str::to_owned);
    let answer = b"HTTP/1.1 204 x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    stream.write_all(answer).and_then(|()| stream.flush()).map_err(|error| error.to_string())?;
    Ok((name, head))
}

/// Sends one firing to a URL and returns the outcome.
fn delivered(service: &Service, url: &str) -> Value {
    let timer = json!({ "at": "2000-01-02T00:00:00Z", "deliver": { "to": "webhook", "url": url } });
    service.post("/v1/timers", &timer);
    let settled = service.post("/v1/fast-forward", &json!({ "duration": "2d", "wait": "10m" }))["receipt"].clone();
    settled["firings"][0].clone()
}

/// Returns a service that sends webhooks to a URL, with or without an additional CA.
fn sending(url: &str, authority: Option<&Path>) -> Service {
    let mut arguments = vec!["--webhook-allow-host", url.strip_suffix("/in").unwrap_or(url)];
    if let Some(file) = authority {
        arguments.extend(["--webhook-ca", file.to_str().unwrap()]);
    }
    let service = Service::with(&arguments);
    create_paused(&service, "2000-01-01T00:00:00Z");
    service
}

#[test]
fn webhooks_require_a_valid_receiver_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let (issuer, root) = authority(folder.path(), "root");
    let (_, other) = authority(folder.path(), "other");
    let signed = |names: &[&str], year: i32| {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>()).unwrap();
        params.not_after = date_time_ymd(year, 1, 1);
        let certificate = params.signed_by(&key, &issuer).unwrap();
        Receiving::start(certificate.der().clone(), &key)
    };
    let receiving = signed(&["localhost"], 4000);
    let url = receiving.url("localhost");
    let service = sending(&url, Some(&root));
    assert_eq!(delivered(&service, &url)["state"], "acknowledged");
    // The connection used the resolved address, and the request the name.
    let (name, head) = receiving.sent.recv().unwrap().unwrap();
    assert_eq!(name.as_deref(), Some("localhost"));
    let host = format!("host: localhost:{}\r\n", receiving.address.port());
    assert!(head.starts_with("POST /in HTTP/1.1\r\n") && head.to_lowercase().contains(&host), "{head}");
    service.audit();

    let (elsewhere, expired) = (signed(&["hooks.example"], 4000), signed(&["localhost"], 2020));
    let of_an_address = signed(&["localhost"], 4000);
    for (case, receiving, host, trusted, expected) in [
        ("no authority", &receiving, "localhost", None, "UnknownIssuer"),
        ("another authority", &receiving, "localhost", Some(&other), "UnknownIssuer"),
        ("another name", &elsewhere, "localhost", Some(&root), "not valid for name"),
        ("a name, and no address", &of_an_address, "127.0.0.1", Some(&root), "not valid for name"),
        ("expired", &expired, "localhost", Some(&root), "expired"),
    ] {
        let url = receiving.url(host);
        let service = sending(&url, trusted.map(PathBuf::as_path));
        let firing = delivered(&service, &url);
        assert_eq!(firing["state"], "failed", "{case}: {firing}");
        let reason = firing["reason"].as_str().unwrap();
        assert!(reason.contains(expected), "{case}: {reason}");
        assert!(receiving.sent.recv().unwrap().is_err(), "{case}: it was sent something");
        service.audit();
    }
}

#[test]
fn ca_file_without_certificates_is_named_at_start() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("none.pem");
    std::fs::write(&file, "no certificate").unwrap();
    let with = ["--webhook-allow-host", "hooks.example", "--webhook-ca", file.to_str().unwrap()];
    let complaint = refused_start(&folder.path().join("data"), &with);
    assert!(complaint.contains("--webhook-ca") && complaint.contains("none.pem"), "{complaint}");
}
