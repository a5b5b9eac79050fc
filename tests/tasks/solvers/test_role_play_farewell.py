"""Whether a line takes leave: found only where it surely does."""

import json
from pathlib import Path

from tasks.solvers.role_play import says_goodbye
from tests.mirror import needs_mirror
from tests.rows import each_row

LEAVES = (
    *("Bye!", "bye bye", "Thanks, bye.", "ok i have to go now, bye", "Good night", "See you later!"),
    *("Okay, thanks for listening. Goodbye!", "Goodbye. Thank you so much for your time!", "It helped a lot. I should go now."),
    *("好的，谢谢你，再见！", "再见。祝你一切顺利！", "晚安", "那我先下了，谢谢你", "我好多了。下次再聊吧", "嗯嗯，拜拜~"),
)
STAYS = (
    *(
        "She never got to say goodbye.",
        "He said, goodbye.",
        "She texted me: bye",
        "“Bye.” That was all.",
        "Goodbye, my old life.",
    ),
    *("Bye? No, wait.", "Goodbye! Can I write again tomorrow?", "I have to go to work now.", "I see you are right."),
    *("Thank you for your support.", "Take care of her? I can't.", "Thank you, but should I leave him?", "", "..."),
    *("我连再见都没说", "他只说了一句再见。", "再见吧，我的青春", "谢谢你，祝你也一切顺利！", "我不想再见他了", "晚安他都不回"),
)


@each_row(("text", "leaves"), [*((text, True) for text in LEAVES), *((text, False) for text in STAYS)])
def test_a_farewell_is_a_sentence_of_its_own_at_the_end(text: str, leaves: bool) -> None:
    assert says_goodbye(text) is leaves


@needs_mirror
def test_no_line_of_the_released_dialogues_takes_leave(mirror: Path) -> None:
    files = sorted((mirror / "github.com/haidequanbu/ESC-Eval/result").rglob("*.json"))
    dialogues = [lines for file in files for lines in json.loads(file.read_text(encoding="utf-8")).values()]
    said = [line.partition("：")[2] for lines in dialogues for line in lines[1::2]]
    # 12 dialogues of a greeting and five turns; thanks and wishes at the end, and a goodbye that was never said.
    assert (len(dialogues), len(said), sum("say goodbye" in line for line in said)) == (12, 60, 1)
    assert not any(map(says_goodbye, said))
