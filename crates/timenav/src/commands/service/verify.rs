mod bundle;
mod findings;
mod contents;
pub(in crate::commands) mod files;
mod scan_bar;
mod service;
mod tlog_proof;
mod witnessed;

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use reqwest::Url;
use serde_json::{Value, json};
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{Checkpoint, NOTE_BYTES_MAX, Note, TlogProof, TrustedKeys, VerifierKey, WitnessKey, origin};
use timenav_core::scan::{Depth, Finding, FindingKind};
use timenav_engine::{Checked, Scan};

use self::scan_bar::ScanBar;
use crate::client::service_url;
use crate::commands::arguments::timeline_id;
use crate::config::StoreUrl;
use crate::exit::Failure;
use crate::output::{self, Unshown};
use crate::wiring::surroundings::Surroundings;

/// The command that prints the public key of a ledger.
pub(in crate::commands) const VERIFIER_KEY_COMMAND: &str =
    "timenav api GET /timeline/TIMELINE_ID/checkpoint -H 'Accept: application/json'";
const WITNESSED_FILE_BYTES_MAX: u64 = 4 << 20;

/// Verifies that ledgers match what was signed, from the files of a service or through the service.
///
/// With files, it needs no running service and no secret, and changes nothing. Pass the public key that you trust with
/// `--key`. The default is the key next to the database, which an intruder could have replaced.
///
/// A checkpoint that you kept shows if an older copy was restored, or if history was rewritten and signed again. The
/// files alone cannot show this.
///
/// With a FILE, it verifies a bundle (`timenav timeline export`) or a proof (`timenav proof`) offline.
#[derive(Debug, clap::Args)]
pub(crate) struct VerifyCommand {
    /// A bundle or proof to verify instead of a service or its files.
    #[arg(value_name = "FILE", requires = "verifier_key",
        conflicts_with_all = ["data", "checkpoints", "checkpoint", "url", "timeline", "depth", "key"])]
    bundle: Option<PathBuf>,
    /// The public key of the file's ledger, as `<name>+<id>+<base64>`: the `verifier_key` from `timenav api GET
    /// /timeline/TIMELINE_ID/checkpoint -H 'Accept: application/json'`.
    #[arg(long, value_name = "KEY", requires = "bundle", value_parser = verifier_key)]
    verifier_key: Option<VerifierKey>,
    /// The proof that the given key was replaced, from `rotate-signing-key --save`. Repeat it for each rotation.
    #[arg(long, value_name = "FILE", requires = "bundle")]
    rotation: Vec<PathBuf>,
    /// The key of a trusted witness, as `timenav witness` prints it. Repeatable. It must have cosigned the proof or the
    /// `--checkpoint`.
    #[arg(long, value_name = "KEY", value_parser = witness_key)]
    witness: Vec<WitnessKey>,
    /// The number of witnesses that must have cosigned. [default: all]
    #[arg(long, value_name = "COUNT", requires = "witness")]
    witness_quorum: Option<NonZeroUsize>,
    /// The data folder. [default: ./timenav-data]
    #[arg(long, value_name = "DIR", conflicts_with = "url")]
    data: Option<PathBuf>,
    /// The checkpoint folder. Defaults to the data folder.
    #[arg(long, value_name = "DIR", conflicts_with = "url")]
    checkpoints: Option<PathBuf>,
    /// The PostgreSQL database to read instead of a file.
    #[arg(long, env = "TIMENAV_STORE", value_name = "URL", hide_env_values = true)]
    store: Option<StoreUrl>,
    /// A file with the URL for `--store`.
    #[arg(long, env = "TIMENAV_STORE_FILE", value_name = "FILE")]
    store_file: Option<PathBuf>,
    /// Let the service at this URL scan, and verify its response, instead of reading files.
    #[arg(long, value_name = "URL", value_parser = service_url)]
    url: Option<Url>,
    /// Trust only the certificate authority in this file (PEM).
    #[arg(long, env = "TIMENAV_CA", value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Read every entry from the service, and compare it with what was signed.
    #[arg(long, requires = "url")]
    contents: bool,
    /// The timeline. Defaults to all timelines with files, and to `main` with a service.
    #[arg(long, value_name = "TIMELINE_ID", value_parser = timeline_id)]
    timeline: Option<TimelineId>,
    /// How much to read: `full`, `quick`, `tail:<n>` or `sample:<n>`.
    #[arg(long, value_name = "DEPTH", default_value = "full")]
    depth: Depth,
    /// A signed checkpoint that you kept. The ledger must contain it.
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// The trusted public key, as `<name>+<id>+<base64>` (C2SP signed-note).
    ///
    /// After a rotation, pass the current key first, then each retired key, for an older `--checkpoint`.
    #[arg(long, value_name = "FILE")]
    key: Vec<PathBuf>,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

