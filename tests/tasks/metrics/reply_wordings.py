"""Wordings of replies: {x} is a letter and {t} its option's text, {y} and {u} are those of another option."""

UNMEANT: dict[str, tuple[str, ...]] = {
    "denied before": (
        *(
            "The incorrect option is {x}",
            "The wrong answer is {x}.",
            "Wrong answer: {x}",
            "Incorrect: {x}",
            "Not {x}.",
            "It can't be {x}.",
        ),
        *("The least likely answer is {x}", "The worst choice is {x}.", "The least plausible option would be {x}.", "Except {x}"),
        *("The answer cannot be {x}", "The answer is anything but {x}.", "The answer is certainly not {x}.", "It isn't {x}."),
        *(
            "The wrong choice would be {x}",
            "The only option I can rule out is {x}.",
            "The option to eliminate is {x}.",
            "I reject {x}.",
        ),
        *(
            "All except {x}",
            "I would avoid choosing {x}.",
            "I don't believe the answer is {x}.",
            "I doubt that the answer is {x}.",
        ),
        *(
            "The false answer is {x}.",
            "The answer that does not fit is {x}.",
            "It would be a mistake to choose {x}.",
            "Never choose {x}.",
        ),
        *("An unsuitable answer: {x}", "Not the answer: {x}", "The distractor is {x}.", "The incorrect option is:\n\n{x}"),
        *(
            "The wrong answer is\n{x}",
            "The option that should be rejected is {x}. {t}",
            "The incorrect answer is {t}.",
            "❌ {x}",
            "✗ {x}. {t}",
        ),
        *(
            "There is no way the answer is {x}.",
            "I hesitate to say {x}.",
            "I refuse to choose {x}.",
            "The opposite of the right answer is {x}.",
        ),
        *(
            "Neither is the answer {x}.",
            "By no means choose {x}.",
            "I would rule out option {x}.",
            "The answer is unlikely to be {x}.",
        ),
        *(
            "The answer is hardly {x}.",
            "It is not clear that the answer is {x}.",
            "I'm not convinced it is {x}.",
            "I'm not so sure it is {x}.",
        ),
        *(
            "I cannot say that the answer is {x}.",
            "One thing is sure: it is not {x}.",
            "It is wrong to say {x}.",
            "Don't pick {x}!",
        ),
        *(
            "错误答案：{x}",
            "错误的选项是{x}。",
            "不是{x}",
            "答案不是{x}。",
            "最不可能的答案是{x}",
            "我不会选{x}",
            "不应该选{x}",
            "不能选{x}。",
        ),
        *(
            "排除{x}",
            "除了{x}",
            "不正确的选项：{x}",
            "答案不可能是{x}",
            "最不合适的是{x}。",
            "並非{x}",
            "答案並不是{x}。",
            "錯誤答案是{x}",
        ),
        *(
            "錯誤的選項：{x}",
            "我不認為是{x}",
            "不應選{x}",
            "干扰项是{x}",
            "最差的选项是{x}",
            "应该排除的选项是{x}",
            "很难说答案是{x}",
            "别选{x}",
        ),
        *(
            "不要选{x}",
            "不建议选{x}。",
            "未必是{x}",
            "答案绝对不会是{x}",
            "错误答案是{t}",
            "不是{t}",
            "答案不是{t}。",
            "错选：{x}",
            "不选：{x}",
        ),
        *("The answer is not {t}.", "The wrong choice would be {t}.", "The least likely answer is {t}", "Not {t}"),
    ),
    "denied behind": (
        *(
            "{x}: no",
            "{x} is not right",
            "{x} is not the answer.",
            "{x} - no",
            "{x}: wrong",
            "{x}. No.",
            "{x}. Incorrect.",
            "{x} (wrong)",
        ),
        *(
            "The answer is {x}, but that is wrong",
            "The answer is {x}. That is wrong.",
            "{x} isn't right.",
            "{x} is incorrect, I fear.",
        ),
        *(
            "The answer is {x}? No.",
            "{x}? No.",
            "The answer is {x}, which is not correct.",
            "{x} is the wrong answer.",
            "{x} doesn't fit.",
        ),
        *(
            "{x} is the least likely answer.",
            "{x}, no.",
            "{x} seems wrong.",
            "{x} cannot be right.",
            "{x} is most likely wrong.",
            "{x} ❌",
        ),
        *(
            "{x} is ruled out.",
            "{x} is best avoided.",
            "{x} would be a mistake.",
            "{x} is a distractor.",
            "{x} is tempting but wrong.",
        ),
        *(
            "{x} looks right at first, but it is not.",
            "{x} is out.",
            "Option {x} must be rejected.",
            "{x}. {t}: wrong",
            "{x}. {t} - no",
        ),
        *(
            "{x}. {t} is wrong.",
            "{x}. {t}? No.",
            "The answer is {x}, but it is not correct.",
            "The answer is {x}. No, it is not.",
            "{x}. Not correct.",
        ),
        *(
            "{x} can be excluded.",
            "{x} could be it, but it is not.",
            "The answer is {x} - not.",
            "{x}, but this is incorrect.",
            "{x} is hardly right.",
        ),
        *(
            "Answer: {x} (incorrect)",
            "Answer: {x} ✗",
            "Answer: {x}. But this is not right.",
            "The answer is {t}, but that is wrong.",
            "{t}: no",
        ),
        *(
            "{t}? No.",
            "{t} is wrong.",
            "{x} 不对",
            "{x}不对。",
            "{x} 错误",
            "{x}是错的",
            "{x}，不对。",
            "{x}不符合",
            "选{x}是不对的",
            "{x}：错",
        ),
        *(
            "答案是{x}，但这是错的",
            "答案是{x}？不是。",
            "{x}不正确",
            "{x} 不對",
            "{x}選項錯誤",
            "{x}項不正確",
            "答案是{x}，不过不对。",
            "{x}应排除",
        ),
        *("{t}不对", "{x}选项不合适。", "{x}。{t}，错误", "答案是{x}，这不正确。", "選{x}是錯的", "{x}、{t}，不对"),
    ),
    "asked": (
        *(
            "Should I choose {x}?",
            "Is it {x}?",
            "Is the answer {x}?",
            "{x}?",
            "The answer is {x}?",
            "Could the answer be {x}?",
            "Why not {x}?",
        ),
        *(
            "The answer is {x}, right?",
            "Why would the answer be {x}?",
            "Do you think the answer is {x}?",
            "Is it {t}?",
            "{t}?",
            "{x}. {t}?",
        ),
        *(
            "Would you say {x}?",
            "Who says the answer is {x}?",
            "How can the answer be {x}?",
            "The answer: {x}?",
            "So the answer is {x}?",
        ),
        *(
            "是{x}吗？",
            "答案是{x}吗",
            "选{x}？",
            "为什么选{x}？",
            "难道是{x}？",
            "答案是{x}？",
            "選{x}嗎？",
            "应该选{x}吗？",
            "{x}吗？",
            "是不是{x}？",
        ),
        *("答案会是{x}吗？", "是{t}吗？", "你觉得是{x}吗？", "要不要选{x}？"),
    ),
    "once thought": (
        *(
            "I thought it was {x}, but it is not",
            "At first I would have said {x}",
            "I used to think the answer is {x}.",
            "I almost chose {x}.",
        ),
        *(
            "At first, the answer seemed to be {x}.",
            "My first guess was {x}.",
            "My initial answer was {x}.",
            "I was tempted to choose {x}.",
        ),
        *(
            "I was going to say {x}.",
            "Initially I chose {x}.",
            "I first thought the answer was {x}.",
            "My first instinct is to choose {x}.",
        ),
        *(
            "Originally I picked {x}, but no longer.",
            "I believed the answer was {x}.",
            "It is tempting to choose {x}.",
            "I would have chosen {x}.",
        ),
        *(
            "My previous answer was {x}.",
            "At first glance the answer is {x}.",
            "I assumed it was {x}.",
            "I nearly went with {x}.",
            "I thought {t}.",
        ),
        *(
            "我以为是{x}",
            "一开始我选{x}",
            "起初我认为答案是{x}",
            "我原本想选{x}",
            "我本来选了{x}",
            "我差点选{x}",
            "最初的答案是{x}",
            "我原以為是{x}",
        ),
        *("我曾以为答案是{x}。", "我的第一反应是选{x}", "乍一看答案是{x}", "刚开始我觉得是{x}", "先前我选的是{x}"),
    ),
    "of others": (
        *(
            "Many would choose {x}, but they are mistaken",
            "Some say the answer is {x}.",
            "People often think the answer is {x}.",
            "He thinks it is {x}.",
        ),
        *(
            "My friend would pick {x}.",
            "Others might choose {x}.",
            "Most people would say {x}.",
            "Someone claimed the answer is {x}.",
            "She says {x}.",
        ),
        *(
            "You might think the answer is {x}.",
            "One could argue that the answer is {x}.",
            "A careless reader would choose {x}.",
            "They chose {x}.",
        ),
        *(
            "According to some, the answer is {x}.",
            "My teacher said that the answer is {x}.",
            "Many believe the answer is {x}.",
            "Tom thinks the answer is {x}.",
        ),
        *(
            "Some readers may go with {x}.",
            "The other students picked {x}.",
            "It is often claimed that the answer is {x}.",
            "Many would say {t}.",
        ),
        *(
            "有人会选{x}",
            "很多人认为答案是{x}",
            "有些人觉得是{x}",
            "他们选{x}",
            "别人可能会选{x}",
            "大家都说是{x}",
            "老师说答案是{x}",
            "許多人會選{x}",
        ),
        *(
            "不少人误选{x}",
            "我朋友认为答案是{x}。",
            "他觉得选{x}",
            "有人说，答案是{x}",
            "常有人选{x}",
            "有的同学会选{x}",
            "小明认为答案是{x}",
        ),
    ),
    "supposed": (
        *(
            "If the question asked who was angry, the answer would be {x}",
            "If she were glad, I would choose {x}.",
            "Suppose the answer is {x}.",
        ),
        *(
            "Assuming she lies, the answer is {x}.",
            "Had the question been another one, the answer would be {x}.",
            "Unless I am told more, {x}? No.",
        ),
        *(
            "The answer is {x} if she is lying.",
            "The answer would be {x}, if the dog were alive.",
            "If the answer is {x}, she must be lying.",
        ),
        *(
            "Were the dog alive, the answer would be {x}.",
            "The answer is {x} only if nobody saw it.",
            "Imagine the answer is {x}.",
        ),
        *(
            "In case she lied, choose {x}.",
            "The answer is {x} unless she lied.",
            "Whether the answer is {x} depends on her.",
            "If so, {x}.",
        ),
        *(
            "如果问谁生气，答案就是{x}",
            "假如她撒谎，应选{x}",
            "若她很高兴，则选{x}",
            "要是问原因，答案是{x}",
            "假设答案是{x}",
            "如果選{x}，她就在說謊",
        ),
        *("除非她撒谎，否则答案是{x}。", "倘若狗还活着，答案就是{x}。", "万一她撒谎，就选{x}"),
    ),
    "hedged": (
        *(
            "{x} or {y}",
            "The answer might be {x}.",
            "The answer could be {x}.",
            "The answer is {x} or {y}.",
            "{x}, or maybe {y}",
            "Maybe {x}, maybe {y}",
        ),
        *(
            "Either {x} or {y}",
            "{x} (or {y})",
            "The answer may be {x}.",
            "A possible answer is {x}.",
            "It could be {x}.",
            "{x}/{y}",
            "Perhaps {x}? Perhaps {y}?",
        ),
        *(
            "The answer is {x}, but {y} is also possible.",
            "The answer is {x}, possibly {y}.",
            "I cannot decide between {x} and {y}.",
            "Perhaps the answer is {x}.",
        ),
        *(
            "可能是{x}，也可能是{y}",
            "答案可能是{x}。",
            "{x}或{y}",
            "{x}或者{y}",
            "也许是{x}",
            "或许选{x}",
            "{x}还是{y}",
            "答案是{x}，也可能是{y}",
        ),
        *("不知道是{x}还是{y}", "在{x}和{y}之间难以选择", "說不定是{x}或{y}"),
    ),
    "contradicted": (
        *(
            "Answer: {x}\nAnswer: {y}",
            "{x}\n{y}",
            "Final answer: {x}\nFinal answer: {y}",
            "The answer is {x}. The answer is {y}.",
            "{x}. The answer is {y}.",
        ),
        *(
            "{x}\n\n{y}",
            "Answer: {x}\n\nThe answer is {y}.",
            "{x}, {y}",
            "{x} and {y}",
            "答案：{x}\n答案：{y}",
            "答案是{x}。答案是{y}。",
            "选{x}。选{y}。",
        ),
        *(
            "{x}. {u}",
            "Answer: {x}. {u}",
            "Option {x}\nOption {y}",
            "<answer>{x}</answer><answer>{y}</answer>",
            "The answer is {t}. The answer is {u}.",
        ),
        *('{{"answer": "{x}", "choice": "{y}"}}', '{{"first": "{x}", "second": "{y}"}}', '{{"letter": "{x}", "text": "{u}"}}'),
    ),
    "withdrawn": (
        *(
            "{x}. Wait, no.",
            "The answer is {x}. Hold on.",
            "{x}. Scratch that.",
            "{x} - no, wait",
            "Answer: {x}. I take that back.",
            "{x}. Hmm, no.",
        ),
        *(
            "Answer: {x}\n\nWait, that is wrong.",
            "{x}. I was wrong.",
            "The answer is {x}. On second thought, I am not sure.",
            "{x}? Wait.",
        ),
        *(
            "{x}，等等，不对。",
            "答案是{x}。不对。",
            "{x}。我错了。",
            "答案是{x}，等一下",
            "選{x}。不對，我再想想。",
            "{x}. Actually, no.",
            "{t}. Wait, no.",
        ),
        *("Answer: {x}. Never mind, I made a mistake.", "Answer: {x}\nI need to correct this.", "{x}. Just kidding."),
    ),
    "no answer": (
        *(
            "Answer:",
            "The answer is",
            "答案：",
            "Option",
            "I'm sorry, I can't choose between {x} and {y}.",
            '{{"answer": ""}}',
            '{{"answer": []}}',
            "{{}}",
        ),
        *(
            '{{"wrong_answer": "{x}"}}',
            '{{"not": "{x}"}}',
            '{{"eliminated": "{x}"}}',
            '{{"answer": "none", "guess": "{x}"}}',
            '{{"answer": null}}',
        ),
        *(
            "<wrong_answer>{x}</wrong_answer>",
            "I don't know.",
            "Don't know",
            "None of these",
            "N/A",
            "不知道",
            "以上都不是",
            "The options are {x} and {y}.",
        ),
        *(
            "I got a {x} in maths.",
            "Let us look at option {x}.",
            "Let me consider {x} first.",
            "As for {x}, she smiles.",
            "先看{x}",
            "首先分析{x}选项。",
        ),
        *('{{"错误答案": "{x}"}}', '{{"options": ["{x}", "{y}"]}}', "| Wrong | {x} |"),
    ),
}
"""What has not given an answer, by the reason."""

