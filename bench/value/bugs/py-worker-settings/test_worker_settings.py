from worker.runner import Worker


def test_defaults():
    assert Worker([]).longest_run() == 90


def test_the_timeout_of_the_file_counts():
    lines = ["retries = 1", "timeout = 90s", "queue = slow"]
    assert Worker(lines).longest_run() == 180
