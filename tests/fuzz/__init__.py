"""Fuzzing of the model file: mutants, a judge, and a process that survives what it runs.

``python -m tests.fuzz --help`` says how to run it; ``make fuzz`` does.
"""
