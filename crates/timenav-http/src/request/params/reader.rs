//! A JSON deserializer that records the path of an error. All parameter types use this one, so each is compiled once.
//! The path is only built when an error occurs.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    self, Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error, IntoDeserializer, MapAccess,
    SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde_json::Number;
use serde_json::value::RawValue;

#[derive(Debug)]
pub(super) struct ReadError {
    /// A JSON pointer without the leading slash. It may or may not end in the name of an unknown or duplicate field.
    pub(super) path: String,
    pub(super) message: String,
}

pub(super) fn read<T: DeserializeOwned>(json: &RawValue) -> Result<T, ReadError> {
    let path = RefCell::new(Vec::new());
    T::deserialize(Reader { json, path: &path }).map_err(|message| ReadError::at(&path.into_inner(), message))
}

impl ReadError {
    pub(super) fn at(path: &[Segment<'_>], Message(message): Message) -> Self {
        let segments: Vec<String> = path.iter().map(Segment::to_string).collect();
        Self { path: segments.join("/"), message }
    }
}

#[derive(Debug)]
pub(super) enum Segment<'de> {
    Name(Cow<'de, str>),
    Index(usize),
}

impl fmt::Display for Segment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(&name.replace('~', "~0").replace('/', "~1")),
            Self::Index(index) => write!(f, "{index}"),
        }
    }
}

#[derive(Debug)]
pub(super) struct Message(String);

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Message {}

impl Error for Message {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

impl From<serde_json::Error> for Message {
    fn from(error: serde_json::Error) -> Self {
        let message = error.to_string();
        Self(message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message).to_owned())
    }
}

/// A deserializer of one JSON value. JSON text is parsed one level at a time.
#[derive(Clone, Copy)]
struct Reader<'de, 'p> {
    json: &'de RawValue,
    path: &'p RefCell<Vec<Segment<'de>>>,
}

impl<'de> Reader<'de, '_> {
    fn text(self) -> &'de str {
        self.json.get()
    }

    fn first(self) -> u8 {
        self.text().bytes().next().unwrap_or(b' ')
    }

    /// Deserializes a nested value. If that fails, its path is kept.
    fn inside<S: DeserializeSeed<'de>>(self, json: &'de RawValue, seed: S) -> Result<S::Value, Message> {
        seed.deserialize(Reader { json, path: self.path })
    }

    fn mistyped<T>(self, expected: &dyn de::Expected) -> Result<T, Message> {
        let given = match self.first() {
            b'{' => Unexpected::Map,
            b'[' => Unexpected::Seq,
            b'"' => Unexpected::Str(""),
            b'n' => Unexpected::Other("null"),
            b't' | b'f' => Unexpected::Bool(self.first() == b't'),
            _ => Unexpected::Other("integer"),
        };
        Err(Message::invalid_type(given, expected))
    }

    fn scalar<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Message> {
        match self.first() {
            b'"' => visitor.visit_string(serde_json::from_str(self.text())?),
            b't' | b'f' => visitor.visit_bool(self.first() == b't'),
            b'n' | b'{' | b'[' => self.mistyped(&visitor),
            _ => {
                let number: Number = serde_json::from_str(self.text())?;
                match (number.as_u64(), number.as_i64()) {
                    (Some(number), _) => visitor.visit_u64(number),
                    (None, Some(number)) => visitor.visit_i64(number),
                    (None, None) => visitor.visit_f64(number.as_f64().unwrap_or_default()),
                }
            }
        }
    }
}

