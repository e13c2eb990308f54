"""The foundry: a program is built from ordered prompts, each held to rules and gates.

    prompt, agent, code, rules, gates, the project's own files

``harness_runner`` goes through the prompts, ``agent_executor`` asks an agent for each,
``control_plane`` says what may be touched, ``quality_gate`` what is good enough.
``state_registry`` and ``history`` keep how far a build is and what each step changed.
``taking_up`` makes the two agree when a build goes on, ``allowance`` says when it has
to stop, ``ending`` what came of it. ``harness`` makes a case of it.
"""

from __future__ import annotations
