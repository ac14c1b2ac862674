//! TLS to a real server: its certificate and name are verified before anything is sent.

use std::net::TcpListener;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

use crate::postgres::*;

fn authority(folder: &Path, name: &str) -> (CertifiedIssuer<'static, KeyPair>, PathBuf) {
    let mut of_it = CertificateParams::new(Vec::new()).unwrap();
    // Server certificates refer to their issuer by this name.
    of_it.distinguished_name.push(DnType::CommonName, name);
    of_it.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(of_it, KeyPair::generate().unwrap()).unwrap();
    let file = folder.join(format!("{name}.pem"));
    std::fs::write(&file, issuer.pem()).unwrap();
    (issuer, file)
}

/// Returns a port that nothing listens on.
fn free_port() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string()
}

#[test]
fn server_with_an_invalid_certificate_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let (issuer, root) = authority(folder.path(), "root");
    let (_, other) = authority(folder.path(), "other");
    let key = KeyPair::generate().unwrap();
    // The address is not among its names.
    let certificate = CertificateParams::new(vec!["localhost".to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
    std::fs::write(folder.path().join("server.crt"), certificate.pem()).unwrap();
    std::fs::write(folder.path().join("server.key"), key.serialize_pem()).unwrap();
    let port = free_port();
    let with = [("PG_PORT", port.as_str()), ("PG_TLS", folder.path().to_str().unwrap())];
    let server = Cluster::start_with(&with);
    let url = |host: &str, mode: &str, root: &Path| {
        format!("postgres://timenav@{host}:{port}/postgres?sslmode={mode}&sslrootcert={}", root.display())
    };
    for mode in ["verify-full", "verify-ca", "require", "prefer"] {
        let store = open(&url("localhost", mode, &root)).unwrap();
        let encrypted = "SELECT 1 / count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
            WHERE ssl AND application_name = 'timenav'";
        assert!(try_execute(&server.url, encrypted), "{mode}");
        drop(store);
        let refused = |url: &str| open(url).err().unwrap_or_else(|| panic!("{url}")).to_string();
        let of_another = refused(&url("localhost", mode, &other));
        assert!(of_another.contains("UnknownIssuer"), "{mode}: {of_another}");
        let elsewhere = refused(&url("127.0.0.1", mode, &root));
        assert!(elsewhere.contains("not valid for name"), "{mode}: {elsewhere}");
    }
}

#[test]
fn server_without_tls_is_rejected_if_tls_is_required() {
    let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
    let _server = Cluster::start_with(&[("PG_PORT", &port)]);
    let (_, root) = authority(folder.path(), "root");
    for mode in ["verify-full", "verify-ca", "require"] {
        let (port, root) = (&port, root.display());
        let url = format!("postgres://timenav@localhost:{port}/postgres?sslmode={mode}&sslrootcert={root}");
        let refused = open(&url).err().unwrap_or_else(|| panic!("{mode}")).to_string();
        assert!(refused.contains("TLS"), "{mode}: {refused}");
    }
    open(&format!("postgres://timenav@localhost:{port}/postgres?sslmode=disable")).unwrap();
}
