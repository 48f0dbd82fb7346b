"""The layout of the ledger: its arrays, their columns, and the codes that stand in them.

Everything is kept in a few wide arrays (one row per worker, task or assignment) because a
compiled call pays for each array it is handed. Answers are threaded per task and per worker,
so memory is O(answers + tasks + workers).
"""

from typing import NamedTuple

from askwise.core.arrays import Array
from askwise.core.records import by_reference

# Columns of `totals`; money in micro-units. HELD is reserved for assignments that are out,
# PLANNED for the part of the current decision that was not handed out yet. OPEN_NAMED counts the
# open tasks that name who may be asked; QUOTED is 1 once the bidding is closed. REPEAT is 1 where
# crowds may be asked about a task again; ASKED_ONCE counts the workers who never are. KEPT is money
# that is kept back for audits: no part of BUDGET until labels are drawn. KEPT_SHARE is the part of
# money that comes in which is kept back, in thousand-millionths. BONUSES is what was given apart
# from calls: no part of SPENT, and taken out of BUDGET, so that to policies it was never there.
(BUDGET, SPENT, HELD, PLANNED, TASKS, WORKERS, ASSIGNMENTS, ANSWERS, PENDING, DECISIONS, OPEN,
 PLAN_ROWS, REPEAT, TASKLESS, OPTIONS, PAUSED, STOPPED, CELLS, CONTEXTS, OPEN_NAMED,
 OFFERS, QUOTED, ASKED_ONCE, KEPT, KEPT_SHARE, BONUSES) = range(26)  # fmt: skip

# Columns of `workers`. ASKED counts what is pending or answered: what the limit is about. LIMIT is
# theirs less FAILURES, the calls that failed: each has used up a place. REFUSED counts what they
# declined or failed at: those tasks are not put to them again. PAID is what their calls, ANSWERED
# and FAILURES together, were settled at, FAILURE_COST the part of it that brought no answer.
# OPEN_TO counts the open tasks that name them. PRICE is reserved for an answer, BID what they ask
# for, RANKED_AT what a choice by cost counts them at: the three are one unless a mechanism sets
# them apart. ON_CLOSED counts what was put to them, and did not expire, about tasks that are
# closed now. ONCE is 1 for those who are asked at most once about a task: all where pairs may not
# repeat, persons and models elsewhere. KIND is what they were said to be, FAMILY the number of
# theirs (-1: none), in order of appearance. AUDITS is 1 for those who are kept for audits, and 2
# once they have left: to policies they are not there, so JOINED is 0. BONUS is what they were given
# apart from calls, PAID_OUT what they were paid of all that, PAID_UP_TO their ANSWERED at that
# time.
(PRICE, LIMIT, JOINED, ASKED, ANSWERED, LAST, REFUSED, TRUSTED, OPEN_TO, BID, RANKED_AT,
 ON_CLOSED, ONCE, KIND, FAMILY, PAID, FAILURES, FAILURE_COST, AUDITS, BONUS, PAID_OUT,
 PAID_UP_TO) = range(22)  # fmt: skip

# What a worker was said to be.
UNSAID, PERSON, MODEL, CROWD = range(4)

# Columns of `ratings`: prior mean, scaled to 0..1, and how many answers it is worth.
RATING, WEIGHT = range(2)

# Columns of `tasks`. TRUTH is the option's index, -1 while unknown; FIRST_CELL and VOICE are
# cells (-1: none): the newest, and that of the last answer. NEXT_ALIKE is the next task of the
# same context; FIRST_OFFER and NAMED are the stretch of `offers` that names who may be asked
# (NAMED is -1 where anyone may). TASK_LOST counts what expired, was declined or failed.
(CLOSED, TASK_ASKED, TASK_ANSWERED, TASK_LAST, TRUTH, TASK_SPENT, FIRST_CELL, VOICE, CONTEXT,
 NEXT_ALIKE, FIRST_OFFER, NAMED, TASK_LOST) = range(13)  # fmt: skip

# Columns of `contexts`: how many tasks, and the ends of their chain.
CONTEXT_TASKS, FIRST_TASK, LAST_TASK = range(3)

# Columns of `cells`: one row for each pair of task and worker ever asked (options only). FIRST_AT
# says which of the task's answers was the pair's first (from 1; 0: none yet), FIRST_SAID its
# option. The votes, one column per option, begin at VOTES.
CELL_WORKER, NEXT_CELL, CELL_OUT, CELL_ANSWERS, FIRST_AT, FIRST_SAID, VOTES = range(7)

# Columns of `assignments` and of `marks`. COST is the price that was reserved until the call is
# settled at what it was. A column for both would cost the lab's loop four hundredths of its speed.
TASK, WORKER, COST, STATUS, DECISION, SEQ, BEFORE_OF_TASK, BEFORE_OF_WORKER, CELL = range(9)
VALUE, PROPENSITY, EXPIRES = range(3)

# Cells of `scale`: the two ends of the range, and where on it (0 to 1) a utility's zero is.
LOW, HIGH, ZERO = range(3)

# Status of an assignment.
OUT, SETTLED, EXPIRED, DECLINED, FAILED = range(5)

# Columns of `plan` (and of a proposal's rows).
PLAN_TASK, PLAN_WORKER, PLAN_COUNT = range(3)

# What choosing may say.
PROPOSED = 0
WAIT_TRUTH, WAIT_ANSWERS, WAIT_WORKERS = -1, -2, -3
DONE_BUDGET, DONE_LIMITS, DONE_TASKS, DONE_TARGET, DONE_AGREEMENT = -11, -12, -13, -14, -15
DONE_WORTHLESS = -16
TOO_LARGE = -99

# What is wrong with a proposal.
FINE, EMPTY, ABSENT, OVER_LIMIT, OVER_MONEY, BAD_TASK, BAD_ODDS = range(7)


@by_reference
class Book(NamedTuple):
    """The folded log as arrays; rows beyond the counts in ``totals`` are spare capacity."""

    totals: Array
    scale: Array
    workers: Array
    ratings: Array
    tasks: Array
    queue: Array
    votes: Array
    cells: Array
    assignments: Array
    marks: Array
    plan: Array
    odds: Array
    contexts: Array
    offers: Array
