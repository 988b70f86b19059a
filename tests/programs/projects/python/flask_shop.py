from flask import Flask, jsonify
from pricing import deadlock, price

app = Flask(__name__)


@app.get("/price/<int:count>")
def show_price(count):
    total = price(count)
    return jsonify(total=total)


@app.get("/hang")
def hang():
    deadlock()
