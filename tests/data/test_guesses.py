"""Tables of workers with guessed accuracies."""

from pathlib import Path

import pytest

from askwise.core.errors import InvalidProblem
from askwise.data import read_guesses


def table(folder: Path, text: str) -> Path:
    file = folder / "workers.csv"
    file.write_text(text)
    return file


def test_numbers_ranges_and_what_else_is_known_of_workers_are_read(tmp_path: Path) -> None:
    text = (
        "worker,price,accuracy,kind,family,limit,trusted\n"
        "ann,0.4,0.9,person,,20,\ngpt,0.01,0.7 - 0.85,model,g,,\nvet,2,,person,,,yes\n"
    )
    ann, gpt, vet = read_guesses(table(tmp_path, text))
    assert (ann.accuracy, ann.worker.limit, ann.worker.kind) == (0.9, 20, "person")
    assert (gpt.accuracy, gpt.worker.family) == ((0.7, 0.85), "g")
    assert (vet.accuracy, vet.worker.trusted) == (None, True)


def test_with_recorded_answers_no_accuracy_is_needed(tmp_path: Path) -> None:
    (ann,) = read_guesses(table(tmp_path, "id,price\nann,1\n"), needed=False)
    assert ann.accuracy is None


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("ann,1,1", "line 2: accuracy of worker 'ann' is 1.0: give a number above 0 and below 1"),
        ("ann,1,0", "accuracy of worker 'ann' is 0.0: give"),
        ("ann,1,-0.5", "accuracy of worker 'ann' is '': give"),
        ("ann,1,nan", "accuracy of worker 'ann' is nan: give"),
        ("ann,1,high", "accuracy of worker 'ann' is 'high': give"),
        ("ann,1,0.5-1.5", "accuracy of worker 'ann' is 0.5-1.5: give"),
        ("ann,1,0.9-0.7", "is 0.9-0.7: give the lower end of the range first"),
        ("ann,1,", "accuracy of worker 'ann' is missing: give"),
        ("ann,,0.9", "line 2: worker 'ann' lacks 'price'"),
        ("ann,1,0.9\nann,1,0.8", "line 3: worker 'ann' appears twice"),
    ],
)
def test_a_bad_row_is_refused_by_its_line(tmp_path: Path, rows: str, message: str) -> None:
    with pytest.raises(InvalidProblem) as caught:
        read_guesses(table(tmp_path, f"id,price,accuracy\n{rows}\n"))
    assert message in str(caught.value)


def test_crowds_and_unknown_columns_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidProblem, match="plan crowds with --crowds"):
        read_guesses(table(tmp_path, "id,price,accuracy,kind\nturk,1,0.8,crowd\n"))
    with pytest.raises(InvalidProblem, match="has a column 'acuracy': did you mean 'accuracy'"):
        read_guesses(table(tmp_path, "id,price,acuracy\nann,1,0.8\n"))
    with pytest.raises(InvalidProblem, match="needs one column 'id'"):
        read_guesses(table(tmp_path, "price,accuracy\n1,0.8\n"))
