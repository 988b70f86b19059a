from django.urls import path

from shop import views

urlpatterns = [path("price/<int:count>", views.show_price), path("hang", views.hang)]
