//! Text templates with columns: `{name} ({status})`.

use std::borrow::Cow;

use super::MappingError;
use crate::limits::{TEMPLATE_COLUMNS_MAX, TEMPLATE_TEXT_BYTES_MAX};
use crate::mapping::field::Field;

/// A template. `C` is a column's name, or its index once known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template<C> {
    /// Contains at least one column, unless the text is the same for every record.
    parts: Vec<Part<C>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part<C> {
    Text(String),
    Column(C),
}

/// The filled template is longer than [`TEMPLATE_TEXT_BYTES_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextTooLong;

impl Template<String> {
    pub(super) fn text(text: &str) -> Self {
        Self { parts: vec![Part::Text(text.to_owned())] }
    }

    /// Parses a template or a plain column name.
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

/// The position of the first `|` outside braces.
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
    pub(crate) fn column(column: C) -> Self {
        Self { parts: vec![Part::Column(column)] }
    }

    /// The column, if it is the whole template.
    pub(crate) fn whole_column(&self) -> Option<&C> {
        match self.parts.as_slice() {
            [Part::Column(column)] => Some(column),
            [] | [Part::Text(_)] | [_, _, ..] => None,
        }
    }

    pub(crate) fn try_map<D, E>(&self, mut column: impl FnMut(&C) -> Result<D, E>) -> Result<Template<D>, E> {
        let parts = self.parts.iter().map(|part| match part {
            Part::Text(text) => Ok(Part::Text(text.clone())),
            Part::Column(name) => column(name).map(Part::Column),
        });
        Ok(Template { parts: parts.collect::<Result<_, _>>()? })
    }

    /// The text, trimmed, or none if every column is empty.
    pub(crate) fn fill<'a>(
        &self,
        mut cell: impl FnMut(&C) -> Option<Cow<'a, str>>,
    ) -> Result<Option<Cow<'a, str>>, TextTooLong> {
        if let Some(column) = self.whole_column() {
            return Ok(cell(column).map(trimmed).filter(|text| !text.is_empty()));
        }
        // A template without columns always yields its text.
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
