use article_webhook_inbox::{Failed, Job};

use crate::{application::Application, scene};

#[derive(Clone)]
pub(crate) struct TokioPostgres {
    url: String,
}

impl Application for TokioPostgres {
    async fn connect(url: &str) -> Self {
        Self { url: url.to_owned() }
    }

    async fn publish(&self, job: &Job, between: impl Future<Output = ()>) -> Result<(), Failed> {
        let mut client = scene::connect(&self.url).await;
        let transaction = client.transaction().await?;
        let insert = "INSERT INTO articles (job_id, attempt) VALUES ($1, $2)";
        let attempt = i64::from(job.attempt());
        transaction.execute(insert, &[&job.job_id().as_str(), &attempt]).await?;
        between.await;
        let completion = job.completion()?;
        let changed = transaction.execute_raw(completion.sql(), completion.parameters()).await?;
        completion.check(changed)?;
        Ok(transaction.commit().await?)
    }
}
