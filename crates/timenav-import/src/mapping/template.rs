//! Texts made of columns: `{name} ({status})`.

use std::borrow::Cow;

use super::MappingError;
use crate::field::Field;
use crate::limits::{TEMPLATE_COLUMNS_MAX, TEMPLATE_TEXT_BYTES_MAX};

/// A text with columns in it. A column is a name, or its place once that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template<C> {
    /// What is written one after the other. At least one part is a column, unless it is the same in every record.
    parts: Vec<Part<C>>,
}

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part<C> {
    /// This text.
    Text(String),
    /// What the column holds.
    Column(C),
}

/// A template made more than [`TEMPLATE_TEXT_BYTES_MAX`] bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextTooLong;

impl Template<String> {
    /// Returns the template that is the same text in every record.
    pub(super) fn text(text: &str) -> Self {
        Self { parts: vec![Part::Text(text.to_owned())] }
    }

    /// Reads a template, or the plain name of a column.
    pub(super) fn parse(field: Field, text: &str) -> Result<Self, MappingError> {
        let parts = if text.contains(['{', '}']) { parts(field, text)? } else { vec![Part::Column(text.to_owned())] };
        let names = |part: &&Part<String>| matches!(part, Part::Column(name) if !name.is_empty());
        match parts.iter().filter(names).count() {
            0 => Err(MappingError::ColumnMissing { field: field.as_str() }),
            1..=TEMPLATE_COLUMNS_MAX => Ok(Self { parts }),
            _ => Err(MappingError::ColumnsTooMany { field: field.as_str() }),
        }
    }
}

fn parts(field: Field, text: &str) -> Result<Vec<Part<String>>, MappingError> {
    let unpaired = || MappingError::BraceUnpaired { field: field.as_str() };
    let mut parts = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some(brace) = rest.find(['{', '}']) {
        literal.push_str(&rest[..brace]);
        rest = &rest[brace..];
        if let Some(after) = rest.strip_prefix("{{") {
            literal.push('{');
            rest = after;
        } else if let Some(after) = rest.strip_prefix("}}") {
            literal.push('}');
            rest = after;
        } else {
            let inner = rest.strip_prefix('{').ok_or_else(unpaired)?;
            let (name, after) = inner.split_once('}').ok_or_else(unpaired)?;
            if name.trim().is_empty() {
                return Err(MappingError::ColumnMissing { field: field.as_str() });
            }
            if !literal.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut literal)));
            }
            parts.push(Part::Column(name.trim().to_owned()));
            rest = after;
        }
    }
    literal.push_str(rest);
    if !literal.is_empty() {
        parts.push(Part::Text(literal));
    }
    Ok(parts)
}

/// Returns where the suffix of a value begins: at the first `|` outside of braces.
pub(super) fn suffix_start(value: &str) -> Option<usize> {
    let mut in_braces = false;
    value.find(|c| {
        match c {
            '{' => in_braces = true,
            '}' => in_braces = false,
            _ => {}
        }
        c == '|' && !in_braces
    })
}

impl<C> Template<C> {
    /// Returns the template of a single column.
    pub(crate) fn column(column: C) -> Self {
        Self { parts: vec![Part::Column(column)] }
    }

    /// Returns the column, if there is nothing else in the template.
    pub(crate) fn whole_column(&self) -> Option<&C> {
        match self.parts.as_slice() {
            [Part::Column(column)] => Some(column),
            [] | [Part::Text(_)] | [_, _, ..] => None,
        }
    }

    /// Returns the template with every column made another.
    pub(crate) fn try_map<D, E>(&self, mut column: impl FnMut(&C) -> Result<D, E>) -> Result<Template<D>, E> {
        let parts = self.parts.iter().map(|part| match part {
            Part::Text(text) => Ok(Part::Text(text.clone())),
            Part::Column(name) => column(name).map(Part::Column),
        });
        Ok(Template { parts: parts.collect::<Result<_, _>>()? })
    }

    /// Returns the text, without blanks around it, or none if every column is empty.
    pub(crate) fn fill<'a>(
        &self,
        mut cell: impl FnMut(&C) -> Option<Cow<'a, str>>,
    ) -> Result<Option<Cow<'a, str>>, TextTooLong> {
        if let Some(column) = self.whole_column() {
            return Ok(cell(column).map(trimmed).filter(|text| !text.is_empty()));
        }
        // A text without columns is there in every record.
        let mut filled = !self.parts.iter().any(|part| matches!(part, Part::Column(_)));
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(literal) => text.push_str(literal),
                Part::Column(column) => {
                    let cell = cell(column).unwrap_or_default();
                    filled |= !cell.trim().is_empty();
                    text.push_str(cell.trim());
                }
            }
            if text.len() > TEMPLATE_TEXT_BYTES_MAX {
                return Err(TextTooLong);
            }
        }
        Ok(filled.then(|| trimmed(Cow::Owned(text))))
    }
}

fn trimmed(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(text) if text.trim().len() == text.len() => Cow::Owned(text),
        Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
    }
}
