use article_webhook_axum::Article;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::store::{Entry, Page};

pub(crate) fn list(page: &Page) -> Markup {
    let Page { number, entries, is_last } = page;
    let content = html! {
        h1 { "Articles" }
        @if entries.is_empty() {
            p.note { "Nothing was delivered yet." }
        }
        ol.list {
            @for Entry { key, result, .. } in entries {
                li {
                    a href={ "/articles/" (key) } {
                        @match result {
                            Ok(result) if result.article.title.trim().is_empty() => "Untitled",
                            Ok(result) => (result.article.title),
                            Err(_) => "Not understood yet",
                        }
                    }
                    @match result {
                        Ok(result) => (summary(&result.article)),
                        Err(error) => p { (error) },
                    }
                }
            }
        }
        nav {
            @if *number > 1 { a href={ "/pages/" (number - 1) } { "← Newer" } " " }
            @if !is_last { a href={ "/pages/" (number + 1) } { "Older →" } }
        }
    };
    frame("Articles", None, &content)
}

fn summary(article: &Article) -> Markup {
    html! {
        @if let Some(description) = &article.meta_description { p { (description) } }
        @if let Some(words) = &article.word_count { p.small { (words) " words" } }
    }
}

pub(crate) fn article(entry: &Entry) -> Markup {
    let result = match &entry.result {
        Ok(result) => result,
        Err(error) => {
            return message(&format!("This delivery is stored, but not understood yet: {error}."));
        }
    };
    let article = &result.article;
    let body = article.html.sanitized();
    let content = html! {
        nav { a href="/" { "← All articles" } }
        @if let Some(image) = &result.featured_image {
            @if entry.has_image {
                img.featured src={ "/images/" (entry.key) } alt=[&image.alt_text];
            } @else if let Some(url) = image.http_url() {
                img.featured src=(url) alt=[&image.alt_text];
            }
        }
        // The document does not say whether the body repeats the title.
        @if !body.as_ref().is_ok_and(|body| body.contains("<h1")) { h1 { (article.title) } }
        @match body {
            // The only HTML from outside that is not escaped.
            Ok(body) => (PreEscaped(body)),
            Err(_) => {
                p.note { "This article is too complex to be shown as a page. This is its source." }
                pre { (article.html.as_untrusted_str()) }
            }
        }
    };
    let title = article.meta_title.as_ref().unwrap_or(&article.title);
    frame(title, article.meta_description.as_deref(), &content)
}

pub(crate) fn message(text: &str) -> Markup {
    frame(
        text,
        None,
        &html! {
            nav { a href="/" { "← All articles" } }
            p.note { (text) }
        },
    )
}

fn frame(title: &str, description: Option<&str>, content: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                @if let Some(description) = description { meta name="description" content=(description); }
                title { (title) }
                link rel="stylesheet" href="/style.css";
            }
            body { main { (content) } }
        }
    }
}
