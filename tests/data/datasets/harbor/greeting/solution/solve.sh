#!/bin/bash
cp "$(dirname "$0")/greet.sh.fixed" greet.sh
echo "greeted $WHO" > notes.txt
