"""What another installed plugin, or a conftest.py, can add to pytest-codegenie.

Each hook gives names of parts and where they are: ``"package.module:attribute"``,
called without arguments when the part is needed. Strings, so that nothing is imported
before it is used and a case can run in another process. Our own parts come through
these hooks too. A name that two plugins give is a usage error.

Example, in a plugin of yours::

    def pytest_codegenie_agents():
        return {"my-agent": "my_package.agent:MyAgent"}
"""

from __future__ import annotations

from collections.abc import Mapping


def pytest_codegenie_agents() -> Mapping[str, str]:  # type: ignore[empty-body]
    """Return agents: name to ``module:attribute``.

    What that makes is an ``AgentAdapter`` or a ``PatchAgent``.

    Called once in each process of a run, and by ``codegenie list agents``.
    """


def pytest_codegenie_workspaces() -> Mapping[str, str]:  # type: ignore[empty-body]
    """Return workspaces: name to ``module:attribute`` of a ``Workspace``.

    Called once in each process of a run, and by ``codegenie list workspaces``.
    """


def pytest_codegenie_evaluators() -> Mapping[str, str]:  # type: ignore[empty-body]
    """Return evaluators: ``framework`` to ``module:attribute`` of an ``Evaluator``.

    Called once in each process of a run, and by ``codegenie list evaluators``.
    """


def pytest_codegenie_harnesses() -> Mapping[str, str]:  # type: ignore[empty-body]
    """Return kinds of harness: name to ``module:attribute`` of a ``Harness``.

    Called once in each process of a run, and by ``codegenie list harnesses``.
    """


def pytest_codegenie_gates() -> Mapping[str, str]:  # type: ignore[empty-body]
    """Return gates of the foundry: name to ``module:attribute`` of a ``Gate``.

    Called once in each process of a run, by ``codegenie list gates`` and
    ``codegenie build``.
    """


def pytest_codegenie_datasets() -> Mapping[str, str]:  # type: ignore[empty-body]
    """Return formats of datasets: name to ``module:attribute`` of a ``Dataset``.

    Called once in each process of a run, by ``codegenie list datasets`` and
    ``codegenie import``.
    """


def pytest_codegenie_reporters() -> Mapping[str, str]:  # type: ignore[empty-body]
    """Return formats of reports: name to ``module:attribute`` of a ``Reporter``.

    Called once in each process of a run, and by ``codegenie list reporters`` and
    ``codegenie report``.
    """
