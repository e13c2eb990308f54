#!/bin/sh
echo "$ANSWER"
