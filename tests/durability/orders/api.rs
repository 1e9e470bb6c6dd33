//! The service, in the parent: the simulator's, behind a server that keeps a record of its own.

use std::{
    collections::BTreeMap,
    fs,
    future::pending,
    ops::RangeInclusive,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use article_webhook_server::Server;
use article_webhook_simulator::Simulator;
use axum::{
    Router,
    body::to_bytes,
    extract::Request,
    http::{Method, StatusCode},
    response::{IntoResponse, Response},
};
use tokio::runtime::{self, Runtime};

pub(crate) const KEY: &str = "sk-simulator";

/// The file in the child's folder that says where the service is.
pub(crate) const FILE: &str = "api";

/// The answer to one order in this number is lost.
const LOST: usize = 12;

pub(crate) struct Api {
    runtime: Runtime,
    record: Arc<Record>,
}

struct Record {
    simulator: Simulator,
    orders: AtomicUsize,
}

impl Api {
    /// A service that takes this long for an article. The file in the folder says where it is.
    pub(crate) fn start(folder: &Path, generation: RangeInclusive<Duration>) -> Self {
        let runtime = runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("there are threads");
        let (record, server) = runtime.block_on(async {
            let simulator = Simulator::builder()
                .brand("brand_1")
                .credits(1_000_000)
                .generation(generation)
                .start()
                .await
                .expect("the simulator starts");
            let record = Record { simulator, orders: AtomicUsize::new(0) };
            (Arc::new(record), Server::bind("127.0.0.1:0").await.expect("there is a port"))
        });
        let address = server.local_addr().expect("it is bound");
        fs::write(folder.join(FILE), format!("http://{address}"))
            .expect("the folder can be written to");
        let answers = Arc::clone(&record);
        let app =
            Router::new().fallback(async move |request: Request| answers.answer(request).await);
        runtime.spawn(server.serve(app, pending()));
        Self { runtime, record }
    }

    /// The jobs of each intent, as often as it was ordered.
    pub(crate) fn orders(&self) -> BTreeMap<String, Vec<String>> {
        let mut orders: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for job in self.record.simulator.jobs() {
            orders.entry(job.topic).or_default().push(job.job_id);
        }
        orders
    }

    /// The article of a job.
    pub(crate) fn article(&self, job_id: &str) -> Vec<u8> {
        let request = Request::get(format!("/v1/content/articles/{job_id}"))
            .header("Authorization", format!("Bearer {KEY}"))
            .body(bytes::Bytes::new())
            .expect("it is a request");
        self.runtime.block_on(self.record.simulator.call(request)).into_body().into()
    }
}

impl Record {
    async fn answer(&self, request: Request) -> Response {
        let (head, body) = request.into_parts();
        let Ok(body) = to_bytes(body, 1 << 20).await else {
            return StatusCode::BAD_REQUEST.into_response();
        };
        let is_lost = head.method == Method::POST
            && self.orders.fetch_add(1, Ordering::Relaxed) % LOST == LOST - 1;
        let response = self.simulator.call(Request::from_parts(head, body)).await;
        if is_lost {
            return StatusCode::BAD_GATEWAY.into_response();
        }
        response.map(Into::into)
    }
}
