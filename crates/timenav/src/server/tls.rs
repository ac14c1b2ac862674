use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ServerConfig, crypto, version};

use crate::config::TlsFiles;

pub(crate) fn acceptor(files: &TlsFiles) -> anyhow::Result<TlsAcceptor> {
    let config = config(&files.cert, &files.key).with_context(|| {
        let (cert, key) = (files.cert.display(), files.key.display());
        format!("HTTPS cannot be served with the certificate {cert} and the key {key}")
    })?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn config(cert: &Path, key: &Path) -> anyhow::Result<ServerConfig> {
    let chain = CertificateDer::pem_file_iter(cert).context("the certificate cannot be read")?;
    let chain = chain.collect::<Result<Vec<_>, _>>().context("the certificate is not PEM")?;
    let key = PrivateKeyDer::from_pem_file(key).context("the key cannot be read")?;
    // Listed explicitly, so that a library update changes nothing. TLS 1.0 and 1.1 are deprecated (RFC 8996).
    let mut config = ServerConfig::builder_with_provider(Arc::new(crypto::aws_lc_rs::default_provider()))
        .with_protocol_versions(&[&version::TLS13, &version::TLS12])?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}
