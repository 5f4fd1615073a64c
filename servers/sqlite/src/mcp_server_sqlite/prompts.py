"""A guided tour for people who have just installed the server."""

from typing import Annotated

from mcp_server_core import Arg, Registry

prompts = Registry()


@prompts.prompt("Demo: from a topic to a small analysis", name="mcp-demo")
def demo(topic: Annotated[str, Arg("What the sample data should be about", example="a bakery")]) -> str:
    """Build a small database about a topic and find something out with it, step by step."""
    return f"""Give the user a short guided tour of this SQLite server. The topic they chose is: {topic}

Work through these steps one at a time. After each one say in a sentence or two what you did and which tool you
used, and wait for the user before you go on.

1. Set the scene: one short paragraph about somebody who works with {topic}, has a question that data can answer,
   and needs the answer soon.
2. Look first: call schema_overview. If there are tables already, ask whether to use them or to add new ones, and
   never change what is there without being asked to.
3. Create two or three related tables with create_table, with primary keys and foreign keys, one statement a call.
4. Fill them with write_query: ten to twenty plausible rows each, several rows in one INSERT, values bound by
   `params` where they hold quotes. Read list_tables and describe_table to check.
5. Suggest three questions about the data and let the user pick. Answer with read_query; use explain_query if a
   query looks slow.
6. Whenever an answer is worth keeping, note it with append_insight. The notes make up the resource memo://insights,
   which the user can open at any time.
7. Show what a change would do before it is made: call preview_write with an UPDATE or a DELETE, explain the
   numbers it reports, and ask whether write_query should run it.
8. End with a short summary: the question, the answer, the insights, and which tools led there.
"""
