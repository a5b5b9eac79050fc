r"""Read a judge's reply that is to be one digit: it stands alone on a line, and no other number stands in the reply.

On its line may stand a word for a rating or the dimension's name before it, marks of emphasis, a full stop, and the very scale in
parentheses. Anything else is not read, as elsewhere: nothing is picked out of a sentence, rounded or converted.

| reply, for `fluency` on 0 to 4 | read as | because |
| --- | --- | --- |
| `3` | 3 | |
| `**3**.` | 3 | emphasis and a full stop |
| `Score: 2.` | 2 | a word for a rating |
| `评分：4分` | 4 | the same in Chinese |
| `3 (on a 0-4 scale)` | 3 | the scale that was asked for says nothing more |
| `3\nThe replies read well.` | 3 | alone on its line |
| `The replies read well.\nFluency: 0` | 0 | the dimension's name |
| `{"fluency": 3}` | 3 | by the contract's other form |
| `4/10` | - | another scale, which the released code takes for 0 |
| `3.5` | - | no rating of the scale |
| `5` | - | not on the scale |
| `-1` | - | not on the scale |
| `2\n3` | - | two ratings |
| `I count 3 faults.` | - | a number in a sentence |
| `Empathy: 3` | - | another dimension |
| `I cannot rate this.` | - | none |
"""

import re

_SPACE = r"[ \t\r*_`]*"
_LINE = (
    rf"^{_SPACE}(?:(?:the +)?(?:score|rating|评分|分数|得分|NAME)(?: +is)?{_SPACE}[:：]?)?{_SPACE}"
    rf"([0-9]){_SPACE}分?{_SPACE}[.。]?{_SPACE}$"
)
_SCALE = r"[(（][^()（）0-9]*{lowest} *(?:-|–|to|到|至) *{highest}[^()（）0-9]*[)）]"


def read_digit(reply: str, name: str, ratings: range) -> int | None:
    """Return the rating that a reply says; null = it says none, or not clearly.

    Args:
        reply: the judge's.
        name: the dimension that was asked for.
        ratings: all of its scale, within 0 to 9.
    """
    unscaled = re.sub(_SCALE.format(lowest=ratings[0], highest=ratings[-1]), "", reply.strip(), flags=re.IGNORECASE)
    found = re.findall(_LINE.replace("NAME", re.escape(name)), unscaled, re.IGNORECASE | re.MULTILINE)
    alone = len(found) == 1 and len(re.findall(r"\d", unscaled)) == 1
    return int(found[0]) if alone and int(found[0]) in ratings else None
