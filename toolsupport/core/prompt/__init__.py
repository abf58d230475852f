"""What a model gets to read: the system text, the sampling options, the history rendered for it."""

from toolsupport.core.prompt.instructions import system
from toolsupport.core.prompt.rendering import history
from toolsupport.core.prompt.sampling import options

__all__ = ["history", "options", "system"]
