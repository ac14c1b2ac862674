use std::borrow::Cow;
use std::collections::HashSet;

use csv::StringRecord;
use serde_json::{Map, Value};
use timenav_core::event::{EventDraft, attribute_at};
use timenav_core::limits::EVENT_NAME_BYTES_MAX;

use crate::assembly::{self, Cell, Cells};
use crate::attributes;
use crate::export::spreadsheet::{plain, unguarded};
use crate::item::{RecordNote, clipped};
use crate::json::object_of::object_of;
use crate::limits::CSV_COLUMNS_MAX;
use crate::mapping::field::{FIELDS, Field};
use crate::mapping::{Mapping, Missing, MissingHere, PartSource, Reading, Source, Template, TimeRules, TimeSource};
use crate::suggestion;
use crate::time::partial_time::PartText;
use crate::{ImportError, RecordError};

pub(super) struct Columns {
    fields: [Option<FieldColumns>; FIELDS],
    times: Vec<(Field, TimeColumns)>,
    missing_anywhere: Missing,
    missing: Vec<MissingHere>,
    /// The columns that are not fields, in the order of RFC 8785 §3.2.3.
    attributes: Vec<Attribute>,
}

struct FieldColumns {
    template: Template<usize>,
    reading: Reading,
    name: Option<String>,
    /// Whether it is only matched by name, and the name is a common word.
    is_guessed: bool,
}

struct TimeColumns {
    parts: Vec<(PartSource<usize>, Option<String>)>,
    rules: TimeRules,
}

/// Whether a column is used completely by a field.
#[derive(Clone, Copy)]
enum Taken {
    No,
    Yes,
    /// In rows where its text is plausible for the field.
    Perhaps(Field),
}

struct Attribute {
    column: usize,
    /// The field that it is instead in rows where its text is plausible for it.
    unless: Option<Field>,
    name: String,
    /// The name in JSON: `"wind":`.
    name_json: Vec<u8>,
}

impl Columns {
    pub(super) fn new(mapping: &Mapping, header: &StringRecord) -> Result<Self, ImportError> {
        if header.len() > CSV_COLUMNS_MAX {
            return Err(ImportError::TooManyColumns { columns: header.len() });
        }
        let names: Vec<&str> = header.iter().map(|name| unguarded(name).unwrap_or_else(|| name.trim())).collect();
        for name in mapping.missing().names() {
            position(&names, "missing", name)?;
        }
        let mut fields = [const { None }; FIELDS];
        let mut taken = vec![Taken::No; names.len()];
        let mut times = Vec::new();
        for field in Field::ALL {
            let time = mapping.time(field).map(|time| TimeColumns::new(time, field, &names, &mut taken)).transpose()?;
            let is_in_parts = time.as_ref().is_some_and(|time| !time.parts.is_empty());
            times.extend(time.map(|time| (field, time)));
            let is_guessed = field.is_usual_word() && mapping.source(field).is_none();
            let columns = match mapping.source(field) {
                Some(Source::Nothing) => None,
                Some(Source::Columns { template, reading }) => {
                    let column = |name: &String| position(&names, field.as_str(), name);
                    Some((template.try_map(column)?, reading.clone()))
                }
                None if is_in_parts || (field == Field::Geo) => None,
                None => named_like(&names, field).map(|column| (Template::column(column), Reading::Default)),
            };
            fields[field.index()] = columns.map(|(template, reading)| {
                // Templates only reuse their columns; a column is taken only if used completely.
                let whole = template.whole_column().copied();
                let name = whole.map(|column| {
                    taken[column] = if is_guessed { Taken::Perhaps(field) } else { Taken::Yes };
                    clipped(names[column].to_owned())
                });
                FieldColumns { template, reading, name, is_guessed }
            });
        }
        let is_time_in_parts = times.iter().any(|(field, time)| *field == Field::Time && !time.parts.is_empty());
        if fields[Field::Time.index()].is_none() && !is_time_in_parts {
            return Err(ImportError::TimeUnmapped { hint: columns_hint(&names) });
        }
        let missing = names.iter().map(|name| mapping.missing().here(name)).collect();
        let missing_anywhere = mapping.missing().clone();
        Ok(Self { fields, times, missing_anywhere, missing, attributes: attribute_columns(&names, &taken) })
    }

