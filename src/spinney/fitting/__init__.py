"""What is around every fit: checkpoints, events and those who watch them, validation rows."""
