"""Validation of blocks, as far as this project uses them, with Slack's errors."""

from collections.abc import Sequence

from pydantic import JsonValue

from parley.testing.emulators.slack_wire import Json, SlackError

MOST_BLOCKS = 50
MOST_MARKDOWN = 12_000
"""Characters of all Markdown blocks of a message together."""
MOST_ELEMENTS = 25
MOST_CONTEXT_ACTIONS = 5
MOST_TASKS = 50
MOST_ROWS = 100
MOST_COLUMNS = 20
STATUSES = ("pending", "in_progress", "complete", "error")
LENGTHS = {"action_id": 255, "block_id": 255, "value": 2000, "url": 3000}
LEVELS = (None, "default", "info", "warning", "error", "success")
TEXT_LENGTHS = {"section": 3000, "header": 150, "alert": 3000}
MOST_LABEL = 75
KNOWN = {
    "markdown", "section", "actions", "divider", "context", "header", "image", "rich_text", "input", "table",
    "context_actions", "task_card", "plan", "file", "video", "alert",
}  # fmt: skip


def check_blocks(blocks: Sequence[Json]) -> None:
    """Check blocks. Raises SlackError."""
    if len(blocks) > MOST_BLOCKS:
        raise _invalid(f"no more than {MOST_BLOCKS} items allowed [json-pointer:/blocks]")
    if sum(len(str(each.get("text", ""))) for each in blocks if each.get("type") == "markdown") > MOST_MARKDOWN:
        raise SlackError("msg_blocks_too_long")
    kinds = [each.get("type") for each in blocks]
    if kinds.count("table") > 1:
        raise SlackError("invalid_attachments", {"response_metadata": {"messages": ["only_one_table_allowed"]}})
    if kinds.count("plan") > 1 or ("plan" in kinds and "task_card" in kinds):
        raise _invalid("a plan excludes other plans and task cards [json-pointer:/blocks]")
    seen: set[str] = set()
    for index, block in enumerate(blocks):
        _check_block(block, f"/blocks/{index}")
        block_id = block.get("block_id")
        if isinstance(block_id, str):
            if block_id in seen:
                raise _invalid(f"block_id {block_id} is not unique [json-pointer:/blocks/{index}/block_id]")
            seen.add(block_id)


def _check_block(block: Json, where: str) -> None:
    kind = block.get("type")
    if kind not in KNOWN:
        raise _invalid(f"unsupported type: {kind} [json-pointer:{where}/type]")
    _check_lengths(block, where)
    if kind == "markdown" and not block.get("text"):
        raise _invalid(f"must be more than 0 characters [json-pointer:{where}/text]")
    if kind in TEXT_LENGTHS:
        _check_text(block.get("text"), TEXT_LENGTHS[str(kind)], f"{where}/text", needed="fields" not in block)
    if kind == "alert" and block.get("level") not in LEVELS:
        raise _invalid(f"unsupported level [json-pointer:{where}/level]")
    if kind == "context_actions":
        _check_context_actions(block.get("elements"), where)
    if kind == "actions":
        _check_actions(block.get("elements"), where)
    if kind == "plan":
        _check_plan(block, where)
    if kind == "task_card":
        _check_task(block, where)
    if kind == "table":
        _check_table(block.get("rows"), where)


def _check_plan(block: Json, where: str) -> None:
    tasks = block.get("tasks", [])
    if not isinstance(block.get("title"), str) or not isinstance(tasks, list) or len(tasks) > MOST_TASKS:
        raise _invalid(f"must have a title and no more than {MOST_TASKS} tasks [json-pointer:{where}]")
    seen: set[JsonValue] = set()
    for index, task in enumerate(tasks):
        inside = f"{where}/tasks/{index}"
        if not isinstance(task, dict) or task.get("task_id") in seen:
            raise _invalid(f"must be a task with an id of its own [json-pointer:{inside}]")
        _check_task(task, inside)
        seen.add(task["task_id"])


def _check_task(task: Json, where: str) -> None:
    if not task.get("task_id") or not isinstance(task.get("title"), str) or not task["title"]:
        raise _invalid(f"must have a task_id and a title [json-pointer:{where}]")
    if task.get("status") not in STATUSES:
        raise _invalid(f"unsupported status: {task.get('status')} [json-pointer:{where}/status]")
    for name in ("details", "output"):
        said = task.get(name)
        if said is not None and not (isinstance(said, dict) and said.get("type") == "rich_text"):
            raise _invalid(f"must be rich_text [json-pointer:{where}/{name}]")