    pub(super) fn draft(&self, row: &StringRecord) -> Result<(EventDraft, Vec<RecordNote>), RecordError> {
        let (mut draft, mut notes) = assembly::draft(&Row { columns: self, row })?;
        let long = assembly::take_long_texts(&mut draft, &mut notes);
        draft.attributes = match self.cell(row, Field::Attributes)? {
            None if long.is_empty() => self.attributes_of(row),
            None => {
                let cells = self.attribute_cells(row).map(|(of, text)| (of.name.clone(), Value::from(&*text)));
                Some(attributes::canonical(&object_of(cells.chain(long)))?)
            }
            Some(cell) => {
                let given = Value::from(assembly::attributes(&cell)?);
                // A column may repeat an attribute under its path. Each dot costs a lookup in each row.
                let at = |name: &str| attribute_at(&given, name, &|of, key| of.get(key));
                let is_new = |name: &str| match name.len() {
                    ..=EVENT_NAME_BYTES_MAX => at(name).is_none(),
                    _ => given.get(name).is_none(),
                };
                let more = self.attribute_cells(row).filter(|(attribute, _)| is_new(&attribute.name));
                let more: Vec<_> =
                    more.map(|(attribute, text)| (attribute.name.clone(), Value::from(&*text))).collect();
                let mut object = if let Value::Object(object) = given { object } else { Map::new() };
                object.extend(more);
                let object = object_of(object.into_iter().chain(long));
                Some(attributes::canonical(&object)?)
            }
        };
        Ok((assembly::finish(draft)?, notes))
    }

    /// Returns the text of a column; `None` if it means "unknown".
    fn text<'a>(&self, row: &'a StringRecord, column: usize) -> Option<&'a str> {
        row.get(column).filter(|text| !self.missing.get(column).is_some_and(|missing| missing.includes(text)))
    }

    fn cell<'a>(&'a self, row: &'a StringRecord, field: Field) -> Result<Option<Cell<'a>>, RecordError> {
        let Some(columns) = &self.fields[field.index()] else { return Ok(None) };
        let exact = columns.template.whole_column().and_then(|column| self.text(row, *column)).and_then(unguarded);
        let text = if let Some(exact) = exact {
            // A guarded text is used exactly, including blanks.
            Some(Cow::Borrowed(exact)).filter(|text| !text.is_empty())
        } else {
            let text = columns.template.fill(|column| self.text(row, *column).map(plain));
            text.map_err(|_| assembly::template_too_long(field))?
        };
        let text = text.filter(|text| !columns.is_guessed || field.can_mean(text));
        let origin = ("column", columns.name.as_deref());
        Ok(text.map(|text| Cell { text, reading: &columns.reading, origin }))
    }

    fn attribute_cells<'a>(&'a self, row: &'a StringRecord) -> impl Iterator<Item = (&'a Attribute, Cow<'a, str>)> {
        self.attributes.iter().filter_map(|attribute| {
            let text = plain(self.text(row, attribute.column).unwrap_or(""));
            let is_field = attribute.unless.is_some_and(|field| field.can_mean(text.trim()));
            (!is_field && !text.trim().is_empty()).then_some((attribute, text))
        })
    }

    /// Returns the columns that are not fields in canonical JSON, as strings.
    fn attributes_of(&self, row: &StringRecord) -> Option<String> {
        let mut json = Vec::new();
        for (attribute, text) in self.attribute_cells(row) {
            json.push(if json.is_empty() { b'{' } else { b',' });
            json.extend_from_slice(&attribute.name_json);
            // serde_json escapes like RFC 8785 §3.2.2.2.
            serde_json::to_writer(&mut json, &*text).ok()?;
        }
        if json.is_empty() {
            return None;
        }
        json.push(b'}');
        String::from_utf8(json).ok()
    }
}

struct Row<'a> {
    columns: &'a Columns,
    row: &'a StringRecord,
}

