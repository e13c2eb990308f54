"""The errors of this package."""


class SensorlogError(Exception):
    """Base of all errors of this package."""


class SeriesNotFound(SensorlogError):
    """The store has no series of this name."""


class SeriesFormatError(SensorlogError):
    """A file is damaged, or is not one of ours."""


class UnsupportedValue(SensorlogError):
    """A value is of a type that the format does not have."""
