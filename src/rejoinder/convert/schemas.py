"""JSON schemas (draft 2020-12) that users give for tools, data parts and metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rejoinder.errors import RejoinderError
from rejoinder.messages import Json, is_absent
from rejoinder.wire.json import JsonArray, is_array, is_object, without_halves

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

_DEPTH_MAX: Final = 2_000
"""Values nested deeper fit no schema: the validator recurses on the machine's stack and would end the process at some
twenty thousand. Our reader of JSON gives up before this."""

_OF_NO_TYPE: Final = (None, False, True)
"""No keyword is about null or booleans alone: a schema that takes these three does not ask for a type."""


class InvalidSchema(RejoinderError):
    """A JSON schema that was given is none, or refers to another document. Mend the schema."""

    code = "invalid-schema"


class JsonSchema:
    """One schema, compiled when it is first needed."""

    def __init__(self, schema: Json, name: str) -> None:
        self._schema = schema
        self._name = name
        self._validator: Draft202012Validator | None = None

    def complaint(self, value: Json) -> str | None:
        """What is wrong with a value, without repeating the value; None if nothing is.

        A value that is missing altogether fits whatever does not ask for a type.
        """
        validator = self._compiled()
        if is_absent(value):
            fits = all(validator.is_valid(item) for item in _OF_NO_TYPE)
            return None if fits else "is required and missing"
        if _is_too_deep(value):
            return "nested too deep to hold against its JSON schema"
        try:
            return _complaint(validator, value)
        except UnicodeEncodeError:
            # Half a character cannot be handed to the validator.
            return _complaint(validator, without_halves(value))

    def _compiled(self) -> Draft202012Validator:
        if self._validator is None:
            import jsonschema_rs

            try:
                # Offline: a schema may not make this process fetch anything.
                self._validator = jsonschema_rs.Draft202012Validator(
                    self._schema, mask="the value", offline=True
                )
            except (ValueError, TypeError) as error:
                raise InvalidSchema(
                    f"The JSON schema for {self._name} cannot be used: {str(error).splitlines()[0]}. "
                    "Send one document of draft 2020-12."
                ) from error
        return self._validator


def _complaint(validator: Draft202012Validator, value: Json) -> str | None:
    if validator.is_valid(value):
        return None
    try:
        error = next(validator.iter_errors(value))
    except UnicodeEncodeError:
        raise
    except ValueError:
        # It carries the value along, and does not copy what is nested deeper than 255.
        return "the value does not match its JSON schema"
    where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.instance_path)
    return f"{error.message} (at {where.removeprefix('.')})" if where else error.message


def _is_too_deep(value: Json) -> bool:
    level: JsonArray = [value]
    for _ in range(_DEPTH_MAX):
        inner: JsonArray = []
        for item in level:
            if is_object(item):
                inner += item.values()
            elif is_array(item):
                inner += item
        if not inner:
            return False
        level = inner
    return True
