"""Rows of facts about models; used only by registry/ and the admins."""

from toolsupport.models.audit import Audit
from toolsupport.models.detections import Detection, Trial
from toolsupport.models.exams import ExamPaper, ExamRun, ExamTrial, TeamCase, TeamExam
from toolsupport.models.families import Family
from toolsupport.models.history import HistoryEntry, HistoryFacet, ReadEntry, ReadMark, Review
from toolsupport.models.identities import ExternalIdentity
from toolsupport.models.keys import ApiKey
from toolsupport.models.mcp import McpServer, McpTool
from toolsupport.models.measured import CallMetric, PromptCount, ProvenCall, ReplyTime
from toolsupport.models.overrides import Override
from toolsupport.models.pulls import ModelPull
from toolsupport.models.quotas import QuotaLimit, QuotaUse
from toolsupport.models.second_factors import Passkey, RecoveryCode, SecondFactor
from toolsupport.models.servers import ModelProfile, Server
from toolsupport.models.sign_ins import SecurityEvent, Session, SignInDevice, SignInTally
from toolsupport.models.sources import SqlSource
from toolsupport.models.system import Lease, Setting

__all__ = [
    "ApiKey",
    "Audit",
    "CallMetric",
    "Detection",
    "ExamPaper",
    "ExamRun",
    "ExamTrial",
    "ExternalIdentity",
    "Family",
    "HistoryEntry",
    "HistoryFacet",
    "Lease",
    "McpServer",
    "McpTool",
    "ModelProfile",
    "ModelPull",
    "Override",
    "Passkey",
    "PromptCount",
    "ProvenCall",
    "QuotaLimit",
    "QuotaUse",
    "ReadEntry",
    "ReadMark",
    "RecoveryCode",
    "ReplyTime",
    "Review",
    "SecondFactor",
    "SecurityEvent",
    "Server",
    "Session",
    "Setting",
    "SignInDevice",
    "SignInTally",
    "SqlSource",
    "TeamCase",
    "TeamExam",
    "Trial",
]
