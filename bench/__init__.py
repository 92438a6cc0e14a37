"""Yardsticks, measured as ratios in one run. `make bench` prints them and fails when one is missed by more than noise."""
