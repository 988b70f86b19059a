"""Language models behind one interface. Nothing else needs one."""
