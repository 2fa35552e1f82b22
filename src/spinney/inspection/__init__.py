"""Fitted models for people: text, plots, reports, explanations."""
