//! HTTPS: served with a certificate, and clear errors if that is impossible.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{self, ClientConfig, ClientConnection, HandshakeKind, RootCertStore, StreamOwned};

use crate::support::http::Connection;
use crate::support::service::{Process, ends, fails, timenav};

/// Writes a self-signed certificate for `localhost` with its key.
pub(crate) fn certify(folder: &Path) -> [String; 4] {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let path = |name: &str| folder.join(name).display().to_string();
    std::fs::write(path("cert.pem"), made.cert.pem()).unwrap();
    std::fs::write(path("key.pem"), made.signing_key.serialize_pem()).unwrap();
    ["--tls-cert".to_owned(), path("cert.pem"), "--tls-key".to_owned(), path("key.pem")]
}

#[test]
fn certificate_enables_https_and_rejects_plain_http() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = certify(folder.path());
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (data, log) = (folder.path().join("data"), folder.path().join("log"));
    let mut process = Process::start_at("https", &data, &log, &arguments);
    let port = process.address.port();
    let curl = |url: &str| {
        let mut command = Command::new("curl");
        command.args(["--silent", "--show-error", "--include", "--max-time", "20", "--cacert", arguments[1]]);
        let output = command.arg(url).output().expect("curl is there");
        (output.status.success(), String::from_utf8(output.stdout).unwrap())
    };
    let (reached, answer) = curl(&format!("https://localhost:{port}/readyz"));
    assert!(reached, "{answer}");
    let answer = answer.to_lowercase();
    assert!(answer.contains(" 200"), "{answer}");
    assert!(answer.contains("strict-transport-security: max-age=31536000; includesubdomains"), "{answer}");
    let (reached, answer) = curl(&format!("http://localhost:{port}/readyz"));
    assert!(!reached, "{answer}");
    let key = std::fs::read_to_string(data.join("admin.key")).unwrap();
    let url = format!("https://localhost:{port}");
    let ask = |arguments: &[&str], expected: i32| {
        let mut command = timenav();
        ends(command.args(arguments).args(["--url", &url]).env("TIMENAV_API_KEY", key.trim_end()), expected)
    };
    let output = ask(&["verify", "--ca", arguments[1]], 0);
    assert!(output.starts_with("No tampering found"), "{output}");
    let output = ask(&["clock", "now", "--ca", arguments[1]], 0);
    assert!(output.contains("main"), "{output}");
    // A client that forgets the `s` gets a hint.
    let mut plain = timenav();
    plain.args(["clock", "now", "--url", &format!("http://{}", process.address)]).env("TIMENAV_API_KEY", "tnk_x");
    fails(&mut plain, 6, &format!("write https://{}", process.address));
    // Only the file makes it trusted, and an invalid certificate file does not.
    for wrong in [&["clock", "now"][..], &["verify"]] {
        let output = ask(wrong, 6);
        assert!(output.to_lowercase().contains("certificate"), "{output}");
    }
    let output = ask(&["verify", "--ca", arguments[3]], 1);
    assert!(output.contains("contains no PEM certificate"), "{output}");
    process.terminate();
    assert!(process.wait().success());
}

/// A service with its own certificate and folder, and timeouts of one second.
struct Encrypted {
    process: Process,
    cert: String,
    _folder: tempfile::TempDir,
}

impl Encrypted {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let certified = certify(folder.path());
        let mut arguments: Vec<&str> = certified.iter().map(String::as_str).collect();
        arguments.extend(["--handshake-secs", "1", "--connection-idle-secs", "1"]);
        let (data, log) = (folder.path().join("data"), folder.path().join("log"));
        let process = Process::start_at("https", &data, &log, &arguments);
        Self { process, cert: certified[1].clone(), _folder: folder }
    }

    /// Returns a client configuration that trusts the certificate and offers these protocols.
    fn client(&self, version: &'static rustls::SupportedProtocolVersion, protocols: &[&str]) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(&self.cert).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_protocol_versions(&[version]).unwrap();
        let mut config = config.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        config
    }

    /// Performs a handshake, and sends a request if it is HTTP/1.
    fn shake(&self, client: &Arc<ClientConfig>, name: &str) -> Result<ClientConnection, String> {
        let name = name.to_owned().try_into().unwrap();
        let connection = ClientConnection::new(Arc::clone(client), name).unwrap();
        let mut stream = StreamOwned::new(connection, TcpStream::connect(self.process.address).unwrap());
        let ask = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        stream.write_all(ask).map_err(|error| error.to_string())?;
        // Session tickets come with the response, if there is one.
        let _ = stream.read_to_end(&mut Vec::new());
        Ok(stream.conn)
    }
}

