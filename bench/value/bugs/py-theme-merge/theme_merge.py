"""Themes: what a user sets goes over what is shipped."""

import json

SHIPPED = {"colors": {"text": "#000", "link": "#00f"}, "font": "serif"}


def merge(base, own):
    merged = dict(base)
    for key, value in own.items():
        if isinstance(value, dict) and isinstance(merged.get(key), dict):
            merged[key] = merge(merged[key], value)
        else:
            merged[key] = value
    return merged


def load_theme(text):
    return merge(json.loads(text), SHIPPED)


def style(text):
    theme = load_theme(text)
    return "; ".join(f"--{name}: {color}" for name, color in sorted(theme["colors"].items()))
