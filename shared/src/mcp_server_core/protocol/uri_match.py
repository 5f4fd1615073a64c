"""Reads the values of a template back out of a URI, without backtracking: hostile URIs cost linear time."""

from typing import NamedTuple

from .uri_syntax import Expression, Variable, unfold

Found = list[tuple[Variable, str | list[str]]]

# Matching: sets of positions as the bits of one integer
#
# Bit k is the position k characters before the end and, in a set of characters, the character left of it. A step
# to the left is a shift, and one addition runs a whole set through all runs of allowed characters at once (the
# carry does it; "MatchStar" in the Parabix papers). That is why the sets are built from right to left.


class Tape:
    """A folded URI, and the sets of positions in it."""

    __slots__ = ("_marks", "size", "text")

    END = 1

    def __init__(self, text: str) -> None:
        self.text = text
        self.size = len(text)
        self._marks: dict[str, int] = {}

    def mark(self, char: str) -> int:
        """The set of all characters equal to this one."""
        marks = self._marks.get(char)
        if marks is None:
            marks = 0
            if char in self.text:
                marks = int("1".join(["0" * len(piece) for piece in self.text.split(char)]), 2)
            self._marks[char] = marks
        return marks

    def free(self, stops: str) -> int:
        """The set of all characters but these."""
        rest = (1 << self.size) - 1
        for char in stops:
            rest ^= self.mark(char)
        return rest

    def before(self, ends: int, literal: str) -> int:
        """The positions from which the literal leads to one of the ends."""
        for char in reversed(literal):
            if not ends:
                break
            ends = (ends & self.mark(char)) << 1
        return ends

    def holds(self, positions: int, position: int) -> bool:
        return bool(positions >> (self.size - position) & 1)

    def find(self, stops: str, start: int) -> int:
        """Where the first of these characters stands, or the end."""
        return min((at for char in stops if (at := self.text.find(char, start)) >= 0), default=self.size)

    def last(self, wanted: list[int], low: int, high: int) -> int | None:
        """The last position from low to high in the first set that has one."""
        for positions in wanted:
            left = positions >> (self.size - high)
            position = high + 1 - (left & -left).bit_length()
            if left and position >= low:
                return position
        return None


class _Step(NamedTuple):
    """Where a variable may start with the first prefix or the one between, and may end; or a group of named ones."""

    first: int
    later: int
    ends: list[int]  # the most wanted first


def _union(sets: list[int]) -> int:
    union = 0
    for positions in sets:
        union |= positions
    return union


def _flood(ends: int, free: int, limit: int | None) -> int:
    """The positions from which free characters, `limit` of them at most, lead to an end."""
    if limit is None:
        return (((ends & free) + free) ^ free) | ends
    done = 0
    while done < limit:
        step = min(done + 1, limit - done)
        ends |= (ends & _runs(free, step)) << step
        done += step
    return ends


def _runs(free: int, length: int) -> int:
    """The characters that end a run of this length."""
    done = 1
    while done < length:
        step = min(done, length - done)
        free &= free >> step
        done += step
    return free


def read_values(tape: Tape, parts: list[str | Expression]) -> dict[str, str | list[str]] | None:
    # From right to left, everything at once: where can each part start so that the rest fits?
    wanted = [tape.END]
    plans: list[list[_Step]] = []
    for part in reversed(parts):
        if isinstance(part, str):
            plan, wanted = [], [tape.before(ends, part) for ends in wanted]
        else:
            make_plan = _plan_named if part.operator.named else _plan_values
            plan, wanted = make_plan(tape, part, wanted)
        plans.append(plan)
    if not tape.holds(_union(wanted), 0):
        return None
    # From left to right, one by one: each part takes the best end that leaves the rest possible.
    found: Found = []
    position = 0
    for part, plan in zip(parts, reversed(plans), strict=True):
        if isinstance(part, str):
            position += len(part)
        else:
            read = _take_named if part.operator.named else _take_values
            end = read(tape, part, plan, position, found)
            if end is None:
                return None
            position = end
    return _settle(found)


def _plan_values(tape: Tape, expression: Expression, after: list[int]) -> tuple[list[_Step], list[int]]:
    """One step for each variable, and where the whole expression may start."""
    operator = expression.operator
    plan: list[_Step] = []
    wanted = later = after
    for variable in reversed(expression.variables):
        free = tape.free(variable.stops)
        ends = later
        if operator.first:  # the prefix says that it is there, so it may be empty, or be missing
            values = [_flood(each, free, variable.limit) for each in (ends[0], _union(ends))]
            firsts = [tape.before(each, operator.first) for each in values]
            laters = [tape.before(each, operator.between) for each in values]
            wanted = firsts + wanted
            later = laters + later
        else:
            rests = [
                _flood(each, free, variable.limit and variable.limit - 1) for each in (*ends, _union(ends))
            ]
            firsts = [(each & free) << 1 for each in rests]
            laters = [tape.before(each, operator.between) for each in firsts]
            wanted, later = firsts[:-1], laters[:-1]
        plan.append(_Step(firsts[-1], laters[-1], ends))
    return plan[::-1], wanted


