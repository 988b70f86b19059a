import os

from celery import Celery
from pricing import price

folder = os.environ["SHOP_QUEUE"]
app = Celery("celery_shop", broker="filesystem://", backend=f"file://{folder}/results")
app.conf.broker_transport_options = {
    "data_folder_in": f"{folder}/queue",
    "data_folder_out": f"{folder}/queue",
    "control_folder": f"{folder}/control",
}
app.conf.broker_connection_retry_on_startup = True


@app.task
def price_later(count):
    total = price(count)
    return total


@app.task
def fail(count):
    rest = count % 3
    return count / rest
