use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    path::Path,
    process::Stdio,
    thread,
};

use article_webhook_axum::fixture;
use serde_json::json;

use crate::program::{Program, command};

fn blog(directory: impl AsRef<Path>) -> Program {
    Program::run(command("blog").env("ARTICLE_BLOG_DIR", directory.as_ref()))
}

/// The path of the only article in the list.
fn link(list: &str) -> &str {
    let link = list.split("href=\"").find(|link| link.starts_with("/articles/"));
    link.unwrap().split('"').next().unwrap()
}

#[test]
fn a_duplicate_is_stored_once_byte_for_byte() {
    let directory = tempfile::tempdir().unwrap();
    let blog = blog(&directory);
    assert_eq!(blog.deliver(&fixture::complete()).body, r#"{"status":"stored"}"#);
    assert_eq!(blog.deliver(&fixture::complete()).body, r#"{"status":"duplicate"}"#);

    let files: Vec<_> = fs::read_dir(&directory).unwrap().collect();
    assert_eq!(files.len(), 1);
    let path = files[0].as_ref().unwrap().path();
    assert_eq!(fixture::complete().bytes(), &fs::read(path).unwrap());
}

#[test]
fn an_article_becomes_a_page_and_outlives_the_program() {
    let directory = tempfile::tempdir().unwrap();
    blog(&directory).deliver(&fixture::complete());

    let blog = blog(&directory);
    let list = blog.get("/");
    assert!(list.body.contains(">How to Choose Running Shoes</a>"));
    let page = blog.get(link(&list.body));
    assert_eq!(page.status, 200);
    assert!(page.body.contains("<title>How to Choose Running Shoes (2026 Guide)</title>"));
    assert!(page.body.contains("<h2>Measure your feet</h2>"));
    assert!(page.body.contains(r#"src="https://cdn.example.com/images/running-shoes.png""#));
}

#[test]
fn harmful_html_is_not_shown() {
    let directory = tempfile::tempdir().unwrap();
    let blog = blog(&directory);
    let attack = "<script>alert(1)</script>";
    let post = fixture::complete()
        .field(
            "article",
            json!({
                "title": attack,
                "html": format!("<article onclick='alert(1)'>{attack}<p>harmless</p></article>"),
                "meta_title": format!("</title>{attack}"),
                "meta_description": format!("\">{attack}"),
            }),
        )
        .field("featured_image", json!({"url": "javascript:alert(1)", "alt_text": attack}));
    blog.deliver(&post);

    let list = blog.get("/");
    let page = blog.get(link(&list.body));
    assert!(page.body.contains("<article><p>harmless</p></article>"));
    assert!(page.body.contains("<h1>&lt;script&gt;alert(1)&lt;/script&gt;</h1>"));
    for shown in [list, page] {
        for harmful in ["<script", "onclick", "javascript:"] {
            assert!(!shown.body.contains(harmful), "{harmful}: {}", shown.body);
        }
    }
}

#[test]
fn every_page_forbids_scripts() {
    let directory = tempfile::tempdir().unwrap();
    let blog = blog(&directory);
    let headers = [
        "\r\ncontent-security-policy: default-src 'none'; style-src 'self'; img-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n",
        "\r\nx-content-type-options: nosniff\r\n",
        "\r\nreferrer-policy: no-referrer\r\n",
    ];
    for (path, status) in [("/", 200), ("/style.css", 200), ("/articles/none", 404), ("/none", 404)]
    {
        let page = blog.get(path);
        assert_eq!(page.status, status, "{path}");
        for header in headers {
            assert!(page.head.contains(header), "{path}: {}", page.head);
        }
    }
}

#[test]
fn images_are_loaded_from_the_given_origins_only() {
    let directory = tempfile::tempdir().unwrap();
    let with_images = |images: &str| {
        let mut command = command("blog");
        command.env("ARTICLE_BLOG_DIR", directory.path()).env("ARTICLE_BLOG_IMAGES", images);
        command
    };
    let blog = Program::run(&mut with_images("https://cdn.example.com http://127.0.0.1:3001"));
    let head = blog.get("/").head;
    assert!(
        head.contains("; img-src 'self' https://cdn.example.com http://127.0.0.1:3001; "),
        "{head}"
    );

    for images in ["*", "https:", "cdn.example.com", "https://a; script-src *", "https://a/b"] {
        let mut command = with_images(images);
        let command = command.env("ARTICLE_WEBHOOK_TOKEN", fixture::TOKEN);
        let ended = command.output().unwrap();
        assert_eq!(ended.status.code(), Some(2), "{images}");
        let error = String::from_utf8_lossy(&ended.stderr);
        assert!(error.contains("ARTICLE_BLOG_IMAGES must be origins"), "{error}");
    }
}

#[test]
fn the_image_of_an_article_is_fetched_at_once_and_outlives_its_url() {
    let host = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = format!("http://{}", host.local_addr().unwrap());
    let answers = thread::spawn(move || {
        for answer in ["Content-Type: text/html\r\n\r\nGIF89a of a test", "\r\n<svg>"] {
            let (mut sender, _) = host.accept().unwrap();
            let mut head = BufReader::new(sender.try_clone().unwrap()).lines();
            while head.next().is_some_and(|line| !line.unwrap().is_empty()) {}
            write!(sender, "HTTP/1.1 200 OK\r\nConnection: close\r\n{answer}").unwrap();
        }
    });
    let directory = tempfile::tempdir().unwrap();
    let mut blog = blog(&directory);
    blog.lines(9);
    let post = |job: &str, url: &str| {
        let image = json!({"url": format!("{origin}{url}"), "alt_text": "shoes"});
        fixture::complete().job_id(job).field("featured_image", image)
    };
    blog.deliver(&post("job_1", "/a?expires=soon"));
    assert_eq!([blog.line(), blog.line()], ["job_1  Stored", "job_1  its image is kept"]);
    let page = blog.get(link(&blog.get("/").body)).body;
    let image = page.split("src=\"").nth(1).unwrap().split('"').next().unwrap();
    assert!(image.starts_with("/images/"), "{image}");
    let image = blog.get(image);
    assert_eq!(image.body, "GIF89a of a test");
    assert!(image.head.contains("\r\ncontent-type: image/gif\r\n"), "{}", image.head);

    blog.deliver(&post("job_2", "/b"));
    let why = "job_2  its image is not kept: it is no png, jpeg, gif, webp or avif";
    assert_eq!([blog.line(), blog.line()], ["job_2  Stored", why]);
    answers.join().unwrap();
    assert_eq!(blog.get("/images/none").status, 404);
}

#[test]
fn a_page_lists_twenty_articles() {
    let directory = tempfile::tempdir().unwrap();
    let blog = blog(&directory);
    for number in 0..21 {
        blog.deliver(&fixture::complete().job_id(&format!("job_{number}")));
    }
    let articles = |path| blog.get(path).body.matches("href=\"/articles/").count();
    assert_eq!((articles("/"), articles("/pages/1"), articles("/pages/2")), (20, 20, 1));
    assert!(blog.get("/").body.contains("href=\"/pages/2\""));
    assert!(!blog.get("/pages/2").body.contains("href=\"/pages/3\""));
    for path in ["/pages/0", "/pages/3", "/pages/18446744073709551615"] {
        assert_eq!(blog.get(path).status, 404, "{path}");
    }
}

#[test]
fn an_article_that_is_too_complex_is_shown_as_text() {
    let directory = tempfile::tempdir().unwrap();
    let blog = blog(&directory);
    let html = "<b id=i></x>".repeat(500_000);
    blog.deliver(&fixture::complete().field("article", json!({"title": "", "html": html})));
    let page = blog.get(link(&blog.get("/").body));
    assert!(page.body.contains("too complex to be shown"), "{:.1000}", page.body);
    assert!(page.body.contains("&lt;b id=i&gt;") && !page.body.contains("<b id"));
}

#[test]
fn what_cannot_be_decoded_is_kept_and_listed() {
    let directory = tempfile::tempdir().unwrap();
    let blog = blog(&directory);
    let post = fixture::complete().field("article", json!({"title": "No body"}));
    assert_eq!(blog.deliver(&post).body, r#"{"status":"stored"}"#);

    let list = blog.get("/");
    assert!(
        list.body.contains(
            ">Not understood yet</a><p>article.html: expected a string, found nothing</p>"
        )
    );
    let page = blog.get(link(&list.body));
    assert_eq!(page.status, 200);
    assert!(page.body.contains("stored, but not understood yet: article.html"));
}

#[test]
fn a_job_id_is_never_a_path() {
    let directory = tempfile::tempdir().unwrap();
    let articles = directory.path().join("articles");
    let blog = blog(&articles);
    let post = fixture::complete().job_id("../escaped");
    assert_eq!(blog.deliver(&post).body, r#"{"status":"stored"}"#);
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);

    fs::write(directory.path().join("secret"), "secret").unwrap();
    assert_eq!(blog.get("/articles/..%2Fsecret").status, 404);
}

#[test]
fn another_event_about_a_job_is_no_duplicate() {
    let directory = tempfile::tempdir().unwrap();
    let blog = blog(&directory);
    blog.deliver(&fixture::complete());
    let update = fixture::complete().header("X-Service-Event", "article.updated");
    assert_eq!(blog.deliver(&update).body, r#"{"status":"stored"}"#);
}

#[test]
fn without_its_folder_the_service_is_asked_to_come_again() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = command("blog");
    // The error on standard error is expected.
    let command = command.stderr(Stdio::null());
    let blog = Program::run(command.env("ARTICLE_BLOG_DIR", directory.path()));
    directory.close().unwrap();
    let response = blog.deliver(&fixture::complete());
    assert_eq!(response.status, 503);
    assert!(response.body.contains(r#""error":"unavailable""#));
    assert_eq!(blog.get("/").status, 500);
}
