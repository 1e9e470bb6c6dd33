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
fn what_articles_are_made_of_stays() {
    stay(&[
        "<article><h1>A &amp; B</h1><p>a <strong>b</strong> <em>c</em> <code>d &lt; e</code><br>f</p></article>",
        "<ul><li>a<ul><li>b</li></ul></li></ul><ol start=\"2\" reversed=\"\" type=\"a\"><li value=\"3\">c</li></ol>",
        "<table><caption>a</caption><colgroup><col span=\"2\"></colgroup><thead><tr><th scope=\"col\">b</th></tr></thead>\
         <tbody><tr><td colspan=\"2\" align=\"right\">c</td></tr></tbody></table>",
        "<figure><img src=\"https://a.example/b.png\" alt=\"&quot;c&quot;\" width=\"1\" height=\"2\" loading=\"lazy\" \
         decoding=\"async\"><figcaption>d</figcaption></figure>",
        "<details open=\"\"><summary>a</summary>b</details><blockquote cite=\"https://a.example/\">c</blockquote>",
        "<p lang=\"ar\" dir=\"rtl\" title=\"a\" role=\"note\" aria-label=\"b\">c&nbsp;\"d\" 'e' żółć 🎉</p>",
        "<pre><code>fn main() {}\n</code></pre><dl><dt>a</dt><dd>b</dd></dl><time datetime=\"2026\">c</time>",
        "<picture><source srcset=\"https://a.example/b.avif\" type=\"image/avif\" media=\"(min-width: 9em)\">\
         <img src=\"/b.png\" alt=\"\"></picture>",
    ]);
}

#[test]
fn what_is_not_allowed_is_removed_and_its_text_stays() {
    become_(&[
        ("<form><button>a</button><input value=b><select><option>c</select></form>", "ac"),
        ("<p style='x' onclick=x() data-x=y class=z>a<!-- b --><?c?><![CDATA[d]]></p>", "<p>a</p>"),
        (
            "<!doctype html><html><head><title>a</title><base href=//x><meta charset=x></head><body class=b>c",
            "c",
        ),
        ("<script>a</script><style>b</style><noframes>c</noframes><noembed>d</noembed>e", "e"),
        ("<textarea><b>a</b></textarea><xmp><i>b</i></xmp><plaintext>c", "<b>a</b><i>b</i>c"),
        (
            "<object data=a><embed src=b>c</object><video src=d>e</video><template>f</template>",
            "cef",
        ),
        ("a<iframe src='https://a.example'>b</iframe>c<frameset><frame src=d></frameset>e", "ace"),
        ("<source src=a><p><source srcset=b>c</p>", "<p>c</p>"),
        ("<script>a", ""),
        ("", ""),
    ]);
}

#[test]
fn ids_and_what_refers_to_them_get_one_prefix() {
    become_(&[
        (
            "<h2 id=fit>a</h2><a href='#fit'>b</a>",
            "<h2 id=\"article-fit\">a</h2><a href=\"#article-fit\">b</a>",
        ),
        (
            "<a name=fit>a</a><a href=' #fit '>b</a>",
            "<a name=\"article-fit\">a</a><a href=\"#article-fit\">b</a>",
        ),
        ("<a href='#'>a</a><a href='#Top'>b</a>", "<a href=\"#\">a</a><a href=\"#Top\">b</a>"),
        ("<h2 id='' aria-xyz=b aria-level=2>a</h2>", "<h2 aria-level=\"2\">a</h2>"),
        (
            "<table><tr><th id=a><td headers=' a  b ' aria-labelledby='a'></table>",
            "<table><tbody><tr><th id=\"article-a\"></th><td headers=\"article-a article-b\" \
             aria-labelledby=\"article-a\"></td></tr></tbody></table>",
        ),
    ]);
    let other = ArticleSanitizer::new().id_prefix("a7_").expect("it is a prefix");
    assert_eq!(by(&other, "<p id=x>").as_deref(), Ok("<p id=\"a7_x\"></p>"));
}

