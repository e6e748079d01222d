"""Run in Airflow's own environment: `run_dag.py DAG CONF` tests a DAG to its end, prints what came.

`run_dag.py` alone prints the DAGs that were parsed, each serialised and back. UFO_AIRFLOW_PATH is a
folder with more packages; in PYTHONPATH the commands of the tasks would find them, too.
"""

import json
import os
import sys
from collections import Counter

sys.path.insert(1, os.environ.get("UFO_AIRFLOW_PATH", sys.path[0]))

from airflow import settings
from airflow.dag_processing.dagbag import DagBag
from airflow.models.asset import AssetEvent
from airflow.models.dagrun import DagRun
from airflow.models.taskreschedule import TaskReschedule
from airflow.serialization.serialized_objects import DagSerialization
from airflow.utils.session import create_session
from sqlalchemy import select

bag = DagBag(settings.DAGS_FOLDER)
if len(sys.argv) == 1:
    dags = {}
    for name, dag in bag.dags.items():
        kept = json.loads(json.dumps(DagSerialization.serialize_dag(dag)))
        tasks = list(DagSerialization.deserialize_dag(kept).task_dict)
        dags[name] = {"schedule": dag.schedule, "tasks": tasks}
    print(json.dumps({"errors": bag.import_errors, "dags": dags}, default=str))
    sys.exit()
run: DagRun = bag.dags[sys.argv[1]].test(run_conf=json.loads(sys.argv[2]))
with create_session() as session:
    of_run = select(AssetEvent).where(AssetEvent.source_run_id == run.run_id)
    events = [{"asset": event.name, **event.extra} for event in session.scalars(of_run)]
    tasks = run.get_task_instances()
    rescheduled = Counter(session.scalars(select(TaskReschedule.ti_id)))
came = {
    "state": run.state,
    "tasks": {task.task_id: task.state for task in tasks},
    "tries": {task.task_id: task.try_number for task in tasks},
    "rescheduled": {task.task_id: rescheduled[task.id] for task in tasks},
    "events": events,
}
print(json.dumps(came))
