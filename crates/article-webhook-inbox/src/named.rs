/// The conversions of a type whose values have names, by its `ALL` and `as_str`. The text is the error of another name.
macro_rules! named {
    ($type:ty, $unknown:literal) => {
        impl $type {
            /// The value with this name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.as_str() == name)
            }
        }

        impl std::str::FromStr for $type {
            type Err = crate::Error;

            fn from_str(name: &str) -> Result<Self, crate::Error> {
                Self::from_name(name).ok_or_else(|| crate::Error::invalid($unknown))
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}
