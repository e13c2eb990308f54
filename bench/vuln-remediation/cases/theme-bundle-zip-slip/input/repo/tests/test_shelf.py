import json

from tests.bundles import NORD, BundleTestCase
from themeshelf import Shelf, Theme, ThemeExists, ThemeNotFound


class ShelfTest(BundleTestCase):
    def setUp(self):
        super().setUp()
        self.shelf = Shelf(self.shelf_directory)

    def test_install_leaves_the_top_level_directory_out(self):
        theme = self.shelf.install(self.bundle(NORD))
        self.assertEqual(theme, Theme("nord", "1.4"))
        self.assertEqual(
            self.installed(),
            ["nord/assets/nord.css", "nord/layout.html", "nord/theme.json"],
        )
        layout = self.shelf_directory / "nord" / "layout.html"
        self.assertEqual(layout.read_text(), "<main></main>")

    def test_name_that_is_taken(self):
        self.shelf.install(self.bundle(NORD))
        with self.assertRaises(ThemeExists):
            self.shelf.install(self.bundle(NORD))

    def test_replace(self):
        self.shelf.install(self.bundle(NORD))
        manifest = json.dumps({"name": "nord", "version": "2.0"})
        newer = self.bundle({"new/theme.json": manifest, "new/a.css": ""})
        self.shelf.install(newer, replace=True)
        self.assertEqual(self.installed(), ["nord/a.css", "nord/theme.json"])
        self.assertEqual(self.shelf.themes(), [Theme("nord", "2.0")])

    def test_remove(self):
        self.shelf.install(self.bundle(NORD))
        self.shelf.remove("nord")
        self.assertEqual(self.shelf.themes(), [])
        with self.assertRaises(ThemeNotFound):
            self.shelf.remove("nord")
