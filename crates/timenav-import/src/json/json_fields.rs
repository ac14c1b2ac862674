use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use timenav_core::event::EventDraft;

use crate::assembly::{self, Cell, Cells};
use crate::attributes;
use crate::event_record::without_position;
use crate::json::long_integers;
use crate::json::object_of::object_of;
use crate::limits::RECORD_BYTES_MAX;
use crate::mapping::field::{FIELDS, Field};
use crate::mapping::{Mapping, Missing, Reading, Source, Template, TimeRules};
use crate::time::partial_time::PartText;
use crate::time::unix_time::UnixUnit;
use crate::{AssertionRecord, CauseRecord, RecordError, RecordNote};

/// The default for numeric times, as in JavaScript.
static MILLIS: Reading = Reading::Unix(UnixUnit::Millis);
static DEFAULT: Reading = Reading::Default;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The properties of a GeoJSON feature.
    Feature,
    /// A complete record.
    Record,
}

impl Kind {
    /// Returns the member names that are used without a mapping, most specific first.
    const fn names(self, field: Field) -> &'static [&'static str] {
        match self {
            Self::Feature => field.properties(),
            Self::Record => field.members(),
        }
    }

    const fn member(self) -> &'static str {
        match self {
            Self::Feature => "property",
            Self::Record => "member",
        }
    }

    fn path(self, name: &str) -> String {
        match self {
            Self::Feature => format!("properties/{name}"),
            Self::Record => name.to_owned(),
        }
    }
}

/// The members of an object that are not null, by name.
pub(crate) struct Properties<'a> {
    members: BTreeMap<String, &'a RawValue>,
}

impl<'a> Properties<'a> {
    /// Parses the properties of a feature. `None` has no properties.
    pub(crate) fn new(text: Option<&'a RawValue>) -> Result<Self, RecordError> {
        let Some(text) = text.map(RawValue::get) else {
            return Ok(Self { members: BTreeMap::new() });
        };
        if text.len() > RECORD_BYTES_MAX {
            let detail = format!("the properties of a feature can have at most {RECORD_BYTES_MAX} bytes");
            return Err(RecordError::of(RecordError::TOO_LARGE, "properties", detail));
        }
        Self::of_object(text).map_err(|detail| RecordError::invalid("properties", detail))
    }

    pub(crate) fn of_object(text: &'a str) -> Result<Self, String> {
        let members: BTreeMap<String, Option<&RawValue>> =
            serde_json::from_str(text).map_err(|error| without_position(&error))?;
        let given = members.into_iter().filter_map(|(name, value)| Some((name, value?)));
        Ok(Self { members: given.collect() })
    }

    /// Returns the member with that name or path: `http.status` or `/http/status`.
    fn find(&self, path: &str) -> Option<&'a RawValue> {
        if let Some(value) = self.members.get(path) {
            return Some(value);
        }
        let (name, rest) = split(path, 0)?;
        self.inner(&name, rest).or_else(|| {
            // Names may contain dots themselves.
            (1..).map_while(|dots| split(path, dots)).find_map(|(name, rest)| self.inner(&name, rest))
        })
    }

    fn inner(&self, name: &str, rest: &str) -> Option<&'a RawValue> {
        if rest.is_empty() {
            return self.members.get(name).copied();
        }
        inside(self.members.get(name)?, rest)
    }
}

/// Returns the value at a path within an object, or a list, whose items are numbered from 0 (RFC 6901 §4).
fn inside<'a>(value: &'a RawValue, path: &str) -> Option<&'a RawValue> {
    if value.get().starts_with('{') {
        return Properties::of_object(value.get()).ok()?.find(path);
    }
    let (number, rest) = match path.strip_prefix('/') {
        Some(pointer) => pointer.find('/').map_or((pointer, ""), |end| pointer.split_at(end)),
        None => path.split_once('.').unwrap_or((path, "")),
    };
    let items: Vec<&RawValue> = if is_list(value) { serde_json::from_str(value.get()).ok()? } else { return None };
    let item = *items.get(number.parse::<usize>().ok()?)?;
    if item.get() == "null" {
        return None;
    }
    if rest.is_empty() { Some(item) } else { inside(item, rest) }
}

/// Splits a path after its first name, which may contain `dots` dots.
fn split(path: &str, dots: usize) -> Option<(String, &str)> {
    if let Some(pointer) = path.strip_prefix('/') {
        let (name, _) = pointer.split_once('/').unwrap_or((pointer, ""));
        // RFC 6901, section 4. In a pointer, dots are not ambiguous.
        return (dots == 0).then(|| (name.replace("~1", "/").replace("~0", "~"), &pointer[name.len()..]));
    }
    let (at, _) = path.match_indices('.').nth(dots)?;
    Some((path[..at].to_owned(), &path[at + 1..]))
}

