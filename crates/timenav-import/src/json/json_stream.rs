//! Streaming of JSON values from documents of any length.

use std::fmt;
use std::io::{BufRead, BufReader, Read};
use std::ops::ControlFlow;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;

use crate::ImportError;
use crate::event_record::without_position;
use crate::item::clipped;
use crate::json::meter::Meter;
use crate::limits::BUFFER_BYTES;

/// Called with each value, and the line on which it ends. `Break` stops reading.
pub(crate) type Each<'a> = &'a mut dyn FnMut(&str, u64) -> Result<ControlFlow<()>, ImportError>;

#[derive(Clone, Copy)]
pub(crate) struct Part {
    /// For example `a trace document`.
    pub(crate) what: &'static str,
    pub(crate) bytes_max: usize,
}

/// Reads consecutive values: a single document, or one per line.
pub(crate) fn documents(part: Part, input: &mut dyn Read, each: Each<'_>) -> Result<(), ImportError> {
    let meter = Meter::new(part.bytes_max);
    let mut stream = serde_json::Deserializer::from_reader(meter.input(input)).into_iter::<Box<RawValue>>();
    let mut count = 0;
    loop {
        meter.begin();
        match stream.next() {
            None => return Ok(()),
            Some(Ok(text)) => {
                let line = meter.line();
                if text.get().len() > part.bytes_max {
                    return Err(ImportError::PartTooLarge { what: part.what, line, bytes_max: part.bytes_max });
                }
                count += 1;
                if each(text.get(), line)?.is_break() {
                    return Ok(());
                }
            }
            Some(Err(error)) => return Err(import_error(part, error, count, meter.is_used_up())),
        }
    }
}

/// Reads the values of an array, or consecutive values if there is no array.
pub(crate) fn values(part: Part, input: &mut dyn Read, each: Each<'_>) -> Result<(), ImportError> {
    let mut input = BufReader::with_capacity(BUFFER_BYTES, input);
    if first_byte(&mut input, part)? != Some(b'[') {
        return documents(part, &mut input, each);
    }
    let meter = Meter::new(part.bytes_max);
    let mut reader = serde_json::Deserializer::from_reader(meter.input(&mut input));
    let mut progress = Progress { part, meter: &meter, each, count: 0, stopped: None, is_found: true };
    let outcome = Array(&mut progress).deserialize(&mut reader).and_then(|()| {
        meter.begin();
        reader.end()
    });
    match (outcome, progress.stopped) {
        (_, Some(stopped)) => stopped,
        (Ok(()), None) => Ok(()),
        (Err(error), None) => Err(import_error(part, error, progress.count, meter.is_used_up())),
    }
}

/// Reads the values of the array at a path, or as [`values`] without a path.
pub(crate) fn values_at(
    part: Part,
    path: Option<&str>,
    input: &mut dyn Read,
    each: Each<'_>,
) -> Result<(), ImportError> {
    let Some(path) = path.filter(|path| !path.is_empty()) else { return values(part, input, each) };
    let names: Vec<String> = match path.strip_prefix('/') {
        // RFC 6901, section 4.
        Some(pointer) => pointer.split('/').map(|name| name.replace("~1", "/").replace("~0", "~")).collect(),
        None => path.split('.').map(str::to_owned).collect(),
    };
    let meter = Meter::new(part.bytes_max);
    let mut reader = serde_json::Deserializer::from_reader(meter.input(input));
    let mut progress = Progress { part, meter: &meter, each, count: 0, stopped: None, is_found: false };
    let outcome = Inside(&mut progress, &names).deserialize(&mut reader).and_then(|()| {
        meter.begin();
        reader.end()
    });
    let not_there = |line| ImportError::NotOfFormat {
        format: "json",
        line,
        detail: format!(
            "the mapping names `{}` as the list of records, but it is not a list",
            clipped(path.to_owned())
        ),
    };
    match (outcome, progress.stopped) {
        (_, Some(stopped)) => stopped,
        (Ok(()), None) if progress.is_found => Ok(()),
        (Ok(()), None) => Err(not_there(meter.line())),
        (Err(error), None) if error.is_data() && !meter.is_used_up() => Err(not_there(meter.line())),
        (Err(error), None) => Err(import_error(part, error, progress.count, meter.is_used_up())),
    }
}

/// Finds the array in an object.
struct Inside<'r, 'p, 'n>(&'r mut Progress<'p>, &'n [String]);