#[test]
fn what_a_link_says_about_its_target_is_kept_and_completed() {
    become_(&[
        (
            "<a href='https://a.example' rel='sponsored  NoFollow noopener opener' target=_blank>a</a>",
            "<a href=\"https://a.example\" rel=\"sponsored nofollow noopener noreferrer\">a</a>",
        ),
        ("<a href='/b'>a</a>", "<a href=\"/b\" rel=\"noopener noreferrer\">a</a>"),
        ("<a href='#b' rel='bookmark'>a</a>", "<a href=\"#article-b\" rel=\"bookmark\">a</a>"),
        (
            "<a href='mailto:a@b.example' hreflang=en>a</a>",
            "<a href=\"mailto:a@b.example\" hreflang=\"en\" rel=\"noopener noreferrer\">a</a>",
        ),
    ]);
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
fn classes_frames_and_media_are_kept_where_they_are_asked_for() {
    let asked = ArticleSanitizer::new()
        .classes(["wide", "language-rust"])
        .and_then(|it| it.frames(["Player.example"]))
        .expect("they are valid")
        .media();
    let rows = [
        ("<p class='x wide wide-x'>a</p><p class='x'>b</p>", "<p class=\"wide\">a</p><p>b</p>"),
        (
            "<iframe src='https://player.example/v?a=b' width=1 sandbox='allow-top-navigation' srcdoc='<b>' allow=camera>c</iframe>d",
            "<iframe src=\"https://player.example/v?a=b\" width=\"1\" sandbox=\"allow-popups allow-presentation \
             allow-same-origin allow-scripts\"></iframe>d",
        ),
        ("<iframe src='http://player.example/'></iframe>", ""),
        ("<iframe src='https://player.example:8443/'></iframe>", ""),
        ("<iframe src='https://player.example@other.example/'></iframe>", ""),
        ("<iframe src='https://other.example\\@player.example/'></iframe>", ""),
        ("<iframe src='https://player.example.other.example/'></iframe>", ""),
        (
            "<iframe src='//player.example/'></iframe><iframe></iframe><iframe srcdoc='a'></iframe>",
            "",
        ),
        (
            "<video src='https://a.example/b' autoplay controls poster='javascript:x'><source src='c'><track src=d>e</video>",
            "<video src=\"https://a.example/b\" controls=\"\"><source src=\"c\"><track src=\"d\">e</video>",
        ),
    ];
    for (html, expected) in rows {
        assert_eq!(by(&asked, html).as_deref(), Ok(expected), "{html}");
    }
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

/// Ways in that were found in other sanitisers, and the usual ones.
#[test]
fn no_vector_leaves_anything_that_runs() {
    let rows = [
        ("<svg><style><img src=x onerror=alert(1)></style></svg>a", "a"),
        (
            "<svg></p><style><a id=\"</style><img src=1 onerror=alert(1)>\">",
            "<p></p><img src=\"1\">\"&gt;",
        ),
        (
            "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=alert(1)&gt;\">",
            "<table></table>",
        ),
        ("<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>", ""),
        (
            "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">a",
            "<p title=\"&lt;/noscript&gt;&lt;img src=x onerror=alert(1)&gt;\">a</p>",
        ),
        (
            "<svg><script>alert(1)</script><foreignObject><iframe src=javascript:alert(1)></foreignObject></svg>a",
            "",
        ),
        ("<img src=x onerror=alert(1)>", "<img src=\"x\">"),
        ("<img src=\"x\" aria-x\"onerror=alert(1) aria-é=b>", "<img src=\"x\">"),
        (
            "<a href=\"javascript:alert(1)\">a</a><a href=\" &#1;JaVa&#10;Script:alert(1)\">b</a>",
            "<a>a</a><a>b</a>",
        ),
        (
            "<a href=\"javascript&colon;alert(1)\">a</a><a href=\"vbscript:x\">b</a>",
            "<a>a</a><a>b</a>",
        ),
        ("<a href=\"data:text/html,<script>alert(1)</script>\">a</a>", "<a>a</a>"),
        ("<img src=\"data:image/svg+xml;base64,PHN2Zz4=\">", ""),
        ("<img srcset=\"javascript:alert(1) 1x, data:image/svg+xml,<svg> 2x\">", ""),
        (
            "<img id=getElementById name=cookie src=x><a id=location name=body>a</a>",
            "<img id=\"article-getElementById\" src=\"x\"><a id=\"article-location\" name=\"article-body\">a</a>",
        ),
        (
            "<a href='x' title='\"><script>alert(1)</script>'>a</a>",
            "<a href=\"x\" title=\"&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;\" rel=\"noopener noreferrer\">a</a>",
        ),
        ("<<script>alert(1)//<</script>a", "&lt;a"),
        ("<scr<script>ipt>alert(1)</scr</script>ipt>", "ipt&gt;alert(1)ipt&gt;"),
        (
            "<meta http-equiv=refresh content='0;url=x'><link rel=stylesheet href=x><base href=x>a",
            "a",
        ),
        (
            "<input autofocus onfocus=alert(1)><details ontoggle=alert(1) open>a</details>",
            "<details open=\"\">a</details>",
        ),
        ("&lt;script&gt;alert(1)&lt;/script&gt;", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        (
            "<p title=`--!><img src=x onerror=alert(1)>`>a",
            "<p title=\"`--!\"><img src=\"x\">`&gt;a</p>",
        ),
        (
            "<template><img src=x onerror=alert(1)></template><slot onclick=x>a</slot>",
            "<img src=\"x\">a",
        ),
        (
            "<blockquote cite='javascript:alert(1)'>a</blockquote><q cite='data:x'>b</q>",
            "<blockquote>a</blockquote><q>b</q>",
        ),
        (
            "<isindex action=javascript:alert(1)><button formaction=javascript:alert(1)>a</button>",
            "a",
        ),
        ("<a xlink:href=javascript:alert(1) href\0=x ping=//x>a</a>", "<a>a</a>"),
    ];
    become_(&rows);
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

#[test]
fn wrongly_nested_elements_are_read_as_browsers_read_them() {
    become_(&[
        ("<p>a<p>b", "<p>a</p><p>b</p>"),
        ("<ul><li>a<li>b</ul>c</p>", "<ul><li>a</li><li>b</li></ul>c<p></p>"),
        ("<b class=x>a<i>b</b>c</i>", "<b>a<i>b</i></b><i>c</i>"),
        ("<p><b id=x>a</p>b", "<p><b id=\"article-x\">a</b></p><b>b</b>"),
        ("<b id=x>a<p>b</b>c", "<b id=\"article-x\">a</b><p><b>b</b>c</p>"),
        (
            "<table>a<tr>b<td>c<p>d</table>e",
            "ab<table><tbody><tr><td>c<p>d</p></td></tr></tbody></table>e",
        ),
        (
            "<table><b>a<tr><td>b</td>c",
            "<b>a</b><b>c</b><table><tbody><tr><td>b</td></tr></tbody></table>",
        ),
        (
            "<a href=b>c<a href=d>e</a>",
            "<a href=\"b\" rel=\"noopener noreferrer\">c</a><a href=\"d\" rel=\"noopener noreferrer\">e</a>",
        ),
        ("a</div></table>b</br>", "ab<br>"),
        ("<b id=x></b><i title=y></i>", "<b id=\"article-x\"></b><i title=\"y\"></i>"),
    ]);
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
