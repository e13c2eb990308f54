"""Install theme bundles."""

from themeshelf.bundle import Bundle
from themeshelf.errors import BundleError, ThemeExists, ThemeNotFound, ThemeshelfError
from themeshelf.manifest import Theme
from themeshelf.shelf import Shelf

__all__ = [
    "Bundle",
    "BundleError",
    "Shelf",
    "Theme",
    "ThemeExists",
    "ThemeNotFound",
    "ThemeshelfError",
]