def _check_table(rows: JsonValue, where: str) -> None:
    if not isinstance(rows, list) or not 1 <= len(rows) <= MOST_ROWS:
        raise _invalid(f"must have 1 to {MOST_ROWS} rows [json-pointer:{where}/rows]")
    for index, row in enumerate(rows):
        inside = f"{where}/rows/{index}"
        if not isinstance(row, list) or not 1 <= len(row) <= MOST_COLUMNS:
            raise _invalid(f"must have 1 to {MOST_COLUMNS} cells [json-pointer:{inside}]")
        for cell in row:
            kind = cell.get("type") if isinstance(cell, dict) else None
            if kind not in ("raw_text", "rich_text") or (kind == "raw_text" and not cell.get("text")):  # type: ignore[union-attr]
                raise _invalid(f"must be a cell with a text [json-pointer:{inside}]")


def _check_context_actions(elements: JsonValue, where: str) -> None:
    if not isinstance(elements, list) or not 1 <= len(elements) <= MOST_CONTEXT_ACTIONS:
        raise _invalid(f"must have 1 to {MOST_CONTEXT_ACTIONS} items [json-pointer:{where}/elements]")
    for index, element in enumerate(elements):
        inside = f"{where}/elements/{index}"
        if not isinstance(element, dict) or element.get("type") not in ("feedback_buttons", "icon_button"):
            raise _invalid(f"unsupported type [json-pointer:{inside}/type]")
        _check_lengths(element, inside)
        for name in ("positive_button", "negative_button") if element["type"] == "feedback_buttons" else ():
            button = element.get(name)
            if not isinstance(button, dict) or not isinstance(button.get("value"), str):
                raise _invalid(f"must have a text and a value [json-pointer:{inside}/{name}]")
            _check_text(button.get("text"), MOST_LABEL, f"{inside}/{name}/text", needed=True, plain=True)
            _check_lengths(button, f"{inside}/{name}")


def _check_actions(elements: JsonValue, where: str) -> None:
    if not isinstance(elements, list) or not 1 <= len(elements) <= MOST_ELEMENTS:
        raise _invalid(f"must have 1 to {MOST_ELEMENTS} items [json-pointer:{where}/elements]")
    seen: set[JsonValue] = set()
    for index, element in enumerate(elements):
        inside = f"{where}/elements/{index}"
        if not isinstance(element, dict):
            raise _invalid(f"must be an object [json-pointer:{inside}]")
        _check_lengths(element, inside)
        if element.get("type") == "button":
            _check_text(element.get("text"), MOST_LABEL, f"{inside}/text", needed=True, plain=True)
            if element.get("style") not in (None, "primary", "danger"):
                raise _invalid(f"unsupported style [json-pointer:{inside}/style]")
        action_id = element.get("action_id")
        if isinstance(action_id, str) and action_id in seen:
            raise _invalid(f"action_id {action_id} is not unique [json-pointer:{inside}/action_id]")
        seen.add(action_id if isinstance(action_id, str) else index)


def _check_text(value: JsonValue, most: int, where: str, *, needed: bool, plain: bool = False) -> None:
    if value is None and not needed:
        return
    if not isinstance(value, dict) or value.get("type") not in (("plain_text",) if plain else ("plain_text", "mrkdwn")):
        raise _invalid(f"must be a text object [json-pointer:{where}]")
    text = value.get("text")
    if not isinstance(text, str) or not text:
        raise _invalid(f"must be more than 0 characters [json-pointer:{where}/text]")
    if len(text) > most:
        raise _invalid(f"must be less than {most + 1} characters [json-pointer:{where}/text]")


def _check_lengths(part: Json, where: str) -> None:
    for name, most in LENGTHS.items():
        value = part.get(name)
        if value is not None and (not isinstance(value, str) or len(value) > most):
            raise _invalid(f"must be less than {most + 1} characters [json-pointer:{where}/{name}]")


def _invalid(message: str) -> SlackError:
    messages: list[JsonValue] = [f"[ERROR] {message}"]
    return SlackError("invalid_blocks", {"response_metadata": {"messages": messages}})
