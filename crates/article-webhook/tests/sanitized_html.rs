//! What the sanitiser keeps, removes and refuses.
#![cfg(feature = "sanitize")]

use article_webhook::{ArticleSanitizer, TooComplex, UntrustedHtml};

fn by(sanitizer: &ArticleSanitizer, html: &str) -> Result<String, TooComplex> {
    UntrustedHtml::new(html.to_owned()).sanitized_by(sanitizer)
}

fn sanitized(html: &str) -> String {
    by(&ArticleSanitizer::new(), html).expect("it is not complex")
}

/// What comes out for each of these.
fn become_(rows: &[(&str, &str)]) {
    for (html, expected) in rows {
        assert_eq!(sanitized(html), *expected, "{html}");
    }
}

fn stay(rows: &[&str]) {
    for html in rows {
        assert_eq!(sanitized(html), *html);
    }
}

#[test]
fn what_comes_out_is_what_the_table_says() {
    let plain = ArticleSanitizer::new();
    let asked = ArticleSanitizer::new()
        .classes(["wide", "language-rust"])
        .and_then(|it| it.frames(["Player.example"]))
        .expect("they are valid")
        .media();
    let mut rows = 0;
    for section in include_str!("sanitized_html.txt").split("\n= ").skip(1) {
        let (title, lines) = section.split_once('\n').expect("a section has a title");
        let sanitizer = if title.ends_with("asked for") { &asked } else { &plain };
        let lines: Vec<_> = lines.lines().filter(|line| !line.is_empty()).collect();
        for row in lines.chunks(2) {
            let &[html, expected] = row else { panic!("{title}: {row:?}") };
            let expected = expected.strip_prefix("    →").expect("an arrow").trim_start();
            let expected = if expected == "unchanged" { html } else { expected };
            assert_eq!(by(sanitizer, html).as_deref(), Ok(expected), "{title}: {html}");
            rows += 1;
        }
    }
    assert!(rows >= 68, "{rows}");
}

#[test]
fn what_no_line_of_the_table_can_hold() {
    stay(&[
        "<pre><code>fn main() {}\n</code></pre><dl><dt>a</dt><dd>b</dd></dl><time datetime=\"2026\">c</time>",
        "",
    ]);
    let zero_byte = "<a xlink:href=javascript:alert(1) href\0=x ping=//x>a</a>";
    become_(&[(zero_byte, "<a>a</a>")]);
    let other = ArticleSanitizer::new().id_prefix("a7_").expect("it is a prefix");
    assert_eq!(by(&other, "<p id=x>").as_deref(), Ok("<p id=\"a7_x\"></p>"));
}

#[test]
fn every_url_of_a_srcset_is_checked() {
    let image = |srcset: &str| sanitized(&format!("<img srcset='{srcset}'>"));
    let kept = |srcset: &str| format!("<img srcset=\"{srcset}\">");
    assert_eq!(
        image("https://a/b 1x,c.png 2.5x ,\n https://a/d,e 100w"),
        kept("https://a/b 1x, c.png 2.5x, https://a/d,e 100w")
    );
    assert_eq!(image("a.png, b.png"), kept("a.png, b.png"));
    assert_eq!(
        image("javascript:x() 1x, a.png 2x, data:image/png;base64,AAAA 3x, d.png 4q"),
        kept("a.png 2x")
    );
    assert_eq!(image("java\tscript:x() 1x"), "");
    assert_eq!(image(" , ,"), "");
}

#[test]
fn a_data_image_is_kept_if_it_is_small_and_an_image_and_else_removed_with_its_element() {
    let image = |kind: &str, bytes: usize| {
        format!(
            "<img src=\"data:image/{kind},{}\" alt=\"a\">",
            "/+0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghij".repeat(bytes / 36)
        )
    };
    for kind in ["png;base64", "jpeg;base64", "gif;base64", "webp;base64", "avif;base64"] {
        stay(&[&image(kind, 300)]);
    }
    stay(&[&image("png;base64", 64 * 1024 - 36)]);
    become_(&[
        (&image("png;base64", 64 * 1024 + 36), ""),
        (&image("png;base64", 3_000_000), ""),
        (&image("svg+xml;base64", 300), ""),
        (&image("png;charset=utf-8;base64", 300), ""),
        (&image("png", 300), ""),
        ("<img src='data:image/png;base64,'>", ""),
        ("<img src='data:image/png;base64,<script>'>", ""),
        ("<img src='data:text/html;base64,AAAA'>a", "a"),
        ("<img src='data:text/html;base64,AAAA' srcset='b.png'>", "<img srcset=\"b.png\">"),
        ("<img alt=a><img src=''><img src=' '>", ""),
    ]);
    let none = ArticleSanitizer::new().data_images(0);
    assert_eq!(by(&none, &image("png;base64", 300)).as_deref(), Ok(""));
    let large = ArticleSanitizer::new().data_images(1 << 20);
    assert_eq!(
        by(&large, &image("png;base64", 1 << 20)).as_deref(),
        Ok(&*image("png;base64", 1 << 20))
    );
}

