use article_webhook_inbox::{Failed, Job};
use diesel::{
    pg::Pg,
    sql_query,
    sql_types::{BigInt, Text},
};
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl};

use crate::application::Application;

#[derive(Clone)]
pub(crate) struct Diesel {
    url: String,
}

impl Application for Diesel {
    async fn connect(url: &str) -> Self {
        Self { url: url.to_owned() }
    }

    async fn publish(
        &self,
        job: &Job,
        between: impl Future<Output = ()> + Send,
    ) -> Result<(), Failed> {
        let mut connection = AsyncPgConnection::establish(&self.url).await?;
        connection
            .transaction(async |connection| {
                let insert = sql_query("INSERT INTO articles (job_id, attempt) VALUES ($1, $2)");
                let insert = insert.bind::<Text, _>(job.job_id().as_str());
                let insert = insert.bind::<BigInt, _>(i64::from(job.attempt()));
                insert.execute(connection).await?;
                between.await;
                let completion = job.completion()?;
                let mut complete = sql_query(completion.sql()).into_boxed::<Pg>();
                for value in completion.parameters() {
                    complete = complete.bind::<BigInt, _>(*value);
                }
                Ok(completion.check(complete.execute(connection).await?)?)
            })
            .await
    }
}
