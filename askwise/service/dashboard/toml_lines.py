"""Where in a TOML document a field is, so that an error can be shown at its line."""

import re

_HEADER = re.compile(r"^\s*(\[\[?)\s*([\w.\"' -]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"^\s*([\w\"'-]+)(?:\s*\.\s*[\w\"'-]+)*\s*=")


def line_of(text: str, field: str) -> int | None:
    """The line (from 1) of a field such as ``workers.1.price``; None if it is not found.

    A field that is not there itself is where what holds it begins.

    Examples
    --------
    >>> document = 'budget = "5"\\n[[workers]]\\nid = "a"\\n[[workers]]\\nprice = "x"'
    >>> line_of(document, "budget"), line_of(document, "workers.1.price")
    (1, 5)
    """
    names = [part for part in re.split(r"[.\[\]]", field) if part]
    if not names:
        return None
    wanted = names[0]
    at = int(names[1]) if len(names) > 1 and names[1].isdecimal() else 0
    inner = next((name for name in names[1:] if not name.isdecimal()), None)
    table, seen, found = "", -1, None
    for number, line in enumerate(text.splitlines(), 1):
        header = _HEADER.match(line)
        if header is not None:
            table = header[2].strip("\"' ")
            if table == wanted:
                seen += 1
                if seen == at:
                    found = number
            continue
        key = _KEY.match(line)
        if key is None:
            continue
        name = key[1].strip("\"'")
        if not table and name == wanted:
            return number
        if table == wanted and seen == at and name == inner:
            return number
    return found
