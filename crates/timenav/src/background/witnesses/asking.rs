//! A single request to a witness (C2SP tlog-witness).

use std::time::Duration;

use reqwest::{Client, Method, Response, StatusCode, Url, header};
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{
    AddCheckpoint, COSIGNATURE_AHEAD_SECONDS_MAX, Note, NoteSignature, WitnessKey, cosignatures_in, sha256,
};
use timenav_engine::{Engine, Evidence, Refusal, SignedCheckpoint};

use crate::client::{built, is_this_machine};
use crate::config::WitnessUrl;
use crate::traces::{KeyValue, Spans};
use crate::wiring::ports::verify_signature;

const ANSWER_SECONDS_MAX: Duration = Duration::from_secs(10);
const ANSWER_BYTES_MAX: usize = 64 * 1024;
/// Immediate retries if a witness has a different size than expected.
const TURNS_MAX: usize = 3;
/// Maximum length of a witness's reason in logs, in characters.
const REASON_CHARS_MAX: usize = 200;

pub(super) enum CosignOutcome {
    /// It has cosigned the checkpoint.
    Cosigned { checkpoint: SignedCheckpoint, line: NoteSignature, time: u64 },
    /// It did not respond.
    Unreachable(String),
    /// It rejected the checkpoint for a reason unrelated to the ledger.
    Refused(String),
    /// It has cosigned a larger tree.
    Rollback { detail: String, evidence: Evidence },
    /// It has cosigned a different tree.
    Fork { detail: String, evidence: Evidence },
}

pub(super) struct WitnessClient {
    witness: WitnessUrl,
    http: Client,
    spans: Spans,
}

struct Answer {
    status: StatusCode,
    body: Vec<u8>,
}

impl WitnessClient {
    pub(super) fn new(witness: &WitnessUrl, spans: Spans) -> anyhow::Result<Self> {
        let http = built(&witness.url, || {
            let builder = Client::builder()
                .user_agent(concat!("timenav/", env!("CARGO_PKG_VERSION")))
                .timeout(ANSWER_SECONDS_MAX)
                .redirect(reqwest::redirect::Policy::none());
            if is_this_machine(&witness.url) { builder.no_proxy() } else { builder }
        })?;
        Ok(Self { witness: witness.clone(), http, spans })
    }

    pub(super) const fn key(&self) -> &WitnessKey {
        &self.witness.key
    }

    /// Shows the witness a checkpoint of a timeline, with a proof from the size that it is expected to have cosigned.
    pub(super) async fn ask(
        &self,
        engine: &Engine,
        timeline: &TimelineId,
        (known, tip): (u64, &SignedCheckpoint),
    ) -> CosignOutcome {
        let begun = self.spans.begin(engine.now());
        let outcome = self.ask_on(engine, timeline, (known, tip)).await;
        let attributes = || vec![KeyValue::new("timenav.witness", self.key().name().to_owned())];
        begun.sent("ask witness", attributes, engine.now(), !matches!(outcome, CosignOutcome::Cosigned { .. }));
        outcome
    }

    async fn ask_on(
        &self,
        engine: &Engine,
        timeline: &TimelineId,
        (known, tip): (u64, &SignedCheckpoint),
    ) -> CosignOutcome {
        let (mut old, mut tip) = (known, tip.clone());
        for _ in 0..TURNS_MAX {
            let outcome = match self.submit(engine, timeline, (old, &tip)).await {
                Ok(answer) => answer,
                Err(outcome) => return outcome,
            };
            match outcome.status {
                StatusCode::OK => return self.cosigned(engine, tip, &outcome.body),
                StatusCode::CONFLICT => {
                    let Some(size) = size_in(&outcome.body) else {
                        return CosignOutcome::Refused("it returned 409 without a size".to_owned());
                    };
                    if size > tip.size {
                        // Another service on the same database may have been faster.
                        match reachable(engine, timeline).await {
                            Ok(Some(newer)) => tip = newer,
                            // An ended timeline is not a rollback.
                            Ok(None) => return CosignOutcome::Refused(format!("`{timeline}` no longer exists")),
                            Err(refusal) => return CosignOutcome::Refused(refusal.to_string()),
                        }
                    }
                    if size > tip.size {
                        let detail = format!(
                            "rollback: the witness `{}` has cosigned {size} entries of `{timeline}`, but the ledger \
                             has {} now",
                            self.key().name(),
                            tip.size
                        );
                        return self
                            .with_evidence(engine, timeline, &tip, |evidence| CosignOutcome::Rollback {
                                detail,
                                evidence,
                            })
                            .await;
                    }
                    old = size;
                }
                StatusCode::UNPROCESSABLE_ENTITY => {
                    // The request was consistent with the local ledger, so the witness's tree is not.
                    let detail = format!(
                        "fork: the witness `{}` has cosigned a different history of `{timeline}`, up to {old} entries",
                        self.key().name()
                    );
                    let outcome = |evidence| CosignOutcome::Fork { detail, evidence };
                    return self.with_evidence(engine, timeline, &tip, outcome).await;
                }
                status => return CosignOutcome::Refused(reason(status, &outcome.body)),
            }
        }
        CosignOutcome::Refused("it returns a different size each time".to_owned())
    }

