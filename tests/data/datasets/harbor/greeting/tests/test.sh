#!/bin/bash
# The tests are beside this script, and not in the directory that they look at.
cd "$(dirname "$0")" || exit
if python3 check.py; then
    echo 1 > /logs/verifier/reward.txt
else
    echo 0 > /logs/verifier/reward.txt
fi
