/// Declares setters of a builder that has a method `set`. `name: Type` takes a `Type`, `name: into Type` takes any
/// value that converts to it, and `name: list` takes several strings.
macro_rules! options {
    () => {};
    ($(#[$about:meta])* $name:ident: list, $($rest:tt)*) => {
        $(#[$about])*
        pub fn $name(self, $name: impl IntoIterator<Item = impl Into<String>>) -> Self {
            let texts: Vec<String> = $name.into_iter().map(Into::into).collect();
            self.set(stringify!($name), texts)
        }

        $crate::options::options! { $($rest)* }
    };
    ($(#[$about:meta])* $name:ident: into $type:ty, $($rest:tt)*) => {
        $(#[$about])*
        pub fn $name(self, $name: impl Into<$type>) -> Self {
            let value: $type = $name.into();
            self.set(stringify!($name), value)
        }

        $crate::options::options! { $($rest)* }
    };
    ($(#[$about:meta])* $name:ident: $type:ty, $($rest:tt)*) => {
        $(#[$about])*
        pub fn $name(self, $name: $type) -> Self {
            self.set(stringify!($name), $name)
        }

        $crate::options::options! { $($rest)* }
    };
}

pub(crate) use options;