struct Trusted {
    /// The keys in the files, regardless of the ledger they are named after: the current one first, then retired ones.
    keys: Vec<VerifierKey>,
    user_checkpoint: Option<UserCheckpoint>,
}

/// A checkpoint kept by the user.
pub(in crate::commands) struct UserCheckpoint {
    timeline: TimelineId,
    note: String,
}

pub(crate) fn run(command: &VerifyCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    if let (Some(path), Some(key)) = (&command.bundle, &command.verifier_key) {
        return verify_file(path, key, command);
    }
    let trusted = Trusted::read(command)?;
    let verified = match command.url.clone() {
        Some(url) => service::verify(command, url, &trusted, surroundings)?,
        None => files::verify(command, &trusted)?,
    };
    let mut unshown = Unshown::default();
    unshown.after(show(&verified, command.json));
    let is_unknown = |scan: &Scan| scan.findings.iter().any(|finding| finding.kind == FindingKind::UnknownKey);
    if verified.iter().any(is_unknown) {
        output::note(
            "note: if the key was rotated, give the current one with the first --key, and each retired one with \
             another --key",
        );
    }
    let findings: u64 = verified.iter().map(|scan| scan.findings.len() as u64 + scan.findings_omitted).sum();
    if findings == 0 { unshown.end() } else { Err(Failure::Tampered(findings)) }
}

fn verify_file(path: &Path, key: &VerifierKey, command: &VerifyCommand) -> Result<(), Failure> {
    let named = || format!("{} cannot be read", path.display());
    let mut file = BufReader::new(File::open(path).with_context(named)?);
    let begin = file.fill_buf().with_context(named)?;
    if TlogProof::begins(begin) {
        if !(command.rotation.is_empty() && command.witness.is_empty()) {
            let detail = "this proof is verified by --verifier-key alone: leave out --rotation and --witness";
            return Err(anyhow!(detail).into());
        }
        let mut bytes = Vec::new();
        file.take(NOTE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).with_context(named)?;
        return tlog_proof::verify(&bytes, key, command.json);
    }
    // A bundle is recognized by its first line.
    if !witnessed::begins(begin) {
        return bundle::verify(path, key.clone(), &command.rotation, command.json);
    }
    if !command.rotation.is_empty() {
        let detail = "--rotation is for bundles: for a proof, give the key that signed it with --verifier-key";
        return Err(anyhow!(detail).into());
    }
    let mut text = String::new();
    let read = file.take(WITNESSED_FILE_BYTES_MAX + 1).read_to_string(&mut text).with_context(named)?;
    if read as u64 > WITNESSED_FILE_BYTES_MAX {
        return Err(anyhow!("{} is larger than any proof", path.display()).into());
    }
    if command.witness.is_empty() {
        return Err(anyhow!("give the keys of witnesses that you trust with --witness; without them the proof shows no more than an ordinary one").into());
    }
    witnessed::verify(&text, key, (&command.witness, command.quorum()?), command.json)
}

