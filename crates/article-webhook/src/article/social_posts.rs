use std::fmt;

use serde::{
    Deserialize, Serialize,
    de::{MapAccess, SeqAccess},
};
use serde_json::{Map, Number, Value};

use crate::json::{Elements, Entries, Field, FromJson};

/// Posts that announce an article, per network (service document, section 2.1).
///
/// As JSON, posts take many times the memory of the body. So posts of more than 4096 values, over all networks and
/// with all values inside them, are missing, with [drift](crate::Drift).
///
/// ```
/// use article_webhook::ArticleResult;
///
/// let body = br#"{"job_id": "job_1", "status": "complete", "article": {"title": "", "html": ""},
///                 "social_posts": {"linkedin": ["Read this"], "x": [{"text": "And this"}, 7]}}"#;
/// let posts = ArticleResult::from_json(body)?.social_posts;
/// assert_eq!(posts.linkedin[0].text(), Some("Read this"));
/// assert_eq!(posts.x[0].text(), Some("And this"));
/// assert_eq!(posts.x[1].text(), None);
/// # Ok::<(), article_webhook::DecodeError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive] // the service may document more networks
pub struct SocialPosts {
    /// Posts for LinkedIn; empty if the service sent none.
    pub linkedin: Vec<SocialPost>,
    /// Posts for X; empty if the service sent none.
    pub x: Vec<SocialPost>,
}

/// One post. The service's document does not define its format, so it is kept as JSON.
///
/// For a test, it can be made of a value: `SocialPost::from(serde_json::json!({"text": "Hi"}))`.
///
/// ```
/// use article_webhook::ArticleResult;
///
/// let body = br#"{"job_id": "job_1", "status": "complete", "article": {"title": "", "html": ""},
///                 "social_posts": {"x": [{"text": "Hi", "media": []}]}}"#;
/// let post = &ArticleResult::from_json(body)?.social_posts.x[0];
/// assert_eq!(post.json()["media"].as_array().map(Vec::len), Some(0));
/// assert_eq!(post.text(), Some("Hi"));
/// # Ok::<(), article_webhook::DecodeError>(())
/// ```
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SocialPost(Value);

impl From<Value> for SocialPost {
    fn from(json: Value) -> Self {
        Self(json)
    }
}

impl SocialPost {
    /// The post as received.
    #[must_use]
    pub fn json(&self) -> &Value {
        &self.0
    }

    /// The text of the post. If the post is a string, that string; if it is an object, its field
    /// `text`, `content`, `body` or `post`. `None` if there is no such field, or several with different
    /// texts.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        let Value::Object(object) = &self.0 else {
            return self.0.as_str();
        };
        let named = |name| object.get(name).and_then(Value::as_str);
        let mut texts = ["text", "content", "body", "post"].into_iter().filter_map(named);
        let text = texts.next()?;
        texts.all(|other| other == text).then_some(text)
    }
}

impl fmt::Debug for SocialPost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SocialPost(..)")
    }
}

/// Like serde_json's own `Value`, but with this crate's limits. Over them, there is no post.
impl FromJson for SocialPost {
    const EXPECTED: &'static str = "any value";

    fn null() -> Option<Self> {
        Some(Self(Value::Null))
    }

    fn boolean(boolean: bool) -> Option<Self> {
        Some(Self(Value::Bool(boolean)))
    }

    fn number(number: Number) -> Option<Self> {
        Some(Self(Value::Number(number)))
    }

    fn text(text: &str) -> Option<Self> {
        Some(Self(Value::String(text.to_owned())))
    }

    fn array<'de, A: SeqAccess<'de>>(elements: Elements<'_, A>) -> Result<Option<Self>, A::Error> {
        let array: Option<Vec<Self>> = FromJson::array(elements)?;
        Ok(array.map(|array| Self(array.into_iter().map(|Self(value)| value).collect())))
    }

    fn object<'de, A: MapAccess<'de>>(
        mut entries: Entries<'_, 'de, A>,
    ) -> Result<Option<Self>, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.key()? {
            match entries.value()? {
                Field::Value(Self(value)) if entries.keep() => {
                    object.insert(key.into_owned(), value);
                }
                _ => {
                    entries.skip()?;
                    return Ok(None);
                }
            }
        }
        Ok(Some(Self(Value::Object(object))))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_post_is_read_where_its_text_is_obvious() {
        for (post, text) in [
            (json!("Hi"), Some("Hi")),
            (json!({"text": "Hi", "media": []}), Some("Hi")),
            (json!({"content": "Hi"}), Some("Hi")),
            (json!({"body": "Hi", "post": "Hi", "text": 7}), Some("Hi")),
            (json!({"body": "Hi", "post": "Ho"}), None),
            (json!({"title": "Hi"}), None),
            (json!(["Hi"]), None),
            (json!(7), None),
        ] {
            let post = SocialPost(post);
            assert_eq!(post.text(), text, "{}", post.json());
        }
    }

    #[test]
    fn a_post_is_kept_as_it_came() {
        let posts = json!([null, true, 7, 7.5, "Hi", [[null], {"a": [false]}], {"b": {"c": null}}]);
        let body = json!({"job_id": "1", "status": "complete", "article": {"title": "", "html": ""},
                          "social_posts": {"x": posts}});
        let result = crate::ArticleResult::from_json(body.to_string().as_bytes()).unwrap();
        assert_eq!(serde_json::to_value(&result.social_posts.x).unwrap(), posts);
    }
}