fn parsed<'a, T: serde::Deserialize<'a>>(field: &str, text: &'a str) -> Result<T, RecordError> {
    let value = serde_json::from_str(text).map_err(|error| RecordError::invalid(field, without_position(&error)))?;
    attributes::check_text(text.as_bytes(), field)?;
    Ok(value)
}

pub(crate) enum Scalar<'a> {
    Text(String),
    /// The digits as written.
    Number(&'a str),
    Truth(&'a str),
}

impl<'a> Scalar<'a> {
    /// Returns the value; `None` if it is a list, an object or a string that is not Unicode.
    pub(crate) fn of(value: &'a RawValue) -> Option<Self> {
        let text = value.get();
        match text.as_bytes().first()? {
            b'"' => serde_json::from_str(text).ok().map(Self::Text),
            b'-' | b'0'..=b'9' => Some(Self::Number(text)),
            b't' | b'f' => Some(Self::Truth(text)),
            _ => None,
        }
    }

    fn into_text(self) -> Cow<'a, str> {
        match self {
            Self::Text(text) => Cow::Owned(text),
            Self::Number(text) | Self::Truth(text) => Cow::Borrowed(text),
        }
    }
}

pub(crate) struct Fields<'a> {
    kind: Kind,
    mapping: &'a Mapping,
    properties: &'a Properties<'a>,
    chosen: [Chosen<'a>; FIELDS],
}

#[derive(Clone, Copy)]
enum Chosen<'a> {
    Nothing,
    Property { name: &'a str, value: &'a RawValue, reading: &'a Reading },
    Template { template: &'a Template<String>, reading: &'a Reading },
}

impl<'a> Fields<'a> {
    /// Chooses the members. Without a mapping, only members with plausible values are chosen.
    pub(crate) fn new(kind: Kind, mapping: &'a Mapping, properties: &'a Properties<'a>, has_feature_id: bool) -> Self {
        let chosen = Field::ALL.map(|field| match mapping.source(field) {
            Some(Source::Nothing) => Chosen::Nothing,
            Some(Source::Columns { template, reading }) => match template.whole_column() {
                None => Chosen::Template { template, reading },
                Some(name) => {
                    properties.find(name).map_or(Chosen::Nothing, |value| Chosen::Property { name, value, reading })
                }
            },
            None if field == Field::EventId && has_feature_id => Chosen::Nothing,
            None if mapping.time(field).is_some_and(|time| !time.parts.is_empty()) => Chosen::Nothing,
            None => {
                let mut named = kind
                    .names(field)
                    .iter()
                    .filter_map(|name| properties.members.get(*name).map(|value| (*name, *value)));
                let fitting = named.find(|(_, value)| fits(field, value));
                fitting.map_or(Chosen::Nothing, |(name, value)| Chosen::Property { name, value, reading: &DEFAULT })
            }
        });
        Self { kind, mapping, properties, chosen }
    }