/// Shows the outcome of verifying a file of the ledger `origin`: `failed` and the fault if it does not verify.
fn show_file<T>(
    checked: &Result<T, String>,
    (origin, failed): (&str, &str),
    as_json: bool,
    (to_json, to_text): (impl Fn(&T) -> Value, impl Fn(&T) -> String),
) -> Result<(), Failure> {
    let text = match checked {
        Ok(checked) if as_json => output::pretty(&to_json(checked).to_string()),
        Ok(checked) => to_text(checked),
        Err(wrong) if as_json => {
            output::pretty(&json!({ "origin": origin, "verifies": false, "wrong": wrong }).to_string())
        }
        Err(wrong) => format!("{failed}\n  {}\n", output::printable(wrong)),
    };
    let mut unshown = Unshown::default();
    unshown.after(output::write(&text));
    if checked.is_ok() { unshown.end() } else { Err(Failure::Tampered(1)) }
}

/// Returns a line for each thing that was not verified.
fn not_checked_text(not_checked: &[&str]) -> String {
    not_checked.iter().fold(String::new(), |text, what| text + "  not checked: " + what + "\n")
}

impl VerifyCommand {
    /// Returns how many of the given witnesses must have cosigned.
    fn quorum(&self) -> anyhow::Result<usize> {
        let (given, quorum) = (self.witness.len(), self.witness_quorum.map_or(self.witness.len(), NonZeroUsize::get));
        if quorum > given {
            bail!("--witness-quorum is {quorum}, but there are {given} witnesses");
        }
        Ok(quorum)
    }
}

impl Trusted {
    fn read(command: &VerifyCommand) -> anyhow::Result<Self> {
        let keys = command.key.iter().map(|file| read_key(file)).collect::<anyhow::Result<Vec<_>>>()?;
        if let Some(current) = keys.first()
            && let Some(other) = keys.iter().find(|key| service_name(key.name()) != service_name(current.name()))
        {
            bail!("the keys belong to two services, `{}` and `{}`", current.name(), other.name());
        }
        let user_checkpoint = command.checkpoint.as_deref().map(read_checkpoint).transpose()?;
        if !command.witness.is_empty() {
            let user_checkpoint = user_checkpoint
                .as_ref()
                .context("--witness needs a witnessed proof, or the --checkpoint that was cosigned")?;
            witnessed::cosigned(&user_checkpoint.note, &command.witness, command.quorum()?)
                .context("the checkpoint")?;
        }
        if let (Some(timeline), Some(user_checkpoint)) = (&command.timeline, &user_checkpoint)
            && *timeline != user_checkpoint.timeline
        {
            bail!("the checkpoint is for the timeline `{}`, not `{timeline}`", user_checkpoint.timeline);
        }
        Ok(Self { keys, user_checkpoint })
    }

    fn user_checkpoint(&self, timeline: &TimelineId) -> Option<&UserCheckpoint> {
        self.user_checkpoint.as_ref().filter(|user_checkpoint| user_checkpoint.timeline == *timeline)
    }
}

/// One key pair signs all ledgers of a service, each under its own name. The current key is first.
fn keys_of(service_name: &str, timeline: &TimelineId, public_keys: &[[u8; 32]]) -> anyhow::Result<TrustedKeys> {
    let name = origin(service_name, timeline.as_str());
    let mut keys = public_keys.iter().map(|public_key| VerifierKey::new(&name, *public_key));
    let current = keys.next().context("there is no key")??;
    Ok(TrustedKeys { current, retired: keys.collect::<Result<_, _>>()? })
}

/// Returns the service part of a ledger name, or the whole name if it has no timeline.
fn service_name(name: &str) -> &str {
    name.rsplit_once('/').map_or(name, |(service, _)| service)
}

fn verifier_key(text: &str) -> Result<VerifierKey, String> {
    VerifierKey::parse(text).map_err(|error| error.to_string())
}

fn witness_key(text: &str) -> Result<WitnessKey, String> {
    WitnessKey::parse(text).map_err(|error| error.to_string())
}

pub(in crate::commands) fn read_key(path: &Path) -> anyhow::Result<VerifierKey> {
    let text = std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
    VerifierKey::parse(text.trim()).with_context(|| format!("{} is not a public key", path.display()))
}

