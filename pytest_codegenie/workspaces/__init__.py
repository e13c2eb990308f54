"""Where a case is worked on: a place with a copy of the repository."""

from __future__ import annotations

from pytest_codegenie.trees import remove_tree as remove_tree
from pytest_codegenie.workspaces.git import MAX_PATCH_BYTES as MAX_PATCH_BYTES
from pytest_codegenie.workspaces.git import make_base as make_base
from pytest_codegenie.workspaces.host import on_this_side as on_this_side
from pytest_codegenie.workspaces.inexact import make_exact as make_exact
from pytest_codegenie.workspaces.protocol import Base as Base
from pytest_codegenie.workspaces.protocol import Environment as Environment
from pytest_codegenie.workspaces.protocol import HasImages as HasImages
from pytest_codegenie.workspaces.protocol import PatchTooLarge as PatchTooLarge
from pytest_codegenie.workspaces.protocol import Recipe as Recipe
from pytest_codegenie.workspaces.protocol import Workspace as Workspace
from pytest_codegenie.workspaces.protocol import WorkspaceSpec as WorkspaceSpec
from pytest_codegenie.workspaces.sources import provide_source as provide_source
from pytest_codegenie.workspaces.sources.commits import fetch_tree as fetch_tree
