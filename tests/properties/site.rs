//! The receivers that requests are sent to.

use article_webhook::{AuthToken, Receiver, Targets, fixture};

/// One receiver with its settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Site {
    /// As the service is documented.
    Default,
    /// A token per publish target.
    Targets,
    /// Both headers of the service are demanded.
    Strict,
    /// Unknown events are refused.
    Refuses,
    /// At most [`SMALL`] bytes of body.
    Small,
}

/// The limit of [`Site::Small`], in bytes.
pub const SMALL: usize = 120;

const BLOG: &str = "Bearer blog-91d2c4f07ab3e5";
const SHOP: &str = "shop-c07e4b1fd2a896";

impl Site {
    /// Every site.
    pub const ALL: [Self; 5] =
        [Self::Default, Self::Targets, Self::Strict, Self::Refuses, Self::Small];

    /// The site of this name, or else the default one.
    pub fn named(name: &str) -> Self {
        match name {
            "targets" => Self::Targets,
            "strict" => Self::Strict,
            "refuses" => Self::Refuses,
            "small" => Self::Small,
            _ => Self::Default,
        }
    }

    pub(super) fn tokens(self) -> &'static [&'static str] {
        match self {
            Self::Targets => &[BLOG, SHOP],
            _ => &[fixture::TOKEN],
        }
    }

    /// The labels that a delivery may bear, in the order of the tokens.
    pub(super) fn labels(self) -> &'static [&'static str] {
        match self {
            Self::Targets => &["blog", "shop"],
            _ => &["default"],
        }
    }

    /// The receiver of a delivery that is sent here.
    pub fn receiver(self) -> Receiver {
        let token = |token| AuthToken::new(token).expect("the token is a legal one");
        let targets = match self {
            Self::Targets => Targets::new("blog", token(BLOG))
                .and_then(|targets| targets.and("shop", token(SHOP)))
                .expect("the tokens differ"),
            _ => token(fixture::TOKEN).into(),
        };
        let builder = Receiver::builder(targets);
        let builder = match self {
            Self::Strict => builder.strict(),
            Self::Refuses => builder.refuse_unknown_events(),
            Self::Small => builder.body_limit(SMALL),
            Self::Default | Self::Targets => builder,
        };
        builder.build().expect("the settings are legal ones")
    }
}

/// The receiver of each site, built once.
#[derive(Debug)]
pub struct Receivers([Receiver; Site::ALL.len()]);

impl Default for Receivers {
    fn default() -> Self {
        Self(Site::ALL.map(Site::receiver))
    }
}

impl Receivers {
    /// The receiver of the site.
    pub fn of(&self, site: Site) -> &Receiver {
        &self.0[site as usize]
    }
}
