//! The witness server, with a log of the test.

use std::io::Write as _;
use std::net::TcpStream;

use data_encoding::{BASE64, HEXLOWER};

use super::Witness;
use super::log::{Log, body, cosigned_at};
use crate::ledger::sha256;
use crate::support::http::Request;
use crate::support::service::{fails, timenav};

fn address(origin: &str) -> String {
    format!("/{}/checkpoint", HEXLOWER.encode(&sha256(&[origin.as_bytes()])))
}

/// Requests a cosignature that succeeds. Returns the cosigned note.
#[track_caller]
fn cosigned(witness: &Witness, log: &Log, old: usize, new: usize) -> String {
    let answer = witness.add_checkpoint(&log.body(old, new));
    assert_eq!(answer.status, 200, "{answer}");
    let note = log.note(new) + &answer.text();
    cosigned_at(&note, &witness.key);
    note
}

#[test]
fn witness_cosigns_and_stores_a_growing_log() {
    let log = Log::new("log.test/system");
    let mut witness = Witness::start(&[&log.key()]);
    let latest = |witness: &Witness| witness.send(&Request::get(&address(log.origin)).anonymous());
    assert_eq!(latest(&witness).status, 404);
    for (old, new) in [(0, 0), (0, 1), (1, 1), (1, 7), (7, 8), (8, 300)] {
        let note = cosigned(&witness, &log, old, new);
        let stored = latest(&witness).text();
        assert!(stored.starts_with(&log.note(new)), "{stored}");
        assert!(cosigned_at(&stored, &witness.key) >= cosigned_at(&note, &witness.key));
    }
    // Shutdown and crash are equivalent.
    witness.kill();
    witness.start_again();
    assert!(latest(&witness).text().starts_with(&log.note(300)));
    cosigned(&witness, &log, 300, 301);
    assert_eq!(witness.send(&Request::get(&address("other")).anonymous()).status, 404);
}

#[test]
fn inconsistent_checkpoints_are_rejected_per_standard() {
    let log = Log::new("log.test/system");
    let (stranger, other) = (Log::new("log.test/stranger"), Log { history: "other", ..Log::new("log.test/system") });
    let witness = Witness::start(&[&log.key()]);
    cosigned(&witness, &log, 0, 20);
    let answer = |status: u16, text: &str| {
        let answer = witness.add_checkpoint(text);
        assert_eq!(answer.status, status, "{text}\n{answer}");
        answer
    };
    // An empty log has the empty root.
    let not_empty = log.note_of(&format!("{}\n0\n{}\n", log.origin, BASE64.encode(&[7; 32])));
    let fresh = Witness::start(&[&log.key()]);
    for wrong in [body(0, &[], &not_empty), body(0, &[[7; 32]], &log.note(20))] {
        assert_eq!(fresh.add_checkpoint(&wrong).status, 422);
    }
    // Replays, a log that starts over, and one that is ahead of the request.
    for old in [0, 1, 19, 21] {
        let conflict = answer(409, &body(old, &[], &log.note(30)));
        assert_eq!((conflict.text().as_str(), conflict.header("content-type")), ("20\n", Some("text/x.tlog.size")));
    }
    assert_eq!(answer(409, &log.body(0, 0)).text(), "20\n", "never size 0 again");
    answer(400, &body(20, &[], &log.note(19)));
    answer(400, "old 20\n");
    answer(400, &body(20, &[], "log.test/system\n20\n"));
    answer(400, &body(20, &[[7; 32]; 64], &log.note(30)));
    answer(404, &stranger.body(0, 20));
    // The right name with another key; the right key with another text.
    answer(403, &body(20, &[], &log.note(20).replace("— log.test/system ", "— log.test/other ")));
    answer(403, &body(20, &[], &log.note(20).replace("\n20\n", "\n21\n")));
    // The same size with another root; growth of another history; an invalid proof.
    answer(422, &body(20, &[], &other.note(20)));
    answer(422, &other.body(20, 30));
    let proof = log.proof(20, 30);
    for at in 0..proof.len() {
        let mut wrong = proof.clone();
        wrong[at][31] ^= 1;
        answer(422, &body(20, &wrong, &log.note(30)));
    }
    answer(422, &body(20, &[], &log.note(30)));
    answer(422, &body(20, &[proof.as_slice(), &[[0; 32]]].concat(), &log.note(30)));
    let reversed: Vec<_> = proof.iter().rev().copied().collect();
    answer(422, &body(20, &reversed, &log.note(30)));
    let too_long = witness.add_checkpoint(&(log.body(20, 30) + &"x".repeat(65_536)));
    assert_eq!(too_long.status, 413);
    // None of it has changed the stored checkpoint, and the evidence of the split view is stored.
    cosigned(&witness, &log, 20, 30);
    let evidence = witness.data().join(format!("{}.evidence", HEXLOWER.encode(&sha256(&[log.origin.as_bytes()]))));
    assert_eq!(std::fs::read_to_string(evidence).unwrap(), body(20, &[], &other.note(20)));
}

