"""Tells from cron expressions what runs when."""

from tickplan.agenda import Run, agenda
from tickplan.errors import ExpressionError, TableError
from tickplan.expression import CronExpression
from tickplan.table import Job, read_table

__all__ = [
    "CronExpression",
    "ExpressionError",
    "Job",
    "Run",
    "TableError",
    "agenda",
    "read_table",
]
