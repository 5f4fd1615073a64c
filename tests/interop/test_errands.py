"""The errand itself: what each client brings back from the fixture server."""

from pathlib import Path

from .errand import Answers, call, complete, every_errand_client, list_all, prompt, read, run_errand, watch
from .foreign import SERVER, Foreign


@every_errand_client
def test_every_kind_of_step_is_taken(foreign: Foreign, tmp_path: Path) -> None:
    steps = [
        list_all("tools"),
        call("echo", text="hello"),
        read("note:///groceries"),
        prompt("review_note", title="groceries"),
        complete("note:///{title}", "title", "gro"),
        call("delete_note", title="ideas"),
        call("show_roots"),
        watch("note:///groceries", call("write_note", title="groceries", text="bread")),
        call("no_such_tool"),
    ]
    accept = {"action": "accept", "content": {"delete": True}}
    seen = run_errand(foreign, SERVER, steps, tmp_path, Answers(elicit=[accept], roots=["file:///here"]))
    assert seen.revision == foreign.revision
    assert seen.results[0]["tools"][0]["name"] == "echo"
    assert seen.text(1) == "hello"
    assert seen.results[2]["contents"][0]["text"] == "milk"
    assert "note:///groceries" in seen.results[3]["messages"][0]["content"]["text"]
    assert seen.results[4]["completion"]["values"] == ["groceries"]
    assert seen.text(5) == "Deleted 'ideas'."
    assert [method for method, _ in seen.questions] == ["elicitation/create"]
    assert seen.text(6) == '["file:///here"]'
    assert seen.results[7] == ["note:///groceries"]
    assert seen.results[8] == {"refused": -32602}
