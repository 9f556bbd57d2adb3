"""What is wrong with the requests in a folder, as a table of findings: with Ray Data.

    python ray_findings.py REQUESTS FINDINGS

REQUESTS is a folder of Parquet with the columns `conversation`, `time` and `request` (JSON text), or of JSON Lines of objects with these
members. FINDINGS is written as Parquet. The requests of a conversation are judged together, by the module `threadspec`, in the process
that has them; a finding is the same wherever the rest of the log is. A conversation that cannot be judged has a row of level `skipped`.
"""

import json
import sys
from pathlib import Path

import pandas
import ray
import threadspec

COLUMNS = ["conversation", "rule", "level", "place", "text", "advice"]


def read(folder: str) -> ray.data.Dataset:
    """The rows of a folder: conversation, time, request."""
    columns = ["conversation", "time", "request"]
    if any(Path(folder).rglob("*.parquet")):
        return ray.data.read_parquet(folder, columns=columns)

    def row(line):
        record = json.loads(line["text"])
        # A request that is no text becomes one, with its members in their order.
        request = record["request"] if isinstance(record["request"], str) else json.dumps(record["request"])
        return {"conversation": record["conversation"], "time": record["time"], "request": request}

    return ray.data.read_text(folder).map(row)


def findings_of(conversation, requests):
    """The rows for one conversation; what cannot be judged is told, and stops nothing."""
    try:
        return [(conversation, f.rule, f.level, str(f.place), f.text, f.advice) for f in threadspec.check("\n".join(requests))]
    except ValueError as error:
        return [(conversation, "", "skipped", "", str(error), "")]


def judge(conversation: pandas.DataFrame) -> pandas.DataFrame:
    """The rows of a conversation to its findings."""
    requests = conversation.sort_values("time", kind="stable")["request"]
    rows = findings_of(conversation["conversation"].iloc[0], requests)
    return pandas.DataFrame(rows, columns=COLUMNS, dtype="string")


def findings(requests: ray.data.Dataset) -> ray.data.Dataset:
    """The findings of all conversations."""
    return requests.groupby("conversation").map_groups(judge, batch_format="pandas")


if __name__ == "__main__":
    findings(read(sys.argv[1])).write_parquet(sys.argv[2])
