//! The receivers behind nginx, HAProxy and Caddy, with the configurations of the guide: buffered and unbuffered, with
//! HTTP/1.0 and HTTP/1.1 to the receiver.
//!
//! A proxy that is not installed is skipped, and the output says so; where the variable `CI` is set, that is a failure.

mod configuration;
mod idle;
mod program;
mod record;
mod run;
mod situation;

use configuration::Form;
use program::Program;
use run::Run;
use situation::{Situation, TABLE};

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

#[test]
fn a_connection_that_nginx_keeps_idle_for_four_seconds_takes_the_next_delivery() {
    const KEPT: &str =
        "upstream kept { server 127.0.0.1:3000; keepalive 4; }\nserver {\n    listen";
    const PASS: &str =
        "proxy_http_version 1.1; proxy_set_header Connection \"\"; proxy_pass http://kept";
    let changes = &[("server {\n    listen", KEPT), ("proxy_pass http://127.0.0.1:3000", PASS)];
    idle::tries(Program::Nginx, Form::new("kept connections", changes));
}

#[test]
fn a_connection_that_haproxy_keeps_idle_for_four_seconds_takes_the_next_delivery() {
    // Otherwise it opens one for each client, and closes half of what is idle each five seconds.
    let changes = &[
        ("mode http", "mode http\n    http-reuse always"),
        ("receiver 127.0.0.1:3000", "receiver 127.0.0.1:3000 pool-purge-delay 60s"),
    ];
    idle::tries(Program::Haproxy, Form::new("kept connections", changes));
}

#[test]
fn nginx_answers_413_above_1_mib_where_no_limit_is_configured() {
    let forms = [Form::new("default limit", &[("client_max_body_size 9m;", "")])];
    tries(Program::Nginx, &forms, situation::DEFAULT_LIMIT_OF_NGINX);
}

#[test]
fn caddy_answers_200_where_it_has_no_handler() {
    let forms = [Form::new("no handler for other paths", &[("respond 404", "")])];
    tries(Program::Caddy, &forms, situation::DEFAULT_ANSWER_OF_CADDY);
}

/// Each situation of the table, in each form, before each receiver. What the run returns is the figure of the proxy.
fn tries_all(program: Program, forms: &[Form]) {
    if let Some(figure) = tries(program, forms, TABLE) {
        run::say(&figure);
    }
}

/// Each of these situations. `None` if the proxy is not installed.
fn tries(program: Program, forms: &[Form], situations: &[Situation]) -> Option<String> {
    let mut run = Run::start(program, forms)?;
    run.try_all(situations);
    Some(run.end())
}
