"""The rows of what is known about models; reached only through registry/ and the admins."""

from toolsupport.models.families import Family
from toolsupport.models.overrides import Override, Standing
from toolsupport.models.people import Session, SignInTally
from toolsupport.models.servers import ModelProfile, Server
from toolsupport.models.system import Lease, Setting

__all__ = ["Family", "Lease", "ModelProfile", "Override", "Server", "Session", "Setting", "SignInTally", "Standing"]
