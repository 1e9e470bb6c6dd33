//! Sanitised HTML is harmless and stays where it is put, and what it cost is bounded by its length.

use article_webhook::{ArticleSanitizer, TooComplex, UntrustedHtml};

/// Sanitises HTML, and counts the operations, also of HTML that is refused.
pub fn sanitize(html: &str) -> (Result<String, TooComplex>, usize) {
    UntrustedHtml::new(html.to_owned()).sanitized_counting(&ArticleSanitizer::new())
}

/// The highest number of operations for each byte, and beside these for the whole text: a single tag may close all open elements.
const OPERATIONS_PER_BYTE: usize = 16;
const MORE_OPERATIONS: usize = 500_000;

/// An input is repeated up to this length, because what grows with the square of a length shows only there.
const REPEATED: usize = 32 * 1024;

const VOID: [&str; 5] = ["br", "col", "hr", "img", "wbr"];
const FORBIDDEN: [&str; 26] = [
    "applet", "audio", "base", "body", "button", "embed", "form", "frame", "head", "html",
    "iframe", "input", "link", "math", "meta", "noscript", "object", "script", "select", "style",
    "svg", "template", "textarea", "title", "video", "xmp",
];

/// The property, of the bytes once and repeated.
pub fn check(bytes: &[u8]) {
    let html = String::from_utf8_lossy(bytes);
    check_html(&html);
    check_html(&html.repeat(REPEATED / html.len().max(1)));
}

/// The property, of this HTML.
pub fn check_html(html: &str) {
    let (sanitized, operations) = sanitize(html);
    let most = OPERATIONS_PER_BYTE * html.len() + MORE_OPERATIONS;
    assert!(operations <= most, "{operations} operations for {} bytes", html.len());
    let Ok(sanitized) = sanitized else { return };
    harmless(&sanitized);
    let end = "</main><footer>end</footer>";
    if let (Ok(page), _) = sanitize(&format!("<main>{sanitized}{end}")) {
        let tail = page.chars().rev().take(200).collect::<Vec<_>>();
        let tail: String = tail.into_iter().rev().collect();
        assert!(page.starts_with("<main>") && page.ends_with(end), "it leaves its element: {tail}");
    }
}

/// Reads the output as a browser's tokenizer does, and knows nothing of how it was made.
fn harmless(html: &str) {
    let mut open = Vec::new();
    let mut rest = html;
    while let Some((text, after)) = rest.split_once('<') {
        assert!(!text.contains('>'), "text has a tag's end");
        let (tag, after) = after.split_once('>').expect("a tag ends");
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "an element ends that is not the last");
            continue;
        }
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric()),
            "{name:?}"
        );
        assert!(!FORBIDDEN.contains(&name), "{name} is kept");
        if !VOID.contains(&name) && name != "source" {
            open.push(name);
        }
        let mut rest = attributes;
        while !rest.is_empty() {
            let (name, after) = rest.split_once("=\"").expect("an attribute has a value");
            let (value, after) = after.split_once('"').expect("a value ends");
            rest = after.strip_prefix(' ').unwrap_or(after);
            harmless_attribute(name, value);
        }
    }
    assert_eq!(open, [""; 0], "an element does not end");
}

fn harmless_attribute(name: &str, value: &str) {
    assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{name:?}");
    assert!(
        !name.starts_with("on") && !["style", "srcdoc", "target", "class"].contains(&name),
        "{name} is kept"
    );
    if matches!(name, "id" | "name") {
        assert!(value.starts_with("article-"), "an id without a prefix: {value}");
    }
    let scheme = |url: &str| {
        let end = url.find([':', '/', '?', '#'])?;
        url[end..].starts_with(':').then(|| url[..end].to_ascii_lowercase())
    };
    let urls: Vec<_> = match name {
        "href" | "src" | "cite" => vec![value],
        "srcset" => value.split(", ").collect(),
        _ => return,
    };
    for url in urls {
        let is_image = name == "src"
            && url.to_ascii_lowercase().starts_with("data:image/")
            && !url.contains("svg");
        let scheme = scheme(url);
        let is_known =
            scheme.as_deref().is_none_or(|it| ["http", "https", "mailto", "tel"].contains(&it));
        assert!(is_known || is_image, "{name} is {url}");
    }
}

