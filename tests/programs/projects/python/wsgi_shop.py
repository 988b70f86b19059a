"""For gunicorn: nothing but the standard library and the handler."""

import json

from pricing import deadlock, price


def app(environ, start_response):
    _, _, rest = environ["PATH_INFO"].partition("/")
    if rest == "hang":
        deadlock()
    total = price(int(rest.rpartition("/")[2] or 0))
    start_response("200 OK", [("Content-Type", "application/json")])
    return [json.dumps({"total": total}).encode()]
