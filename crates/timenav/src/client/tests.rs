use std::io;

use super::read_ahead::CHUNK_BYTES;
use super::*;

fn surroundings(key: Option<&str>) -> Surroundings {
    Surroundings { api_key: key.map(str::to_owned), config_folder: None }
}

#[test]
fn the_environment_goes_before_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("admin.key"), "from-file\n").unwrap();
    let data = || Some(folder.path().to_owned());
    assert_eq!(find_key(data(), true, &surroundings(Some(" from-environment\n"))).unwrap(), "from-environment");
    assert_eq!(find_key(data(), false, &surroundings(None)).unwrap(), "from-file");
}

#[test]
fn keys_of_this_machine_are_not_sent_away_unasked() {
    assert!(matches!(find_key(None, false, &surroundings(None)), Err(Failure::NoKey(_))));
    for (url, expected) in [
        ("http://localhost:1", true),
        ("http://127.0.0.7", true),
        ("http://[::1]:8080/x", true),
        ("http://localhost.example.org", false),
        ("http://10.0.0.1", false),
    ] {
        assert_eq!(is_this_machine(&Url::parse(url).unwrap()), expected, "{url}");
    }
}

#[test]
fn addresses_of_services_start_with_http() {
    assert!(service_url("http://localhost:8080").is_ok() && service_url("https://example.org").is_ok());
    for wrong in ["localhost:8080", "127.0.0.1:8080", "ftp://example.org", ""] {
        assert!(service_url(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn addresses_keep_a_path_and_escape_ids() {
    let check = |base: &str, expected: &str| {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let base = Url::parse(base).unwrap();
        let client = Client { runtime, http: reqwest::Client::new(), base, json: false };
        assert_eq!(client.url(&["v1", "users", "a/b?"], &[("q", "* &".to_owned())]).as_str(), expected);
    };
    check("http://h:1", "http://h:1/v1/users/a%2Fb%3F?q=*+%26");
    check("http://h:1/time/", "http://h:1/time/v1/users/a%2Fb%3F?q=*+%26");
}

#[test]
fn files_are_read_ahead_to_their_end() {
    let bytes: Vec<u8> = (0..=255).cycle().take(3 * CHUNK_BYTES + 5).collect();
    let mut chunks = read_ahead(io::Cursor::new(bytes.clone()));
    let mut read = Vec::new();
    while let Some(chunk) = chunks.blocking_recv() {
        read.extend(chunk.unwrap());
    }
    assert_eq!(read, bytes);
}

#[test]
fn idempotency_keys_are_version_4_uuids() {
    let key = idempotency_key();
    assert_eq!(key.len(), 36);
    assert_eq!(key.as_bytes()[14], b'4');
    assert!(b"89ab".contains(&key.as_bytes()[19]));
    assert_ne!(key, idempotency_key());
}
