"""From the punches of a time clock to a timesheet."""

from nightdesk.premiums import NIGHT, SUNDAY, Premium
from nightdesk.punches import Punch, PunchError, Shift
from nightdesk.sheet import Row, Timesheet
from nightdesk.spans import Span
from nightdesk.zones import CENTRAL_EUROPE, EASTERN_EUROPE, WESTERN_EUROPE, RuleZone

__all__ = [
    "CENTRAL_EUROPE",
    "EASTERN_EUROPE",
    "NIGHT",
    "SUNDAY",
    "WESTERN_EUROPE",
    "Premium",
    "Punch",
    "PunchError",
    "Row",
    "RuleZone",
    "Shift",
    "Span",
    "Timesheet",
]
