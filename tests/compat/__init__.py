"""A file of every family and of every version of the format, which every release must load."""
