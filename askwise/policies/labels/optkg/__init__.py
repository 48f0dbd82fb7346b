"""``optkg`` and ``optkg-multi``: the optimistic knowledge gradient."""
