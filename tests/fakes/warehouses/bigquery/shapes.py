"""What calls of BigQuery's REST API (v2) may hold, as far as it is used; a field that is not here is refused."""

from typing import Any, Literal

import msgspec


class Strict(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """A part of a call."""


class Reference(Strict):
    """Names a table."""

    project_id: str
    dataset_id: str
    table_id: str


class Field(Strict):
    """A column."""

    name: str
    type: Literal["STRING", "INT64", "INTEGER", "FLOAT64", "FLOAT", "BOOL", "BOOLEAN", "TIMESTAMP", "JSON", "NUMERIC"]
    mode: Literal["NULLABLE", "REQUIRED", "REPEATED"] = "NULLABLE"
    max_length: str = ""


class Schema(Strict):
    """Columns in their order."""

    fields: list[Field]


class Clustering(Strict):
    """What a table is sorted by."""

    fields: list[str]


class Table(Strict):
    """tables.insert."""

    table_reference: Reference
    schema: Schema
    clustering: Clustering | None = None
    expiration_time: str = ""


class TablePatch(Strict):
    """tables.patch."""

    schema: Schema


class JobReference(Strict):
    """Names a job."""

    project_id: str
    job_id: str
    location: str = ""


class Load(Strict):
    """The configuration of a load job."""

    destination_table: Reference
    schema: Schema
    source_format: Literal["NEWLINE_DELIMITED_JSON"]
    create_disposition: Literal["CREATE_NEVER"]
    write_disposition: Literal["WRITE_TRUNCATE"]
    max_bad_records: int = 0


class ParameterType(Strict):
    """The type of a parameter."""

    type: Literal["STRING", "ARRAY"]
    array_type: "ParameterType | None" = None


class ParameterValue(Strict):
    """The value of a parameter."""

    value: str | None = None
    array_values: "list[ParameterValue] | None" = None


class Parameter(Strict):
    """A parameter of a query by its name."""

    name: str
    parameter_type: ParameterType
    parameter_value: ParameterValue

    @property
    def held(self) -> Any:
        """The value in Python."""
        if self.parameter_type.type == "ARRAY":
            return [each.value for each in self.parameter_value.array_values or []]
        return self.parameter_value.value


class Query(Strict):
    """The configuration of a query job."""

    query: str
    use_legacy_sql: Literal[False]
    parameter_mode: Literal["NAMED"]
    query_parameters: list[Parameter]


class Configuration(Strict):
    """What a job does: exactly one of these."""

    load: Load | None = None
    query: Query | None = None


class Job(Strict):
    """jobs.insert."""

    job_reference: JobReference
    configuration: Configuration
