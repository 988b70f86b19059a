"""Converters of texts, applied in the order in which they were registered."""


class Registry:
    converters = {}

    def register(self, name, function):
        self.converters[name] = function
        count = len(self.converters)
        return count

    def convert(self, text):
        for name, function in self.converters.items():
            text = function(text)
        return text


class Pipeline:
    def __init__(self, *functions):
        self.registry = Registry()
        for function in functions:
            self.registry.register(function.__name__, function)

    def run(self, lines):
        return [self.registry.convert(line) for line in lines]
