//! Chromium, driven by WebDriver. The protocol is JSON over HTTP, and the few calls below are all that is needed of it; the
//! crates for it would bring twenty others.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use crate::tool::not_installed;

/// The name under which WebDriver passes an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// How long a page may take to show what is expected.
const TIMEOUT: Duration = Duration::from_secs(20);

pub(crate) const IS_LIVE: &str =
    "return document.getElementById('connection')?.dataset.state === 'on'";

pub(crate) struct Browser {
    driver: Child,
    http: reqwest::Client,
    session: String,
}

impl Browser {
    /// `None` if there is no Chromium here.
    pub(crate) async fn start() -> Option<Self> {
        let (driver, port) = start_driver()?;
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "goog:loggingPrefs": { "browser": "ALL" },
            "goog:chromeOptions": { "args": [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                "--disable-background-networking", "--disable-component-update", "--force-device-scale-factor=1",
                "--window-size=1280,900", "--lang=en", "--host-resolver-rules=MAP rebound.example 127.0.0.1",
            ] },
        } } });
        let base = format!("http://127.0.0.1:{port}/session");
        let started = call(&http, &base, &wanted).await.unwrap();
        let session = format!("{base}/{}", started["sessionId"].as_str().unwrap());
        Some(Self { driver, http, session })
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        let answer = call(&self.http, &format!("{}/{path}", self.session), &body).await;
        answer.unwrap_or_else(|error| panic!("{path} {body}: {error}"))
    }

    async fn get(&self, path: &str) -> Value {
        let answer = self.http.get(format!("{}/{path}", self.session)).send().await.unwrap();
        let answer: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
        answer["value"].clone()
    }

    pub(crate) async fn open(&self, url: &str) {
        self.post("url", json!({ "url": url })).await;
    }

    /// Opens a page that shows what happens, and waits until it does.
    pub(crate) async fn open_live(&self, url: &str) {
        self.open(url).await;
        self.wait(IS_LIVE).await;
    }

    /// The text of the first element that CSS finds.
    pub(crate) async fn text(&self, css: &str) -> String {
        let text = self.run(&format!("return document.querySelector('{css}').textContent")).await;
        text.as_str().unwrap().to_owned()
    }

    /// How many elements CSS finds.
    pub(crate) async fn count(&self, css: &str) -> Value {
        self.run(&format!("return document.querySelectorAll('{css}').length")).await
    }

    pub(crate) async fn wait_for_count(&self, css: &str, count: usize) {
        let is_so = format!("return document.querySelectorAll('{css}').length === {count}");
        self.wait(&is_so).await;
    }

    /// Opens a tab in front of the others.
    pub(crate) async fn tab(&self) {
        let tab = self.post("window/new", json!({ "type": "tab" })).await;
        self.post("window", json!({ "handle": tab["handle"] })).await;
        self.chromium("Page.bringToFront", json!({})).await;
    }

    pub(crate) async fn url(&self) -> String {
        self.get("url").await.as_str().unwrap().to_owned()
    }

    /// Runs a script in the page, as the person at the browser could.
    pub(crate) async fn run(&self, script: &str) -> Value {
        self.try_run(script).await.unwrap_or_else(|error| panic!("{script}: {error}"))
    }

    /// The same. An error: the script failed, as it does while the page is left for another.
    async fn try_run(&self, script: &str) -> Result<Value, String> {
        let url = format!("{}/execute/sync", self.session);
        call(&self.http, &url, &json!({ "script": script, "args": [] })).await
    }

    /// Calls a domain of Chromium's own protocol.
    pub(crate) async fn chromium(&self, command: &str, parameters: Value) -> Value {
        self.post("goog/cdp/execute", json!({ "cmd": command, "params": parameters })).await
    }

    /// Waits until a script returns something that counts as true, and returns it.
    pub(crate) async fn wait(&self, script: &str) -> Value {
        let start = Instant::now();
        loop {
            let seen = self.try_run(script).await.unwrap_or_default();
            if !matches!(&seen, Value::Null | Value::Bool(false))
                && seen != json!("")
                && seen != json!(0)
            {
                return seen;
            }
            assert!(start.elapsed() < TIMEOUT, "{script}: never, on {}", self.url().await);
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
    }

    /// Waits until the address is as it should be, where no script can run, and returns the address.
    pub(crate) async fn until_url(&self, is_it: impl Fn(&str) -> bool) -> String {
        let start = Instant::now();
        loop {
            let url = self.url().await;
            if is_it(&url) {
                return url;
            }
            assert!(start.elapsed() < TIMEOUT, "it is {url}");
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
    }

    /// Clicks as a person does: what is covered cannot be clicked.
    pub(crate) async fn click(&self, css: &str) {
        let element = self.post("element", json!({ "using": "css selector", "value": css })).await;
        let element = element[ELEMENT].as_str().unwrap().to_owned();
        self.post(&format!("element/{element}/click"), json!({})).await;
    }

    /// Presses keys, one after the other.
    pub(crate) async fn press(&self, keys: &str) {
        let actions: Vec<_> = keys
            .chars()
            .flat_map(|key| ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key })))
            .collect();
        let keyboard = json!({ "type": "key", "id": "keyboard", "actions": actions });
        self.post("actions", json!({ "actions": [keyboard] })).await;
    }

    pub(crate) async fn size(&self, width: u32, height: u32) {
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.chromium("Emulation.setDeviceMetricsOverride", size).await;
    }

    pub(crate) async fn scheme(&self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.chromium("Emulation.setEmulatedMedia", json!({ "features": features })).await;
    }

    pub(crate) async fn screenshot(&self, path: &Path) {
        let picture = self.get("screenshot").await;
        fs::write(path, BASE64_STANDARD.decode(picture.as_str().unwrap()).unwrap()).unwrap();
    }

    /// What was written to the console since the last call, warnings and errors too.
    pub(crate) async fn console(&self) -> Vec<String> {
        let lines = self.post("se/log", json!({ "type": "browser" })).await;
        let lines = lines.as_array().unwrap().iter();
        lines.map(|line| line["message"].as_str().unwrap().to_owned()).collect()
    }

    /// Ends it, if nothing went wrong in its pages since the last look at the console.
    pub(crate) async fn end_without_errors(self) {
        assert_eq!(self.console().await, [""; 0]);
        self.end().await;
    }

    pub(crate) async fn end(mut self) {
        let _ = self.http.delete(&self.session).send().await;
        self.driver.kill().unwrap();
        self.driver.wait().unwrap();
    }
}

