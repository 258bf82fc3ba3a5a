"""Python in notebooks and texts: translated to modules before a run, and its results back afterwards."""
