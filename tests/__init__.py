"""A package, so that the ``tests`` that another distribution installs is not taken for ours."""
