import unittest

from stockroom import Query, SearchError, parse_query


class ParseQueryTest(unittest.TestCase):
    def test_nothing_given(self):
        self.assertEqual(parse_query(""), Query())

    def test_everything_given(self):
        query = parse_query(
            "q=brake+pad&category=brakes&category=gears&supplier=Rondo"
            "&max=5&sort=-quantity,name&page=2"
        )
        expected = Query(
            text="brake pad",
            categories=("brakes", "gears"),
            supplier="Rondo",
            max_quantity=5,
            sort="-quantity,name",
            page=2,
        )
        self.assertEqual(query, expected)

    def test_unknown_parameter_is_ignored(self):
        self.assertEqual(parse_query("colour=red"), Query())

    def test_bad_numbers(self):
        for text in ("max=many", "max=-1", "page=0", "page=x"):
            with self.subTest(text), self.assertRaises(SearchError):
                parse_query(text)