MORE_UNMEANT = r"""
Please disregard my reply {x}.
I take back my choice {x}.
It is widely believed that {x} is right.
An impatient child might answer {x}.
It is easy to pick {x}.
Nothing supports {x}.
I was told that the story supports {x}.
选项有{x}。
{x} - no chance.
The answer is {x}. Definitely not.
<del>Answer: {x}</del>
假使选{x}，前后不一致。
答案：{x}，作废。
{x}，骗你的。
{x}，我不确定。
I can eliminate {x}.
{x} can be eliminated.
We can rule out {x}.
Cross out {x}.
{x} is eliminated.
{x} is a trap answer.
{x} is the trap.
The trap answer is {x}.
{x} is not supported by the text.
{x} contradicts the text.
{x} does not match.
{x} doesn't make sense.
{x} makes no sense.
{x} fails to explain it.
{x} is irrelevant.
{x} is too strong.
{x} isn't it.
{x} won't do.
{x} wouldn't fit.
{x} couldn't be the answer.
{x} can't be right.
{x} must be wrong.
{x} has to be wrong.
{x} should not be chosen.
{x} is clearly false.
{x} is obviously not the answer.
{x} was my first thought.
I wouldn't pick {x}.
I won't choose {x}.
I would not go with {x}.
I can't choose {x}.
I do not agree with {x}.
I disagree with {x}.
I am against {x}.
Anything but {x}.
Any answer except {x}.
Everything except {x}.
All of them but {x}.
Not option {x}.
Definitely not {x}.
Certainly not {x}.
It's not {x}.
It is clearly not {x}.
It definitely isn't {x}.
It can't possibly be {x}.
It couldn't be {x}.
It shouldn't be {x}.
It wouldn't be {x}.
The answer isn't {x}.
The answer is definitely not {x}.
The answer can't be {x}.
The answer should not be {x}.
The answer is neither {x} nor {y}.
The answer was thought to be {x}.
The answer was once {x}.
The answer used to be {x}.
The answer seems to be {x}, but it isn't.
The answer appears to be {x}, but that's wrong.
The answer looks like {x} but is not.
The answer is {x} - wrong.
The answer is {x} (not).
The answer is {x}. Not!
The answer is {x}... not.
The answer is {x}. Wrong!
The answer is {x} is false.
"The answer is {x}" is wrong.
Saying the answer is {x} would be wrong.
To say that the answer is {x} would be a mistake.
It is false that the answer is {x}.
It's not true that the answer is {x}.
It is incorrect to choose {x}.
Choosing {x} would be wrong.
Choosing {x} is a mistake.
Answering {x} is incorrect.
Whoever chooses {x} is mistaken.
Those who choose {x} are wrong.
People who say {x} are wrong.
Anyone who picks {x} is wrong.
A naive reader would say {x}.
The naive answer is {x}.
The obvious but wrong answer is {x}.
The tempting answer is {x}.
A common mistake is {x}.
A common mistake is to choose {x}.
A common wrong answer is {x}.
A typical wrong answer: {x}
The common misconception is {x}.
The most common error is choosing {x}.
The answer key says {x}, but it is wrong.
The question suggests {x}, but no.
You said {x}.
You chose {x}.
You think it's {x}?
User: {x}
The user says the answer is {x}.
The previous answer was {x}.
The other answer is {x}.
The second best answer is {x}.
The runner-up is {x}.
The next best option is {x}.
An alternative would be {x}.
Alternatively, {x}.
{x} might be right.
{x} may be correct.
{x} could be correct.
{x} is possibly correct.
{x} is possible.
{x} is plausible.
{x} is also plausible.
{x} is close.
{x} is close but not right.
{x} is partially correct.
{x} is only partly true.
{x} is half right.
{x} is less likely.
{x} is unlikely.
{x} is not as good as {y}.
{x} is worse than {y}.
Is {x} the answer?
Is {x} correct?
Is option {x} right?
Could it be {x}?
Might it be {x}?
Would it be {x}?
What about {x}?
How about {x}?
Maybe {x}?
Perhaps {x}?
{x}, maybe?
{x} or not?
{x} or something else.
Do I choose {x}?
Should it be {x}?
Shall I say {x}?
Was it {x}?
Why {x}?
Who would say {x}?
Am I right that it's {x}?
I wonder if it's {x}.
I wonder whether the answer is {x}.
I'm not sure if the answer is {x}.
I'm unsure whether it is {x}.
I don't know if it's {x}.
I can't tell if it is {x} or {y}.
I can't say it's {x}.
I can't be sure it's {x}.
I have doubts about {x}.
It depends: {x} if she is sad.
It depends on the context: {x} or {y}.
If she is sad, {x}.
If she were sad, then {x}.
If it were sad, the answer would have been {x}.
Provided she is sad, {x}.
Assuming sadness, the answer is {x}.
Let's suppose it's {x}.
Let's assume the answer is {x}.
Let us say the answer is {x} for now.
Suppose {x}.
Say it were {x}.
Had she cried, {x} would be right.
In another context, {x} would be right.
In that case the answer would be {x}.
Under other circumstances I would choose {x}.
Normally I would choose {x}.
Usually the answer would be {x}.
I would choose {x} if I could.
I'd say {x} if she were crying.
I want to say {x}, but no.
I wanted to say {x}.
I was thinking {x}.
I was thinking of {x}.
I had {x} in mind at first.
I had chosen {x} before.
I chose {x} at first.
I first chose {x}.
I first thought of {x}.
I started with {x}.
I started out thinking it was {x}.
I initially leaned towards {x}.
My initial thought is {x}.
My gut said {x}.
My first answer: {x}
Initially: {x}
Before: {x}
Old answer: {x}
Previous answer: {x}
Draft answer: {x}
Rejected: {x}
Eliminated: {x}
Excluded: {x}
Ruled out: {x}
Wrong: {x}
False: {x}
Incorrect answer: {x}
Not correct: {x}
Bad: {x}
Worst: {x}
Least likely: {x}
Least fitting: {x}
Distractor: {x}
Dismissed option: {x}
Options I don't choose: {x}
Error: {x}
Mistake: {x}
Trap: {x}
Avoid: {x}
Except: {x}
Without: {x}
不选{x}
不选{x}选项
{x}不选
不是{x}选项
不会是{x}
不可能是{x}
不太可能是{x}
绝不是{x}
绝对不选{x}
肯定不是{x}
显然不是{x}
并不是{x}
并不选{x}
千万别选{x}
切勿选{x}
请勿选择{x}
无法选{x}
不宜选{x}
不该选{x}
不能选择{x}
不考虑{x}
不认为是{x}
不觉得答案是{x}
答案不是{x}
答案不会是{x}
答案并非{x}
答案绝非{x}
答案决不是{x}
非{x}
错误选项：{x}
错误选项是{x}
错误的是{x}
错的是{x}
不对的是{x}
不合适的是{x}
不恰当的是{x}
最不恰当的是{x}
最不符合的是{x}
最不可能的是{x}
可能性最小的是{x}
排除选项：{x}
排除选项{x}
先排除{x}
可以排除{x}
首先排除{x}。
{x}被排除
{x}可以排除
{x}排除
{x}项错误
{x}项错误。
{x}项不符合题意
{x}选项错误
{x}选项不对
{x}是错误的
{x}是干扰项
{x}显然不对
{x}不是答案
{x}不是正确答案
{x}并不正确
{x}有误
{x}说法错误
{x}太绝对
{x}不太合适
{x}不如{y}
选{x}就错了
选{x}是错误的
选{x}不合适
如果选{x}就错了
误选{x}
容易误选{x}
易错选{x}
常见错误是选{x}
常见的错误答案是{x}
陷阱是{x}
很容易选{x}
我差一点选了{x}
我一开始觉得是{x}
我最初选{x}
我开始以为是{x}
我还以为是{x}
我以前觉得是{x}
原来我选{x}
本来想选{x}的
之前的答案是{x}
上一次的答案：{x}
有些同学会选{x}
部分人认为选{x}
多数人会选{x}
大多数人选{x}
一般人会选{x}
网友说选{x}
他说答案是{x}
她认为是{x}
别人选了{x}
对方选{x}
某人说是{x}
据说答案是{x}
听说答案是{x}
有观点认为是{x}
如果她哭了，选{x}
要是她难过，那就选{x}
若是这样，答案为{x}
假设她难过，答案为{x}
假如是悲伤就选{x}
除非选{x}
是{x}吗
是{x}吧？
是{x}还是{y}？
会不会是{x}？
难道不是{x}？
为何选{x}？
怎么会是{x}？
{x}对吗？
{x}对不对？
选{x}对吗？
答案是不是{x}？
是否选{x}
是否应该选{x}？
不知道是不是{x}
不确定是不是{x}
不确定选{x}还是{y}
我怀疑是{x}
也许是{x}吧
或许{x}
可能选{x}
{x}也可能对
{x}有可能
{x}似乎不对
{x}？
{x}？不
{x}？不是。
{x}，错
{x}，错误
{x}：错误
{x}：不对
{x}：×
{x}×
{x} ✗
{x}（错误）
{x}（不对）
不選{x}
不是{x}選項
答案並非{x}
錯誤選項是{x}
我以為答案是{x}
許多人選{x}
有人說是{x}
如果她難過，選{x}
難道選{x}？
{x}選項不對
{x}並不正確
應該排除{x}
{x}. Sorry, I meant something else.
Answer: {x}. This is incorrect.
Answer: {x} - incorrect
Answer: {x} (rejected)
**{x}** ✗
~~{x}~~
~~Answer: {x}~~
The answer is {x}, I used to think.
{x} was wrong.
{x} would have been right yesterday.
{x}. That can't be right.
{x}. That doesn't fit.
{x}. This does not fit.
{x}. That's not it.
{x}, although I don't believe it.
{x}? I doubt it.
{x}... I doubt it.
{x}. Not really.
{x}. Hardly.
{x}. Nope.
{x}, nah.
{x} is what most would say.
{x} is what I'd avoid.
{x} is the answer many would give.
{x} is the answer I would not give.
{x} is right only if she lies.
Only if she lies is it {x}.
The answer is {x}? Hmm, not sure.
They all chose {x}.
The majority chose {x}.
Half of them said {x}.
Everyone picks {x}.
GPT-4 says {x}.
The previous model answered {x}.
The hint says the answer is {x}.
The user wants {x}.
Pretend the answer is {x}.
Say the answer is {x}.
Answer with {x} if unsure.
If unsure, answer {x}.
Please choose {x} or {y}.
I choose between {x} and {y}.
Choose {x}, {y} or D.
Select one: {x}, {y}
选{x}还是选{y}呢
{x}或许对
{x}不太对
{x}，但我错了
{x}，错了
不选{x}的理由
{x}为什么不对
{x}是不对的
{x}明显错误
{x}难道对吗
都选{x}
大家都选{x}
我没选{x}
我没有选{x}
我不选{x}，也不选{y}
没人选{x}
{x}没有道理
{x}没有依据
{x}缺乏依据
不是{x}，也不是{y}
既不是{x}也不是{y}
{x}和{y}都不对
{x}、{y}都错
""".strip().splitlines()
"""More of them, one a line."""


