use std::fmt;

use article_webhook::adapter::repair;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

/// How much of a body is read to find the title, which may stand after the HTML.
const MAX_READ_BYTES: usize = 64 << 10;

/// How much of a title or a topic is kept.
const MAX_EXCERPT_CHARS: usize = 200;

/// The title of the article in a body, without decoding the rest. `None`: it has none, or not among its first bytes.
#[must_use]
pub fn title_of(body: &[u8]) -> Option<Box<str>> {
    let start = &body[..body.len().min(MAX_READ_BYTES)];
    // Repairing reads all of it, and few bodies need that.
    let found = sought(start).or_else(|| sought(&repair(start)?))?;
    excerpt(&found)
}

/// What is kept of a text that is shown in lists. `None` if it is blank.
pub(crate) fn excerpt(text: &str) -> Option<Box<str>> {
    let excerpt: String = text.trim().chars().take(MAX_EXCERPT_CHARS).collect();
    (!excerpt.is_empty()).then(|| excerpt.into())
}

fn sought(json: &[u8]) -> Option<String> {
    let mut found = None;
    let mut json = serde_json::Deserializer::from_slice(json);
    // It ends with an error where the read bytes end. What was found until then counts.
    let _ = Seek { path: &["article", "title"], found: &mut found }.deserialize(&mut json);
    found
}

/// Looks for the text at a path, and passes over everything else.
struct Seek<'a> {
    path: &'static [&'static str],
    found: &'a mut Option<String>,
}

impl<'de> DeserializeSeed<'de> for Seek<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seek<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an article")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        if self.path.is_empty() {
            *self.found = Some(text.to_owned());
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match self.path.split_first() {
                Some((first, path)) if key == *first => {
                    map.next_value_seed(Seek { path, found: self.found })?;
                    // Nothing that comes later can change it.
                    if self.found.is_some() {
                        return Err(serde::de::Error::custom("found"));
                    }
                }
                _ => _ = map.next_value::<IgnoredAny>()?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_found_although_the_rest_is_cut() {
        let of = |start: &str| title_of(start.as_bytes());
        assert_eq!(of(r#"{"article":{"title":" A ","html":"<p>"#).as_deref(), Some("A"));
        assert_eq!(
            of(r#"{"x":[{"title":"B"}],"article":{"y":1,"title":"A\u00e9"}}"#).as_deref(),
            Some("Aé")
        );
        assert_eq!(of(r#"{"article":{"title":"half \ud83c"}}"#).as_deref(), Some("half \u{fffd}"));
        let long = "é".repeat(MAX_EXCERPT_CHARS + 1);
        let kept = of(&format!(r#"{{"article":{{"title":"{long}"}}}}"#)).unwrap();
        assert_eq!(kept.chars().count(), MAX_EXCERPT_CHARS);
        for none in [
            "",
            "{",
            "[]",
            r#"{"title":"B"}"#,
            r#"{"article":{"title":1}}"#,
            r#"{"article":{"title":"  "}}"#,
            r#"{"article":{"title":"A"#,
        ] {
            assert_eq!(of(none), None, "{none}");
        }
    }
}
