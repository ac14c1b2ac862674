//! Times split over several columns, and the settings for reading them.

use timenav_core::named;
use timenav_core::time::Zone;

use super::{MappingError, Template};
use crate::item::clipped;
use crate::mapping::field::Field;
use crate::time::time_format::TimeFormat;

named! {
    /// Named as after `time.`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub(crate) enum TimePart {
        Year = "year",
        Month = "month",
        Day = "day",
        Hour = "hour",
        Minute = "minute",
        Second = "second",
        /// Year, month and day.
        Date = "date",
        /// Hour, minute and second.
        TimeOfDay = "time_of_day",
    }
}

impl TimePart {
    /// The larger part that includes this one.
    const fn whole(self) -> Option<Self> {
        match self {
            Self::Year | Self::Month | Self::Day => Some(Self::Date),
            Self::Hour | Self::Minute | Self::Second => Some(Self::TimeOfDay),
            Self::Date | Self::TimeOfDay => None,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum YearNumbering {
    /// -2150 is 2150 BCE; there is no year 0.
    #[default]
    Historical,
    /// -2149 is 2150 BCE and 0 is 1 BCE, as in timestamps.
    Astronomical,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TimeRules {
    /// Zone of times without an offset.
    pub(crate) zone: Option<Zone>,
    pub(crate) numbering: YearNumbering,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PartSource<C> {
    pub(crate) part: TimePart,
    pub(crate) template: Template<C>,
    pub(crate) format: Option<TimeFormat>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TimeSource {
    pub(crate) parts: Vec<PartSource<String>>,
    pub(crate) rules: TimeRules,
}

impl TimeSource {
    pub(super) fn add(&mut self, field: Field, word: &str, value: &str) -> Result<(), MappingError> {
        let name = field.as_str();
        let wrong = |rule: &str| MappingError::OptionWrong {
            option: format!("{name}.{}", clipped(word.to_owned())),
            given: clipped(value.to_owned()),
            rule: rule.to_owned(),
        };
        match word {
            "zone" => {
                let zone = Zone::named(value)
                    .ok_or_else(|| wrong("a zone must be `UTC` or an IANA name, such as `Europe/Paris`"))?;
                self.rules.zone = Some(zone);
                return Ok(());
            }
            "year_numbering" => {
                self.rules.numbering = match value {
                    "historical" => YearNumbering::Historical,
                    "astronomical" => YearNumbering::Astronomical,
                    _ => return Err(wrong("years must be numbered `historical` or `astronomical`")),
                };
                return Ok(());
            }
            _ => {}
        }
        let part = TimePart::parse(word).ok_or_else(|| {
            let words = TimePart::ALL.map(TimePart::as_str).join("`, `");
            wrong(&format!("a time has `{words}`, `column`, `zone` and `year_numbering`"))
        })?;
        let (columns, suffix) = super::cut(value);
        let format = match suffix {
            None => None,
            Some(pattern) if part == TimePart::Year => {
                let pattern = TimeFormat::parse(pattern.trim()).filter(TimeFormat::is_short_year);
                Some(pattern.ok_or_else(|| wrong("a year takes `|YY`, if it has two digits, and no other pattern"))?)
            }
            Some(pattern) if part.whole().is_none() => Some(
                TimeFormat::parse(pattern.trim())
                    .ok_or_else(|| wrong("a pattern is one of letters, `YYYYMMDD` or `hhmmss`, or of `%Y%m%d`"))?,
            ),
            Some(_) => return Err(wrong("only `date`, `time_of_day` and `year` take a pattern after `|`")),
        };
        let template = Template::parse(field, columns)?;
        if self.parts.iter().any(|known| known.part == part) {
            return Err(wrong("map it once"));
        }
        self.parts.push(PartSource { part, template, format });
        self.parts.sort_by_key(|source| source.part);
        Ok(())
    }

    pub(super) fn check(&self, field: Field) -> Result<(), MappingError> {
        let has = |part: TimePart| self.parts.iter().any(|source| source.part == part);
        let wrong = |part: TimePart, rule: String| MappingError::PartsWrong {
            option: format!("{}.{}", field.as_str(), part.as_str()),
            rule,
        };
        for source in &self.parts {
            if let Some(whole) = source.part.whole().filter(|whole| has(*whole)) {
                return Err(wrong(source.part, format!("`{}` already sets it", whole.as_str())));
            }
        }
        if !self.parts.is_empty() && !has(TimePart::Year) && !has(TimePart::Date) {
            return Err(wrong(TimePart::Year, "a time in parts has a `year` or a `date`".to_owned()));
        }
        Ok(())
    }
}
