use std::fmt;

use article_webhook_inbox::Excerpt;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

/// How many bytes of a body are read to find the title, which may stand after the HTML.
pub(in crate::page) const TITLE_BYTES: usize = 64 * 1024;

/// The title of the article whose first bytes these are, if it is among them.
pub(super) fn title(excerpt: &Excerpt) -> Option<String> {
    let mut found = None;
    let mut json = serde_json::Deserializer::from_slice(&excerpt.start);
    // It ends with an error where the excerpt ends. What was found until then counts.
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
                }
                _ => _ = map.next_value::<IgnoredAny>()?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use article_webhook_inbox::Source;

    use super::*;

    fn of(start: &str) -> Option<String> {
        title(&Excerpt {
            source: Source::Webhook,
            length: None,
            start: start.to_owned().into_bytes().into(),
        })
    }

    #[test]
    fn a_title_is_found_although_the_rest_is_cut() {
        assert_eq!(of(r#"{"article":{"title":"A","html":"<p>"#).as_deref(), Some("A"));
        assert_eq!(
            of(r#"{"x":[{"title":"B"}],"article":{"y":1,"title":"A\u00e9"}}"#).as_deref(),
            Some("Aé")
        );
        for none in [
            "",
            "{",
            "[]",
            r#"{"title":"B"}"#,
            r#"{"article":{"title":1}}"#,
            r#"{"article":{"title":"A"#,
        ] {
            assert_eq!(of(none), None, "{none}");
        }
    }
}
