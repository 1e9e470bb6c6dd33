//! The receivers behind nginx, HAProxy and Caddy, with the configurations of the guide: buffered and unbuffered, with
//! HTTP/1.0 and HTTP/1.1 to the receiver.
//!
//! A proxy that is not installed is skipped, and the output says so; where the variable `CI` is set, that is a failure.

mod configuration;
mod program;
mod record;
mod run;
mod situation;

use configuration::Form;
use program::Program;
use run::Run;
use situation::TABLE;

#[test]
fn behind_nginx_articles_arrive_and_refusals_are_never_2xx() {
    const PASS: &str = "proxy_pass http://";
    let forms = [
        Form::GUIDE,
        Form::new("buffered, HTTP/1.1", &[(PASS, "proxy_http_version 1.1; proxy_pass http://")]),
        Form::new(
            "unbuffered, HTTP/1.0",
            &[(PASS, "proxy_request_buffering off; proxy_pass http://")],
        ),
        Form::new(
            "unbuffered, HTTP/1.1",
            &[(PASS, "proxy_http_version 1.1; proxy_request_buffering off; proxy_pass http://")],
        ),
    ];
    tries_all(Program::Nginx, &forms);
}

#[test]
fn behind_haproxy_articles_arrive_and_refusals_are_never_2xx() {
    let buffered = &[("mode http", "mode http\n    option http-buffer-request")];
    tries_all(Program::Haproxy, &[Form::GUIDE, Form::new("buffered", buffered)]);
}

#[test]
fn behind_caddy_articles_arrive_and_refusals_are_never_2xx() {
    // Caddy 2.7 has another name for it.
    let buffered = &[("127.0.0.1:3000 {", "127.0.0.1:3000 {\n            buffer_requests")];
    tries_all(Program::Caddy, &[Form::GUIDE, Form::new("buffered", buffered)]);
}

/// Each situation of the table, in each form, before each receiver. What the run returns is the figure of the proxy.
fn tries_all(program: Program, forms: &[Form]) {
    // Nothing if the proxy is not installed.
    if let Some(mut run) = Run::start(program, forms) {
        run.try_all(TABLE);
        run::say(&run.end());
    }
}
