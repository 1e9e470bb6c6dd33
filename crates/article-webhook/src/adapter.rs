//! For authors of adapters: how a framework's request becomes a delivery, and what goes back.
//!
//! An adapter decides nothing. It passes the head of a request to
//! [`Receiver::open_request`](crate::Receiver::open_request), implements [`BodySource`] for the
//! framework's body, calls [`receive_body`], and sends the [`Answer`](crate::Answer) of [`dispatch`]:
//!
//! ```
//! use std::{future::{pending, ready}, sync::Arc, time::SystemTime};
//! use article_webhook::{
//!     Answer, AuthToken, Delivery, Receiver, Reply, Sink,
//!     adapter::{BodyError, BodySource, Intake, dispatch, receive_body},
//! };
//! use bytes::Bytes;
//!
//! /// A body that has arrived completely.
//! struct Whole(Option<Bytes>);
//!
//! impl BodySource for Whole {
//!     async fn next(&mut self) -> Option<Result<Bytes, BodyError>> {
//!         self.0.take().map(Ok)
//!     }
//! }
//!
//! async fn handle<S: Sink + 'static>(
//!     receiver: &Receiver, sink: Arc<S>, headers: &[(&str, &str)], body: &'static str,
//! ) -> Answer {
//!     let opened = receiver.open_request("POST", headers);
//!     let mut body = Whole(Some(body.into()));
//!     let no_timer = |_| pending(); // the runtime's sleep
//!     let received =
//!         receive_body(receiver, opened, &mut body, no_timer, SystemTime::now(), Intake::read).await;
//!     let spawn = |work| async { Ok::<Reply, ()>(std::pin::pin!(work).await) }; // the runtime's spawn
//!     dispatch(receiver, received, sink, spawn, no_timer).await
//! }
//!
//! let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
//! let sink = Arc::new(async |_: Delivery| Reply::Stored);
//! let headers = [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json"),
//!                ("X-Service-Event", "article.complete"), ("X-Service-Job-Id", "job_1")];
//! # use std::{pin::pin, task::{Context, Poll, Waker}};
//! # fn block_on<F: Future>(future: F) -> F::Output {
//! #     let Poll::Ready(output) = pin!(future).poll(&mut Context::from_waker(Waker::noop())) else { unreachable!() };
//! #     output
//! # }
//!
//! let stored = block_on(handle(&receiver, sink.clone(), &headers, r#"{"job_id": "job_1"}"#));
//! assert_eq!(stored.status(), 200);
//! let refused = block_on(handle(&receiver, sink, &headers[1..], "anything"));
//! assert_eq!(refused.status(), 401);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod body_source;
mod dispatch;
mod failures;
mod receive_body;
mod report;
mod run_slot;
mod sink;
mod timeout;

pub use body_source::{BodyError, BodySource};
pub use dispatch::{SinkFuture, dispatch};
pub use failures::{RetryReason, misconfigured_answer};
pub use receive_body::receive_body;
pub use report::report_refusal;
pub use run_slot::{HandlerRun, MountId, RunSlot};
pub use sink::{BoxSink, Sink};

pub use crate::receiver::{Headers, Intake};
// For the inbox and the other crates of this project, which log and decode as the core does. They are released apart from the
// core, so these change as what is documented does.
#[doc(hidden)]
pub use crate::{
    causes::{Causes, logged_cause},
    json::repair,
    log::SeenDrift,
};
