"""Files that are whole or absent."""

import os
import secrets
from pathlib import Path


def write_atomic(path: str | os.PathLike[str], content: str | bytes) -> Path:
    """Write a file so that it is seen whole or not at all, also after Ctrl-C.

    The content goes to a temporary file in the same directory (a rename across file systems
    is not atomic), which then takes the place of the old file.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode() if isinstance(content, str) else content
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return path
