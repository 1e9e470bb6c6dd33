use article_webhook_inbox::{Failed, Job};
use sqlx::{AssertSqlSafe, PgPool, query};

use crate::application::Application;

#[derive(Clone)]
pub(crate) struct Sqlx {
    pool: PgPool,
}

impl Application for Sqlx {
    async fn connect(url: &str) -> Self {
        Self { pool: PgPool::connect(url).await.unwrap() }
    }

    async fn publish(&self, job: &Job, between: impl Future<Output = ()>) -> Result<(), Failed> {
        let mut transaction = self.pool.begin().await?;
        let insert = query("INSERT INTO articles (job_id, attempt) VALUES ($1, $2)");
        let insert = insert.bind(job.job_id().as_str()).bind(i64::from(job.attempt()));
        insert.execute(&mut *transaction).await?;
        between.await;
        let completion = job.completion()?;
        let mut complete = query(AssertSqlSafe(completion.sql()));
        for value in completion.parameters() {
            complete = complete.bind(*value);
        }
        completion.check(complete.execute(&mut *transaction).await?.rows_affected())?;
        Ok(transaction.commit().await?)
    }
}