#[test]
fn without_urls_nothing_loads_and_nothing_leads_away() {
    let without =
        ArticleSanitizer::new().frames(["a.example"]).expect("it is a host").media().without_urls();
    let html = "<a href='https://a.example' rel=me>a</a><a href='#b'>c</a><img src='https://a.example/d' srcset='e' alt='f'>\
        <picture><source srcset=g><img src=h></picture><iframe src='https://a.example/'></iframe><video src=i>j</video><q cite=k>l</q>";
    assert_eq!(
        by(&without, html).as_deref(),
        Ok("<a rel=\"me\">a</a><a href=\"#article-b\">c</a><img alt=\"f\"><img>j<q>l</q>")
    );
}

#[test]
fn settings_that_cannot_work_are_errors() {
    let new = ArticleSanitizer::new;
    for prefix in ["", "1", "a b", "a\"", "-"] {
        assert!(new().id_prefix(prefix).is_err(), "{prefix}");
    }
    let host = new().frames(["https://a.example"]).expect_err("it is a URL");
    assert_eq!(
        host.to_string(),
        r#""https://a.example" is not the name of a host alone, as www.youtube-nocookie.com"#
    );
    assert!(new().frames(["a.example:1"]).is_err() && new().frames([""]).is_err());
    assert!(new().classes(["a b"]).is_err() && new().classes([""]).is_err());
}

/// Each is far above any article, and refused soon.
#[test]
fn a_limit_refuses_what_would_take_too_long() {
    let attributes: String = (0..60_000).map(|number| format!(" a{number}")).collect();
    let rows = [
        ("<b id=i></x>".repeat(40_000), TooComplex::Depth),
        ("<div>".repeat(1000), TooComplex::Depth),
        ("<ul><li>".repeat(1000), TooComplex::Depth),
        ("<table><td>".repeat(1000), TooComplex::Depth),
        (format!("<p{attributes}>"), TooComplex::Attributes),
        (format!("</p{attributes}>"), TooComplex::Attributes),
        (format!("<p{}>", &attributes[..600]), TooComplex::Attributes),
        ("<p a/".repeat(20_000), TooComplex::Attributes),
        ("<div>".repeat(257), TooComplex::Depth),
        ("<br>".repeat(100_001), TooComplex::Nodes),
        (format!("<table>{}", "a<tr>".repeat(2000)), TooComplex::Operations),
        ("a".repeat(8 * 1024 * 1024 + 1), TooComplex::Bytes),
        (
            format!("<p><a href={}>", "a".repeat(9999)) + &"<p>x</p>".repeat(10_000),
            TooComplex::Operations,
        ),
    ];
    for (html, limit) in rows {
        let start = &html[..html.len().min(40)];
        let (refused, operations) =
            UntrustedHtml::new(html.clone()).sanitized_counting(&ArticleSanitizer::new());
        assert_eq!(refused, Err(limit), "{start}");
        assert!(operations < 16 * html.len() + 400_000, "{start}: {operations}");
    }
}

/// A comment, a script or a text may be as long and as odd as it likes.
#[test]
fn what_is_only_long_is_not_refused() {
    let words = "a / b = \"c\" 'd' &amp; &quot ".repeat(20_000);
    assert!(by(&ArticleSanitizer::new(), &words).is_ok());
    for (begin, end) in [("<script>", "</script>"), ("<title>", "</title>"), ("<p>", "</p>")] {
        assert!(by(&ArticleSanitizer::new(), &format!("{begin}{words}{end}")).is_ok(), "{begin}");
    }
    assert!(by(&ArticleSanitizer::new(), &format!("{}a", "<div>".repeat(256))).is_ok());
    assert!(by(&ArticleSanitizer::new(), &format!("<table>{}", "a<tr>".repeat(900))).is_ok());
    assert_eq!(sanitized(&format!("<!--{}-->a", "words ".repeat(2_000))), "a");
    let unclosed: String = (0..5000).map(|number| format!("<p><b id={number}>a</p>")).collect();
    assert!(by(&ArticleSanitizer::new(), &unclosed).is_ok());
    assert!(by(&ArticleSanitizer::new(), &"<p>a<p><b>b</b>".repeat(15_000)).is_ok());
}