#[test]
fn lost_response_can_be_requested_again_after_crash() {
    let log = Log::new("log.test/system");
    let mut witness = Witness::start(&[&log.key()]);
    cosigned(&witness, &log, 0, 7);
    let file = witness.data().join(format!("{}.checkpoint", HEXLOWER.encode(&sha256(&[log.origin.as_bytes()]))));
    // The response is never read. Once the checkpoint is stored, the process is killed.
    let request = log.body(7, 20);
    let mut stream = TcpStream::connect(witness.address).unwrap();
    write!(stream, "POST /add-checkpoint HTTP/1.1\r\nHost: w\r\nContent-Length: {}\r\n\r\n{request}", request.len())
        .unwrap();
    let stored =
        (0..1_000_000).any(|_| std::fs::read_to_string(&file).is_ok_and(|text| text.starts_with(&log.note(20))));
    assert!(stored, "{}", witness.log_text());
    witness.kill();
    witness.start_again();
    let again = witness.add_checkpoint(&request);
    assert_eq!((again.status, again.text().as_str()), (409, "20\n"));
    cosigned(&witness, &log, 20, 20);
    cosigned(&witness, &log, 20, 21);
}

#[test]
fn each_log_has_its_own_keys_and_rate_limit() {
    let (log, other) = (Log::new("log.test/system"), Log::new("log.test/other"));
    let witness = Witness::start(&[&log.key(), &format!("{}=named.test", other.key())]);
    // The origin may differ from the key name.
    let named = other.note_of(&format!("named.test\n0\n{}\n", BASE64.encode(&sha256(&[]))));
    assert_eq!(witness.add_checkpoint(&body(0, &[], &named)).status, 200);
    assert_eq!(witness.add_checkpoint(&other.body(0, 1)).status, 404);
    // Sixty at once and then one a second: some are rejected, and no other log is affected.
    let statuses: Vec<u16> = (0..100).map(|_| witness.add_checkpoint(&log.body(0, 0)).status).collect();
    assert!(statuses[..60].iter().all(|status| *status == 200), "{statuses:?}");
    assert!(statuses.contains(&429), "{statuses:?}");
    assert_eq!(witness.add_checkpoint(&body(0, &[], &named)).status, 200);
}

#[test]
fn witness_folder_is_locked_and_must_be_complete() {
    let log = Log::new("log.test/system");
    let mut witness = Witness::start(&[&log.key()]);
    cosigned(&witness, &log, 0, 7);
    let refused = |witness: &Witness, arguments: &[&str]| {
        let mut command = timenav();
        command.args(["witness", "--listen", "127.0.0.1:0", "--log", &log.key(), "--data"]).arg(witness.data());
        fails(command.args(arguments), 1, "")
    };
    assert!(refused(&witness, &[]).contains("is in use by another timenav process"));
    witness.kill();
    assert!(refused(&witness, &["--name", "other"]).contains("cannot be renamed"));
    let file = witness.data().join(format!("{}.checkpoint", HEXLOWER.encode(&sha256(&[log.origin.as_bytes()]))));
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert!(refused(&witness, &[]).contains("is missing, so the log could roll back cosigned entries"));
    // An older one, or one that this witness has not cosigned.
    std::fs::write(&file, log.note(3)).unwrap();
    assert!(refused(&witness, &[]).contains("was not written by this witness"));
    std::fs::write(&file, text).unwrap();
    let key = witness.data().join("witness.key");
    let secret = std::fs::read_to_string(&key).unwrap();
    std::fs::remove_file(&key).unwrap();
    assert!(refused(&witness, &[]).contains("is missing: put it back"));
    std::fs::write(&key, secret).unwrap();
    witness.start_again();
    cosigned(&witness, &log, 7, 8);
}