    async fn submit(
        &self,
        engine: &Engine,
        timeline: &TimelineId,
        (old_size, tip): (u64, &SignedCheckpoint),
    ) -> Result<Answer, CosignOutcome> {
        if old_size > tip.size {
            // The cosigned tree is larger than the local one. The witness returns its size.
            return self.post(AddCheckpoint { old_size: 0, hashes: Vec::new(), note: tip.note.clone() }).await;
        }
        let hashes = engine.witness_consistency(timeline, old_size, tip).await;
        let hashes = hashes.map_err(|refusal| CosignOutcome::Refused(format!("it was not contacted: {refusal}")))?;
        self.post(AddCheckpoint { old_size, hashes, note: tip.note.clone() }).await
    }

    async fn post(&self, request: AddCheckpoint) -> Result<Answer, CosignOutcome> {
        self.send(Method::POST, self.witness.below(&["add-checkpoint"]), request.to_text()).await
    }

    async fn send(&self, method: Method, url: Url, body: String) -> Result<Answer, CosignOutcome> {
        let request = self.http.request(method, url).header(header::CONTENT_TYPE, "text/plain; charset=utf-8");
        let read = async {
            let mut response = request.body(body).send().await?;
            let body = read(&mut response).await?;
            Ok::<_, reqwest::Error>(Answer { status: response.status(), body })
        };
        read.await.map_err(|error| CosignOutcome::Unreachable(cause(&error)))
    }

    fn cosigned(&self, engine: &Engine, checkpoint: SignedCheckpoint, body: &[u8]) -> CosignOutcome {
        let key = self.key();
        let unusable =
            |error: &dyn std::fmt::Display| CosignOutcome::Refused(format!("its response cannot be used: {error}"));
        let lines = match cosignatures_in(body) {
            Ok(lines) => lines,
            Err(error) => return unusable(&error),
        };
        // Other lines are from unknown keys.
        let Some(line) = lines.into_iter().find(|line| key.is_of(line)) else {
            return unusable(&"no line is signed by its key");
        };
        let Ok(note) = Note::parse(checkpoint.note.as_bytes()) else { return unusable(&"there is no note") };
        let time = match key.check(note.text(), &line, verify_signature) {
            Ok(time) => time,
            Err(error) => return unusable(&error),
        };
        let now = u64::try_from(engine.now().micros() / 1_000_000).unwrap_or(0);
        if time.abs_diff(now) > COSIGNATURE_AHEAD_SECONDS_MAX {
            return unusable(&format!("its time is {time}, but the local time is {now}, in seconds since 1970"));
        }
        CosignOutcome::Cosigned { checkpoint, line, time }
    }

    /// Downloads the witness's checkpoint as evidence: it must be signed by this service.
    async fn with_evidence(
        &self,
        engine: &Engine,
        timeline: &TimelineId,
        tip: &SignedCheckpoint,
        outcome: impl FnOnce(Evidence) -> CosignOutcome,
    ) -> CosignOutcome {
        let origin = sha256(&[tip.origin.as_bytes()]).to_hex();
        let answer = self.send(Method::GET, self.witness.below(&[&origin, "checkpoint"]), String::new()).await;
        let proof = answer.ok().filter(|answer| answer.status == StatusCode::OK);
        let proof = proof.and_then(|answer| String::from_utf8(answer.body).ok());
        outcome(match &proof {
            Some(note) => engine.judge_evidence(timeline, note).await.unwrap_or(Evidence::None),
            None => Evidence::None,
        })
    }
}

/// Returns the checkpoint of a timeline including what other services have written.
async fn reachable(engine: &Engine, timeline: &TimelineId) -> Result<Option<SignedCheckpoint>, Refusal> {
    engine.catch_up_with(timeline).await?;
    engine.witness_checkpoint(timeline)
}

/// Reads a response body up to a limit. The rest is ignored: no valid response is that long.
async fn read(response: &mut Response) -> Result<Vec<u8>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        body.extend_from_slice(&chunk[..chunk.len().min(ANSWER_BYTES_MAX - body.len())]);
        if body.len() == ANSWER_BYTES_MAX {
            break;
        }
    }
    Ok(body)
}

/// Parses the size in a conflict response: a decimal number and a line end.
fn size_in(body: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(body).ok()?.strip_suffix('\n')?;
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    if is_plain { digits.parse().ok() } else { None }
}

fn reason(status: StatusCode, body: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(body)
        .chars()
        .filter(|c| !crate::output::acts_on_terminal(*c))
        .take(REASON_CHARS_MAX)
        .collect();
    format!("it returned {status}: {text}")
}

fn cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    if error.is_timeout() {
        format!("it did not respond in {} seconds", ANSWER_SECONDS_MAX.as_secs())
    } else {
        cause.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_size_must_be_a_plain_number_line() {
        for (body, expected) in [
            ("0\n", Some(0)),
            ("20852163\n", Some(20_852_163)),
            ("007\n", None),
            ("7", None),
            ("\n", None),
            ("+7\n", None),
            ("7\n\n", None),
            ("18446744073709551616\n", None),
        ] {
            assert_eq!(size_in(body.as_bytes()), expected, "{body:?}");
        }
    }

    #[test]
    fn error_reasons_are_truncated_and_printable() {
        let text = reason(StatusCode::FORBIDDEN, format!("no\u{1b}[31m\n{}", "x".repeat(1_000)).as_bytes());
        assert!(text.starts_with("it returned 403 Forbidden: no[31mxx") && text.len() < 250, "{text}");
    }
}
