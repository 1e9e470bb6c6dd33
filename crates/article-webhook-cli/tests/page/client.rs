//! A browser without a screen: it has the cookie of one page.

use std::{collections::BTreeMap, path::Path};

use article_webhook::fixture::DeliveryRequest;
use article_webhook_inbox::{Filter, Inbox, SqliteStore, State};
use reqwest::{Client, Method, Response, redirect::Policy};
use tempfile::TempDir;

use crate::{running::Running, sample};

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// The token of the first form.
    pub(crate) fn token(&self) -> String {
        let (_, rest) = self.text.split_once("name=\"token\" value=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    }
}

pub(crate) struct Visitor {
    http: Client,
    pub(crate) base: String,
    pub(crate) cookie: String,
    /// The random part of the path.
    pub(crate) root: String,
}

impl Visitor {
    /// With the key exchanged for the cookie.
    pub(crate) async fn of(page: &Running) -> Self {
        let mut visitor = Self::stranger(page);
        let path = page.url.strip_prefix(&page.base).unwrap();
        let answer = visitor.get(path).await;
        assert_eq!(answer.status, 200);
        let cookie = answer.header("set-cookie");
        let scope = format!("; Path={}/; HttpOnly; SameSite=Strict", visitor.root);
        assert!(cookie.ends_with(&scope), "{cookie}");
        visitor.cookie = cookie.split(';').next().unwrap().to_owned();
        visitor
    }

    /// The page of an inbox alone, and who has its key.
    pub(crate) async fn at(file: &Path) -> (Running, Self) {
        let page = Running::page(file, &[]);
        let visitor = Self::of(&page).await;
        (page, visitor)
    }

    /// The same, of an inbox with these deliveries, whose folder is removed with the first.
    pub(crate) async fn after(
        deliveries: impl IntoIterator<Item = DeliveryRequest>,
    ) -> (TempDir, Running, Self) {
        let (folder, file) = sample::place();
        let inbox = Inbox::open(&file).await.unwrap();
        for delivery in deliveries {
            sample::deliver(&inbox, delivery).await;
        }
        inbox.close().await.unwrap();
        let (page, visitor) = Self::at(&file).await;
        (folder, page, visitor)
    }

    pub(crate) fn stranger(page: &Running) -> Self {
        let http = Client::builder().no_proxy().redirect(Policy::none()).build().unwrap();
        let root = page.base.strip_prefix(&page.origin).unwrap().to_owned();
        Self { http, base: page.base.clone(), cookie: String::new(), root }
    }

    /// The rest of a path that the page shows or leads to.
    pub(crate) fn below<'a>(&self, path: &'a str) -> &'a str {
        path.strip_prefix(&self.root).unwrap()
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, &[("sec-fetch-site", "same-origin")], "").await
    }

    /// As the page's own form.
    pub(crate) async fn post(&self, path: &str, token: &str) -> Answer {
        let form = format!("token={token}");
        self.send(Method::POST, path, &[("sec-fetch-site", "same-origin")], &form).await
    }

    /// The events of an open page.
    pub(crate) async fn events(&self) -> Response {
        let events = self.http.get(format!("{}/events", self.base)).header("cookie", &self.cookie);
        events.header("sec-fetch-site", "same-origin").send().await.unwrap()
    }

    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        form: &str,
    ) -> Answer {
        let mut request = self.http.request(method, format!("{}{path}", self.base));
        if !self.cookie.is_empty() {
            request = request.header("cookie", &self.cookie);
        }
        if !form.is_empty() {
            request = request
                .header("content-type", "application/x-www-form-urlencoded")
                .body(form.to_owned());
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        let headers = answer.headers().iter();
        let headers =
            headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
        Answer { status, headers: headers.collect(), text: answer.text().await.unwrap() }
    }
}

/// What the page of an inbox shows there.
pub(crate) async fn shown(file: &Path, path: &str) -> String {
    let (_page, visitor) = Visitor::at(file).await;
    visitor.get(path).await.text
}

/// How many entries wait, as another process sees it.
pub(crate) async fn waiting(file: &Path) -> usize {
    let inbox = Inbox::new(SqliteStore::open_shared(file).unwrap());
    let filter = Filter { state: Some(State::Waiting), ..Filter::default() };
    inbox.list(filter).await.unwrap().items.len()
}
