//! The application's table in SeaORM, and its migration.

use sea_orm_migration::{
    prelude::*,
    sea_orm::{Schema, entity::prelude::*},
};

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "articles")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i32,
    #[sea_orm(unique)]
    pub job_id: String,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

pub(crate) struct Migrator;

impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![Box::new(CreateArticles)]
    }
}

struct CreateArticles;

impl MigrationName for CreateArticles {
    fn name(&self) -> &str {
        "1_articles"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for CreateArticles {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let schema = Schema::new(manager.get_database_backend());
        manager.create_table(schema.create_table_from_entity(Entity)).await
    }
}
