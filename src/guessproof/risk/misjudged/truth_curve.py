"""A curve for the worst true value under a prior that may be wrong: boxes of true values, peaks and ε prove all of it.

Attacks are followed along ε, and a little above what they reach lies the line that is to be proven. A box holds true
values, peaks, and all ε from one node of the line to another. What bounds it at its first and at its last ε
(`truth_rows`) bounds it between them by a chord and a parabola (`gaps`); where that is below the line, it is settled.
Others are cut: in true values or peaks, or in ε where chord and parabola are what is loose. Far from the worst true
value boxes are wide in every direction, so that few of them serve all ε. The line ends where they do not suffice.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.gaps import room_by_odds, room_by_ratio
from guessproof.risk.misjudged.along_truths import MisjudgedAlongTruths
from guessproof.risk.misjudged.curve_boxes import AlongTruths, CurveBoxes
from guessproof.risk.misjudged.lumped_runs import MisjudgedAlongLumps
from guessproof.risk.misjudged.odds import with_odds_of
from guessproof.risk.misjudged.tents import Move, Pair
from guessproof.risk.misjudged.truth_rows import LookedBoxes, TruthBoxes
from guessproof.risk.rising import Rising
from guessproof.risk.tent import TiltedIntegrals
from guessproof.risk.truth_search import TruthSearch
from guessproof.world.checks import Array

_ABOVE = 8.5e-4, 0.03, 0.3  # how far above an attack the line lies, as what it loses of ε, until some of it is proven
_LOOSER = 4e-3, 3e-2  # the same where a part further on could not be proven, and is better than none
_FROM, _TO, _LOOKS, _LEAST = 2e-2, 60.0, 12, 1e-4  # times a typical ε: where attacks are looked for, and the least node
_LAST, _WELL_UP = 2, 0.6  # the last of these, where integrals take long, are left out where others reach so much
_HIGH, _HIGHER = 0.4, (0.55, 0.72, 0.9)  # of what the largest of these reaches: where nodes end, and parts further on
_ON, _FEWEST = 1.02, 24  # of ε, and nodes: what such a part has at least
_PATIENCE = 12, 40  # how many more looks it may have in one round, and how many more boxes may be open at an ε
_SPAN, _RATIO = 64, 64.0  # nodes of the first boxes, and how far apart their ε may be
_ROUNDS = 24  # of cutting boxes
_IN_EPSILON = 0.5, 1.0  # and in ε where chord and parabola are that much of what is loose; where an end is too high
_GAINED = 0.75  # of a parabola: what halving the way between its ends takes away
_STARTS = 9  # beliefs that a rise may start from
_SWITCHES, _KINKED = 3, 5e-5  # looks for where an attack becomes another one, and what a chord across it may lose
_BENT, _HALVED = 1e-4, 3  # what a chord may lose of ε where attacks reach more and more, until it was halved so often
_BEFORE = 1e-3  # of ε: where a line that is asked of one ε begins
_LOOSE, _MOST_MENDED, _BETWEEN = 1e-3, 6, 7  # what an interval may lose of ε, how many are mended, by so many nodes
_BETTER, _AROUND = 3e-5, 8  # an attack that reaches so much more is tried at so many nodes on both sides


def curve_of_truths(
    search: TruthSearch, factor: float, move: Move, typical: float, *, after: float | None = None
) -> Rising | None:
    """What attacks reach and what nothing exceeds, for every ε up to some, or after one; None if nothing is proven.

    What an attack that is not the best one reaches is below what others do: then a line further above it is tried.
    """
    along = along_truths(search, factor, move)
    if isinstance(along, MisjudgedAlongLumps):
        return proven_curve(along, None, typical, after=after)
    straight = _straightened(search)
    return proven_curve(
        along, None if straight is None else MisjudgedAlongTruths(straight, factor, move), typical, after=after
    )


def along_truths(search: TruthSearch, factor: float, move: Move) -> MisjudgedAlongLumps | MisjudgedAlongTruths:
    """Attacks and boxes at the worst true value: of cells where a distance only jumps, as integrals do not tell apart
    which side of a jump a peak is on."""
    lumps = None if any(search.form.slopes) else MisjudgedAlongLumps.of(search, factor, move)
    return MisjudgedAlongTruths(search, factor, move) if lumps is None else lumps


def proven_curve(
    along: AlongTruths, straight: AlongTruths | None, typical: float, *, after: float | None = None
) -> Rising | None:
    """The same where it is told how attacks are followed; a longer distance may prove it."""
    first = along if straight is None else straight
    nodes = _nodes(first, typical, after)
    if not nodes[-1] > nodes[0]:  # attacks have levelled before: nothing comes further on
        return None
    ways = ([] if straight is None else [(_ABOVE[0], first)]) + [
        (a, along) for a in _ABOVE[: 3 if after is None else 1]
    ]
    patience = (1, 1) if after is None else _PATIENCE
    for above, proof in ways:
        line = ProvenLine(along, nodes, above, proof, patience)
        if not line.is_possible:
            continue
        line.prove()
        if after is not None and line.open.any():
            line.loosen()
        if line.proven is not None:
            return _mended(line, line.proven)
    return None


def proven_at(along: AlongTruths, epsilon: float) -> tuple[float, float, float]:
    """What an attack reaches at one ε, what nothing exceeds, and at which true value the attack is."""
    line = None
    if epsilon <= along.largest:
        for above in _ABOVE:
            line = ProvenLine(along, np.array([epsilon * (1 - _BEFORE), epsilon]), above)
            line.prove()
            if not line.open[-1]:
                return float(line.value[-1]), float(line.height[-1]), float(line.places[0, -1])
    return (0.0, 1.0, 0.0) if line is None else (float(line.value[-1]), 1.0, float(line.places[0, -1]))


def _mended(line: ProvenLine, proven: Rising) -> Rising:
    """The same with more nodes where it loses too much: boxes may have come upon better attacks, and so upon kinks."""
    loose = np.flatnonzero(proven.lost_in_all[:-1] > _LOOSE)  # a curve may as well end before the last interval
    if loose.size > _MOST_MENDED:
        return proven
    line.along.keep(line.epsilon, line.places)
    for j in loose[::-1]:
        first, last = proven.epsilon[j : j + 2]
        between = ProvenLine(line.along, np.linspace(first, last, _BETWEEN), line.above, line.proof)
        between.prove()
        piece = between.proven
        if piece is not None and piece.epsilon[0] == first and piece.epsilon[-1] == last:
            proven = proven.with_piece(int(j), piece)
    return proven


def _straightened(search: TruthSearch) -> TruthSearch | None:
    """The same with a straight distance that is nowhere shorter, where bounds cut off little of the prior."""
    longer = TiltedIntegrals(search.prior, search.form).straightened
    return None if longer is None else replace(search, form=longer.form).half


def _nodes(along: AlongTruths, typical: float, after: float | None = None) -> Array:
    """Nodes evenly in √ε, since a parabola is about as high for as much of that; and some nearer to 0.

    After an ε, up to where attacks have nearly levelled; after 0, from where nodes would end without it.
    """
    sizes = np.geomspace(_FROM, _TO, _LOOKS)
    value = along.rough(typical * sizes[:-_LAST])
    most = 1.0
    if after is not None or np.max(value) < _WELL_UP:  # then it matters where they level
        value = np.append(value, along.rough(typical * sizes[-_LAST:]))
        most = np.max(value)
    value, sizes = np.maximum.accumulate(value), sizes[: value.size]
    heights = np.append(_HIGH, _HIGHER) * most
    last, *further = np.minimum(typical * np.exp(np.interp(heights, value, np.log(sizes))), along.largest)
    if after is not None:
        end = next((e for e in further if e > _ON * (after or last)), further[-1])
        count = int(np.ceil(along.nodes * (np.sqrt(end / last) - np.sqrt((after or last) / last))))
        return np.square(np.linspace(np.sqrt(after or last), np.sqrt(end), max(count, _FEWEST)))
    even = last * np.square(np.arange(1, along.nodes + 1) / along.nodes)
    halved = max(int(np.log2(even[0] / (_LEAST * typical))), 0)
    # The second even node is four times the first: one between them, so that none is more than twice the one before.
    return np.concatenate([even[0] * 2.0 ** -np.arange(halved, -2, -1.0), even[1:]])


class ProvenLine:
    """Nodes, what attacks reach there, where these are, and a line that nothing exceeds but where it is left open.

    Attacks are those on one distance; what proves the line may be a longer one, where no attack exceeds it either.
    """

    def __init__(
        self,
        along: AlongTruths,
        epsilon: Array,
        above: float = _ABOVE[0],
        proof: AlongTruths | None = None,
        patience: tuple[int, int] = (1, 1),
    ) -> None:
        proof = along if proof is None else proof
        self.looks, self.crowd = patience[0] * proof.most_looks, patience[1] * proof.most_open
        self.closely = patience[0] > 1
        value, places = proof.followed(epsilon)
        at_most = value
        kinks, there = _switches(proof, epsilon, value, places)
        if proof is not along:
            value, places = along.nearer(places, epsilon)
        self.along, self.above, self.proof = along, above, proof
        self.epsilon, self.value, self.places = epsilon, value, places
        self._add(kinks, there)
        for _ in range(_HALVED):
            self._add(*self._bent())
        self.height, self.open = np.zeros(self.epsilon.size), np.zeros(self.epsilon.size - 1, dtype=bool)
        self._lift(np.arange(self.epsilon.size))
        self.is_possible = bool(np.all(at_most <= np.interp(epsilon, self.epsilon, self.height)))

    def _add(self, epsilon: Array, places: Array) -> None:
        """More nodes, with attacks near some."""
        if not epsilon.size:
            return
        value, places = self.along.nearer(places, epsilon)
        order = np.argsort(np.concatenate([self.epsilon, epsilon]))
        self.epsilon, self.value = (
            np.concatenate(both)[order] for both in ((self.epsilon, epsilon), (self.value, value))
        )
        self.places = np.concatenate([self.places, places], axis=1)[:, order]

    def _bent(self) -> Pair:
        """Nodes midway between two where what attacks reach bends upwards so much that a chord would lose some of ε.

        Where it has a kink at a node itself, only one end of an interval seems bent.
        """
        step, value = np.diff(self.epsilon), self.value
        slope = np.diff(value) / step
        bends = np.diff(slope) / (0.5 * (step[1:] + step[:-1]))
        with np.errstate(all="ignore"):
            lost = np.minimum(np.append(bends[:1], bends), np.append(bends, bends[-1:])) * step**2 / 8
            wide = np.flatnonzero(lost > _BENT * slope * self.epsilon[1:])
        return np.sqrt(self.epsilon[wide] * self.epsilon[wide + 1]), self.places[:, wide + 1]

    def _lift(self, nodes: NDArray[np.int64]) -> None:
        """The line lies a little above what attacks reach, and rises."""
        ahead = self.along.reached(self.places[:, nodes], self.epsilon[nodes] * (1 + self.above))
        self.height[nodes] = np.maximum(self.height[nodes], np.maximum(ahead, self.value[nodes]))
        self.height = np.maximum.accumulate(self.height)

    def prove(self) -> None:
        """Cut boxes until all are below the line, or given up."""
        self._prove(self._runs(0, self.epsilon.size - 1))

    def loosen(self) -> None:
        """Where the line was given up, it is raised until it can be proven."""
        for self.above in _LOOSER:
            before = self.open.copy()
            marks = np.concatenate([[False], before, [False]])
            first, last = np.flatnonzero(~marks[:-1] & marks[1:]), np.flatnonzero(marks[:-1] & ~marks[1:])
            self._lift(np.flatnonzero(marks[:-1] | marks[1:]))
            self.open[:] = False
            self._prove([run for ends in zip(first, last, strict=True) for run in self._runs(*map(int, ends))])
            if not self.open.any() or np.array_equal(self.open, before):  # what does not help a little does not help
                return

    def _prove(self, runs: list[tuple[int, int]]) -> None:
        boxes = self._first_boxes(runs)
        for _ in range(_ROUNDS):
            boxes = self._affordable(boxes)
            if not boxes.size:
                return
            boxes = self._cut(self._looked(boxes))
        self._give_up(boxes.nodes)

    @property
    def proven(self) -> Rising | None:
        """The part that is proven, None where there is none.

        A node is proven where an interval beside it is. Between two such nodes an open interval is bounded by the right
        one; any other open one has a node of which nothing is known.
        """
        settled = np.concatenate([[False], ~self.open, [False]])
        known = settled[:-1] | settled[1:]
        unknown = ~(known[:-1] & known[1:])
        if unknown.all():
            return None
        return Rising(self.epsilon, self.value, self.height, np.where(self.open, np.inf, 0.0)).without(unknown)

    # Boxes that begin, and boxes that are given up.

    def _first_boxes(self, runs: list[tuple[int, int]]) -> CurveBoxes:
        """Boxes for runs of nodes; true values beyond them exceed nothing that the line is."""
        todo, parts = runs, list[CurveBoxes]()
        while todo:
            first, end = todo.pop()
            nodes, middle = slice(first, end + 1), (first + end) // 2
            range_ = self.proof.range_of(self.epsilon[nodes], self.height[nodes])
            if range_ is not None:
                truths, peaks = self.proof.first_boxes(self.places[:, middle], range_)
                n = truths.shape[1]
                turns = np.repeat(self.places[2:, [first, end]].T[:, :, None], n, axis=2)
                ends = np.repeat([[first], [end]], n, axis=1)
                parts.append(CurveBoxes.new(ends, truths, peaks, turns, np.zeros(n, dtype=np.int64)))
            elif end > first + 1:
                todo += [(first, middle), (middle, end)]
            else:
                self._give_up(np.array([[first], [end]]))
        none = np.empty((2, 0))
        empty = none.astype(np.int64), none, none, np.empty((2, 2, 0)), none[0].astype(np.int64)
        return CurveBoxes.joined([CurveBoxes.new(*empty), *parts])

    def _runs(self, first: int, last: int) -> list[tuple[int, int]]:
        """Runs of nodes that have their first boxes in common, from one node to another."""
        found = list[tuple[int, int]]()
        while first < last:
            far = int(np.searchsorted(self.epsilon, _RATIO * self.epsilon[first], side="right")) - 1
            end = min(max(far, first + 1), first + _SPAN, last)
            found.append((first, end))
            first = end
        return found

    def _give_up(self, nodes: NDArray[np.int64]) -> None:
        """Between some nodes the line is not proven."""
        self.open |= self._crowds(nodes)[:-1] > 0

    def _crowds(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many boxes there are from each node to the next."""
        crowd = np.zeros(self.epsilon.size, dtype=np.int64)
        np.add.at(crowd, nodes[0], 1)
        np.add.at(crowd, nodes[1], -1)
        return np.cumsum(crowd)

    def _affordable(self, boxes: CurveBoxes) -> CurveBoxes:
        """Boxes without those at the largest ε where they would need too many looks; what has none is proven."""
        looks = np.zeros(self.epsilon.size, dtype=np.int64)
        np.add.at(looks, boxes.nodes[0], np.count_nonzero(np.isnan(boxes.most), axis=0))
        self.open |= (np.cumsum(looks)[:-1] > self.looks) & (self._crowds(boxes.nodes)[:-1] > 0)
        return boxes.pick(self._is_asked(boxes.nodes))

    def _is_asked(self, nodes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether a box has nodes between which the line was not given up."""
        given_up = np.concatenate([[0], np.cumsum(self.open)])
        return given_up[nodes[1]] - given_up[nodes[0]] < nodes[1] - nodes[0]

    # What is looked at.

    def _looked(self, boxes: CurveBoxes) -> CurveBoxes:
        """The same boxes with what bounds both ends of each."""
        end, some = np.nonzero(np.isnan(boxes.most))
        at = TruthBoxes(
            boxes.nodes[end, some],
            boxes.truths[:, some],
            boxes.peaks[:, some],
            boxes.turns[end, :, some].T,
            boxes.depth[some],
        )
        looked = self.proof.asked(at, self.epsilon)
        turns, most, reached, by_peak = (v.copy() for v in (boxes.turns, boxes.most, boxes.reached, boxes.by_peak))
        most[end, some] = self._told_otherwise(at, looked.most)
        reached[end, some], by_peak[end, some], turns[end, :, some] = looked.reached, looked.by_peak, looked.turns.T
        self._heed(at, looked)
        return replace(boxes, turns=turns, most=most, reached=reached, by_peak=by_peak)

    def _told_otherwise(self, boxes: TruthBoxes, most: Array) -> Array:
        """What bounds boxes, if not polygons then beliefs; where neither is below the line, polygons say how to cut."""
        line = self.height[boxes.which]
        above = np.flatnonzero(~(most <= line))
        if not above.size:
            return most
        (t1, t2), epsilon = boxes.truths[:, above], self.epsilon[boxes.which[above]]
        left = self.proof.left(t1, t2, epsilon, closely=self.closely)
        below = left <= line[above]
        most[above[below]] = left[below]
        return most

    def _heed(self, boxes: TruthBoxes, looked: LookedBoxes) -> None:
        """Where boxes come upon a better attack, it is climbed on, tried at the nodes around, and the line rises."""
        known = self.value * (1 + _BETTER) if self.proof is self.along else self.height
        better = np.flatnonzero(looked.reached > known[boxes.which])
        if not better.size:
            return
        best = better[_last_of_each(boxes.which[better], looked.reached[better])]
        places = self.along.climbed(self.along.places_of(looked, best), self.epsilon[boxes.which[best]])[1]
        ways = np.arange(-_AROUND, _AROUND + 1)
        near = np.clip(boxes.which[best][:, None] + ways, 0, self.epsilon.size - 1).ravel()
        found, places = self.along.nearer(np.repeat(places, ways.size, axis=1), self.epsilon[near])
        best = _last_of_each(near, found)
        best = best[found[best] > self.value[near[best]]]
        if best.size:  # what is best at one ε is not quite at another
            self.value[near[best]], self.places[:, near[best]] = self.along.climbed(
                places[:, best], self.epsilon[near[best]]
            )
        self._lift(near[best])

    def _cut(self, boxes: CurveBoxes) -> CurveBoxes:
        """Boxes that are not below the line, cut."""
        climbs = self._climbs(boxes)
        room, alone = self._by_ratio(boxes, climbs)
        over, bent = self._compared(boxes, room)
        again = np.flatnonzero((over > 0) & np.all(boxes.most <= self.height[boxes.nodes], axis=0))
        if again.size:  # only what lies between the ends is above the line, if anything is
            some = boxes.pick(again)
            by_odds = self._by_odds(some, (climbs[0][again], climbs[1][again]))
            room[again] = np.fmin(room[again], by_odds)
            over[again] = self._compared(some, room[again])[0]
        below = over <= 0
        crowds = self._crowds(boxes.nodes[:, ~below])
        self._give_up(boxes.nodes[:, ~below & (crowds[boxes.nodes[0]] > self.crowd)])
        open_ = ~below & self._is_asked(boxes.nodes)
        wide = boxes.nodes[1] - boxes.nodes[0] > 1
        whole = ~np.any(self.proof.divisible(boxes.truths, boxes.peaks), axis=0)
        whole &= np.all(boxes.most <= self.height[boxes.nodes], axis=0)  # only ε is left to be cut
        in_epsilon = open_ & wide & (whole | self._is_bent(boxes, over, room, alone, bent))
        left = open_ & ~in_epsilon
        places = boxes.pick(left).in_places(self.proof, over[left])
        some, peaks = self.proof.within(places.truths, places.peaks)
        return CurveBoxes.joined([replace(places, peaks=peaks).pick(some), boxes.pick(in_epsilon).in_epsilon()])

    def _is_bent(self, boxes: CurveBoxes, over: Array, room: Array, alone: Array, bent: Array) -> NDArray[np.bool_]:
        """Whether boxes that are above the line are cut in ε: where that is enough, or does more than a cut in places.

        It asks for one more look, a cut in places for four.
        """
        with np.errstate(invalid="ignore"):
            enough = _GAINED * (room + np.maximum(bent, 0.0)) >= over
            share = np.where(np.all(boxes.most <= self.height[boxes.nodes], axis=0), *_IN_EPSILON)
        return enough | ~(alone + bent < share * boxes.loose)

    def _compared(self, boxes: CurveBoxes, room: Array) -> Pair:
        """How far chord and parabola are above the line, at nodes and between; and how far its own chord is above it.

        Between two nodes that are a share s of the way apart a parabola is at most s² of its room above its chord.
        """
        first, last = boxes.nodes
        span = int(np.max(last - first, initial=0))
        nodes = np.minimum(first + np.arange(span + 1)[:, None], last)
        share = (self.epsilon[nodes] - self.epsilon[first]) / (self.epsilon[last] - self.epsilon[first])
        step, line = np.max(np.diff(share, axis=0), axis=0, initial=0.0), self.height[nodes]
        with np.errstate(invalid="ignore"):
            found = (1 - share) * boxes.most[0] + share * boxes.most[1] + (4 * share * (1 - share) + step**2) * room
            bent = np.max((1 - share) * line[0] + share * line[-1] - line, axis=0)
            over = np.max(found - line, axis=0)
            return np.where(np.isnan(over), np.inf, over), bent

    # How far above its chord a box may be.

    def _climbs(self, boxes: CurveBoxes) -> Pair:
        """How far beliefs rise at both ends at most; of boxes that are not below the line, about."""
        first, second = (np.minimum(boxes.most[i], self.height[boxes.nodes[i]]) for i in (0, 1))
        return first, np.maximum(first, second)

    def _rates(self, boxes: CurveBoxes) -> Pair:
        first, second = (self.proof.move * self.epsilon[n] for n in boxes.nodes)
        return first, second

    def _by_ratio(self, boxes: CurveBoxes, climbs: Pair) -> Pair:
        """How far above its chord each box may be, told from how beliefs grow; and in its middle alone, about."""
        most = self._before(boxes)[-1]
        with np.errstate(all="ignore"):
            gaps = self.proof.gap_of_all(boxes.peaks, self._rates(boxes))
            room, alone = (room_by_ratio(gap, most, climbs) for gap in gaps)
        return room, alone

    def _by_odds(self, boxes: CurveBoxes, climbs: Pair) -> Array:
        """The same told from how odds grow, for all beliefs before it."""
        before = self._before(boxes)
        ends = (before[:-1], before[1:]), climbs, self._ends(before[1:], climbs)
        with np.errstate(all="ignore"):
            gap = self.proof.gap_of_rest(boxes.truths, boxes.peaks, self._rates(boxes))
            return np.max(room_by_odds(gap, *ends), axis=0)

    def _before(self, boxes: CurveBoxes) -> Array:
        """Beliefs from which a rise may start, or of which a fall takes the rest, from the least to the largest."""
        least, most = (np.clip(mass, 0.0, 1.0) for mass in self.proof.declared(boxes.truths))  # rounding may leave that
        low, high = with_odds_of(least, 1 / self.proof.factor), with_odds_of(most, self.proof.factor)
        low, high = (low, high) if self.proof.move > 0 else (1 - high, 1 - low)
        return low + np.linspace(0.0, 1.0, _STARTS)[:, None] * (high - low)

    def _ends(self, before: Array, climbs: Pair) -> Pair:
        """Beliefs after it at most: 1, which says nothing where that is further than it climbs."""
        first, second = (np.where(before + climbs[1] < 1, 1 + climb, 1.0) for climb in climbs)
        return first, second


def _switches(along: AlongTruths, epsilon: Array, value: Array, places: Array) -> Pair:
    """At which ε between some the best attack becomes another one, about: both reach the same; and one of them.

    There what attacks reach has a kink, and a chord across it would lie above: only where that loses something of ε.
    """
    some = np.flatnonzero(~along.is_same(places[:, :-1], places[:, 1:]))
    sides = places[:, some], places[:, some + 1]
    low, high, steep = (
        epsilon[some],
        epsilon[some + 1],
        (value[some + 1] - value[some]) / (epsilon[some + 1] - epsilon[some]),
    )

    def ahead_of(at: Array) -> Array:
        with np.errstate(invalid="ignore"):
            return along.nearer(sides[0], at)[0] - along.nearer(sides[1], at)[0]

    ahead = [ahead_of(low), ahead_of(high)]
    with np.errstate(all="ignore"):
        lost = ahead[0] * ahead[1] / (ahead[1] - ahead[0]) / (steep * high)  # if both were straight
    kept = np.flatnonzero(~(lost < _KINKED))
    sides, low, high, at = (sides[0][:, kept], sides[1][:, kept]), low[kept], high[kept], low[kept]
    ahead = [each[kept] for each in ahead]
    for _ in range(_SWITCHES):
        with np.errstate(all="ignore"):
            share = np.clip(ahead[0] / (ahead[0] - ahead[1]), 0.0, 1.0)
        at = low + np.where(np.isnan(share), 0.5, share) * (high - low)
        found = ahead_of(at)
        low, high = np.where(found > 0, at, low), np.where(found > 0, high, at)
        ahead = [np.where(found > 0, found, ahead[0]), np.where(found > 0, ahead[1], found)]
    new = ~np.isin(at, epsilon)
    return at[new], sides[0][:, new]


def _last_of_each(groups: NDArray[np.int64], values: Array) -> NDArray[np.int64]:
    """Where each group has its largest value."""
    order = np.lexsort((values, groups))
    return order[np.append(groups[order][1:] != groups[order][:-1], True)]
