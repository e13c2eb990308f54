"""A format of datasets for pytest-codegenie."""
