"""The canvas: surfaces that agents draw and people act on, in four dialects of A2UI. Surfaces are stored, checked and
bounded.
"""
