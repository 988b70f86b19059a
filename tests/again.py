"""Run once more, alone, what failed beside others: two cores hold three debuggers and a daemon badly.

Who fails alone fails. Who passes alone is named as unsteady, to be mended; more than a few at once are no accident.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

MOST = 6


def main(file: Path) -> int:
    failed = file.read_text().splitlines() if file.exists() else []
    if not 0 < len(failed) <= MOST:
        return 1
    print(f"\n{len(failed)} failed beside others; once more, alone:", *failed, sep="\n  ", flush=True)
    status = subprocess.run([sys.executable, "-m", "pytest", *failed], check=False).returncode
    if status == 0:
        print(f"unsteady, to be mended: {', '.join(failed)}")
    return status


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
