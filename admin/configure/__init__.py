"""The configuration as something that people edit: changes, faults at their field, differences in words, merging, publishing.

The rules are those of `edge.core.config`; nothing here knows a key of a queue that its table does not have.
"""
