use std::collections::BTreeMap;

use utoipa::openapi::{
    Content, HttpMethod, InfoBuilder, OneOfBuilder, OpenApi, OpenApiBuilder, PathItem,
    PathsBuilder, Ref, RefOr, Required, ResponseBuilder, Schema,
    path::{OperationBuilder, ParameterBuilder, ParameterIn},
    request_body::RequestBodyBuilder,
    schema::{
        AdditionalProperties, AllOfBuilder, ArrayBuilder, ComponentsBuilder, ObjectBuilder,
        SchemaFormat, SchemaType, Type,
    },
    security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme},
};

/// The description of every schema that is not documented.
const OURS: &str =
    "The document does not show it; this is the simulator's choice. There may be further fields.";

/// The four calls of the service (service document, section 4) as an OpenAPI 3.1 description in JSON. The simulator
/// serves it at `GET /openapi.json`, without a key.
///
/// Every object may have further fields. Where the document leaves something open, the schema says that it is the
/// simulator's choice.
///
/// ```
/// let description: serde_json::Value = serde_json::from_str(&article_webhook_simulator::openapi())?;
/// let order = &description["paths"]["/v1/content/articles"]["post"];
/// assert_eq!(order["operationId"], "create_article");
///
/// // Each call lists its own errors.
/// assert!(order["responses"].get("402").is_some());
/// assert!(order["responses"].get("404").is_none());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn openapi() -> String {
    serde_json::json!(description()).to_string()
}

/// A call: a POST if it has a body. The errors of sections 5 and 8 apply to every call.
struct Call {
    path: &'static str,
    name: &'static str,
    request: Option<&'static str>,
    success: (u16, &'static [&'static str]),
    errors: &'static [&'static str],
}

const CALLS: [Call; 4] = [
    Call {
        path: "/v1/content/articles/{job_id}",
        name: "article",
        request: None,
        success: (200, &["result", "unfinished_job"]),
        errors: &["job_not_found", "generation_failed"],
    },
    Call {
        path: "/v1/content/articles",
        name: "create_article",
        request: Some("order"),
        success: (202, &["created_job"]),
        errors: &[
            "credits_exhausted",
            "not_configured",
            "invalid_request",
            "generation_failed",
            "ga4_not_connected",
            "plan_required",
        ],
    },
    Call {
        path: "/v1/config/publish-targets",
        name: "set_publish_targets",
        request: Some("publish_targets"),
        success: (200, &["configured_targets"]),
        errors: &["invalid_request"],
    },
    Call {
        path: "/v1/config/brand",
        name: "configure_brand",
        request: Some("brand"),
        success: (200, &["configured_brand"]),
        errors: &["invalid_request"],
    },
];

/// Section 7: each code, its status, and its meaning.
const ERRORS: [(&str, u16, &str); 9] = [
    ("invalid_api_key", 401, "The API key is wrong or missing."),
    ("credits_exhausted", 402, "The credits left do not pay the article."),
    ("not_configured", 400, "There is no brand yet: the message names the call that makes one."),
    ("rate_limit_exceeded", 429, "There were too many calls."),
    ("job_not_found", 404, "No job has this id."),
    ("generation_failed", 500, "The pipeline failed, and the credits were given back."),
    ("ga4_not_connected", 400, "Analytics were asked for, and there is no GA4."),
    ("invalid_request", 400, "The body is not what the call takes."),
    ("plan_required", 403, "The feature is for paid plans."),
];

fn description() -> OpenApi {
    let info = InfoBuilder::new().title("Article generation service, simulated").version("1");
    let info = info.description(Some("A `result` is also the body of a delivery (section 6.1)."));
    let paths = CALLS.iter().fold(PathsBuilder::new(), |paths, call| {
        let method = call.request.map_or(HttpMethod::Get, |_| HttpMethod::Post);
        paths.path(call.path, PathItem::new(method, operation(call)))
    });
    let key = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
    let parts = ComponentsBuilder::new().security_scheme("api_key", SecurityScheme::Http(key));
    let parts = parts.schemas_from_iter(bodies()).schemas_from_iter(errors());
    let security = SecurityRequirement::new("api_key", [""; 0]);
    let whole = OpenApiBuilder::new().info(info.build()).paths(paths).security(Some([security]));
    whole.components(Some(parts.build())).build()
}

fn operation(call: &Call) -> OperationBuilder {
    let errors = call.errors.iter().chain(&["invalid_api_key", "rate_limit_exceeded"]);
    let mut answers = BTreeMap::from([(call.success.0, call.success.1.to_vec())]);
    for &code in errors {
        let (_, status, _) = ERRORS.iter().find(|error| error.0 == code).expect("it has a row");
        answers.entry(*status).or_default().push(code);
    }
    let mut operation = OperationBuilder::new().operation_id(Some(call.name));
    if call.path.contains("{job_id}") {
        let id = ParameterBuilder::new().name("job_id").parameter_in(ParameterIn::Path);
        operation = operation.parameter(id.required(Required::True).schema(Some(text("The job."))));
    }
    if let Some(name) = call.request {
        let body = RequestBodyBuilder::new().content("application/json", content(&[name]));
        operation = operation.request_body(Some(body.required(Some(Required::True)).build()));
    }
    answers.into_iter().fold(operation, |operation, (status, names)| {
        let answer = ResponseBuilder::new().description(names.join(" or "));
        operation.response(status.to_string(), answer.content("application/json", content(&names)))
    })
}

