"""What Python itself lacks: dataclasses that are quickly made, and former names that go on working."""
