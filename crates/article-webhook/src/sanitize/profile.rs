use html5ever::{Attribute, LocalName, QualName, ns, tokenizer::Tag};

use super::{
    sanitizer::ArticleSanitizer,
    url::{data_image, fragment, is_from, srcset, url},
};

/// Attributes of every element. The parser keeps one copy of each name that occurs, in a table that is slow to search if
/// names are chosen for that; so there is no pattern of names here.
const EVERYWHERE: [&str; 16] = [
    "aria-controls",
    "aria-current",
    "aria-describedby",
    "aria-details",
    "aria-expanded",
    "aria-hidden",
    "aria-label",
    "aria-labelledby",
    "aria-level",
    "aria-owns",
    "class",
    "dir",
    "id",
    "lang",
    "role",
    "title",
];

/// The schemes of links, and of what is loaded.
const LINKS: [&str; 4] = ["http", "https", "mailto", "tel"];
const LOADED: [&str; 2] = ["http", "https"];

/// What a frame may do: what players of videos need.
const SANDBOX: &str = "allow-popups allow-presentation allow-same-origin allow-scripts";

impl ArticleSanitizer {
    /// The attributes that only this element may have, if it is allowed.
    fn attributes(&self, element: &str) -> Option<&'static [&'static str]> {
        Some(match element {
            "abbr" | "acronym" | "address" | "article" | "aside" | "b" | "bdi" | "bdo" | "big"
            | "br" | "center" | "cite" | "code" | "dd" | "dfn" | "div" | "dl" | "dt" | "em"
            | "figcaption" | "figure" | "footer" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6"
            | "header" | "hgroup" | "hr" | "i" | "kbd" | "main" | "mark" | "nav" | "p" | "pre"
            | "rp" | "rt" | "rtc" | "ruby" | "s" | "samp" | "section" | "small" | "span"
            | "strike" | "strong" | "sub" | "summary" | "sup" | "tt" | "u" | "ul" | "var"
            | "wbr" => &[],
            "a" => &["href", "hreflang", "name", "rel"],
            "blockquote" | "q" => &["cite"],
            "caption" | "table" | "tbody" | "tfoot" | "thead" | "tr" => &["align"],
            "col" | "colgroup" => &["align", "span"],
            "data" | "li" => &["value"],
            "del" | "ins" => &["cite", "datetime"],
            "details" => &["open"],
            "img" => &[
                "align", "alt", "decoding", "height", "loading", "sizes", "src", "srcset", "width",
            ],
            "ol" => &["reversed", "start", "type"],
            "td" | "th" => &["abbr", "align", "colspan", "headers", "rowspan", "scope", "valign"],
            "time" => &["datetime"],
            "picture" if self.keeps_urls => &[],
            "source" if self.keeps_urls => {
                &["height", "media", "sizes", "src", "srcset", "type", "width"]
            }
            "iframe" if self.keeps_urls && !self.frame_hosts.is_empty() => {
                &["allowfullscreen", "height", "loading", "src", "width"]
            }
            "audio" | "video" if self.keeps_urls && self.keeps_media => &[
                "controls",
                "height",
                "loop",
                "muted",
                "playsinline",
                "poster",
                "preload",
                "src",
                "width",
            ],
            "track" if self.keeps_urls && self.keeps_media => {
                &["default", "kind", "label", "src", "srclang"]
            }
            _ => return None,
        })
    }

    /// Whether the tree builder gets the tags of an element. Those that are hidden it needs to read their content as text.
    pub(super) fn admits_element(&self, element: &LocalName) -> bool {
        is_hidden(element) || self.attributes(element).is_some()
    }

    /// Leaves the attributes of a start tag that are allowed. `false` if the element is not.
    pub(super) fn admit(&self, tag: &mut Tag) -> bool {
        let Some(own) = self.attributes(&tag.name) else {
            tag.attrs.clear();
            return is_hidden(&tag.name);
        };
        let element = tag.name.clone();
        tag.attrs.retain_mut(|attribute| {
            match self.value(&element, own, &attribute.name.local, &attribute.value) {
                Some(value) => {
                    attribute.value = value.into();
                    true
                }
                None => false,
            }
        });
        match &*element {
            "a" => relate(tag),
            "img" if self.keeps_urls => return has(tag, "src") || has(tag, "srcset"),
            // Without attributes it is removed when the tree is written.
            "iframe" if !has(tag, "src") => tag.attrs.clear(),
            "iframe" => tag.attrs.push(attribute("sandbox", SANDBOX.to_owned())),
            _ => {}
        }
        true
    }

    /// The value of an attribute, if it is allowed.
    fn value(&self, element: &str, own: &[&str], name: &str, value: &str) -> Option<String> {
        if !own.contains(&name) && !EVERYWHERE.contains(&name) {
            return None;
        }
        let prefix = &self.id_prefix;
        match name {
            "id" | "name" => (!value.is_empty()).then(|| format!("{prefix}{value}")),
            "headers" | "aria-controls" | "aria-describedby" | "aria-details"
            | "aria-labelledby" | "aria-owns" => {
                words(value.split_ascii_whitespace().map(|id| format!("{prefix}{id}")))
            }
            "class" => {
                let names = value.split_ascii_whitespace().map(str::to_owned);
                words(names.filter(|name| self.classes.contains(name)))
            }
            "href" => match fragment(value) {
                Some("") => Some("#".to_owned()),
                // It leads to the top of the page without an element of that id.
                Some(top) if top.eq_ignore_ascii_case("top") => Some(format!("#{top}")),
                Some(id) => Some(format!("#{prefix}{id}")),
                None => url(value, &LINKS).filter(|_| self.keeps_urls),
            },
            "cite" => url(value, &LOADED).filter(|_| self.keeps_urls),
            "src" | "srcset" | "poster" if !self.keeps_urls || value.trim().is_empty() => None,
            "srcset" => srcset(value, &LOADED),
            "src" if element == "iframe" => {
                url(value, &LOADED).filter(|url| is_from(url, &self.frame_hosts))
            }
            "src" if element == "img" => {
                url(value, &LOADED).or_else(|| data_image(value, self.max_data_image))
            }
            "src" | "poster" => url(value, &LOADED),
            _ => Some(value.to_owned()),
        }
    }
}

