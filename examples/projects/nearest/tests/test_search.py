import numpy as np
import pytest
from nearest import nearest


@pytest.mark.parametrize(("points", "queries", "dims"), [(1, 1, 1), (7, 3, 2), (50, 40, 8), (3, 200, 5)])
def test_it_finds_what_a_plain_search_finds(points, queries, dims):
    rng = np.random.default_rng(points * 1000 + queries)
    cloud, asked = rng.normal(size=(points, dims)), rng.normal(size=(queries, dims))
    indices, distances = nearest(cloud, asked)
    for number, query in enumerate(asked):
        away = [float(np.linalg.norm(point - query)) for point in cloud]
        assert indices[number] == int(np.argmin(away))
        assert distances[number] == pytest.approx(min(away), rel=1e-6, abs=1e-6)


def test_a_query_that_is_a_point_is_at_no_distance():
    cloud = np.arange(12.0).reshape(4, 3)
    indices, distances = nearest(cloud, cloud)
    assert indices.tolist() == [0, 1, 2, 3]
    assert distances == pytest.approx(np.zeros(4), abs=1e-6)


def test_of_equals_the_first_counts():
    cloud = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    assert nearest(cloud, np.array([[1.0, 0.0], [0.5, 0.5]]))[0].tolist() == [0, 0]


def test_no_queries_are_no_answers_and_arguments_stay_as_they_are():
    cloud = np.random.default_rng(0).normal(size=(5, 3))
    before = cloud.copy()
    indices, distances = nearest(cloud, np.empty((0, 3)))
    assert (indices.shape, indices.dtype, distances.shape) == ((0,), np.dtype(np.int64), (0,))
    nearest(cloud, cloud[:2])
    assert (cloud == before).all()