impl Cells for Row<'_> {
    fn cell(&self, field: Field) -> Result<Option<Cell<'_>>, RecordError> {
        self.columns.cell(self.row, field)
    }

    fn parts(&self, field: Field) -> Result<Vec<PartText<'_>>, RecordError> {
        let time = self.columns.times.iter().find(|(of, _)| *of == field);
        let mut texts = Vec::new();
        for (source, name) in time.into_iter().flat_map(|(_, time)| &time.parts) {
            let text = source.template.fill(|column| self.columns.text(self.row, *column).map(plain));
            if let Some(text) = text.map_err(|_| assembly::template_too_long(field))? {
                let (part, format) = (source.part, source.format.as_ref());
                texts.push(PartText { part, text, format, name: name.as_deref() });
            }
        }
        Ok(texts)
    }

    fn rules(&self, field: Field) -> Cow<'_, TimeRules> {
        let time = self.columns.times.iter().find(|(of, _)| *of == field);
        time.map_or_else(|| Cow::Owned(TimeRules::default()), |(_, time)| Cow::Borrowed(&time.rules))
    }

    fn missing(&self) -> &Missing {
        &self.columns.missing_anywhere
    }
}

impl TimeColumns {
    fn new(time: &TimeSource, field: Field, names: &[&str], taken: &mut [Taken]) -> Result<Self, ImportError> {
        let mut parts = Vec::new();
        for source in &time.parts {
            let template = source.template.try_map(|name| position(names, field.as_str(), name))?;
            let whole = template.whole_column().copied();
            let name = whole.map(|column| {
                taken[column] = Taken::Yes;
                clipped(names[column].to_owned())
            });
            parts.push((PartSource { part: source.part, template, format: source.format.clone() }, name));
        }
        Ok(Self { parts, rules: time.rules.clone() })
    }
}

fn position(names: &[&str], field: &'static str, name: &str) -> Result<usize, ImportError> {
    names.iter().position(|column| *column == name).ok_or_else(|| ImportError::ColumnUnknown {
        field,
        column: clipped(name.to_owned()),
        hint: match suggestion::nearest(name, names.iter().copied()) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => columns_hint(names),
        },
    })
}

fn columns_hint(names: &[&str]) -> String {
    match names {
        [name] if name.contains([';', '\t']) => {
            "the first row has a single column; set `delimiter` to what separates columns".to_owned()
        }
        _ => clipped(format!("the columns are `{}`", names.join("`, `"))),
    }
}

/// Returns the column that has a name of the field, most specific name first.
fn named_like(names: &[&str], field: Field) -> Option<usize> {
    let position = |name: &&str| names.iter().position(|column| column.eq_ignore_ascii_case(name));
    field.columns().iter().find_map(position)
}

fn attribute_columns(names: &[&str], taken: &[Taken]) -> Vec<Attribute> {
    let is_free = |(_, column): &(String, usize)| !matches!(taken[*column], Taken::Yes);
    let mut free: Vec<(String, usize)> = attribute_names(names).into_iter().zip(0..).filter(is_free).collect();
    free.sort_by(|(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
    let attribute = |(name, column): (String, usize)| {
        let unless = match taken[column] {
            Taken::Perhaps(field) => Some(field),
            Taken::No | Taken::Yes => None,
        };
        Attribute { column, unless, name_json: name_json(&name), name }
    };
    free.into_iter().map(attribute).collect()
}

/// Returns unique names: `column_3` for a column without a name, `a_2` for a second `a`.
fn attribute_names(names: &[&str]) -> Vec<String> {
    let mut given = HashSet::new();
    let unlike_others = |(column, name): (usize, &&str)| {
        let base = if name.is_empty() { format!("column_{}", column + 1) } else { (*name).to_owned() };
        let mut unique = base.clone();
        let mut count = 2;
        while !given.insert(unique.clone()) {
            unique = format!("{base}_{count}");
            count += 1;
        }
        unique
    };
    names.iter().enumerate().map(unlike_others).collect()
}

fn name_json(name: &str) -> Vec<u8> {
    let mut json = serde_json::to_vec(name).expect("a text can be written as JSON");
    json.push(b':');
    json
}
