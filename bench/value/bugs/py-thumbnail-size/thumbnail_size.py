"""Sizes of thumbnails that keep the shape of their picture."""


class Picture:
    def __init__(self, width, height):
        self.width = width
        self.height = height


def scale_for(width, height, box):
    if width <= box and height <= box:
        return 1
    by_width, by_height = box // width, box // height
    return min(by_width, by_height)


def fit(picture, box):
    scale = scale_for(picture.width, picture.height, box)
    return max(1, round(picture.width * scale)), max(1, round(picture.height * scale))


def gallery(pictures, box=200):
    return [fit(picture, box) for picture in pictures]
