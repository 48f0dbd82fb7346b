"""The command line: thin commands, one module a group.

Nothing heavy is imported before a command runs, so that ``askwise --help`` is quick.
"""
