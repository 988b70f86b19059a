"""Language models, behind one port; none is needed."""
