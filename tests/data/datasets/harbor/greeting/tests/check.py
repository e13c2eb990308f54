import os
import subprocess


expected = os.environ["EXPECTED"].replace("${name}", "Ada")
for program in ("/app/greet.sh", "/app/hello"):
    printed = subprocess.check_output([program, "Ada"], text=True).strip()
    assert printed == expected, f"{program} printed {printed!r}"