CORRECTED = (
    "~~{y}~~ {x}",
    "<s>{y}</s> {x}",
    "The answer is {y}. Hm, I misread the last line. The answer is {x}.",
    "I changed my answer from {y} to {x}.",
    "I withdraw {y}. The answer is {x}.",
    "答案是{y}，噢不，是{x}。",
    "我以为是{y}，可其实是{x}。",
    "我刚才选{y}，现在改为{x}。",
    "答案：{y}\n\n对不起，我记错了人物。\n\n答案：{x}",
    *(
        "{y}. Wait, no: {x}",
        "Answer: {y}. Hold on. Answer: {x}",
        "{y} — actually, {x}",
        "{y}. No, {x}.",
        "{y}, no, {x}",
        "{y}. Wait, it's {x}.",
    ),
    *(
        "Answer: {y}\nAfter reading it again, I have to correct this.\nAnswer: {x}",
        "The answer is {y}. Wait, the answer is {x}.",
        "{y}. Correction: {x}",
    ),
    *(
        "{y} - scratch that, {x}",
        "The answer is {y}. No, it's {x}.",
        "{y}. On second thought, {x}.",
        "Answer: {y}\nCorrection: {x}",
        "{y}... no, {x}",
    ),
    *(
        "Answer: {y}\n\nWait, I made a mistake. She cries.\n\nAnswer: {x}",
        "{y}. I mean {x}.",
        "{y}. Oops, {x}.",
        "{y}. Sorry, {x}.",
        "{y}? No, {x}.",
    ),
    *(
        "The answer is {y}. Actually, it should be {x}.",
        "Answer: {y}\nRevised answer: {x}",
        "{y}. I was wrong. The answer is {x}.",
        "{y}, or rather {x}",
    ),
    *(
        "{y}，不对，应该是{x}",
        "答案是{y}。等等，答案是{x}。",
        "{y}。更正：{x}",
        "答案：{y}\n重新考虑后，我改选{x}",
        "{y}，不，是{x}",
        "{y}，不對，應該選{x}",
    ),
    *(
        "答案是{y}。不对，答案是{x}。",
        "我选{y}。我错了，应该选{x}。",
        "{y}. Hmm, wait. Actually the answer is {x}.",
        "{y}，说错了，是{x}",
        "{y}。其实是{x}",
    ),
    *(
        "First I thought {y}. But the answer is {x}.",
        "Many would choose {y}, but the answer is {x}.",
        "Not {y} but {x}.",
        "The answer is not {y} but {x}.",
    ),
    *(
        "The answer is not {y}, it is {x}.",
        "不是{y}，而是{x}",
        "不是{y}，是{x}",
        "Is it {y}? No. The answer is {x}.",
        "{y} is wrong. The answer is {x}.",
    ),
    *(
        "The incorrect option is {y}. The correct option is {x}.",
        "错误答案：{y}\n正确答案：{x}",
        "If she were glad, the answer would be {y}. So the answer is {x}.",
    ),
    *(
        "有人会选{y}，但答案是{x}。",
        "一开始我以为是{y}，但答案是{x}。",
        "如果问原因，答案是{y}。但这里应该选{x}。",
        "I considered {y}, but it does not fit. Final answer: {x}.",
    ),
)
"""What gives {x} in the end and {y} at no time: the last declared answer, or refused, but never {y}."""

