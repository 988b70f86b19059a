import pytest

from flask_shop import app


@pytest.fixture
def client():
    return app.test_client()


def test_three_cost_twenty(client):
    answer = client.get("/price/3")
    total = answer.json["total"]
    assert total == 20


def test_none_cost_nothing(client):
    assert client.get("/price/0").json["total"] == 0