#[test]
fn unfinished_tls_handshake_is_closed() {
    let service = Encrypted::start();
    let record = |length: u16, bytes: &[u8]| [&[0x16, 3, 1][..], &length.to_be_bytes(), bytes].concat();
    let cases: [(&str, Vec<u8>); 9] = [
        ("nothing", Vec::new()),
        ("a byte", vec![0x16]),
        ("the head of a record", record(200, &[])),
        ("half a hello", record(200, &[1, 0, 0, 196, 3, 3])),
        ("a hello of 16 MB", record(16_384, &[&[1, 255, 255, 255], &[0; 16_380][..]].concat())),
        ("a record that is too long", record(65_535, &[])),
        ("bytes that are nothing", vec![0xa5; 300]),
        ("a request that is not encrypted", b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n".to_vec()),
        ("HTTP/2 that is not encrypted", crate::support::frames::PREFACE.to_vec()),
    ];
    let opened = cases.map(|(name, bytes)| {
        let mut connection = Connection::open(service.process.address).unwrap();
        connection.send(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        (name, connection)
    });
    for (name, mut connection) in opened {
        let output = connection.read_to_end().unwrap_or_else(|error| panic!("{name}: {error}"));
        // At most a fatal alert.
        assert!(output.is_empty() || output.starts_with(&[0x15, 3]) && output[5] == 2, "{name}: {output:?}");
    }
    // A connection closed after the handshake for silence is not a failed handshake either.
    let client = Arc::new(service.client(&TLS13, &["h2"]));
    let connection = ClientConnection::new(client, "localhost".try_into().unwrap()).unwrap();
    let mut stream = StreamOwned::new(connection, TcpStream::connect(service.process.address).unwrap());
    while stream.conn.is_handshaking() {
        stream.conn.complete_io(&mut stream.sock).unwrap();
    }
    let _ = stream.read_to_end(&mut Vec::new());
}

#[test]
fn obsolete_tls_versions_are_rejected() {
    let service = Encrypted::start();
    for (version, speaks) in [([3, 0], false), ([3, 1], false), ([3, 2], false), ([3, 3], true)] {
        // Cipher suites that each version may have, and the curves and signatures for TLS 1.2.
        let suites = [0xc0, 0x2b, 0xc0, 0x2f, 0xc0, 0x09, 0xc0, 0x13, 0, 0x2f];
        let extensions = [0, 10, 0, 4, 0, 2, 0, 23, 0, 13, 0, 4, 0, 2, 4, 3];
        let mut body = [&version[..], &[7; 32], &[0, 0, 10], &suites, &[1, 0]].concat();
        body.extend_from_slice(&[&[0, 16], &extensions[..]].concat());
        let length = u8::try_from(body.len()).unwrap();
        let hello = [&[0x16, 3, 1, 0, length + 4, 1, 0, 0, length], &body[..]].concat();
        let mut connection = Connection::open(service.process.address).unwrap();
        connection.send(&hello).unwrap();
        let output = connection.read_to_end().unwrap();
        // A hello is a handshake record, a rejection a fatal alert.
        assert_eq!(output[0] == 0x16, speaks, "{version:?}: {output:?}");
        assert!(speaks || (output[0] == 0x15 && output[5] == 2), "{version:?}: {output:?}");
    }
}

#[test]
fn alpn_negotiates_protocol_and_tls_sessions_resume() {
    let service = Encrypted::start();
    for version in [&TLS12, &TLS13] {
        for (offered, expected) in [
            (&["h2", "http/1.1"][..], Ok(Some("h2"))),
            (&["http/1.1"], Ok(Some("http/1.1"))),
            (&[], Ok(None)),
            (&["http/1.0"], Err(())),
        ] {
            let client = Arc::new(service.client(version, offered));
            let agreed = service.shake(&client, "localhost").map_err(|_| ());
            let agreed = agreed.map(|connection| connection.alpn_protocol().map(<[u8]>::to_vec));
            assert_eq!(agreed, expected.map(|name| name.map(|name: &str| name.as_bytes().to_vec())), "{offered:?}");
        }
        // The second connection resumes the session, and sends nothing before the handshake ends.
        let client = Arc::new(service.client(version, &["http/1.1"]));
        let kinds = [0, 1].map(|_| service.shake(&client, "localhost").unwrap().handshake_kind());
        assert_eq!(kinds, [Some(HandshakeKind::Full), Some(HandshakeKind::Resumed)], "{version:?}");
        let mut eager = service.client(version, &["http/1.1"]);
        eager.enable_early_data = true;
        let eager = Arc::new(eager);
        service.shake(&eager, "localhost").unwrap();
        let mut again = ClientConnection::new(Arc::clone(&eager), "localhost".try_into().unwrap()).unwrap();
        assert!(again.early_data().is_none(), "{version:?}");
        // The certificate has a different name, whatever the client requested.
        let refused = service.shake(&client, "other.test").unwrap_err();
        assert!(refused.contains("not valid for name"), "{refused}");
    }
}
