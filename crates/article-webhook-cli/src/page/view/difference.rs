//! In what two bodies differ, as articles.

use article_webhook::ArticleResult;
use maud::{Markup, html};

use super::components::{number, text};
use crate::text::escape::cut;

/// What differs, and how: of the body that the handler gets, and of the other.
pub(super) fn difference(handed: &ArticleResult, other: &ArticleResult) -> Markup {
    let (from, to) = (fields(handed), fields(other));
    let differing: Vec<_> = from.into_iter().zip(to).filter(|(from, to)| from != to).collect();
    html! {
        @if differing.is_empty() {
            p { "As an article it is the same as what the handler gets: only its JSON is written differently." }
        } @else {
            table.difference {
                caption { "In what it differs from what the handler gets" }
                thead { tr { th scope="col" { "Field" } th scope="col" { "The handler gets" } th scope="col" { "This body" } } }
                tbody {
                    @for ((name, from), (_, to)) in differing {
                        @let (from, to) = (shown(name, &from), shown(name, &to));
                        tr {
                            th scope="row" { (name) }
                            td { (text(&from)) }
                            // Two long texts may be as long as each other, or begin alike.
                            td { @if from != to { (text(&to)) } @else if name == HTML { "another of the same length" } @else { "differs further on" } }
                        }
                    }
                }
            }
        }
    }
}

/// The name of the field that is shown by its length.
const HTML: &str = "HTML";

fn shown(name: &str, value: &str) -> String {
    match (name, value) {
        (_, "") => "none".to_owned(),
        (HTML, html) => format!("{} characters", number(html.chars().count() as u64)),
        (_, value) => cut(value).into_owned(),
    }
}

/// All that an article says. What is missing is empty.
fn fields(result: &ArticleResult) -> [(&'static str, String); 11] {
    let article = &result.article;
    let image = result.featured_image.as_ref();
    let posts = |posts: &[article_webhook::SocialPost]| {
        let shown = |post: &article_webhook::SocialPost| match post.text() {
            Some(text) if post.json().is_string() => text.to_owned(),
            _ => post.json().to_string(),
        };
        posts.iter().map(shown).collect::<Vec<_>>().join(" · ")
    };
    let number = |number: Option<f64>| number.map(|it| it.to_string()).unwrap_or_default();
    [
        ("title", article.title.clone()),
        (HTML, article.html.as_untrusted_str().to_owned()),
        ("words", article.word_count.map(|it| it.to_string()).unwrap_or_default()),
        ("meta title", article.meta_title.clone().unwrap_or_default()),
        ("meta description", article.meta_description.clone().unwrap_or_default()),
        ("E-E-A-T score", number(article.eeat_score)),
        ("image", image.and_then(|image| image.url.clone()).unwrap_or_default()),
        ("text of the image", image.and_then(|image| image.alt_text.clone()).unwrap_or_default()),
        ("posts for LinkedIn", posts(&result.social_posts.linkedin)),
        ("posts for X", posts(&result.social_posts.x)),
        ("credits", number(result.credits_used)),
    ]
}