fn read_checkpoint(path: &Path) -> anyhow::Result<UserCheckpoint> {
    let note = std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let named = || format!("{} is not a signed checkpoint", path.display());
    let parsed = Note::parse(note.as_bytes()).with_context(named)?;
    let checkpoint = Checkpoint::parse(parsed.text()).with_context(named)?;
    let (_, timeline) = checkpoint.origin.rsplit_once('/').with_context(named)?;
    Ok(UserCheckpoint { timeline: TimelineId::new(timeline).with_context(named)?, note })
}

fn show(verified: &[Scan], as_json: bool) -> Result<(), Failure> {
    let text: String = if as_json {
        let all: Vec<Value> = verified.iter().map(scan_json).collect();
        output::pretty(&json!({ "timelines": all }).to_string())
    } else {
        verified.iter().map(scan_text).collect()
    };
    output::write(&text)
}

fn scan_text(scan: &Scan) -> String {
    let mut text = output::printable(&scan.details) + "\n";
    for finding in &scan.findings {
        let Finding { kind, position, evidence, .. } = finding;
        let at = position.map_or_else(String::new, |position| format!(" at {position}"));
        let _ = writeln!(text, "  {kind}{at}: {}", output::printable(evidence));
    }
    if scan.findings_omitted > 0 {
        let _ = writeln!(text, "  and {} more", scan.findings_omitted);
    }
    let checked = scan.checked.iter().filter(|checked| checked.count > 0);
    let checked: Vec<String> = checked.map(|checked| counted(checked.count, checked.what)).collect();
    let _ = writeln!(text, "  checked: {}", checked.join(", "));
    for sentence in &scan.not_checked {
        let _ = writeln!(text, "  not checked: {}", output::printable(sentence));
    }
    text
}

/// Returns the count and a name, which is a plural, in the singular for one.
fn counted(count: u64, plural: &str) -> String {
    let Some((stem, rest)) = plural.split_once("s ").or_else(|| Some((plural.strip_suffix('s')?, ""))) else {
        return format!("{count} {plural}");
    };
    match stem.strip_suffix("ie") {
        _ if count != 1 => format!("{count} {plural}"),
        Some(stem) => format!("1 {stem}y {rest}").trim_end().to_owned(),
        None => format!("1 {stem} {rest}").trim_end().to_owned(),
    }
}

fn scan_json(scan: &Scan) -> Value {
    let finding = |finding: &Finding| {
        json!({
            "kind": finding.kind.as_str(),
            "position": finding.position,
            "last_good_checkpoint": finding.last_good_checkpoint,
            "evidence": finding.evidence,
        })
    };
    let checked = |checked: &Checked| json!({ "what": checked.what, "count": checked.count });
    // Callers who may not read an entry cannot see what is missing from it.
    let pruned = scan.checked.iter().filter(|checked| matches!(checked.what, "pruned" | contents::PRUNED_SEEN));
    json!({
        "timeline_id": scan.timeline_id.as_str(),
        "scan_depth": scan.depth.to_string(),
        "tampering_detected": scan.tampering_detected(),
        "details": scan.details,
        "findings": scan.findings.iter().map(finding).collect::<Vec<_>>(),
        "findings_omitted": scan.findings_omitted,
        "checked": scan.checked.iter().map(checked).collect::<Vec<_>>(),
        "pruned": pruned.map(|checked| checked.count).max(),
        "not_checked": scan.not_checked,
        "checkpoint": scan.checkpoint,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_items_are_named_in_the_singular() {
        let counts = [(0, "entries"), (2, "entries"), (1, "entries"), (1, "head statements"), (1, "pruned")];
        let texts = counts.map(|(count, plural)| counted(count, plural));
        assert_eq!(texts, ["0 entries", "2 entries", "1 entry", "1 head statement", "1 pruned"]);
        assert_eq!(counted(1, "payloads from the service"), "1 payload from the service");
    }
}
