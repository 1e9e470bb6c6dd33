//! An application's middleware around the receiver and around the application's own routes: both work. All of it runs on one
//! thread.

mod actix_web;
mod axum;
mod one_thread;

/// What an application serves beside the receiver.
fn page() -> String {
    "A page of the application. ".repeat(100)
}

/// Longer than axum and actix-web take by default.
const LONG: usize = 3 << 20;

/// A delivery of an article of that length.
fn long_article() -> article_webhook::fixture::DeliveryRequest {
    article_webhook::fixture::complete().html(&"x".repeat(LONG))
}
