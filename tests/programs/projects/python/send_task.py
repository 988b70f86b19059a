"""Hands a task to a worker: `python send_task.py NAME COUNT`."""

import sys

import celery_shop

getattr(celery_shop, sys.argv[1]).delay(int(sys.argv[2]))
