"""How many operations a computation asks for."""

import pytest
import torch

from kernelwright.judge.worker._operations import count

X = torch.randn(6, 10)
Y = torch.randn(10, 4)
IMAGE = torch.randn(2, 3, 8, 8)


def counted(call) -> tuple[int, int, int]:
    found = count(call)
    assert sum(found["by_operator"].values()) == found["matrix"] + found["elementwise"]
    return found["matrix"], found["elementwise"], found["special"]


COUNTS = {
    "a matrix product": (lambda: X @ Y, (2 * 6 * 10 * 4, 0, 0)),
    "a product and a bias": (lambda: torch.nn.functional.linear(X, Y.T, torch.ones(4)), (2 * 6 * 10 * 4, 0, 0)),
    "a pointwise sum": (lambda: X + 1, (0, 60, 0)),
    "a pointwise sum in place": (lambda: X.clone().add_(1), (0, 60, 0)),
    "two pointwise operators": (lambda: torch.relu(X * 2), (0, 120, 0)),
    "an exponential, also counted apart": (lambda: torch.exp(X), (0, 60, 60)),
    "a sum over rows": (lambda: X.sum(1), (0, 60, 0)),
    "a softmax": (lambda: torch.softmax(X, 1), (0, 300, 60)),
    "a matrix times a vector": (lambda: X @ Y[:, 0], (0, 120, 0)),
    "a view": (lambda: X.T.reshape(5, 12), (0, 0, 0)),
    "whole numbers": (lambda: torch.arange(9) + 1, (0, 0, 0)),
    "a convolution": (
        lambda: torch.nn.functional.conv2d(IMAGE, torch.ones(5, 3, 3, 3)),
        (2 * 2 * 5 * 6 * 6 * 3 * 3 * 3, 0, 0),
    ),
}


@pytest.mark.parametrize(("call", "expected"), COUNTS.values(), ids=COUNTS)
def test_operations_are_counted(call, expected):
    with torch.no_grad():
        assert counted(call) == expected


def test_attention_is_counted_as_its_two_matrix_products():
    query = torch.randn(1, 2, 16, 8)
    with torch.no_grad():
        matrix, _, _ = counted(lambda: torch.nn.functional.scaled_dot_product_attention(query, query, query))
    assert matrix == 2 * (2 * 2 * 16 * 16 * 8)
