"""The errors of this package."""


class ThemeshelfError(Exception):
    """Base of all of them."""


class BundleError(ThemeshelfError):
    """A bundle breaks one of the rules in ``docs/bundles.md``."""


class ThemeExists(ThemeshelfError):
    """A theme of this name is installed already."""


class ThemeNotFound(ThemeshelfError):
    """No theme of this name is installed."""
