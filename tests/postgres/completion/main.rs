//! Exactly once in the application's own transaction, with the drivers that applications use. Each handler is what the page
//! of `article-webhook-postgres` shows.

#![allow(clippy::unwrap_used)] // a server that does not answer fails its tests

#[path = "../../../crates/article-webhook-postgres/tests/common/scene.rs"]
mod scene;
#[path = "../../../crates/article-webhook-postgres/tests/common/server.rs"]
mod server;

mod application;

mod diesel_driver;
mod sqlx_driver;
mod tokio_postgres_driver;

mod trial;

use diesel_driver::Diesel;
use sqlx_driver::Sqlx;
use tokio_postgres_driver::TokioPostgres;

#[test]
fn tokio_postgres_completes_a_job_with_its_row() {
    trial::won::<TokioPostgres>();
}

#[test]
fn tokio_postgres_loses_its_row_with_the_lease() {
    trial::lost::<TokioPostgres>();
}

#[test]
fn sqlx_completes_a_job_with_its_row() {
    trial::won::<Sqlx>();
}

#[test]
fn sqlx_loses_its_row_with_the_lease() {
    trial::lost::<Sqlx>();
}

#[test]
fn diesel_completes_a_job_with_its_row() {
    trial::won::<Diesel>();
}

#[test]
fn diesel_loses_its_row_with_the_lease() {
    trial::lost::<Diesel>();
}
