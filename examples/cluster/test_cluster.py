"""Both recipes on a small folder, against `threadspec check` on the whole: the findings are the same. And what they do with a conversation,
in this process, on the small inputs of `check`.

    pip install pytest pyarrow pyspark 'ray[data]' pandas threadspec
    THREADSPEC=threadspec pytest examples/cluster
"""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pandas
import pytest
from make_requests import write


@pytest.fixture(scope="module", params=["jsonl", "parquet"])
def folder(request, tmp_path_factory):
    """A folder of requests, in both forms; conversations are spread over files and frames."""
    folder = tmp_path_factory.mktemp("requests") / "requests"
    write(folder, 60, 4)
    with (folder / "part-0.jsonl").open("a") as file:
        file.write(json.dumps({"conversation": "odd", "time": "", "request": {"no": "request"}}) + "\n")
    if request.param == "parquet":
        for path in folder.iterdir():
            rows = [json.loads(line) for line in path.read_text().splitlines()]
            frame = pandas.DataFrame({**row, "request": json.dumps(row["request"])} for row in rows)
            frame.to_parquet(path.with_suffix(".parquet"))
            path.unlink()
    return folder


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """What `threadspec check` finds in all requests in one file."""
    folder = tmp_path_factory.mktemp("whole") / "requests"
    write(folder, 60, 4)
    records = [json.loads(line) for path in sorted(folder.iterdir()) for line in path.read_text().splitlines()]
    records.sort(key=lambda record: record["time"])
    log = folder / "whole.jsonl"
    log.write_text("".join(json.dumps(record["request"]) + "\n" for record in records))
    command = [os.environ.get("THREADSPEC", "threadspec"), "check", "--format", "json", str(log)]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    assert len(found["findings"]) >= 6
    return Counter((f["rule"], f["level"], f["text"], f["advice"]) for f in found["findings"])


# Workers are of the Python of the test, and find the recipes where it does.
os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(Path(__file__).parent), os.environ.get("PYTHONPATH")]))
INPUTS = sorted((Path(__file__).resolve().parents[2] / "conformance/logs/tests/inputs").glob("*.json*"))


@pytest.fixture(scope="module")
def checked():
    """What `threadspec check` finds in each of the small inputs, or that there is nothing to judge."""
    command = [os.environ.get("THREADSPEC", "threadspec"), "check", "--format", "json", *map(str, INPUTS)]
    report = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    found = Counter((f["file"], f["rule"], f["level"], f["text"], f["advice"]) for f in report["findings"])
    at_fault = {f["file"] for f in report["findings"]}
    found.update((file["file"], "skipped") for file in report["files"] if not sum(file["judged"].values()) and file["file"] not in at_fault)
    assert len(found) > 50
    return found


def by_spark(rows):
    from spark_findings import judge

    # Small frames, so that conversations cross their borders.
    return pandas.concat(judge(pandas.DataFrame(rows[start : start + 3]) for start in range(0, len(rows), 3)))


def by_ray(rows):
    import pyarrow
    from ray_findings import judge

    return pandas.concat(judge(pyarrow.Table.from_pylist([row])).to_pandas() for row in rows)


@pytest.mark.parametrize("recipe", [by_spark, by_ray])
def test_conversations_are_judged_as_files(recipe, checked):
    found = recipe([{"conversation": str(path), "time": "", "request": path.read_text()} for path in INPUTS])
    skipped = found["level"] == "skipped"
    counted = Counter(zip(*(found[~skipped][name] for name in ("conversation", "rule", "level", "text", "advice"))))
    counted.update((name, "skipped") for name in found[skipped]["conversation"])
    assert counted == checked


def told(table):
    """The findings; what could not be judged is told beside them."""
    skipped = table["level"] == "skipped"
    assert list(table["conversation"][skipped]) == ["odd"]
    found = table[~skipped]
    return Counter(zip(found["rule"], found["level"], found["text"], found["advice"]))


def test_spark(folder, whole):
    from pyspark.sql import SparkSession
    from spark_findings import findings, read

    spark = SparkSession.builder.master("local[2]").config("spark.sql.shuffle.partitions", 3)
    # Small frames, so that conversations cross their borders.
    spark = spark.config("spark.sql.execution.arrow.maxRecordsPerBatch", 3).getOrCreate()
    assert told(findings(read(spark, str(folder))).toPandas()) == whole


def test_ray(folder, whole):
    import ray
    from ray_findings import findings, read

    ray.init(num_cpus=2, include_dashboard=False, ignore_reinit_error=True)
    # The 200 partitions of the default leave no processor of two to read the files.
    ray.data.DataContext.get_current().default_hash_shuffle_parallelism = 2
    assert told(findings(read(str(folder))).to_pandas()) == whole