/// The content of one of these schemas.
fn content(names: &[&str]) -> Content {
    if let [name] = names {
        return Content::new(Some(Ref::from_schema_name(*name)));
    }
    let names = names.iter().map(|name| Ref::from_schema_name(*name));
    Content::new(Some(names.fold(OneOfBuilder::new(), OneOfBuilder::item)))
}

/// What calls take and successes answer, by name.
fn bodies() -> [(&'static str, ObjectBuilder); 10] {
    let status = |names: &[&str]| text("How far the job is.").enum_values(Some(names.to_vec()));
    let article = object("Section 2.1.", &["title", "html"])
        .property("title", text("The title."))
        .property("html", text("The text, in one article element; not sanitised."))
        .property("meta_title", text("The title for search engines."))
        .property("meta_description", text("The description for search engines."))
        .property("eeat_score", of(Type::Number, "A score of quality; a whole number."))
        .property("word_count", of(Type::Integer, "How many words the text has."));
    let image = object("Section 2.1.", &[])
        .property("url", url("Where the image is."))
        .property("alt_text", text("What is to be seen on it."));
    let posts = |network| {
        let post = ObjectBuilder::new().schema_type(SchemaType::AnyValue).description(Some(OURS));
        ArrayBuilder::new().items(post).description(Some(network))
    };
    let social = object("Section 2.1.", &[]).property("linkedin", posts("For LinkedIn."));
    let result =
        object("Section 2.1. Others may be missing (2.4).", &["job_id", "status", "article"])
            .property("job_id", text("The job."))
            .property("status", status(&["complete"]))
            .property("article", Ref::from_schema_name("article"))
            .property("featured_image", image)
            .property("social_posts", social.property("x", posts("For X.")))
            .property("credits_used", of(Type::Integer, "What the article cost."));
    let target = object("Section 2.2.", &["type", "name", "url", "auth_token"])
        .property("type", text("What kind of target it is.").enum_values(Some(["webhook"])))
        .property("name", text("What it is called."))
        .property("url", url("Where articles are delivered."))
        .property("auth_token", text("The whole `Authorization` header of each delivery."));
    let publish_targets = object("Section 2.2.", &["brand_id", "targets"])
        .property("brand_id", text("Whose articles are delivered there."))
        .property("targets", ArrayBuilder::new().items(Ref::from_schema_name("publish_target")));
    let order = object("Section 4; from `brand_id` on, the simulator's choice.", &["topic"])
        .property("topic", text("What the article is about."))
        .property("webhook_url", url("Where this one article is delivered."))
        .property("brand_id", text("For which brand; otherwise the one that was configured last."))
        .property("words", of(Type::Integer, "How long: 500 to 3000 words."))
        .property("bytes", of(Type::Integer, "How long: up to 64 MiB."))
        .property("analytics", of(Type::Boolean, "Whether it needs a connected GA4."))
        .property("plan_feature", text("Something that is for paid plans."))
        .property("fail_at", text("The step of the pipeline at which it fails."));
    let job = || object(OURS, &["job_id", "status"]).property("job_id", text("The job."));
    let unfinished = job().property("step", text("Where the pipeline is."));
    let brand = object(OURS, &[]).property("brand_id", text("`brand_default` if missing."));
    let configured = || object(OURS, &["brand_id"]).property("brand_id", text("The brand."));
    [
        ("article", article),
        ("result", result),
        ("unfinished_job", unfinished.property("status", status(&["queued", "running"]))),
        ("order", order),
        ("created_job", job().property("status", status(&["queued"]))),
        ("publish_target", target),
        ("publish_targets", publish_targets),
        ("configured_targets", configured().property("targets", of(Type::Integer, "How many."))),
        ("brand", brand.property("ga4_property_id", text("The GA4 to connect."))),
        ("configured_brand", configured().property("status", text("`configured`."))),
    ]
}

/// Section 7: a schema for each code, by name.
fn errors() -> impl Iterator<Item = (&'static str, RefOr<Schema>)> {
    let any = object("Section 7.", &["error", "message"])
        .property("error", text("The code."))
        .property("message", text("What is wrong, for people."))
        .property("credits_remaining", of(Type::Integer, "The credits that are left."))
        .property("upgrade_url", url("Where there are more."))
        .property("details", object("More about it; of some errors the simulator's choice.", &[]));
    let failure = || {
        object("Section 7.", &["step", "credits_refunded"])
            .property("step", text("Where it failed."))
            .property("credits_refunded", of(Type::Integer, "What was given back."))
    };
    let each = ERRORS.map(|(code, _, when)| {
        let own =
            object(when, &["error"]).property("error", text("The code.").enum_values(Some([code])));
        let own = match code {
            "credits_exhausted" => own.required("credits_remaining").required("upgrade_url"),
            "generation_failed" => own.required("details").property("details", failure()),
            _ => own,
        };
        (code, AllOfBuilder::new().item(Ref::from_schema_name("error")).item(own).into())
    });
    std::iter::once(("error", any.into())).chain(each)
}

fn object(description: &str, required: &[&str]) -> ObjectBuilder {
    let open = of(Type::Object, description);
    let open = open.additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(true)));
    required.iter().fold(open, |object, name| object.required(*name))
}

fn of(kind: Type, description: &str) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(kind).description(Some(description))
}

fn text(description: &str) -> ObjectBuilder {
    of(Type::String, description)
}

fn url(description: &str) -> ObjectBuilder {
    text(description).format(Some(SchemaFormat::Custom("uri".into())))
}
