"""The agents that tests start for real, and how the scripted model talks to each.

They are looked for in the directory that ``CODEGENIE_TEST_AGENTS`` names, where
``.ci/agents`` installs them at pinned versions.
"""

from __future__ import annotations

from real_agents.aider import AIDER
from real_agents.claude_code import CLAUDE_CODE
from real_agents.codex import CODEX
from real_agents.describing import Edit as Edit
from real_agents.describing import RealAgent as RealAgent
from real_agents.gemini_cli import GEMINI_CLI
from real_agents.mini import MINI
from real_agents.opencode import OPENCODE
from real_agents.pi import PI
from real_agents.qwen_code import QWEN_CODE


#: The value of the key of each.
CANARY = "sk-canary-93c1f07d5e2a4b86"
#: Installed by ``.ci/run``.
INSTALLED = (CLAUDE_CODE, CODEX, PI, MINI, AIDER)
#: Tested where somebody installed them.
ASKED_FOR = (OPENCODE, QWEN_CODE, GEMINI_CLI)
