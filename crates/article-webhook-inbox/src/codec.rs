//! How rows are stored. What changes often or is searched is in columns; the rest of a row is one JSON document, which is the
//! serde form of the row's struct. A new field of a row is named there alone.

#![expect(clippy::missing_panics_doc, reason = "a row is always JSON")]

use std::{fmt::Display, str::FromStr, time::SystemTime};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

/// The fields of a document that only a newer version knows. They stay as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct NewerFields(Option<Box<Map<String, Value>>>);

impl<'de> Deserialize<'de> for NewerFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Box::<Map<_, _>>::deserialize(deserializer)?;
        // Of a line of an export, and not of the document in it.
        fields.remove("kind");
        Ok(Self((!fields.is_empty()).then_some(fields)))
    }
}

/// The document of a row.
pub fn document(row: &impl Serialize) -> String {
    serde_json::to_string(row).expect("a row is written as JSON")
}

/// The row with this document. Its columns are still missing.
pub fn row<T: DeserializeOwned>(document: &str) -> Option<T> {
    serde_json::from_str(document).ok()
}

/// The checksum of the columns of a row that never change, and of its document: the first eight bytes of a SHA-256. The other
/// columns are left out, so that a statement of the application can complete an entry.
pub fn checksum(columns: &[&[u8]], document: &str) -> i64 {
    let mut hash = Sha256::new();
    for column in columns.iter().copied().chain([document.as_bytes()]) {
        hash.update((column.len() as u64).to_le_bytes());
        hash.update(column);
    }
    let mut first = [0; 8];
    first.copy_from_slice(&hash.finalize()[..8]);
    i64::from_le_bytes(first)
}

/// The time of a row before its columns are read.
pub(crate) fn no_time() -> SystemTime {
    SystemTime::UNIX_EPOCH
}

/// A value that is written as its text.
pub(crate) mod text {
    use super::{Deserialize, Deserializer, Display, FromStr, Serializer};

    /// Writes a value.
    ///
    /// # Errors
    ///
    /// Those of the serializer.
    pub(crate) fn serialize<S: Serializer>(
        value: &impl Display,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    /// Reads a value.
    ///
    /// # Errors
    ///
    /// It is no text, or one that is not known.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// A time that is written in milliseconds since 1970.
pub(crate) mod millis {
    use std::time::SystemTime;

    use serde::de::Error;

    use super::{Deserialize, Deserializer, Serializer};
    use crate::timestamp::{END_OF_9999, from_millis, to_millis};

    pub(crate) fn serialize<S: Serializer>(
        time: &SystemTime,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        // That of a damaged row may be none.
        serializer.serialize_i64(to_millis(*time).min(END_OF_9999))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<SystemTime, D::Error> {
        let millis = i64::try_from(u64::deserialize(deserializer)?).ok();
        let millis = millis.filter(|millis| *millis <= END_OF_9999);
        millis.map(from_millis).ok_or_else(|| D::Error::custom("not a time before the year 10000"))
    }
}

/// A time that is written in milliseconds since 1970, or null.
pub(crate) mod optional_millis {
    use std::time::SystemTime;

    use super::{Deserialize, Deserializer, Serialize, Serializer, millis};

    #[derive(Serialize, Deserialize)]
    struct Millis(#[serde(with = "millis")] SystemTime);

    pub(crate) fn serialize<S: Serializer>(
        time: &Option<SystemTime>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        time.map(Millis).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<SystemTime>, D::Error> {
        Ok(Option::<Millis>::deserialize(deserializer)?.map(|Millis(time)| time))
    }
}

/// Bytes that are written as their text, or in hex if they are no UTF-8, or null.
pub(crate) mod body {
    use std::borrow::Cow;

    use bytes::Bytes;
    use serde::de::Error;

    use super::{Deserialize, Deserializer, Serialize, Serializer};
    use crate::digest::{Hex, bytes_of_hex};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Written<'a> {
        Text(Cow<'a, str>),
        Hex { hex: String },
    }

    pub(crate) fn serialize<S: Serializer>(
        bytes: &Option<Bytes>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let written = |bytes| match std::str::from_utf8(bytes) {
            Ok(text) => Written::Text(text.into()),
            Err(_) => Written::Hex { hex: Hex(bytes).to_string() },
        };
        bytes.as_deref().map(written).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Bytes>, D::Error> {
        match Option::<Written<'_>>::deserialize(deserializer)? {
            None => Ok(None),
            Some(Written::Text(text)) => Ok(Some(text.into_owned().into())),
            Some(Written::Hex { hex }) => {
                let bytes =
                    bytes_of_hex(&hex).ok_or_else(|| D::Error::custom("not bytes in hex"))?;
                Ok(Some(bytes.into()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{EntryLine, Row};

    #[test]
    fn a_field_of_a_newer_version_stays_in_the_document_also_by_way_of_an_export() {
        let stored = r#"{"interrupted":1,"conflicts":0,"route":{"to":["north"]}}"#;
        assert_eq!(document(&row::<Row>(stored).unwrap()), stored);

        let line = r#"{"kind":"entry","job_id":"job_1","event":"article.complete","state":"done","attempts":1,
            "received_at":1,"at":2,"since":2,"interrupted":0,"conflicts":0,"route":"north",
            "bodies":[{"received_at":1,"sha256":"0000000000000000000000000000000000000000000000000000000000000000",
            "source":"webhook","target":"blog","lang":"de"}]}"#;
        let line: EntryLine = serde_json::from_str(line).unwrap();
        assert_eq!(document(&line.row()), r#"{"interrupted":0,"conflicts":0,"route":"north"}"#);
        let body = line.bodies[0].row();
        assert_eq!(document(&body), r#"{"source":"webhook","target":"blog","lang":"de"}"#);
    }
}