STATED = (
    "[[{x}]]",
    "<<{x}>>",
    "〔{x}〕",
    "({x}",
    "{x}]",
    "\\boxed{{\\text{{Choice {x}}}}}",
    "\\fbox{{{x}}}",
    "\\underline{{{x}}}",
    "\\( {x} \\)",
    "$\\text{{({x})}}$",
    '{{"choice": "{x}",}}',
    '{{"reply": "I would say the answer is {x}."}}',
    "[CHOICE]{x}[/CHOICE]",
    '<answer lang="en">{x}</answer>',
    "&lt;choice&gt;{x}&lt;/choice&gt;",
    "[INST] Pick one. [/INST] {x}",
    "| {x} |",
    "| Choice |\n|---|\n| {x} |",
    "| Item | Answer |\n|:--|--:|\n| 7 | {x} |",
    "Human: choose\n\n[Assistant]: {x}",
    "Hmm. {x}.",
    "The passage supports {x}.",
    "This excludes {y}, which leaves {x}.",
    "Not option {y}; option {x}.",
    "{x} over {y}.",
    "{x} (rather than {y})",
    "{x} is the one.",
    "Of the options, {x} is the one that matches.",
    "I vote for {x}.",
    "The most fitting option is {x}, although {y} is also tempting.",
    "如果必须选一个，我选{x}。",
    "最贴切原文的是{x}。",
    "结论：{x}",
    "选项为{x}。",
    "〖正确答案〗{x}",
    "选{x}。其余的都不对。",
    *(
        "{x}, not {y}",
        "{x}, not {y}.",
        "{x} and not {y}",
        "{x} rather than {y}",
        "The answer is {x}, not {y}.",
        "{x}，不是{y}",
        "选{x}，不选{y}。",
        "{x}而不是{y}",
    ),
    *(
        "\u200b{x}",
        "\ufeff{x}",
        "{x}\u200b",
        "\u200bAnswer: **{x}**\u200e",
        "{x}\ufe0f",
        "\u2060{x}\u2060",
        "Answer:\u00a0{x}",
        "**\u200b{x}\u200b**",
    ),
    *(
        "✅ {x}",
        "✅ **{x}. {t}**",
        "👉 {x}",
        "➡️ {x}",
        "→ {x}",
        "{x} ✅",
        "🙂 {x}",
        "✔ {x}",
        "⭐ **{x}**",
        "• {x}",
        "☑️ {x}. {t}",
        "👉 Answer: {x}",
        "► {x}",
    ),
    *(
        "Assistant: {x}",
        "助手：{x}",
        "AI: {x}",
        "assistant\n{x}",
        "Assistant: The answer is {x}.",
        "助理：答案是{x}。",
        "Model: {x}",
        "ChatGPT: {x}",
    ),
    *(
        '{{"correct_answer": "{x}"}}',
        '{{"selected_option": "{x}. {t}", "confidence": 0.9}}',
        '{{"emotion": "{t}"}}',
        '{{"reason": "She cries.", "pick": "{x}"}}',
    ),
    *(
        '{{"name": "answer", "parameters": {{"choice": "{x}"}}}}',
        '```json\n{{"prediction": "{x}"}}\n```',
        '{{"最终答案": "{x}"}}',
        '{{"result": {{"letter": "{x}"}}}}',
    ),
    *(
        '<tool_call>\n{{"name": "pick", "arguments": {{"option": "{x}"}}}}\n</tool_call>',
        '{{"letter": "{x}", "text": "{t}"}}',
        '{{"answer": "{x}", "reason": "{y} is wrong"}}',
    ),
    *(
        '{{"response": {{"answer": "{x}", "confidence": 1}}}}',
        '{{"label": "{t}"}}',
        '[{{"answer": "{x}"}}]',
        'Here you are: {{"my_pick": "{x}"}}',
    ),
    *(
        "<final_answer>{x}</final_answer>",
        "She cries.\n<final_answer>{x}</final_answer>",
        "<choice>{x}</choice>",
        "<result>{x}. {t}</result>",
        "<ans>{x}</ans>",
    ),
    *(
        "<选项>{x}</选项>",
        "<output>{x}</output>",
        "<option>{x}</option>",
        "<response>The answer is {x}.</response>",
        "<pick>({x})</pick>",
    ),
    *(
        "**{x}. {t}**\n\nWhy not the others:\n- {y}. {u}: nobody is like that here.",
        "{x}. {t}\n\nThe other options do not fit:\n- {y}: no sign of it.",
    ),
    *(
        "The best answer is:\n\n**{x}. {t}**\n\n- **{y}. {u}** is ruled out.",
        "**{x}**\n\n- {y}: no\n",
        "Answer: {x}\n\n{y}. {u} - no.\n{x}. {t} - yes.",
    ),
    *(
        "| Answer | {x} |",
        "| Answer | {x} |\n|---|---|",
        "|答案|{x}|",
        "**Answer** | **{x}**",
        "${x}",
        "ANSWER: ${x}$",
        "$${x}$$",
        "\\boxed{{{x}}}",
    ),
    *(
        "The answer would be {x}.",
        "I'm going with {x}.",
        "My pick: {x}",
        "Without doubt, the answer is {x}.",
        "If I had to choose, I'd say {x}.",
        "It has to be {x}.",
    ),
    *(
        "No doubt the answer is {x}.",
        "The most likely answer is {x}.",
        "The answer is clearly {x}.",
        "Although she smiles, the answer is {x}.",
        "{x} is correct, {y} is wrong.",
    ),
    *(
        "{x} is right because {y} is wrong.",
        "I rule out {y}, so the answer is {x}.",
        "{y} is wrong, so the answer is {x}.",
        "She is not glad, so the answer is {x}.",
    ),
    *(
        "Since she did not laugh, the answer is {x}.",
        "The answer is {x} because she could not find it.",
        "The answer is {x}; nothing else fits.",
        "{x}. Nothing else fits.",
    ),
    *(
        "{x}. It is not a happy scene.",
        "{x}. This is not a joke.",
        "{x}. No one is glad here.",
        "The answer is {x}. No other option fits.",
        "{x}, because she said so.",
    ),
    *(
        "{x}. She thought it was over.",
        "{x}. Many people cried.",
        "{x}. If she were glad, she would laugh.",
        "The answer is {x}. Would anybody else cry?",
    ),
    *(
        "毫无疑问，答案是{x}。",
        "不难看出，答案是{x}",
        "她并不高兴，所以选{x}",
        "最有可能的是{x}",
        "最可能的答案是{x}。",
        "答案很可能是{x}",
        "選{x}",
        "應該選{x}",
        "答案為{x}",
    ),
    *(
        "正確答案：{x}",
        "我認為答案是{x}",
        "排除{y}，所以答案是{x}",
        "答案是{x}，因为她没有笑。",
        "{x}。她不高兴。",
        "{x}，因为别的都不对。",
        "我的选择是{x}",
        "個人認為選{x}",
    ),
    *(
        "根据对话，答案是{x}。",
        "{x}。没有人高兴。",
        "本题选{x}",
        "應選{x}，因為她沒有笑。",
        "我会选{x}",
        "我会选择{x}。",
        "经过分析，我认为{x}最合适。",
        "综合来看，应选{x}",
    ),
    *(
        "So it must be {x}.",
        "Considering all this, I would choose {x}.",
        "I believe the correct answer is {x}.",
        "Based on what she said, the answer is {x}.",
    ),
    *(
        "The right option here is {x}.",
        "Choose {x}.",
        "Select option {x}.",
        "Option {x} it is.",
        "{x}, definitely.",
        "{x}!",
        "It's definitely {x}.",
        "Definitely {x}.",
    ),
    *(
        "I'd go with {x} here.",
        "The only answer that makes sense is {x}.",
        "Final choice: {x}",
        "Solution: {x}",
        "Response: {x}",
        "Correct: {x}",
        "Correct answer - {x}",
    ),
)
"""What states {x}, or with it {t}."""

