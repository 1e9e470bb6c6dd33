use std::{borrow::Cow, fmt};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The kind of event that a delivery reports: the value of the event header (service document,
/// section 6.1).
///
/// One kind exists today. Any other is kept by its name, so that an event of a new kind is not lost. As JSON it is its
/// name.
///
/// ```
/// use article_webhook::Event;
///
/// assert_eq!(Event::from("article.complete"), Event::ArticleComplete);
/// assert_eq!(Event::from("article.updated").as_str(), "article.updated");
/// assert_ne!(Event::from("Article.Complete"), Event::ArticleComplete);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive] // the service may name more kinds in its document
pub enum Event {
    /// `article.complete`: a job is done and the body is its result.
    ArticleComplete,
    /// A kind that this version does not know.
    Other(Box<str>),
}

impl Event {
    /// The name as the service writes it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::ArticleComplete => "article.complete",
            Self::Other(name) => name,
        }
    }

    /// An event name is 1 to 255 visible ASCII characters.
    pub(crate) fn from_header(value: &[u8]) -> Option<Self> {
        let visible = value.iter().all(u8::is_ascii_graphic);
        let name = std::str::from_utf8(value).ok()?;
        (visible && (1..=255).contains(&name.len())).then(|| name.into())
    }
}

impl From<&str> for Event {
    fn from(name: &str) -> Self {
        match name {
            "article.complete" => Self::ArticleComplete,
            other => Self::Other(other.into()),
        }
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Cow::<str>::deserialize(deserializer)?.as_ref().into())
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_its_name_as_json() {
        for event in [Event::ArticleComplete, Event::from("article.updated")] {
            let json = serde_json::to_string(&event).unwrap();
            assert_eq!(json, format!("{:?}", event.as_str()));
            assert_eq!(serde_json::from_str::<Event>(&json).unwrap(), event);
        }
    }
}
