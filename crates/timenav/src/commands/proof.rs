//! `timenav proof`: fetches the proof of one entry, or of growth, to be kept.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use data_encoding::BASE64;
use serde_json::Value;
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{
    Checkpoint, ConsistencyReceipt, Hash, Note, Receipt, TlogProof, leaf_hash, verify_inclusion,
};

use super::arguments::timeline_id;
use crate::client::{Client, ServiceOptions};
use crate::exit::Failure;
use crate::output;
use crate::surroundings::Surroundings;

/// What is said where hashes lead to another root.
const PROVES_NOTHING: &str = "the service's response proves nothing";

/// Fetches the proof that an entry is in a ledger, or that the ledger only grew, as a file that anybody can verify
/// offline.
///
/// The file (C2SP tlog-proof) holds the entry, the hashes, and the signed checkpoint they lead to; as `cose`, it is a
/// receipt (RFC 9942) with the entry in it. The hashes are checked before anything is printed or saved. The signature
/// is not: verify the file with the public key of the ledger.
///
/// With --from instead of --position, it is a receipt that the ledger continues an earlier state of itself.
#[derive(Debug, clap::Args)]
pub(crate) struct ProofCommand {
    /// The position of the entry, counted from 0; `ledger.position` in the answer to a change.
    #[arg(long, value_name = "N", required_unless_present = "from")]
    position: Option<u64>,
    /// The size of a checkpoint that you kept, to prove that the ledger continues it. Needs --format cose.
    #[arg(long, value_name = "SIZE", requires = "form", conflicts_with_all = ["position", "witnessed"])]
    from: Option<u64>,
    /// The timeline.
    #[arg(long, env = "TIMENAV_TIMELINE", value_name = "TIMELINE_ID", default_value = "main",
        value_parser = timeline_id)]
    timeline: TimelineId,
    /// Prove it by a checkpoint that witnesses have cosigned, in JSON: `timenav verify FILE --witness KEY` verifies it.
    #[arg(long)]
    witnessed: bool,
    /// What to save: a `tlog-proof`, which is text, or a `cose` receipt: `timenav verify FILE --verifier-key KEY` verifies
    /// it, and so does whatever knows COSE receipts. [default: tlog-proof]
    #[arg(long = "format", value_enum, value_name = "FORMAT", conflicts_with = "witnessed")]
    form: Option<ProofForm>,
    /// Where to save it, usually under a name that ends in `.tlog-proof` or `.cose`. Printed by default, unless it is a
    /// receipt.
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    #[command(flatten)]
    service: ServiceOptions,
}

/// How a proof is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ProofForm {
    TlogProof,
    Cose,
}

/// What is proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proven {
    /// That there is an entry, at a position.
    Entry(u64),
    /// That the ledger continues the one of a size.
    Growth(u64),
}

/// Fetches a proof.
///
/// # Errors
/// The service does not answer, says no, or answers with what proves nothing.
pub(crate) fn run(command: &ProofCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    if command.form == Some(ProofForm::Cose) {
        return fetch_receipt(command, surroundings);
    }
    let Proven::Entry(position) = command.proven() else {
        return Err(anyhow::anyhow!("a tlog-proof is for one entry: with --from, use --format cose").into());
    };
    let client = Client::new(&command.service, surroundings)?;
    let path = command.path();
    let mut query = vec![("position", position.to_string())];
    if command.witnessed {
        query.push(("witnessed", "true".to_owned()));
    }
    let text = if client.format().is_json() || command.witnessed {
        output::pretty(&client.get(&path, &query)?.text)
    } else {
        query.push(("format", "tlog-proof".to_owned()));
        let text = client.get_text(&path, &query)?;
        check(&text, position).context(PROVES_NOTHING)?;
        text
    };
    let Some(file) = &command.save else { return output::write(&text) };
    save(file, text.as_bytes())
}

impl ProofCommand {
    fn proven(&self) -> Proven {
        // One of the two is there: the parser asks for it.
        self.from.map_or_else(|| Proven::Entry(self.position.unwrap_or_default()), Proven::Growth)
    }

    fn path(&self) -> [&str; 3] {
        ["timeline", self.timeline.as_str(), "proof"]
    }
}

/// Fetches a receipt. It is not text, so it is saved, unless the whole answer is asked for as JSON.
fn fetch_receipt(command: &ProofCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let client = Client::new(&command.service, surroundings)?;
    let as_json = client.format().is_json();
    if command.save.is_none() && !as_json {
        let detail = "a COSE receipt is not text: say with --save FILE where to save it, or use --json";
        return Err(anyhow::anyhow!(detail).into());
    }
    let asked = match command.proven() {
        Proven::Entry(position) => ("position", position.to_string()),
        Proven::Growth(from) => ("from", from.to_string()),
    };
    let answer = client.get(&command.path(), &[asked, ("format", "cose".to_owned())])?;
    let receipt = check_receipt(&answer.value, command.proven()).context(PROVES_NOTHING)?;
    match &command.save {
        Some(file) if !as_json => save(file, &receipt),
        Some(file) => save(file, output::pretty(&answer.text).as_bytes()),
        None => output::write(&output::pretty(&answer.text)),
    }
}

fn save(file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(file, bytes).with_context(|| format!("{} cannot be written", file.display()))?;
    Ok(())
}

/// Returns the receipt in an answer, if it is of what is to be proven and its hashes lead to the root in the answer.
fn check_receipt(answer: &Value, proven: Proven) -> anyhow::Result<Vec<u8>> {
    let text = |name: &str| answer[name].as_str().with_context(|| format!("there is no `{name}` in it"));
    let bytes = BASE64.decode(text("receipt")?.as_bytes())?;
    let root = Hash::from_hex(text("root")?).context("its root is not 64 hexadecimal digits")?;
    match proven {
        Proven::Entry(position) => {
            let receipt = Receipt::parse(&bytes)?;
            if receipt.index != position {
                bail!("it is for entry {}", receipt.index);
            }
            verify_inclusion(receipt.index, receipt.size, &leaf_hash(&receipt.leaf), &receipt.hashes, &root)?;
        }
        Proven::Growth(from) => {
            let receipt = ConsistencyReceipt::parse(&bytes)?;
            if receipt.from != from {
                bail!("it starts from {} entries", receipt.from);
            }
            if receipt.root()? != root {
                bail!("its hashes lead to another root than the answer names");
            }
        }
    }
    Ok(bytes)
}

/// Checks that a file proves what it is to prove, as far as that goes without a key.
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

    /// The example in `docs/ledger-format.md`.
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
    fn only_what_proves_the_entry_is_taken() {
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