def _take_values(
    tape: Tape, expression: Expression, plan: list[_Step], start: int, found: Found
) -> int | None:
    """Add the values found from `start` on, and tell where they end."""
    operator = expression.operator
    begun = False
    for variable, step in zip(expression.variables, plan, strict=True):
        if not tape.holds(step.later if begun else step.first, start):
            continue
        start += len(operator.between if begun else operator.first)
        begun = True
        high = tape.find(variable.stops, start)
        if variable.limit is not None:
            high = min(high, start + variable.limit)
        end = tape.last(step.ends, start if operator.first else start + 1, high)
        if end is None:
            return None
        text = tape.text[start:end]
        if variable.explode:
            found.append((variable, [unfold(piece) for piece in text.split(operator.between)]))
        else:
            found.append((variable, unfold(text)))
        start = end
    return start


def _plan_named(tape: Tape, expression: Expression, after: list[int]) -> tuple[list[_Step], list[int]]:
    """One step for the whole group. It leaves repeats and prefix lengths to the reading."""
    operator = expression.operator
    free = tape.free(expression.variables[0].stops)
    everywhere = (2 << tape.size) - 1
    closed = everywhere ^ ((free | tape.mark("=")) << 1)  # `;x` alone is an empty x: no value can follow
    names = [variable.folded for variable in expression.variables]
    # `&name=` is run through like the characters of a value, but only as a whole: nothing may end inside it.
    crossings = inside = 0
    for name in names:
        for head, ends in ((f"{operator.between}{name}=", everywhere), (operator.between + name, closed)):
            heads = tape.before(ends, head)
            if heads:
                crossings |= heads >> 1 | heads >> len(head)
                for width in range(1, len(head)):
                    inside |= heads >> width
    ends = [positions & ~inside for positions in after]
    starts = [0, 0]
    for index, wanted in enumerate((ends[0], _union(ends))):
        values = _flood(wanted, free | crossings, None)
        for name in names:
            starts[index] |= tape.before(values, f"{operator.first}{name}=")
            starts[index] |= tape.before(values & closed, operator.first + name)
    return [_Step(starts[-1], 0, ends)], starts + after


def _take_named(
    tape: Tape, expression: Expression, plan: list[_Step], start: int, found: Found
) -> int | None:
    """Add the parameters found from `start` on, and tell where they end."""
    (step,) = plan
    if not tape.holds(step.first, start):
        return start
    operator = expression.operator
    stops = expression.variables[0].stops
    others = stops.replace(operator.between, "").replace("=", "")
    region = tape.text[start + 1 : tape.find(others, start + 1)]
    unread: dict[str, list[Variable]] = {}
    for variable in expression.variables:
        unread.setdefault(variable.folded, []).append(variable)
    spans: list[tuple[Variable, int, int]] = []
    high = start
    for piece in region.split(operator.between):
        name, equals, text = piece.partition("=")
        candidates = unread.get(name)
        if not candidates:
            break
        variable = candidates[0] if candidates[0].explode else candidates.pop(0)
        low = high + 1 + len(name) + len(equals)
        value = text.partition("=")[0] if "=" in stops else text
        high = low + len(value[: variable.limit])
        spans.append((variable, low, high))
        if len(text) > high - low:
            break
    end = tape.last(step.ends, spans[0][1], high)
    if end is None:
        return None
    lists: dict[str, list[str]] = {}
    for variable, low, high in spans:
        if low > end:
            break
        text = unfold(tape.text[low : min(high, end)])
        if not variable.explode:
            found.append((variable, text))
        elif variable.name in lists:
            lists[variable.name].append(text)
        else:
            lists[variable.name] = [text]
            found.append((variable, lists[variable.name]))
    return end


def _settle(found: Found) -> dict[str, str | list[str]] | None:
    """One value for each name. What {x} took goes before what {x:3} took, and must begin with it."""
    values: dict[str, str | list[str]] = {}
    for variable, value in sorted(found, key=lambda each: -(each[0].limit or 10_000)):
        whole = values.setdefault(variable.name, value)
        if whole[: variable.limit] != value:
            return None
    return values
