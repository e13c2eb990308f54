"""Role-based permissions for a service that asks often and changes rarely."""

from gatekeep.errors import CircularRole, GatekeepError, UnknownRole
from gatekeep.gate import Gatekeeper

__all__ = ["CircularRole", "GatekeepError", "Gatekeeper", "UnknownRole"]
