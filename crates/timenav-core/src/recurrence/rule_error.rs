//! What can be wrong with a rule or a cron expression.

use crate::limits::{RULE_BYTES_MAX, RULE_COUNT_MAX};

/// What is wrong with a rule or a cron expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// There is no text.
    #[error("the {what} is empty: write one such as `{example}`")]
    Empty {
        /// A rule or a cron expression.
        what: &'static str,
        /// One that is right.
        example: &'static str,
    },
    /// The text is longer than [`RULE_BYTES_MAX`].
    #[error("a rule or cron expression can have at most {RULE_BYTES_MAX} bytes, not {bytes}")]
    TooLong {
        /// How long it is.
        bytes: usize,
    },
    /// A piece of a rule is no name with a value.
    #[error(
        "`{text}` is not a part of a rule: write a name, `=` and a value, such as `INTERVAL=2`, with `;` between parts"
    )]
    NotAPart {
        /// The piece.
        text: String,
    },
    /// A rule has no part of that name.
    #[error("a rule has no part `{name}`: {instead}")]
    PartUnknown {
        /// The name.
        name: String,
        /// What there is.
        instead: &'static str,
    },
    /// A part is there twice.
    #[error("`{name}` is in the rule twice: write it once, with `,` between values")]
    PartTwice {
        /// Its name.
        name: &'static str,
    },
    /// There is no `FREQ`.
    #[error(
        "the rule does not say how often: begin it with `FREQ=`, such as `FREQ=MONTHLY;BYMONTHDAY=31;SKIP=BACKWARD`"
    )]
    FrequencyMissing,
    /// A value is not one of those that the part can have.
    #[error("`{value}` is no value of `{name}`: write {expected}")]
    Value {
        /// The part of the rule, or the field of the cron expression.
        name: &'static str,
        /// The value.
        value: String,
        /// What can stand there.
        expected: &'static str,
    },
    /// Two parts do not go together.
    #[error("`{name}` does not go with `{with}`: {instead}")]
    NotWith {
        /// One part.
        name: &'static str,
        /// The other.
        with: &'static str,
        /// What to do instead.
        instead: &'static str,
    },
    /// `COUNT` is above [`RULE_COUNT_MAX`].
    #[error("`COUNT` can be at most {RULE_COUNT_MAX}, not {count}: end the rule with `UNTIL` instead")]
    CountTooHigh {
        /// The value.
        count: u64,
    },
    /// The search for moments of the rule takes too long.
    #[error("`{text}` fires so rarely that the search for its moments takes too long: write it with a longer `FREQ`")]
    TooRare {
        /// The rule.
        text: String,
    },
    /// No day of the calendar has a moment of the rule.
    #[error("`{text}` never fires: no moment from its start to the year 9999 fits all of its parts")]
    NeverFires {
        /// The rule or cron expression.
        text: String,
    },
    /// The first moment of the rule is after `UNTIL`.
    #[error("the rule ends before it fires: its first moment is {first}, later than `UNTIL`")]
    EndsBefore {
        /// The first moment that it would have.
        first: String,
    },
    /// A cron expression has another number of fields.
    #[error(
        "a cron expression has five fields, minute, hour, day of month, month and weekday, not {fields}{}",
        six_fields(*.fields)
    )]
    CronFields {
        /// How many there are.
        fields: usize,
    },
    /// A field of a cron expression has a sign that some programs know beyond the five plain fields.
    #[error("`{value}` uses `{sign}`, which cron's five plain fields do not have: {instead}")]
    CronSign {
        /// The value.
        value: String,
        /// The sign.
        sign: char,
        /// What to write.
        instead: String,
    },
    /// A step is larger than its field, which would leave only the first value.
    #[error(
        "the step {step} of `{name}` is too large, it can be at most {max}: write a rule such as \
         `FREQ={frequency};INTERVAL={step}`"
    )]
    CronStep {
        /// What the field is called.
        name: &'static str,
        /// The step.
        step: i64,
        /// The largest value of the field.
        max: i64,
        /// The frequency of a rule that can have that step.
        frequency: &'static str,
    },
    /// A word that begins with `@` is none that we know.
    #[error("`{name}` is not known here: {instead}")]
    CronName {
        /// The word.
        name: String,
        /// What to write.
        instead: &'static str,
    },
}

const fn six_fields(fields: usize) -> &'static str {
    match fields {
        6 => {
            ": leave out the seconds or the year, or write a rule such as `FREQ=SECONDLY;INTERVAL=30` or \
             `FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1;UNTIL=20301231`"
        }
        1..=4 => ", such as `30 9 * * MON-FRI`: write `*` for each field that does not matter",
        _ => ", such as `30 9 * * MON-FRI`",
    }
}
