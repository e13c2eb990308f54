"""The place of ``Reading`` until 2.0; old files and old scripts still name it."""

from sensorlog.model import Reading

__all__ = ["Reading"]