/// Starts chromedriver and returns the port it listens on. `None` if it is not on the PATH.
///
/// With `--port=0` it takes a port that is free for IPv6 and ends if another process uses that port for IPv4. The tests
/// beside this one do, so it is started again.
fn start_driver() -> Option<(Child, u16)> {
    let mut last_line = String::new();
    for _ in 0..10 {
        let driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut driver) = driver else {
            not_installed("chromedriver is not on the PATH; install chromium-driver");
            return None;
        };
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines().map_while(Result::ok);
        for line in lines.by_ref() {
            if let Some((_, port)) = line.split_once("started successfully on port ") {
                let port = port.trim_end_matches('.').parse().unwrap();
                // Its later lines are not read.
                std::thread::spawn(move || lines.for_each(drop));
                return Some((driver, port));
            }
            last_line = line;
        }
        driver.wait().unwrap();
    }
    panic!("chromedriver ended ten times before it listened; its last line: {last_line}");
}

async fn call(http: &reqwest::Client, url: &str, body: &Value) -> Result<Value, String> {
    let request = http.post(url).header("content-type", "application/json").body(body.to_string());
    let answer = request.send().await.map_err(|error| error.to_string())?;
    let answer = answer.text().await.map_err(|error| error.to_string())?;
    let answer: Value = serde_json::from_str(&answer).map_err(|error| error.to_string())?;
    match &answer["value"]["error"] {
        Value::Null => Ok(answer["value"].clone()),
        error => Err(format!("{error}: {}", answer["value"]["message"])),
    }
}
