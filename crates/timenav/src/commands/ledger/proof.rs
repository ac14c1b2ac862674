use std::path::PathBuf;

use anyhow::{Context as _, bail};
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{Checkpoint, Note, TlogProof, leaf_hash, verify_inclusion};

use crate::client::{Client, ServiceOptions};
use crate::commands::arguments::timeline_id;
use crate::exit::Failure;
use crate::output;
use crate::wiring::surroundings::Surroundings;

/// Fetches a proof that an entry is in a ledger, as a file for offline verification (C2SP tlog-proof).
///
/// Its hashes are checked before it is printed or saved. `timenav verify FILE --verifier-key KEY` checks its signature.
#[derive(Debug, clap::Args)]
pub(crate) struct ProofCommand {
    /// The position of the entry: `ledger.position` in the response to a change.
    #[arg(long, value_name = "N")]
    position: u64,
    /// The timeline.
    #[arg(long, env = "TIMENAV_TIMELINE", value_name = "TIMELINE_ID", default_value = "main",
        value_parser = timeline_id)]
    timeline: TimelineId,
    /// Use a checkpoint that witnesses have cosigned. Verify it with `timenav verify FILE --witness KEY`.
    #[arg(long)]
    witnessed: bool,
    /// The file, usually named `….tlog-proof`. Defaults to standard output.
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    #[command(flatten)]
    service: ServiceOptions,
}

pub(crate) fn run(command: &ProofCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let client = Client::new(&command.service, surroundings)?;
    let path = ["timeline", command.timeline.as_str(), "proof"];
    let mut query = vec![("position", command.position.to_string())];
    if command.witnessed {
        query.push(("witnessed", "true".to_owned()));
    }
    let text = if client.format().is_json() || command.witnessed {
        output::pretty(&client.get(&path, &query)?.text)
    } else {
        query.push(("format", "tlog-proof".to_owned()));
        let text = client.get_text(&path, &query)?;
        check(&text, command.position).context("the service's response proves nothing")?;
        text
    };
    let Some(file) = &command.save else { return output::write(&text) };
    std::fs::write(file, text).with_context(|| format!("{} cannot be written", file.display()))?;
    Ok(())
}

/// Checks the proof as far as possible without a key.
fn check(text: &str, position: u64) -> anyhow::Result<()> {
    let proof = TlogProof::parse(text.as_bytes())?;
    if proof.index != position {
        bail!("it is for entry {}", proof.index);
    }
    let note = Note::parse(proof.checkpoint.as_bytes())?;
    let checkpoint = Checkpoint::parse(note.text())?;
    let leaf = leaf_hash(&proof.extra);
    Ok(verify_inclusion(proof.index, checkpoint.size, &leaf, &proof.hashes, &checkpoint.root)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example in `docs/specs/ledger.md`.
    const NOTE: &str = "timenav.example/apollo-11\n5\nCr2bEKnVTMF5Ruaei+bpATDBUPzMmByQTrQCAFIw0XU=\n\n\
        — timenav.example/apollo-11 w0dtFY98xCg/jvXzey/qGY7dYPmJpPSIdwp5r9mxfODO1xA0BMzyPsETScNXQb1Q7zV3kewrTPDa+JUfTJxOU/7kBwc=\n";
    const ENTRY: &str = "{\"action\":\"record-event\",\"actor\":\"user:ada\",\"clock_time\":\"1969-07-20T20:17:40.750001Z\",\
        \"payload_hash\":\"28a19954faad5a741825ca1d8c66c71ac925b1f5032d7cfa466e96984b69246e\",\
        \"recorded_at\":\"2026-11-20T08:00:02.000001Z\",\"seq\":2,\"subject\":\"event:eagle\",\"timeline_id\":\"apollo-11\",\"v\":1}";
    const HASHES: [&str; 3] = [
        "CA4TAPG+upi8/CbnykRpuxePnBXXi+EG6r6RlxF0p+c=",
        "/lOrvIe+R3ylkyhzDrKKQ+cewFzkBH5so2LXQVdUPBk=",
        "ntcbrAa6oWB565a8EXUcNgfbAWj0zFVkkfL+GT3xpz0=",
    ];

    fn text(entry: &str, index: u64) -> String {
        let hashes = HASHES.iter().map(|text| timenav_core::ledger::Hash::from_base64(text).unwrap()).collect();
        TlogProof { extra: entry.as_bytes().to_vec(), index, hashes, checkpoint: NOTE.to_owned() }.to_text()
    }

    #[test]
    fn only_a_valid_proof_of_the_entry_is_accepted() {
        check(&text(ENTRY, 2), 2).unwrap();
        for (file, position) in [
            (text(ENTRY, 2), 3),
            (text(ENTRY, 3), 3),
            (text(&ENTRY.replace("ada", "bob"), 2), 2),
            (text(ENTRY, 2).replace("Cr2bE", "Cr3bE"), 2),
            ("{}".to_owned(), 2),
        ] {
            check(&file, position).unwrap_err();
        }
    }
}
