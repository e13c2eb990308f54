#!/bin/bash
words=0 lines=0
[ "$(cat words 2>/dev/null)" = 3 ] && words=1
[ "$(cat lines 2>/dev/null)" = 2 ] && lines=1
echo "{\"words\": $words, \"lines\": $lines}" > /logs/verifier/reward.json
