"""How to think with this server: said when a user asks for it, so that the tool's description can stay short."""

from typing import Annotated

from mcp_server_core import Arg, Registry

prompts = Registry()


@prompts.prompt("Think it through")
def think_it_through(
    problem: Annotated[str, Arg("What to think about", min_length=1)],
    thoughts: Annotated[int, Arg("How many thoughts to plan for", ge=1, le=100)] = 5,
) -> str:
    """Work on a problem in numbered thoughts that can be revised and branched."""
    return f"""Work on this problem with the tool sequentialthinking:

{problem}

Plan for about {thoughts} thoughts, and change totalThoughts whenever you learn that it takes more or fewer.

1. Begin with what is asked, what is known, and what a good answer must satisfy. Leave out what does not matter.
2. Put one step into each thought: an observation, a decision with its reason, a hypothesis, or a test of one. Say how \
sure you are, and end a thought with a question if one is open.
3. When a thought turns out wrong, do not talk over it: revise it (isRevision, revisesThought).
4. Where two ways look good, try both: start a branch (branchFromThought, branchId) and compare them with \
review_thinking, view "branches".
5. Before you conclude, test the answer against step 1, and look at review_thinking, view "open".
6. Set nextThoughtNeeded to false as soon as you have an answer you would defend, and give it to the user: the answer \
first, then the reasons that carried it, then what remains unsure."""
