wc -w < text > words
wc -l < text > lines
