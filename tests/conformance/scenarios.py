"""Every scenario that is run, by revision. A test holds these tables against the suite's own list."""

SPRING, SUMMER, AUTUMN, STATELESS = "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"
REVISIONS = (SPRING, SUMMER, AUTUMN, STATELESS)
UNTRIED = "auth/"
"""Scenarios of clients that get a token by themselves, which ours leaves to whoever uses it."""


def _by_revision(groups: dict[tuple[str, ...], str]) -> dict[str, list[str]]:
    return {
        revision: [name for known, names in groups.items() if revision in known for name in names.split()]
        for revision in REVISIONS
    }


SERVER = _by_revision(
    {
        (SPRING, SUMMER, AUTUMN): "server-session-lifecycle",
        (SUMMER, AUTUMN): """
            server-initialize ping logging-set-level tools-call-with-logging tools-call-sampling
            tools-call-elicitation resources-subscribe resources-unsubscribe
        """,
        (SUMMER, AUTUMN, STATELESS): """
            completion-complete tools-list tools-call-simple-text tools-call-image tools-call-audio
            tools-call-embedded-resource tools-call-mixed-content tools-call-error tools-call-with-progress
            resources-list resources-read-text resources-read-binary resources-templates-read
            prompts-list prompts-get-simple prompts-get-with-args prompts-get-embedded-resource
            prompts-get-with-image
        """,
        (AUTUMN,): "elicitation-sep1034-defaults elicitation-sep1330-enums server-sse-polling",
        (AUTUMN, STATELESS): "json-schema-2020-12 server-sse-multiple-streams dns-rebinding-protection",
        (STATELESS,): """
            server-stateless sep-2164-resource-not-found caching http-header-validation
            http-custom-header-server-validation
            input-required-result-basic-elicitation input-required-result-basic-sampling
            input-required-result-basic-list-roots input-required-result-request-state
            input-required-result-multiple-input-requests input-required-result-multi-round
            input-required-result-missing-input-response input-required-result-non-tool-request
            input-required-result-result-type input-required-result-unsupported-methods
            input-required-result-tampered-state input-required-result-capability-check
            input-required-result-ignore-extra-params input-required-result-validate-input
        """,
    }
)

CLIENT = _by_revision(
    {
        (SUMMER, AUTUMN): "initialize",
        (SUMMER, AUTUMN, STATELESS): "tools_call",
        (AUTUMN,): "elicitation-sep1034-client-defaults sse-retry",
        (AUTUMN, STATELESS): "json-schema-2020-12-preservation",
        (STATELESS,): """
            request-metadata sep-2322-client-request-state http-standard-headers http-custom-headers
            http-invalid-tool-headers json-schema-ref-no-deref
        """,
    }
)


def pairs(table: dict[str, list[str]]) -> list[tuple[str, str]]:
    """Each revision with each of its scenarios."""
    return [(revision, name) for revision, names in table.items() for name in names]