    /// Returns the text of a member, unless it means "unknown".
    fn member_text(&self, name: &str) -> Option<Cow<'a, str>> {
        let text = Scalar::of(self.properties.find(name)?)?.into_text();
        (!self.mapping.missing().includes(name, &text)).then_some(text)
    }

    pub(crate) fn event_id_text(&self) -> Result<Option<String>, RecordError> {
        let cell = self.text(Field::EventId, self.chosen[Field::EventId.index()])?;
        Ok(cell.map(|cell| cell.text.into_owned()))
    }

    fn has_point(&self) -> bool {
        let is_chosen = |field: Field| !matches!(self.chosen[field.index()], Chosen::Nothing);
        is_chosen(Field::Lat) || is_chosen(Field::Lon) || is_chosen(Field::Geo)
    }

    /// Returns the radius around the feature's point, if a property has it.
    pub(crate) fn radius_m(&self) -> Option<f64> {
        match self.chosen[Field::RadiusM.index()] {
            Chosen::Property { value, .. } => value.get().parse().ok(),
            Chosen::Nothing | Chosen::Template { .. } => None,
        }
    }

    /// Returns the attributes in a single object, if a member has them.
    pub(crate) fn attributes(&self) -> Result<Option<Map<String, Value>>, RecordError> {
        match self.chosen[Field::Attributes.index()] {
            Chosen::Property { value, .. } if value.get().starts_with('{') => {
                parsed("attributes", value.get()).map(Some)
            }
            chosen => {
                let cell = self.text(Field::Attributes, chosen)?;
                cell.map(|cell| assembly::attributes(&cell)).transpose()
            }
        }
    }

    pub(crate) fn list<T: DeserializeOwned>(&self, field: Field) -> Result<Option<Vec<T>>, RecordError> {
        match self.chosen[field.index()] {
            Chosen::Property { value, .. } if is_list(value) => parsed(field.as_str(), value.get()).map(Some),
            Chosen::Nothing | Chosen::Property { .. } | Chosen::Template { .. } => Ok(None),
        }
    }

    fn text(&self, field: Field, chosen: Chosen<'a>) -> Result<Option<Cell<'a>>, RecordError> {
        let cell = match chosen {
            Chosen::Nothing => return Ok(None),
            Chosen::Property { name, value, reading } => {
                if let Some(bytes) = bytes_of(value).filter(|_| is_prose(field)) {
                    let text: Cow<'_, str> = Cow::Owned(String::from_utf8_lossy(&bytes).into_owned());
                    let origin = (self.kind.member(), Some(name));
                    return Ok((!text.is_empty()).then_some(Cell { text, reading, origin }));
                }
                let scalar = Scalar::of(value).ok_or_else(|| {
                    let detail = format!("{} `{name}`: a string or a number can be a field", self.kind.member());
                    RecordError::invalid(field.as_str(), detail)
                })?;
                let counts_millis = self.kind == Kind::Feature
                    && matches!(field, Field::Time | Field::EndTime)
                    && matches!((&scalar, reading), (Scalar::Number(_), Reading::Default));
                let reading = if counts_millis { &MILLIS } else { reading };
                let text = match scalar.into_text() {
                    Cow::Owned(text) if is_prose(field) => Cow::Owned(text),
                    Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
                    Cow::Borrowed(text) => Cow::Borrowed(text),
                };
                if self.mapping.missing().includes(name, &text) {
                    return Ok(None);
                }
                Cell { text, reading, origin: (self.kind.member(), Some(name)) }
            }
            Chosen::Template { template, reading } => {
                let text =
                    template.fill(|name| self.member_text(name)).map_err(|_| assembly::template_too_long(field))?;
                Cell { text: text.unwrap_or_default(), reading, origin: (self.kind.member(), None) }
            }
        };
        Ok((!cell.text.is_empty()).then_some(cell))
    }

    pub(crate) fn left_over(&self) -> Result<Map<String, Value>, RecordError> {
        let taken = self.taken();
        let mut left = Map::new();
        for (name, value) in &self.properties.members {
            let is_missing = || {
                let text = Scalar::of(value).map(Scalar::into_text);
                text.is_some_and(|text| self.mapping.missing().includes(name, &text))
            };
            if taken.contains(&name.as_str()) || is_missing() {
                continue;
            }
            let mut value: Value = parsed(&self.kind.path(name), &long_integers::quoted(value.get()))?;
            attributes::make_exact(&mut value);
            left.insert(name.clone(), value);
        }
        for path in taken {
            if !self.properties.members.contains_key(path) {
                remove(&mut left, path);
            }
        }
        Ok(left)
    }

    /// Returns the members that are used completely by fields.
    fn taken(&self) -> Vec<&str> {
        let mut taken: Vec<&str> = Vec::new();
        for chosen in &self.chosen {
            match chosen {
                // Bytes that are not text are kept, because the field does not contain all of them.
                Chosen::Property { value, .. }
                    if bytes_of(value).is_some_and(|bytes| str::from_utf8(&bytes).is_err()) => {}
                Chosen::Property { name, .. } => taken.push(name),
                Chosen::Nothing | Chosen::Template { .. } => {}
            }
        }
        for time in [Field::Time, Field::EndTime].into_iter().filter_map(|field| self.mapping.time(field)) {
            taken.extend(time.parts.iter().filter_map(|part| part.template.whole_column().map(String::as_str)));
        }
        taken
    }

    /// Adds lists to a draft, and returns the attributes, if any.
    pub(crate) fn complete(
        &self,
        draft: &mut EventDraft,
        notes: &mut Vec<RecordNote>,
    ) -> Result<Option<Map<String, Value>>, RecordError> {
        if let Some(causes) = self.list::<CauseRecord>(Field::Causes)? {
            let causes = causes.into_iter().enumerate();
            draft.causes = causes.map(|(index, cause)| cause.into_cause(index)).collect::<Result<_, _>>()?;
        }
        if let Some(actors) = self.list(Field::Actors)? {
            draft.actors = actors;
        }
        if let Some(asserts) = self.list::<AssertionRecord>(Field::Asserts)? {
            let asserts = asserts.into_iter().enumerate();
            draft.asserts = asserts.map(|(index, one)| one.into_assertion(index)).collect::<Result<_, _>>()?;
        }
        let mut attributes = self.left_over()?;
        let given = self.attributes()?;
        let long = assembly::take_long_texts(draft, notes);
        let has_attributes = given.is_some() || !attributes.is_empty() || !long.is_empty();
        attributes.extend(given.unwrap_or_default());
        let attributes = object_of(attributes.into_iter().chain(long));
        Ok(has_attributes.then_some(attributes))
    }
}

