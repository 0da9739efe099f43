"""Jobs in pieces: the ones that are refused are found, whatever they stand beside, and none is written twice."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.writers.warehouses.piecewise import DataFault, json_arrays, write_halving
from services.writers.warehouses.warehouse import JobKey, JobRows


@given(st.lists(st.booleans(), max_size=40))
async def test_only_jobs_whose_data_is_refused_are_refused(good: list[bool]) -> None:
    """The others are written once each."""
    jobs = [JobRows(JobKey("o", f"{number:03}"), 1, [[each]]) for number, each in enumerate(good)]
    written: list[JobKey] = []

    async def write(some: Sequence[JobRows]) -> None:
        if not all(row[0] for job in some for row in job.rows):
            raise DataFault("no")
        written.extend(job.key for job in some)

    refused = await write_halving(jobs, write)
    assert refused == {job.key: "no" for job, each in zip(jobs, good, strict=True) if not each}
    assert written == [job.key for job, each in zip(jobs, good, strict=True) if each]


@given(st.lists(st.lists(st.text(max_size=20), min_size=1, max_size=3), max_size=30), st.integers(150, 400))
def test_rows_come_out_in_order_in_arrays_that_are_small_enough(rows: list[list[str]], most: int) -> None:
    """As many in each as there is room for."""
    encodable = [[value.encode("utf-8", "replace").decode() for value in row] for row in rows]
    sizes = [len(json.dumps(row, ensure_ascii=False).encode()) for row in encodable]
    if any(size + 2 > most for size in sizes):
        return
    arrays = list(json_arrays(encodable, most))
    assert [row for array in arrays for row in json.loads(array)] == encodable
    assert all(len(array.encode()) <= most for array in arrays)


def test_a_row_that_fits_in_no_array_is_a_fault_of_its_data() -> None:
    """Its job is refused then, and no other."""
    with pytest.raises(DataFault, match="row 1 is 34 bytes, larger than the 20 bytes"):
        list(json_arrays([["x"], ["x" * 30]], 20))


def test_a_row_that_is_larger_than_an_array_is_meant_to_be_goes_alone() -> None:
    assert list(json_arrays([["a"], ["x" * 30], ["b"]], 20, 40)) == ['[["a"]]', f'[["{"x" * 30}"]]', '[["b"]]']
    with pytest.raises(DataFault, match="larger than the 40 bytes"):
        list(json_arrays([["x" * 50]], 20, 40))
