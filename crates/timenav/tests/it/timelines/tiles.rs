//! `GET /timeline/{timeline_id}/tile/…`: the tree and its entries as read by a monitor.

use serde_json::json;

use super::hex;
use crate::ledger::{leaf_hash, root};
use crate::support::http::{Answer, Request};
use crate::support::service::Service;

fn tile(service: &Service, path: &str) -> Answer {
    service.send(Request::get(&format!("/timeline/main/tile/{path}")))
}

fn bytes(service: &Service, path: &str) -> Vec<u8> {
    let answer = tile(service, path);
    assert_eq!(answer.status, 200, "{path}: {answer}");
    assert_eq!(answer.header("content-type"), Some("application/octet-stream"));
    answer.body
}

fn entries(bundle: &[u8]) -> Vec<Vec<u8>> {
    let (mut entries, mut rest) = (Vec::new(), bundle);
    while let Some((length, after)) = rest.split_first_chunk::<2>() {
        let (entry, later) = after.split_at(usize::from(u16::from_be_bytes(*length)));
        entries.push(entry.to_vec());
        rest = later;
    }
    entries
}

#[test]
fn tree_can_be_built_from_tiles_and_entries() {
    let service = Service::start();
    let line = |number| json!({ "time": "2000-01-01T00:00:00Z", "name": i32::to_string(&number) }).to_string();
    let lines = (0..700).map(line).collect::<Vec<_>>().join("\n");
    let import = Request::post("/v1/import-events").body("application/x-ndjson", lines.as_bytes());
    service.send(import).expect(200);
    let checkpoint =
        service.send(Request::get("/timeline/main/checkpoint").header("Accept", "application/json")).expect(200);
    let size = checkpoint["size"].as_u64().unwrap();
    assert!((700..760).contains(&size), "{size}");
    let partial = size - 512;
    let paths = ["000".to_owned(), "001".to_owned(), format!("002.p/{partial}")];
    let hashes: Vec<u8> = paths.iter().flat_map(|path| bytes(&service, &format!("0/{path}"))).collect();
    let of_tiles: Vec<[u8; 32]> = hashes.chunks(32).map(|hash| hash.try_into().unwrap()).collect();
    let bundles = paths.iter().flat_map(|path| entries(&bytes(&service, &format!("entries/{path}"))));
    let of_entries: Vec<[u8; 32]> = bundles.map(|entry| leaf_hash(&entry)).collect();
    assert_eq!(of_tiles.len() as u64, size);
    assert_eq!(of_tiles, of_entries);
    assert_eq!(hex(&root(&of_tiles)), checkpoint["root"].as_str().unwrap());
    // Each full tile is one hash of the level above.
    let above = bytes(&service, "1/000.p/2");
    assert_eq!(above, [root(&of_tiles[..256]), root(&of_tiles[256..512])].concat());
    service.audit();
}

#[test]
fn missing_or_hidden_tiles_are_not_found() {
    let service = Service::start();
    service.post("/v1/pause-time", &json!({}));
    for path in ["0/000", "0/000.p/200", "0/001", "1/000.p/1", "0/0", "64/000", "entries/000", "entries/001.p/1", "x"] {
        let answer = tile(&service, path);
        assert_eq!(answer.status, 404, "{path}: {answer}");
    }
    assert_eq!(bytes(&service, "0/000.p/1").len(), 32);
    service.send(Request::get("/timeline/nowhere/tile/0/000")).refused(404, "not_found");
    let stranger = service.user("eve");
    service.send(Request::get("/timeline/main/tile/0/000.p/1").key(&stranger)).refused(404, "not_found");
    service.audit();
}
