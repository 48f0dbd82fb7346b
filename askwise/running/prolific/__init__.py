"""Studies on Prolific: made from a campaign, watched, paid until it is done."""

from askwise.running.prolific.records import KeptStudy, StudyBook, StudySession
from askwise.running.prolific.recruiter import Recruiter, RecruitingReport
from askwise.running.prolific.studies import create_study

__all__ = [
    "KeptStudy",
    "Recruiter",
    "RecruitingReport",
    "StudyBook",
    "StudySession",
    "create_study",
]
