"""The OpenAPI document: made from the questions and answers themselves, with examples that run as they stand."""