/// Adds to `rel` what keeps the target of a link from this page, and removes what lets it in.
fn relate(tag: &mut Tag) {
    let leaves = |it: &Attribute| &*it.name.local == "href" && !it.value.starts_with('#');
    let mut relations: Vec<String> = Vec::new();
    let given = tag
        .attrs
        .iter()
        .find(|it| &*it.name.local == "rel")
        .map(|it| it.value.to_ascii_lowercase());
    let added = if tag.attrs.iter().any(leaves) { "noopener noreferrer" } else { "" };
    for relation in
        given.unwrap_or_default().split_ascii_whitespace().chain(added.split_ascii_whitespace())
    {
        if relation != "opener" && !relations.iter().any(|it| it == relation) {
            relations.push(relation.to_owned());
        }
    }
    tag.attrs.retain(|it| &*it.name.local != "rel");
    tag.attrs.extend(words(relations.into_iter()).map(|rel| attribute("rel", rel)));
}

fn has(tag: &Tag, name: &str) -> bool {
    tag.attrs.iter().any(|attribute| &*attribute.name.local == name)
}

fn attribute(name: &str, value: String) -> Attribute {
    Attribute { name: QualName::new(None, ns!(), LocalName::from(name)), value: value.into() }
}

fn words(words: impl Iterator<Item = String>) -> Option<String> {
    Some(words.collect::<Vec<_>>().join(" ")).filter(|words| !words.is_empty())
}

/// The elements of which the tree builder keeps a list, to open them again where they were not closed. `a` is another: it has one
/// of it.
pub(super) fn is_formatting(element: &LocalName) -> bool {
    matches!(
        &**element,
        "b" | "big" | "code" | "em" | "i" | "s" | "small" | "strike" | "strong" | "tt" | "u"
    )
}

/// Whether an element's content is never shown: its content is read as text, and removed with it.
pub(super) fn is_hidden(element: &LocalName) -> bool {
    matches!(&**element, "script" | "style" | "title" | "iframe" | "noembed" | "noframes")
}
