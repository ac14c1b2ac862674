use anyhow::Context as _;
use serde_json::json;

use super::Verdict;
use super::attacker::{Target, ask, fetch};
use crate::http::Connection;
use crate::load::count;
use crate::measure::setting::Setting;
use crate::service::block_on;

const GUESSES: usize = 140;
/// Guesses that are compared without a delay: `decrypt_free_attempts_max`.
const COMPARED_MOST: f64 = 5.0;

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Verdict>> {
    let target = Target::start(setting, "guesses", &[])?;
    let compared = block_on(async {
        let mut connection = Connection::open(target.address()).await?;
        let sealed = json!({ "timeline_id": "main", "data": { "a": 1 }, "encryption_key": "correct horse battery" });
        let made = ask(&mut connection, target.admin(), "POST", "/v1/encrypt-data", Some(&sealed)).await?;
        let data_id = made["data_id"].as_str().context("the answer names no record")?;
        let guess = |number: usize| {
            json!({ "data_id": data_id, "encryption_key": format!("guess number {number}") }).to_string()
        };
        let (address, key) = (target.address(), target.admin());
        let one = async |number: usize| fetch(address, key, "POST", "/v1/decrypt-data", Some(&guess(number))).await;
        let all = futures_util::future::join_all((0..GUESSES).map(one)).await;
        // Status 403 means that the key was compared and is wrong.
        anyhow::Ok(all.into_iter().filter(|answer| matches!(answer, Ok((403, _)))).count())
    })?;
    target.service.stop()?;
    Ok(vec![Verdict::new(format!("guesses compared, of {GUESSES} at once"), count(compared), COMPARED_MOST, "guesses")])
}
