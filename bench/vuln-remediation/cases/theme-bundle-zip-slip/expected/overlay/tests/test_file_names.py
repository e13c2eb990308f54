"""Names with dots in them which are no way out, and other things to keep."""

import json
from unittest import mock

from tests.bundles import NORD, BundleTestCase
from themeshelf import Bundle, BundleError, Shelf, bundle

MANIFEST = json.dumps({"name": "nord", "version": "1"})


class FileNamesTest(BundleTestCase):
    def install(self, *names):
        members = {"top/theme.json": MANIFEST}
        members |= {f"top/{name}": name for name in names}
        Shelf(self.shelf_directory).install(self.bundle(members))
        for name in names:
            path = self.shelf_directory / "nord" / name
            self.assertEqual(path.read_text(encoding="utf-8"), name)
        self.assertEqual(len(self.installed()), len(names) + 1)

    def test_dots_in_names(self):
        self.install("jquery..min.js", "...notes", "a/..b/c", "trailing..", "x/.../y")

    def test_hidden_files(self):
        self.install(".editorconfig", ".github/ci.yml")

    def test_spaces_and_letters_of_all_kinds(self):
        self.install("two words.css", "\u00dcberschrift.css", "~/tilde")

    def test_deep_directories(self):
        self.install("a/b/c/d/e/f/g.css", "a/b.css")

    def test_name_that_begins_like_the_theme(self):
        self.install("nord-extra/x.css", "nord")

    def test_dot_components_are_nothing(self):
        members = {"top/theme.json": MANIFEST, "top/./a.css": "", "top/b/./c.css": ""}
        with Bundle(self.bundle(members)) as opened:
            self.assertEqual(opened.files, ["a.css", "b/c.css", "theme.json"])

    def test_top_level_directory_with_dots(self):
        members = {"nord..1/theme.json": MANIFEST, "nord..1/a.css": ""}
        Shelf(self.shelf_directory).install(self.bundle(members))
        self.assertEqual(self.installed(), ["nord/a.css", "nord/theme.json"])

    def test_shelf_given_as_a_relative_path(self):
        relative = self.shelf_directory / ".." / "themes"
        Shelf(relative).install(self.bundle(NORD))
        self.assertEqual(len(self.installed()), 3)

    def test_shelf_behind_a_link(self):
        link = self.root / "link"
        link.symlink_to(self.shelf_directory, target_is_directory=True)
        Shelf(link).install(self.bundle(NORD))
        self.assertEqual(len(self.installed()), 3)

    def test_shelf_that_is_not_there_yet(self):
        self.shelf_directory.rmdir()
        Shelf(self.shelf_directory).install(self.bundle(NORD))
        self.assertEqual(len(self.installed()), 3)


class OtherRulesTest(BundleTestCase):
    def test_same_file_twice(self):
        members = {"top/theme.json": MANIFEST, "top/a.css": "1", "top/./a.css": "2"}
        with self.assertRaisesRegex(BundleError, "twice"):
            Bundle(self.bundle(members))

    def test_too_many_files(self):
        with mock.patch.object(bundle, "MAX_FILES", 2):
            with self.assertRaisesRegex(BundleError, "more than 2 files"):
                Bundle(self.bundle(NORD))
