import json

from tests.bundles import NORD, BundleTestCase
from themeshelf import Bundle, BundleError


class BundleTest(BundleTestCase):
    def assert_refused(self, members, message):
        with self.assertRaisesRegex(BundleError, message):
            Bundle(self.bundle(members))

    def test_files(self):
        with Bundle(self.bundle(NORD | {"nord-1.4/empty/": ""})) as bundle:
            self.assertEqual(
                bundle.files, ["assets/nord.css", "layout.html", "theme.json"]
            )

    def test_not_an_archive(self):
        path = self.root / "theme.txt"
        path.write_text("not an archive")
        with self.assertRaisesRegex(BundleError, "theme.txt cannot be opened"):
            Bundle(path)

    def test_no_manifest(self):
        self.assert_refused({"nord/layout.html": ""}, "no theme.json")

    def test_two_top_level_directories(self):
        self.assert_refused(NORD | {"other/x": ""}, "nord-1.4, other")

    def test_file_outside_the_top_level_directory(self):
        self.assert_refused({"theme.json": "{}"}, "not in a directory")

    def test_name_that_is_none(self):
        for name in ("", "Nord", "../nord", "nord/x", None, 3):
            manifest = json.dumps({"name": name, "version": "1"})
            with self.subTest(name=name):
                self.assert_refused({"n/theme.json": manifest}, "not a name")
