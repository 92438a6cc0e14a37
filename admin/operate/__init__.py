"""What operators see and do while a sale runs: figures, history, schedule, rehearsal."""