impl<'de> DeserializeSeed<'de> for Inside<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.1 {
            [] => {
                self.0.is_found = true;
                Array(self.0).deserialize(deserializer)
            }
            [_, ..] => deserializer.deserialize_map(self),
        }
    }
}

impl<'de> Visitor<'de> for Inside<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self(progress, names) = self;
        let Some((first, rest)) = names.split_first() else { return Ok(()) };
        loop {
            progress.meter.begin();
            let Some(name) = map.next_key::<String>()? else { return Ok(()) };
            if name == *first {
                map.next_value_seed(Inside(progress, rest))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
    }
}

/// Returns the first byte that is not a blank, without consuming it.
fn first_byte(input: &mut impl BufRead, part: Part) -> Result<Option<u8>, ImportError> {
    let mut blanks = 0;
    loop {
        let available = match input.fill_buf() {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            other => other.map_err(|source| ImportError::Io { line: 1, source })?,
        };
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        if let Some(found) = available.iter().position(|byte| !is_blank(byte)) {
            let byte = available[found];
            input.consume(found);
            return Ok(Some(byte));
        }
        let bytes = available.len();
        if bytes == 0 {
            return Ok(None);
        }
        input.consume(bytes);
        blanks += bytes;
        if blanks > part.bytes_max {
            return Err(ImportError::PartTooLarge { what: part.what, line: 1, bytes_max: part.bytes_max });
        }
    }
}

struct Progress<'p> {
    part: Part,
    meter: &'p Meter,
    each: Each<'p>,
    count: u64,
    /// Why reading was stopped by the callback.
    stopped: Option<Result<(), ImportError>>,
    is_found: bool,
}

struct Array<'r, 'p>(&'r mut Progress<'p>);

impl<'de> DeserializeSeed<'de> for Array<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Array<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let progress = self.0;
        loop {
            progress.meter.begin();
            let Some(text) = items.next_element::<Box<RawValue>>()? else { return Ok(()) };
            if text.get().len() > progress.part.bytes_max {
                progress.meter.use_up();
                return Err(A::Error::custom("the value is too long"));
            }
            progress.count += 1;
            match (progress.each)(text.get(), progress.meter.line()) {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(())) => progress.stopped = Some(Ok(())),
                Err(error) => progress.stopped = Some(Err(error)),
            }
            if progress.stopped.is_some() {
                return Err(A::Error::custom("no more is wanted"));
            }
        }
    }
}

fn import_error(part: Part, error: serde_json::Error, records: u64, is_too_large: bool) -> ImportError {
    let line = u64::try_from(error.line()).unwrap_or(u64::MAX);
    if is_too_large {
        return ImportError::PartTooLarge { what: part.what, line, bytes_max: part.bytes_max };
    }
    let column = u64::try_from(error.column()).unwrap_or(u64::MAX);
    let detail = clipped(without_position(&error));
    match error.classify() {
        Category::Io => ImportError::Io { line, source: error.into() },
        Category::Syntax | Category::Eof | Category::Data => {
            ImportError::MalformedJson { line, column, records, detail }
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Stopped {
    Enough,
    NoArray,
}

/// Iterates over the values of an array in memory that is known to be valid JSON.
pub(crate) fn array_values<'t>(
    text: &'t str,
    each: &mut dyn FnMut(&'t str) -> Result<(), Stopped>,
) -> Result<(), Stopped> {
    struct Values<'e, 't> {
        each: &'e mut dyn FnMut(&'t str) -> Result<(), Stopped>,
        stopped: Option<Stopped>,
    }

    impl<'t> Visitor<'t> for &mut Values<'_, 't> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an array")
        }

        fn visit_seq<A: SeqAccess<'t>>(self, mut items: A) -> Result<(), A::Error> {
            while let Some(item) = items.next_element::<&'t RawValue>()? {
                if let Err(stopped) = (self.each)(item.get()) {
                    self.stopped = Some(stopped);
                    return Err(A::Error::custom("no more is wanted"));
                }
            }
            Ok(())
        }
    }

    let mut values = Values { each, stopped: None };
    match serde_json::Deserializer::from_str(text).deserialize_seq(&mut values) {
        Ok(()) => Ok(()),
        Err(_) => Err(values.stopped.unwrap_or(Stopped::NoArray)),
    }
}
