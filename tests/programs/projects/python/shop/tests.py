from django.test import SimpleTestCase


class PriceTests(SimpleTestCase):
    def test_three_cost_twenty(self):
        answer = self.client.get("/price/3")
        total = answer.json()["total"]
        self.assertEqual(total, 20)

    def test_none_cost_nothing(self):
        self.assertEqual(self.client.get("/price/0").json()["total"], 0)
