//! Which column of a CSV file is which field.

use std::borrow::Cow;
use std::collections::HashSet;

use csv::StringRecord;
use serde_json::Value;
use timenav_core::event::EventDraft;

use crate::assembly::{self, Cell};
use crate::attributes;
use crate::field::{FIELDS, Field};
use crate::item::clipped;
use crate::limits::{CSV_COLUMNS_MAX, TEMPLATE_TEXT_BYTES_MAX};
use crate::mapping::{Mapping, Reading, Source, Template};
use crate::spreadsheet::{plain, unguarded};
use crate::suggestion;
use crate::{ImportError, RecordError};

/// What the columns are.
pub(super) struct Columns {
    fields: [Option<FieldColumns>; FIELDS],
    /// The columns that are no field, in the order that RFC 8785 §3.2.3 sorts their names in.
    attributes: Vec<Attribute>,
}

/// Where a field comes from.
struct FieldColumns {
    template: Template<usize>,
    reading: Reading,
    /// The name of the column, if it is a single one.
    name: Option<String>,
    /// Whether it is only named like a field whose name is a usual word.
    is_guessed: bool,
}

/// Whether a column is a field as a whole.
#[derive(Clone, Copy)]
enum Taken {
    No,
    Yes,
    /// In the rows where its text can be meant by the field.
    Perhaps(Field),
}

/// A column that becomes an attribute.
struct Attribute {
    column: usize,
    /// The field that it is instead, where its text can be meant by that.
    unless: Option<Field>,
    name: String,
    /// The name in JSON: `"wind":`.
    name_json: Vec<u8>,
}

impl Columns {
    /// Returns what the columns are, by the mapping and by their names in the header.
    pub(super) fn new(mapping: &Mapping, header: &StringRecord) -> Result<Self, ImportError> {
        if header.len() > CSV_COLUMNS_MAX {
            return Err(ImportError::TooManyColumns { columns: header.len() });
        }
        let names: Vec<&str> = header.iter().map(str::trim).collect();
        let mut fields = [const { None }; FIELDS];
        let mut taken = vec![Taken::No; names.len()];
        for field in Field::ALL {
            let is_guessed = field.is_usual_word() && mapping.source(field).is_none();
            let columns = match mapping.source(field) {
                Some(Source::Nothing) => None,
                Some(Source::Columns { template, reading }) => {
                    let column = |name: &String| position(&names, field, name);
                    Some((template.try_map(column)?, reading.clone()))
                }
                None => named_like(&names, field).map(|column| (Template::column(column), Reading::Default)),
            };
            fields[field.index()] = columns.map(|(template, reading)| {
                // A template says again what its columns say; only a column as a whole is taken.
                let whole = template.whole_column().copied();
                let name = whole.map(|column| {
                    taken[column] = if is_guessed { Taken::Perhaps(field) } else { Taken::Yes };
                    clipped(names[column].to_owned())
                });
                FieldColumns { template, reading, name, is_guessed }
            });
        }
        if fields[Field::Time.index()].is_none() {
            return Err(ImportError::TimeUnmapped { hint: columns_hint(&names) });
        }
        Ok(Self { fields, attributes: attribute_columns(&names, &taken) })
    }

    /// Returns the event of a row.
    pub(super) fn draft(&self, row: &StringRecord) -> Result<EventDraft, RecordError> {
        let mut draft = assembly::draft(&|field| self.cell(row, field))?;
        draft.attributes = match self.cell(row, Field::Attributes)? {
            None => self.attributes_of(row),
            Some(cell) => {
                let mut object = assembly::attributes(&cell)?;
                for (attribute, text) in self.attribute_cells(row) {
                    object.entry(attribute.name.as_str()).or_insert_with(|| Value::from(&*text));
                }
                Some(attributes::canonical(&object)?)
            }
        };
        assembly::finish(draft)
    }

    fn cell<'a>(&'a self, row: &'a StringRecord, field: Field) -> Result<Option<Cell<'a>>, RecordError> {
        let Some(columns) = &self.fields[field.index()] else { return Ok(None) };
        let exact = columns.template.whole_column().and_then(|column| row.get(*column)).and_then(unguarded);
        let text = if let Some(exact) = exact {
            // What is guarded is exactly that, blanks and all.
            Some(Cow::Borrowed(exact)).filter(|text| !text.is_empty())
        } else {
            let text = columns.template.fill(|column| row.get(*column).map(plain));
            text.map_err(|_| {
                let detail = format!("the template produces more than {TEMPLATE_TEXT_BYTES_MAX} bytes");
                RecordError::invalid(field.as_str(), detail)
            })?
        };
        let text = text.filter(|text| !columns.is_guessed || field.can_mean(text));
        let origin = ("column", columns.name.as_deref());
        Ok(text.map(|text| Cell { text, reading: &columns.reading, origin }))
    }

    /// Returns the texts that are no field.
    fn attribute_cells<'a>(&'a self, row: &'a StringRecord) -> impl Iterator<Item = (&'a Attribute, Cow<'a, str>)> {
        self.attributes.iter().filter_map(|attribute| {
            let text = plain(row.get(attribute.column).unwrap_or(""));
            let is_field = attribute.unless.is_some_and(|field| field.can_mean(text.trim()));
            (!is_field && !text.trim().is_empty()).then_some((attribute, text))
        })
    }

    /// Returns the columns that are no field in canonical JSON, each as the text that it is.
    fn attributes_of(&self, row: &StringRecord) -> Option<String> {
        let mut json = Vec::new();
        for (attribute, text) in self.attribute_cells(row) {
            json.push(if json.is_empty() { b'{' } else { b',' });
            json.extend_from_slice(&attribute.name_json);
            // serde_json escapes as RFC 8785 §3.2.2.2 does.
            serde_json::to_writer(&mut json, &*text).ok()?;
        }
        if json.is_empty() {
            return None;
        }
        json.push(b'}');
        String::from_utf8(json).ok()
    }
}

/// Returns the column of that name. The first of several counts.
fn position(names: &[&str], field: Field, name: &str) -> Result<usize, ImportError> {
    names.iter().position(|column| *column == name).ok_or_else(|| ImportError::ColumnUnknown {
        field: field.as_str(),
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
            "the first row has a single column; separate columns with commas".to_owned()
        }
        _ => clipped(format!("the columns are `{}`", names.join("`, `"))),
    }
}

/// Returns the column that is named like the field, the most telling name first.
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

/// Returns the names, each made unlike all before it: `column_3` for one without a name, `a_2`
/// for a second `a`.
fn attribute_names(names: &[&str]) -> Vec<String> {
    let mut given = HashSet::new();
    let unlike_others = |(column, name): (usize, &&str)| {
        let wanted = if name.is_empty() { format!("column_{}", column + 1) } else { (*name).to_owned() };
        let mut unique = wanted.clone();
        let mut count = 2;
        while !given.insert(unique.clone()) {
            unique = format!("{wanted}_{count}");
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
