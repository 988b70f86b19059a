from thumbnail_size import Picture, gallery


def test_a_small_picture_stays():
    assert gallery([Picture(80, 60)]) == [(80, 60)]


def test_a_large_photo():
    sizes = gallery([Picture(80, 60), Picture(4000, 3000)])
    assert sizes[1] == (200, 150)
