"""Parts, suppliers and stock levels of several workshops in one database."""

from stockroom.database import connect
from stockroom.errors import SearchError, StockError, StockroomError
from stockroom.models import Page, Part, Query
from stockroom.params import parse_query
from stockroom.saved import delete_saved, run_saved, save_search, saved_names
from stockroom.search import count, search
from stockroom.stock import add_part, receive, withdraw

__all__ = [
    "Page",
    "Part",
    "Query",
    "SearchError",
    "StockError",
    "StockroomError",
    "add_part",
    "connect",
    "count",
    "delete_saved",
    "parse_query",
    "receive",
    "run_saved",
    "save_search",
    "saved_names",
    "search",
    "withdraw",
]
