from django.http import JsonResponse
from pricing import deadlock, price


def show_price(request, count):
    total = price(count)
    return JsonResponse({"total": total})


def hang(request):
    deadlock()
