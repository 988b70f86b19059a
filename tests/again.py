"""Run once more, alone, what failed beside others: two cores hold three debuggers and a daemon badly.

Who fails alone fails. Who passes alone is named as unsteady, to be mended; more than a few at once are no accident,
unless the machine stood still while they ran: those are named apart.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

MOST = 6
MOST_IN_STALLS = 60


def main(file: Path) -> int:
    failed: dict[str, bool] = json.loads(file.read_text()) if file.exists() else {}
    stalled = [name for name, disturbed in failed.items() if disturbed]
    unsteady = [name for name, disturbed in failed.items() if not disturbed]
    if not failed or len(unsteady) > MOST or len(stalled) > MOST_IN_STALLS:
        return 1
    print(f"\n{len(failed)} failed beside others; once more, alone:", *failed, sep="\n  ", flush=True)
    status = subprocess.run([sys.executable, "-m", "pytest", *failed], check=False).returncode
    if status == 0 and unsteady:
        print(f"unsteady, to be mended: {', '.join(unsteady)}")
    if status == 0 and stalled:
        print(f"failed while the machine stood still: {', '.join(stalled)}")
    return status


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
