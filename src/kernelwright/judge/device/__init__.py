"""Judging on a device: the same questions as on the host, with everything large staying in the device's memory.

The reference's process draws inputs there and shows them, read-only, to the candidate's; it takes the candidate's
results, by descriptor, and compares them. The judge itself touches no device: it asks, counts and keeps the clock.
"""
