"""What is wrong with the requests in a folder, as a table of findings: with Spark.

    spark-submit spark_findings.py REQUESTS FINDINGS

REQUESTS is a folder of Parquet with the columns `conversation`, `time` and `request` (JSON text), or of JSON Lines of objects with these
members. FINDINGS is written as Parquet. The requests of a conversation are judged together, by the module `threadspec`, in the process
that has them; a finding is the same wherever the rest of the log is. A conversation that cannot be judged has a row of level `skipped`.
"""

import sys
from itertools import groupby
from pathlib import Path

import pandas
import threadspec
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import get_json_object

COLUMNS = ["conversation", "rule", "level", "place", "text", "advice"]


def read(spark: SparkSession, folder: str) -> DataFrame:
    """The rows of a folder: conversation, time, request."""
    if any(Path(folder).rglob("*.parquet")):
        return spark.read.parquet(folder).select("conversation", "time", "request")
    # As text: the JSON of a request is judged as it stands, with the order of its members and every escape.
    line = spark.read.text(folder)
    return line.select(*(get_json_object("value", f"$.{name}").alias(name) for name in ("conversation", "time", "request")))


def findings_of(conversation, requests):
    """The rows for one conversation; what cannot be judged is told, and stops nothing."""
    try:
        return [(conversation, f.rule, f.level, str(f.place), f.text, f.advice) for f in threadspec.check("\n".join(requests))]
    except ValueError as error:
        return [(conversation, "", "skipped", "", str(error), "")]


def judge(frames):
    """Frames of rows, those of a conversation one behind the other, to frames of findings."""
    rows = (row for frame in frames for row in frame.itertuples(index=False))
    # A conversation may go on in the next frame, so that frames are no borders here.
    for conversation, requests in groupby(rows, key=lambda row: row.conversation):
        if found := findings_of(conversation, [row.request for row in requests]):
            yield pandas.DataFrame(found, columns=COLUMNS)


def findings(requests: DataFrame) -> DataFrame:
    """The findings of all conversations."""
    together = requests.repartition("conversation").sortWithinPartitions("conversation", "time")
    return together.mapInPandas(judge, ", ".join(f"{name} string" for name in COLUMNS))


if __name__ == "__main__":
    spark = SparkSession.builder.appName("threadspec").getOrCreate()
    findings(read(spark, sys.argv[1])).write.mode("overwrite").parquet(sys.argv[2])