/// Kinds of HTML that cost the most, of about this length.
pub fn worst_kinds(bytes: usize) -> Vec<(&'static str, String)> {
    let attributes =
        |count: usize| (0..count).map(|number| format!(" a{number}")).collect::<String>();
    let repeated = [
        ("unknown end tags below open elements", "<b id=i></x>"),
        ("formatting elements", "<a><b><i>"),
        ("formatting elements that differ", "<b id=1><b id=2><b title=3></b>"),
        ("foster parenting", "<table><tr>a<b>c"),
        ("text before a table", "<table>a<p>b</p></table><p>c</p>"),
        ("paragraphs that open elements again", "<p><b><p><b>"),
        ("paragraphs in a link", "<p><a href=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa>b<div>"),
        ("wrongly nested ends", "<b><p><i><div></b></i>a</p></div>"),
        ("cells in cells", "<table><td><b>"),
        ("integration points", "<svg><foreignObject><math><mtext><p>"),
        ("templates", "<template><td>"),
        ("lists", "<ul><li>a"),
        ("lists that are closed", "<ul><li>a</ul>"),
        ("headings in lists", "<dl><dt><h1><dd>"),
        ("unclosed comments", "<!--a-"),
        ("comments", "<!--a-->"),
        ("entities", "&amp;&notit;&CounterClockwiseContourIntegra;&#x10ffff;"),
        ("quotes", "<p title=\"&\">\""),
        ("elements without an end", "<br>"),
        ("ends without an element", "</p></br></table>"),
        ("an image's candidates", "<img srcset='a 1x, b 2x,c 3w'>"),
        ("scripts", "<script>a</script>"),
        ("less-than signs", "< <<a "),
        ("null characters", "<a\0b>\0"),
    ];
    let mut kinds: Vec<_> =
        repeated.into_iter().map(|(name, unit)| (name, unit.repeat(bytes / unit.len()))).collect();
    kinds.push(("attributes of one tag", format!("<p{}>", attributes(bytes / 7))));
    kinds.push((
        "tags with as many attributes as are allowed",
        format!("<b{}></b>", attributes(99)).repeat(bytes / 400),
    ));
    kinds.push(("a tag that repeats one attribute", format!("<p{}>", " a".repeat(bytes / 2))));
    kinds.push(("a tag that does not end", format!("<p a='{}", "/ ".repeat(bytes / 2))));
    kinds.push((
        "an article",
        format!("<h2 id=a>b</h2><p>{}</p>", "word ".repeat(80)).repeat(bytes / 420),
    ));
    kinds
}

/// HTML that a generator draws: nested, wrongly nested, and with attributes, of about this length.
pub fn drawn(random: &mut fastrand::Rng, bytes: usize) -> String {
    const ELEMENTS: [&str; 40] = [
        "a", "b", "i", "em", "code", "u", "p", "div", "span", "ul", "ol", "li", "dl", "dt", "dd",
        "table", "tbody", "thead", "tr", "td", "th", "caption", "col", "colgroup", "h1", "h2",
        "figure", "img", "picture", "source", "pre", "br", "svg", "math", "mtext", "template",
        "select", "form", "button", "nobr",
    ];
    const OTHERS: [&str; 16] = [
        "a",
        "word ",
        "&amp;",
        "&lt",
        "<!--",
        "-->",
        "<script>",
        "</script>",
        "<style>",
        "</style>",
        "<![CDATA[",
        "]]>",
        "<",
        "\"",
        "\0",
        "é",
    ];
    const ATTRIBUTES: [&str; 10] = [
        " id=a",
        " class='b c'",
        " href=#a",
        " href='https://a.example/?b&c'",
        " src=javascript:x",
        " onclick=x",
        " title=\"'<b>\"",
        " srcset='a 1x, data:x 2x'",
        " aria-labelledby='a b'",
        " rel=opener",
    ];
    let mut html = String::with_capacity(bytes + 64);
    // Whether ends are frequent: otherwise all is nested.
    let ends = random.usize(0..8);
    while html.len() < bytes {
        match random.usize(0..10) {
            0..4 => {
                html.push('<');
                html.push_str(ELEMENTS[random.usize(..ELEMENTS.len())]);
                for _ in 0..random.usize(0..4) {
                    html.push_str(ATTRIBUTES[random.usize(..ATTRIBUTES.len())]);
                }
                html.push('>');
            }
            kind if kind < 4 + ends => {
                html.push_str("</");
                html.push_str(ELEMENTS[random.usize(..ELEMENTS.len())]);
                html.push('>');
            }
            _ => html.push_str(OTHERS[random.usize(..OTHERS.len())]),
        }
    }
    html
}
