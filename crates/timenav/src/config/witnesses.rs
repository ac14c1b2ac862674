//! Witness settings: which witnesses, for which timelines, and which changes wait for them.

use std::collections::BTreeSet;
use std::str::FromStr;
use std::time::Duration;

use anyhow::bail;
use timenav_core::ids::TimelineId;
use timenav_core::limits::WITNESS_WAIT_SECONDS_DEFAULT;

use super::secs::WitnessSecs;
use super::{ServeOptions, WitnessUrl};

const INTERVAL_SECS_DEFAULT: u32 = 60;
/// Each cosignature is a line of a note; readers accept 64 lines, and one or two are the service's own.
pub(crate) const WITNESSES_MAX: usize = 32;
/// Each such timeline costs one request per witness and interval, and one file.
pub(crate) const WITNESS_TIMELINES_MAX: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WitnessTimeline(TimelineId);

impl FromStr for WitnessTimeline {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let timeline = TimelineId::new(text).map_err(|error| format!("`{text}` is not a timeline id: {error}"))?;
        if timeline.is_system() {
            return Err("witnesses always get `system`; name other timelines, or none".to_owned());
        }
        Ok(Self(timeline))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WitnessSettings {
    pub(crate) witness_urls: Vec<WitnessUrl>,
    /// Timelines shown individually, in addition to `system`.
    pub(crate) timelines: BTreeSet<TimelineId>,
    pub(crate) interval: Duration,
    /// Cosignatures required before a change is answered.
    pub(crate) required: usize,
    /// How long a change waits for them.
    pub(crate) wait: WitnessSecs,
}

impl WitnessSettings {
    /// Fails if there are too many witnesses, equal names, or none although a setting requires some.
    pub(super) fn of(options: &ServeOptions) -> anyhow::Result<Self> {
        let witness_urls = settled(&options.witness)?;
        Ok(Self {
            timelines: timelines(&options.witness_timeline, &witness_urls)?,
            required: required(options.witness_quorum, &witness_urls)?,
            witness_urls,
            interval: options.witness_interval_secs.unwrap_or(WitnessSecs::of(INTERVAL_SECS_DEFAULT)).duration(),
            wait: options.witness_timeout_secs.unwrap_or(WitnessSecs::of(WITNESS_WAIT_SECONDS_DEFAULT)),
        })
    }
}

fn settled(witnesses: &[WitnessUrl]) -> anyhow::Result<Vec<WitnessUrl>> {
    if witnesses.len() > WITNESSES_MAX {
        bail!("there can be at most {WITNESSES_MAX} witnesses, not {}", witnesses.len());
    }
    for (at, one) in witnesses.iter().enumerate() {
        let is_twice =
            |other: &&WitnessUrl| other.key.name() == one.key.name() || other.key.public_key() == one.key.public_key();
        if let Some(other) = witnesses[..at].iter().find(is_twice) {
            bail!(
                "the witnesses `{}` and `{}` have the same name or key; each must have its own",
                other.key.name(),
                one.key.name()
            );
        }
    }
    Ok(witnesses.to_vec())
}

fn timelines(named: &[WitnessTimeline], witness_urls: &[WitnessUrl]) -> anyhow::Result<BTreeSet<TimelineId>> {
    let timelines: BTreeSet<TimelineId> = named.iter().map(|named| named.0.clone()).collect();
    if timelines.len() > WITNESS_TIMELINES_MAX {
        let count = timelines.len();
        bail!("`witness_timeline` can name at most {WITNESS_TIMELINES_MAX} timelines, not {count}");
    }
    if !timelines.is_empty() && witness_urls.is_empty() {
        bail!("`witness_timeline` is for a service that has witnesses: give --witness too");
    }
    Ok(timelines)
}

fn required(count: Option<usize>, witness_urls: &[WitnessUrl]) -> anyhow::Result<usize> {
    let count = count.unwrap_or(0);
    if count > witness_urls.len() {
        let there = witness_urls.len();
        bail!("`witness_quorum` is {count}, but there are {there} witnesses: give --witness once for each of them");
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use timenav_core::ledger::WitnessKey;

    use super::*;

    fn of(number: u8) -> WitnessUrl {
        let key = WitnessKey::new(&format!("w{number}"), [number; 32]).unwrap();
        format!("{key}=http://w{number}.example").parse().unwrap()
    }

    #[test]
    fn witness_flags_replace_the_file_and_duplicates_are_rejected() {
        let options = |witness: Vec<WitnessUrl>| ServeOptions { witness, ..ServeOptions::default() };
        let witness_urls = |given, file| WitnessSettings::of(&options(given).or(options(file))).unwrap().witness_urls;
        assert_eq!(witness_urls(vec![of(1)], vec![of(2)]), [of(1)]);
        assert_eq!(witness_urls(Vec::new(), vec![of(2)]), [of(2)]);
        assert!(settled(&[of(1), of(2), of(1)]).unwrap_err().to_string().contains("`w1` and `w1`"));
        let most: Vec<_> = (0..32).map(of).collect();
        assert_eq!(settled(&most).unwrap(), most);
        assert!(settled(&(0..33).map(of).collect::<Vec<_>>()).is_err());
    }

    #[test]
    fn witnessed_timelines_require_a_witness() {
        let named = |text: &str| text.parse::<WitnessTimeline>();
        for (wrong, expected) in [("", "not a timeline id"), ("a b", "not a timeline id"), ("system", "always get")] {
            let error = named(wrong).unwrap_err();
            assert!(error.contains(expected), "{wrong}: {error}");
        }
        let many = |count| (0..count).map(|number| named(&format!("t{number}")).unwrap()).collect::<Vec<_>>();
        assert_eq!(timelines(&many(64), &[of(1)]).unwrap().len(), 64);
        assert_eq!(timelines(&[many(2), many(2)].concat(), &[of(1)]).unwrap().len(), 2);
        assert!(timelines(&many(65), &[of(1)]).unwrap_err().to_string().contains("at most 64 timelines, not 65"));
        assert!(timelines(&many(1), &[]).unwrap_err().to_string().contains("give --witness too"));
    }
}
