/// Defines an enum whose variants have names, with `ALL`, `as_str`, `parse` and `Display`.
#[macro_export]
macro_rules! named {
    ($(#[$meta:meta])* $vis:vis enum $type:ident { $($(#[$doc:meta])* $variant:ident = $name:literal,)* }) => {
        $(#[$meta])*
        $vis enum $type {
            $($(#[$doc])* $variant,)*
        }

        impl $type {
            $vis const ALL: [Self; [$($name),*].len()] = [$(Self::$variant),*];

            #[must_use]
            $vis const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// Returns the variant with that name.
            #[must_use]
            $vis fn parse(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|named| named.as_str() == name)
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