impl Cells for Fields<'_> {
    /// Returns the value of a field. Ids of features and lists have their own functions.
    fn cell(&self, field: Field) -> Result<Option<Cell<'_>>, RecordError> {
        match (field, self.chosen[field.index()]) {
            (Field::EventId | Field::Attributes, _) => Ok(None),
            // Without a point, it is the radius around the geometry.
            (Field::RadiusM, Chosen::Property { reading: Reading::Default, .. })
                if self.kind == Kind::Feature && !self.has_point() =>
            {
                Ok(None)
            }
            (Field::Causes | Field::Actors | Field::Asserts, Chosen::Property { value, .. }) if is_list(value) => {
                Ok(None)
            }
            (_, chosen) => self.text(field, chosen),
        }
    }

    fn parts(&self, field: Field) -> Result<Vec<PartText<'_>>, RecordError> {
        let mut texts = Vec::new();
        for source in self.mapping.time(field).into_iter().flat_map(|time| &time.parts) {
            let text =
                source.template.fill(|name| self.member_text(name)).map_err(|_| assembly::template_too_long(field))?;
            if let Some(text) = text {
                let name = source.template.whole_column().map(String::as_str);
                texts.push(PartText { part: source.part, text, format: source.format.as_ref(), name });
            }
        }
        Ok(texts)
    }

    fn rules(&self, field: Field) -> Cow<'_, TimeRules> {
        let time = self.mapping.time(field);
        time.map_or_else(|| Cow::Owned(TimeRules::default()), |time| Cow::Borrowed(&time.rules))
    }

    fn missing(&self) -> &Missing {
        self.mapping.missing()
    }
}

/// Removes the value at a path, and objects that are empty without it.
fn remove(object: &mut Map<String, Value>, path: &str) {
    if object.remove(path).is_some() {
        return;
    }
    for (name, rest) in (0..).map_while(|dots| split(path, dots)) {
        if rest.is_empty() {
            object.remove(&name);
            return;
        }
        if let Some(Value::Object(inner)) = object.get_mut(&name) {
            remove(inner, rest);
            if inner.is_empty() {
                object.remove(&name);
            }
            return;
        }
    }
}

/// Returns whether blanks at the ends of a text are significant.
fn is_prose(field: Field) -> bool {
    matches!(field, Field::Description | Field::Name | Field::Location | Field::Source)
}

/// Returns the bytes of a text written as a list, as journald does for unprintable ones.
fn bytes_of(value: &RawValue) -> Option<Vec<u8>> {
    if is_list(value) {
        serde_json::from_str(value.get()).ok().filter(|bytes: &Vec<u8>| !bytes.is_empty())
    } else {
        None
    }
}

fn is_list(value: &RawValue) -> bool {
    value.get().starts_with('[')
}

/// Returns whether a value with the name of a field is plausible for it.
fn fits(field: Field, value: &RawValue) -> bool {
    match Scalar::of(value) {
        Some(Scalar::Text(text)) if field.is_usual_word() => field.can_mean(&text),
        Some(Scalar::Text(_)) if field == Field::RadiusM => false,
        Some(Scalar::Text(text)) => !text.trim().is_empty() || (is_prose(field) && !text.is_empty()),
        Some(Scalar::Number(digits)) if field.is_usual_word() => field.can_mean(digits),
        Some(Scalar::Number(_)) => field != Field::Precision,
        Some(Scalar::Truth(_)) => false,
        None => match field {
            Field::Causes => serde_json::from_str::<Vec<CauseRecord>>(value.get()).is_ok(),
            Field::Actors => serde_json::from_str::<Vec<String>>(value.get()).is_ok(),
            Field::Asserts | Field::Attributes => field.can_mean(value.get()),
            _ => false,
        },
    }
}