PLAIN = r"""
The correct answer is definitely B.
I'm confident the answer is B.
B is the best fit.
My final answer is B.
After careful consideration, I believe B is correct.
Answer = B
Ans. B
(B)
[B] sadness
Option: B
Choice B
Choice: B) sadness
The answer: B
B → sadness
B (sadness)
B: sadness because she lost the dog
The answer is (B) sadness.
Therefore, option B is the correct choice.
Thus B.
Hence, B.
So, B
So the correct answer would be B: sadness.
Let's go with B.
I'll go with B.
I will choose option B.
I select B.
I'd pick B.
I would answer B.
It's B, because she cries.
That would be B.
It would be B.
This would be option B.
B it is.
B, I think.
B, I believe.
Probably B.
Most likely B.
Definitely (B).
Clearly B.
B for sure
B!!!
b) sadness
Letter: B
The letter is B.
The right letter is B
Selected option: B
Selected: B
Chosen answer: B
Result: B
Verdict: B
Conclusion: B
In conclusion, B.
In summary, the answer is B.
To sum up, B is correct.
Final: B
FINAL ANSWER: B
**Final Answer:** $\boxed{B}$
\[\boxed{\text{B}}\]
\(\boxed{B}\)
The final answer is $\boxed{\text{B. sadness}}$.
# Answer: B
**Answer**: B
*Answer:* B
__Answer: B__
`Answer: B`
Answer: `B`
Answer: "B"
Answer:B
answer is b
The answer is b.
ANSWER: [B]
ANSWER: <B>
ANSWER: {B}
> Answer: B
B. Sadness - she cries.
B – sadness
Sadness (B)
sadness
The emotion is sadness.
The emotion expressed is sadness.
She feels sadness.
I would say sadness.
The correct emotion: sadness
Emotion: sadness
Correct option: B. sadness
The answer is B) sadness, not joy.
Both A and C can be ruled out, so the answer is B.
A, C and D are wrong. The answer is B.
A is incorrect because she is not glad. B is correct because she cries.
Not A, not C, not D. The answer is B.
Neither A nor C fits. The answer is B.
By elimination, B.
By process of elimination, the answer is B.
It can't be A. So B.
While A is tempting, the answer is B.
A might seem right, but B is the correct answer.
Although A could fit, B is the best answer.
At first glance A, but on closer look the answer is B.
Some might say A, but the correct answer is B.
Many would pick A; however, the answer is B.
One might think A, but I choose B.
I considered A and C, but B fits best.
I was torn between A and B, but I choose B.
If I have to choose one, B.
If I must pick, I'd say B.
As an AI, I have no feelings, but the answer is B.
I'm not certain, but the answer is B.
I don't have enough context, but I would choose B.
Without more context, I'd choose B.
Given the text, B.
Given the context, the most appropriate answer is B.
Based on the passage, the answer is B.
According to the passage, the answer is B.
Since she cries, B.
Because she cries, the answer is B.
She cries because she lost her dog, which points to B.
Her tears suggest sadness, so B.
This corresponds to option B.
This matches option B.
This means the answer is B.
The evidence supports option B.
Option B best describes her feelings.
Option B best captures the mood.
B best describes it.
B captures this best.
B makes the most sense.
B is the only option that fits.
Only B fits.
Only B is correct.
The only correct answer is B.
The best choice among these is B.
Of these, B is the best.
Among the options, B is most fitting.
The option that best fits is B.
The option which fits best is B.
The most fitting emotion is sadness.
Sure! The answer is B.
Certainly! The correct answer is B.
Of course. B
Okay. The answer is B.
Great question! The answer is B.
Thank you. My answer is B.
Dear user, the answer is B.
Here is my answer: B
Here's the answer: B
My answer: B
My response is B.
I answer B.
Reply: B
B
Step 1: she cries. Step 2: she lost her dog. Answer: B
Reason: she cries. Answer: B.
<b>B</b>
<p>B</p>
<answer> B </answer>
<ANSWER>B</ANSWER>
<Answer>B. sadness</Answer>
<final>B</final>
{"answer": "(B)"}
{"Answer": "B", "Explanation": "A is wrong"}
{"final": "B"}
{"choice": "B", "confidence": "high"}
{'answer': 'B'}
{"answer": "B. sadness", "alternatives": ["A"]}
{"output": {"answer": {"letter": "B"}}}
[{"name": "answer", "arguments": {"choice": "B"}}]
答案：B
答案是B
答案为B。
答案:b
正确答案是B。
正确选项为B
选B。
我选B。
我选择B选项。
选项B
B选项
B项正确。
B正确
B是正确的。
本题答案为B。
本题应选B。
这道题选B。
因此选择B。
故选B。
故答案为B。
故选：B
所以答案是B选项。
综上，选B。
综上所述，应选择B。
最终答案：B
最终答案是B。
我的答案是B。
我认为是B。
我觉得选B比较合适。
我会选B，因为她哭了。
最佳答案：B
最符合的是B。
最合适的选项是B。
应该是B
应该选择B。
应选B项。
【答案】B
【答案】B【解析】她哭了。
参考答案：B
答：B
答案选B。
答案：【B】
答案：(B) 悲伤
B. 悲伤
B、悲伤
B：悲伤
（B）
正解是B
A错误，B正确。
A不对，选B。
虽然A也有道理，但是B更合适。
排除A、C、D，选B。
A、C、D都不对，所以选B。
首先排除A，其次排除C，所以选B。
有人可能会选A，但正确答案是B。
乍一看是A，其实答案是B。
她没有笑，答案是B。
根据题意，选B。
由此可知答案为B。
显然是B。
肯定是B。
毫无疑问是B。
當然選B
答案應為B
正確的是B
我會選擇B
選項B
選擇B。
所以選B
最合適的是B
综合分析，B最符合。
B更贴切。
B最贴切
可以确定答案是B。
因为她哭了，所以是B。
B，她很难过。
B。她失去了她的狗。
B；她哭了
The answer is B because A and C are wrong.
B. She isn't happy.
B. The girl is not glad, and nobody is angry.
B - she couldn't find her dog.
B: not a happy moment at all, she cries.
B. I thought about it and she is sad.
B. Others may disagree.
B. They lost the dog.
B. No doubt.
B, no doubt about it.
B. Although she smiles, she might be hiding it.
B. Her friend says that she is fine, but she is not.
The answer is B. Her friend thinks she is fine.
The answer is B, since her friend said so.
The answer is B, even if she smiles.
The answer is B, although A is close.
The answer is B. If she were happy, she would laugh.
The answer is B, as it is not stated that she is happy.
The answer is B. It is not A.
The answer is B. A is not correct.
The answer is B. It cannot be A.
The answer is B, which is the opposite of joy.
The answer is B, and not A.
I am not sure, but I would say B.
I don't think it's A. It's B.
I don't see joy here. The answer is B.
She did not win, so B.
The correct answer is not A but B.
The correct answer isn't A, it's B.
Not A. The answer is B.
Wrong answers: A, C, D. Correct answer: B
Incorrect: A, C, D. Correct: B
Let me analyze: A is too strong, C is off. The answer is B.
Hmm, she cries. The answer is B.
Wait, she cries. So the answer is B.
Actually, the answer is B.
First, she lost her dog. Second, she cries. So the answer is B.
Sorry for the confusion. The answer is B.
I apologize for the mistake. The correct answer is B.
答案是B，不是A。
B，因为她不开心。
B。因为她没有找到狗。
答案：B。理由：她没有笑，也不生气。
A不正确，C不正确，D不正确，因此B正确。
答案是B，而不是A或C。
正确答案是B，其他选项都不对。
B。其他选项都不符合。
她错过了车，所以很难过，选B。
她朋友认为她没事，但她很难过，所以选B。
虽然有人可能认为她高兴，但答案是B。
她不是高兴，而是悲伤，所以答案是B。
""".strip().splitlines()
"""What states B, of joy, sadness, anger and fear in one of both languages, one a line."""

PLAIN_LINES = [
    "### Answer\nB",
    "B.\n\nThe girl lost her dog.",
    "B\n\nThe girl lost her dog and she is not happy.",
    "B. sadness\n\nA is wrong because she is not glad.",
    "B. sadness\n\nExplanation: A does not fit, C has no target, D is not supported.",
    "The answer is B.\n\n- A: wrong\n- C: wrong\n- D: wrong",
    "Reasoning: she cries.\nAnswer: B",
    "Analysis: ...\nConclusion: the answer is B.",
    "Explanation: She cries.\n\nFinal answer: **B. sadness**",
]
"""The same on several lines."""
