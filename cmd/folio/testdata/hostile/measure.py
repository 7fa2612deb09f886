"""Runs a command, and writes the most memory that it has had, in KiB, to a file: measure.py FILE COMMAND...

Linux counts the memory of the process that starts a command as that of the command. This one is small.
"""

import resource
import subprocess
import sys

code = subprocess.call(sys.argv[2:])
with open(sys.argv[1], "w") as f:
    f.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(code if code >= 0 else 128 - code)
