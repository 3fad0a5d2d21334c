"""Provider errors and the failure kinds they map to (behaviour rows C-25, U-09, U-10)."""

import json

import pytest

from agent_core.models.failures import MESSAGE_CHARS, classify, http_failure, message_in, redact, retry_after_s
from agent_core.models.llm import FailureCause, FailureKind

OVERFLOW, TRANSIENT, QUOTA = FailureKind.OVERFLOW, FailureKind.TRANSIENT, FailureKind.QUOTA
AUTH, INVALID = FailureKind.AUTH, FailureKind.INVALID
NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    "words",
    [
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
        '{"error": {"code": "context_length_exceeded"}}',
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        "Input tokens exceed the configured limit of 272000 tokens.",
        "prompt is too long: 213462 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000",
        "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        "Please reduce the length of the messages or completion.",
        "This endpoint's maximum context length is 128000 tokens.",
        "Input is too long for requested model.",
        "the request exceeds the available context size, try increasing it",
        "Prompt contains 159735 tokens and 0 draft tokens, too large for model with 131072 maximum context length",
        "The input (516 tokens) is longer than the model's context length (512 tokens).",
        "tokens to keep from the initial prompt is greater than the context length",
        "invalid params, context window exceeds limit",
        "Your request exceeded model token limit: 262144 (requested: 300000)",
        "prompt token count of 70000 exceeds the limit of 64000",
        "prompt too long; exceeded max context length by 4 tokens",
        "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 98304]",
        "too many tokens: total number of tokens in the prompt cannot exceed 4081",
        "the model is loaded with context length of only 2048 tokens, which is not enough",
        "You passed 40000 input tokens. However, the model's context length is only 32768 tokens.",
        "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
        "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 20 `max_new_tokens`",
        "`inputs` must have less than 1024 tokens. Given: 2000",
        "length of prompt_tokens (98000) must be less than max_seq_len (98304).",
        "Total tokens of image and text exceed max message tokens",
        "input is too large to process. increase the physical batch size",
        "Context size has been exceeded.",
        "messages: too many total text bytes: 10000000 > 9000000",
        "Request body too large for gpt-4o model. Max size: 8000 tokens.",
        '{"error": {"code": "tokens_limit_reached"}}',
        "Number of tokens in prompt 5000 exceeds 4096",
        "Please reduce your prompt; or completion length.",
        "Prompt exceeds max length",
        "Prompt 超长",
        "输入长度超过模型上下文限制",
    ],
)
@pytest.mark.parametrize("status", [400, 422, 500, None])
def test_a_request_larger_than_the_window_is_known_by_its_words(words: str, status: int | None) -> None:  # U-10
    assert classify(status, words) is OVERFLOW
    assert classify(429, words) is TRANSIENT


@pytest.mark.parametrize(
    ("status", "words", "kind"),
    [
        (429, "Rate limit reached for requests", TRANSIENT),
        (429, "Request too large on tokens per min (TPM): Limit 30000, Requested 40000", TRANSIENT),
        (429, "You exceeded your current quota, please check your plan and billing details.", QUOTA),
        (429, "You exceeded your current quota, please check your plan. Please retry in 24.5s.", TRANSIENT),
        (429, '{"error": {"code": "insufficient_quota"}}', QUOTA),
        (400, "Your credit balance is too low to access the API.", QUOTA),
        (402, "", QUOTA),
        (403, "insufficient balance", QUOTA),
        (403, "Key limit exceeded (total limit). Manage it using https://openrouter.ai/settings/keys", QUOTA),
        (403, "Sorry, your account balance is insufficient", QUOTA),
        (403, "The free tier of the model has been exhausted.", QUOTA),
        (400, "You have reached your specified API usage limits. You will regain access on 2026-12-01.", QUOTA),
        (400, "API key expired. Please renew the API key.", AUTH),
        (400, "Daily token limit exceeded", INVALID),
        (400, "Invalid 'tools[0].function.name': string too long. Expected a maximum length of 64", INVALID),
        (400, "Too many tokens, please wait before trying again.", INVALID),
        (503, "Too many tokens per minute", TRANSIENT),
        (401, "invalid x-api-key", AUTH),
        (403, "forbidden", AUTH),
        (403, '{"code": "unsupported_country_region_territory"}', INVALID),
        (403, "Country, region, or territory not supported", INVALID),
        (400, "User location is not supported for the API use.", INVALID),
        (400, "API key not valid. Please pass a valid API key.", AUTH),
        (None, "Incorrect API key provided", AUTH),
        (400, "max_tokens is too large: 5000. This model supports at most 4096 completion tokens", INVALID),
        (400, "max_tokens: 300000 > 64000, which is the maximum allowed number of output tokens", INVALID),
        (404, "The model `gpt-9` does not exist", INVALID),
        (422, "", INVALID),
        (301, "", INVALID),
        (413, "", OVERFLOW),
        (408, "", TRANSIENT),
        (409, "", TRANSIENT),
        (425, "", TRANSIENT),
        (500, "invalid api key", TRANSIENT),
        (502, "<html>Bad gateway</html>", TRANSIENT),
        (529, "Overloaded", TRANSIENT),
        (None, "Overloaded", TRANSIENT),
        (None, "", TRANSIENT),
    ],
)
def test_a_refusal_has_its_kind(status: int | None, words: str, kind: FailureKind) -> None:  # U-09
    assert classify(status, words) is kind


