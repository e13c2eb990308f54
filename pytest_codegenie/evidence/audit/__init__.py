"""The audit chain: what each run came to, linked so that a change is noticed."""