macro_rules! scalars {
    ($($name:ident)*) => {$(
        fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Message> {
            self.scalar(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for Reader<'de, '_> {
    type Error = Message;

    /// Reads a value of unknown type. Errors inside it have no path of their own.
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Message> {
        Ok(serde_json::Deserializer::from_str(self.text()).deserialize_any(visitor)?)
    }

    scalars! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_u8 deserialize_u16
        deserialize_u32 deserialize_u64 deserialize_f32 deserialize_f64 deserialize_char deserialize_str
        deserialize_string deserialize_bytes deserialize_byte_buf deserialize_identifier
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Message> {
        if self.first() == b'n' { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Message> {
        if self.first() == b'n' { visitor.visit_unit() } else { self.mistyped(&visitor) }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Message> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, Message> {
        Ok(serde_json::Deserializer::from_str(self.text()).deserialize_newtype_struct(name, visitor)?)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Message> {
        if self.first() != b'[' {
            return self.mistyped(&visitor);
        }
        let items: Vec<&'de RawValue> = serde_json::from_str(self.text())?;
        visitor.visit_seq(Items { reader: self, left: items.into_iter(), read: 0 })
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Message> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Message> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Message> {
        if self.first() != b'{' {
            return self.mistyped(&visitor);
        }
        let Fields(fields) = serde_json::from_str(self.text())?;
        visitor.visit_map(Entries { reader: self, fields: fields.into_iter(), value: None })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Message> {
        self.deserialize_map(visitor)
    }

    /// A unit variant is a string, any other variant an object with one member. Other values are unknown variants.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Message> {
        if self.first() == b'{'
            && let Fields(mut fields) = serde_json::from_str(self.text())?
            && fields.len() == 1
            && let Some((word, content)) = fields.pop()
        {
            return visitor.visit_enum(Word { reader: self, text: word, content: Some(content) });
        }
        let word = if self.first() == b'"' { serde_json::from_str(self.text())? } else { self.text().to_owned() };
        visitor.visit_enum(Word { reader: self, text: word.into(), content: None })
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Message> {
        visitor.visit_unit()
    }
}

struct Items<'de, 'p> {
    reader: Reader<'de, 'p>,
    left: std::vec::IntoIter<&'de RawValue>,
    read: usize,
}

impl<'de> SeqAccess<'de> for Items<'de, '_> {
    type Error = Message;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Message> {
        let Some(item) = self.left.next() else { return Ok(None) };
        let depth = push(self.reader.path, Segment::Index(self.read));
        let value = self.reader.inside(item, seed)?;
        self.reader.path.borrow_mut().truncate(depth);
        self.read += 1;
        Ok(Some(value))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left.len())
    }
}

/// Appends a segment to a path and returns the previous length.
fn push<'de>(path: &RefCell<Vec<Segment<'de>>>, segment: Segment<'de>) -> usize {
    let mut path = path.borrow_mut();
    path.push(segment);
    path.len() - 1
}

struct Entries<'de, 'p> {
    reader: Reader<'de, 'p>,
    fields: std::vec::IntoIter<(Cow<'de, str>, &'de RawValue)>,
    /// The value of the name read last, and the path length of the object.
    value: Option<(&'de RawValue, usize)>,
}

impl<'de> MapAccess<'de> for Entries<'de, '_> {
    type Error = Message;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Message> {
        let Some((name, value)) = self.fields.next() else { return Ok(None) };
        let depth = push(self.reader.path, Segment::Name(name.clone()));
        self.value = Some((value, depth));
        let name: StrDeserializer<'_, Message> = name.as_ref().into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Message> {
        let (value, depth) = self.value.take().ok_or_else(|| Message("a value without a name".to_owned()))?;
        let value = self.reader.inside(value, seed)?;
        self.reader.path.borrow_mut().truncate(depth);
        Ok(value)
    }
}

struct Word<'de, 'p> {
    reader: Reader<'de, 'p>,
    text: Cow<'de, str>,
    content: Option<&'de RawValue>,
}

impl<'de, 'p> EnumAccess<'de> for Word<'de, 'p> {
    type Error = Message;
    type Variant = Content<'de, 'p>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self::Variant), Message> {
        let word: StrDeserializer<'_, Message> = self.text.as_ref().into_deserializer();
        Ok((seed.deserialize(word)?, Content { reader: self.reader, content: self.content }))
    }
}

struct Content<'de, 'p> {
    reader: Reader<'de, 'p>,
    content: Option<&'de RawValue>,
}

impl<'de, 'p> Content<'de, 'p> {
    fn reader(self) -> Result<Reader<'de, 'p>, Message> {
        let json = self.content.ok_or_else(|| Message("invalid type: string, expected an object".to_owned()))?;
        Ok(Reader { json, path: self.reader.path })
    }
}

impl<'de> VariantAccess<'de> for Content<'de, '_> {
    type Error = Message;

    fn unit_variant(self) -> Result<(), Message> {
        match self.content {
            None => Ok(()),
            Some(_) => self.reader.mistyped(&"a string"),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Message> {
        seed.deserialize(self.reader()?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Message> {
        self.reader()?.deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, Message> {
        self.reader()?.deserialize_map(visitor)
    }
}

/// The members of an object in order, including those with duplicate names.
pub(super) struct Fields<'de>(pub(super) Vec<(Cow<'de, str>, &'de RawValue)>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some((Name(name), value)) = members.next_entry()? {
                    fields.push((name, value));
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// A name, borrowed unless it contains escapes.
pub(super) struct Name<'a>(pub(super) Cow<'a, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(AnyName)
    }
}

struct AnyName;

impl<'de> Visitor<'de> for AnyName {
    type Value = Name<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<Name<'de>, E> {
        Ok(Name(name.into()))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Name<'de>, E> {
        Ok(Name(name.to_owned().into()))
    }
}
