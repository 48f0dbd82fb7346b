"""Recorded answers to replay, as files."""

from __future__ import annotations

import csv

SHEET = {"t1": "aab-", "t2": "aba-", "t3": "bb-a", "t4": "-abb", "t5": "b--b", "t6": "aaaa"}
"""What w1 to w4 answered; some were not asked."""

GOLD = {"t1": "a", "t2": "a", "t3": "b", "t4": "b", "t5": "b"}
"""What most answered, of all but t6; 14 of the 18 answers are to these."""

QUICK = ("--budget", "8", "--runs", "2", "--against", "random-pairs")
TOLD = ("--truths", "2", "--stop", "lead(lead=2)", "--workers", "prices.csv")


def write(name: str, *rows: tuple[str, ...]) -> str:
    with open(name, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return name
