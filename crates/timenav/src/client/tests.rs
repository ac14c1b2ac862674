use std::io;

use reqwest::Url;

use super::read_ahead::CHUNK_BYTES;
use super::*;

fn surroundings(key: Option<&str>) -> Surroundings {
    Surroundings { api_key: key.map(str::to_owned), ..Surroundings::default() }
}

fn options(url: Option<&str>, data: Option<&std::path::Path>) -> ServiceOptions {
    let mut options = ServiceOptions::at(Url::parse("http://h").unwrap(), None);
    (options.url, options.data) = (url.map(|url| Url::parse(url).unwrap()), data.map(std::path::Path::to_owned));
    options
}

#[test]
fn environment_key_takes_precedence_over_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("admin.key"), "from-file\n").unwrap();
    let key = |url: &str, key: Option<&str>| {
        target::find(&options(Some(url), Some(folder.path())), &surroundings(key)).unwrap().key.to_string()
    };
    assert_eq!(key("http://127.0.0.1", Some(" from-environment\n")), "from-environment");
    assert_eq!(key("http://time.example", None), "from-file");
}

#[test]
fn local_key_is_not_sent_to_other_machines() {
    let found = target::find(&options(Some("http://time.example"), None), &surroundings(None));
    assert!(matches!(found, Err(Failure::NoKey(_))));
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
fn folder_key_is_sent_only_to_its_running_service() {
    let parent = tempfile::tempdir().unwrap();
    let folder = crate::data_folder::DataFolder::open(parent.path()).unwrap();
    std::fs::write(parent.path().join("admin.key"), "from-file\n").unwrap();
    let find = || target::find(&options(None, Some(parent.path())), &surroundings(None));
    assert!(find().unwrap_err().text().unwrap().contains("it is not running"));
    // Another process may use the port of a service that was killed.
    std::fs::write(parent.path().join("address"), "http://127.0.0.1:9\n").unwrap();
    assert!(find().unwrap_err().text().unwrap().contains("it was killed"));
    let _kept = crate::data_folder::AddressFile::keep(&folder, "http", "127.0.0.1:7".parse().unwrap()).unwrap();
    let found = find().unwrap();
    assert_eq!((found.url.as_str(), found.key.as_str()), ("http://127.0.0.1:7/", "from-file"));
}

#[test]
fn service_address_requires_an_http_scheme() {
    assert!(service_url("http://localhost:8080").is_ok() && service_url("https://example.org").is_ok());
    for wrong in ["localhost:8080", "127.0.0.1:8080", "ftp://example.org", ""] {
        assert!(service_url(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn files_are_read_ahead_completely() {
    let bytes: Vec<u8> = (0..=255).cycle().take(3 * CHUNK_BYTES + 5).collect();
    let mut chunks = read_ahead(io::Cursor::new(bytes.clone()));
    let mut read = Vec::new();
    while let Some(chunk) = chunks.blocking_recv() {
        read.extend(chunk.unwrap());
    }
    assert_eq!(read, bytes);
}