@pytest.mark.parametrize(
    ("headers", "words", "seconds"),
    [
        ({"retry-after": "7"}, "", 7.0),
        ({"retry-after": "0.25"}, "", 0.25),
        ({"retry-after-ms": "1500", "retry-after": "9"}, "", 1.5),
        ({"retry-after": "Fri, 15 Jan 2027 08:00:30 GMT"}, "", 30.0),
        ({"retry-after": "Fri, 15 Jan 2027 07:00:00 GMT"}, "", 0.0),
        ({"retry-after": "soon"}, "", None),
        ({"retry-after": "-1"}, "", None),
        ({"retry-after": "inf"}, "", None),
        ({"retry-after": "30s"}, "", 30.0),
        ({"retry-after": "1m30s"}, "", 90.0),
        ({"retry-after": "1800000060"}, "", 60.0),
        ({}, '{"error": {"message": "Slow down", "retry_after": 17}}', 17.0),
        ({}, '{"metadata": {"retry_after_seconds": 2.5}}', 2.5),
        ({}, '{"metadata": {"headers": {"X-RateLimit-Reset": "1800003600000"}}}', 3600.0),
        ({}, '{"metadata": {"headers": {"X-RateLimit-Reset": "1800003600"}}}', 3600.0),
        ({}, '{"metadata": {"headers": {"X-RateLimit-Reset": "1700000000000"}}}', 0.0),
        ({}, "Please try again in 7.66s.", 7.66),
        ({}, "Please try again in 1m12s.", 72.0),
        ({}, "Please try again in 350ms.", 0.35),
        ({}, '"retryDelay": "20s"', 20.0),
        ({}, "Overloaded", None),
    ],
)
def test_the_wait_that_the_server_asks_for(headers: dict[str, str], words: str, seconds: float | None) -> None:
    assert retry_after_s(headers, words, now=NOW) == seconds


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('{"error": {"message": "no", "type": "x"}}', "no"),
        ('{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}', "Overloaded"),
        ('[{"error": {"code": 400, "message": "no"}}]', "no"),
        ('{"error": "no"}', "no"),
        ('{"detail": "Not Found"}', "Not Found"),
        ('{"error": {"message": "Provider returned error", "metadata": {"raw": "{\\"error\\": \\"no\\"}"}}}', "no"),
        ('{"error": {"message": "Provider returned error", "metadata": {"raw": "no"}}}', "no"),
        ('{"error": {"message": "no", "metadata": {"raw": ""}}}', "no"),
        ('{"error": {"message": "no", "metadata": [7]}}', "no"),
        ('{"error": {"code": 7}}', '{"error": {"code": 7}}'),
        ("<html>Bad gateway</html>", "<html>Bad gateway</html>"),
        ("[" * 100_000, "[" * 100_000),
        ("", ""),
    ],
)
def test_the_sentence_is_found_in_the_body(body: str, words: str) -> None:
    assert message_in(body) == words


@pytest.mark.parametrize(
    "text",
    [
        "Incorrect API key provided: sk-proj-abcdef123456.",
        "Incorrect API key provided: sk-abc***********wxyz",
        "Authorization: Bearer abcdef123456",
        "GET /v1beta/models?key=abcdef123456 failed",
        "the key AIzaSyabcdef123456 is wrong",
        "my secret abcdef123456 is in here",
    ],
)
def test_a_secret_never_stands_in_a_message(text: str) -> None:
    shown = redact(text, ["abcdef123456"])
    assert "abc" not in shown
    assert "***" in shown


@pytest.mark.parametrize(
    ("status", "body", "cause"),
    [
        (403, '{"error": {"code": "unsupported_country_region_territory", "message": "no"}}', FailureCause.REGION),
        (400, '{"error": {"message": "User location is not supported for the API use."}}', FailureCause.REGION),
        (400, '{"error": {"message": "The parameter location is not supported."}}', FailureCause.PARAMETER),
        (403, '{"error": {"message": "forbidden"}}', None),
    ],
)
def test_a_place_that_a_provider_does_not_serve_is_known(status: int, body: str, cause: FailureCause | None) -> None:
    assert http_failure(status, {}, body, now=NOW).cause is cause


def test_words_whose_letters_are_escaped_are_understood() -> None:
    body = json.dumps({"error": {"message": "您的账户余额不足，请充值"}})

    assert http_failure(429, {}, body, now=NOW).kind is QUOTA


def test_words_without_secrets_stay_and_a_page_is_cut_to_a_line() -> None:
    assert redact("the task-list\n is  risk-free") == "the task-list is risk-free"
    assert len(redact("x " * 5000)) == MESSAGE_CHARS
    failure = http_failure(503, {}, "", now=NOW)
    assert (failure.kind, failure.message) == (TRANSIENT, "HTTP 503")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Please retry after 26 seconds.", 26),
        ("Please try again in 1 minute", 60),
        ("Please try again in 6m0s.", 360),
        ("Retry in 500 milliseconds", 0.5),
        ("try again in 20ms", 0.02),
        ("Please try again in 1h14m24.5s.", 4464.5),
        ("Please try again in 2h.", 7200),
        ("Please wait 63284 seconds before retrying.", 63284),
        ("Please wait 10 hours 58 minutes before trying again.", 39480),
        ("Wait for 2 minutes and 5 seconds.", 125),
        ("Retry after 1 day", 86400),
        ("Retry after some rest", None),
        ("Retry-After: 30", 30),
        ("Limit resets in 45 seconds", 45),
        ("请求过于频繁，请在 30 秒后重试", 30),
        ("请 2 分钟后再试", 120),
        ("We cannot wait 5 million years", None),
    ],
)
def test_the_wait_that_a_text_asks_for_is_read(text: str, seconds: float | None) -> None:
    assert retry_after_s({}, text, now=0.0) == seconds


def test_of_a_page_only_the_title_is_kept() -> None:
    page = "<html><head><title>429 Too Many Requests</title></head><body><center>nginx</center></body></html>"

    assert http_failure(429, {}, page, now=0.0).message == "HTTP 429: 429 Too Many Requests"
