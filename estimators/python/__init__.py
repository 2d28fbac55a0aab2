"""What Python itself lacks: dataclasses that are quickly made, caches that forget, former names that go on working."""
