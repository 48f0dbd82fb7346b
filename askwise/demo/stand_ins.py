"""Four judges that stand in for models: rules that read a message, behind a local endpoint.

No model is called. What a stand-in says follows from the text alone, by rules that go wrong where
hasty or careful readers do: the two of a family share their words and so err together. A small
share of replies, told by a digest of the text, is a slip, a refusal or no answer at all, as with
models.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from askwise.demo.luck import luck
from askwise.demo.messages import OPTIONS
from askwise.testing.chat_server import Asked, ChatServer, Scripted

COMPLAINT, QUESTION, PRAISE = OPTIONS

REED_GLAD = re.compile(
    r"\b(love|loved|lovely|great|happy|excellent|perfect|perfectly|wonderful|best|nice|good|thank|"
    r"thanks|delighted|friendly|kind|recommended|impressive|easy|warm|comfortable|adores|bravo)\b"
)
REED_SORRY = re.compile(
    r"\b(not|never|wrong|broken|missing|disappointed|refund|complaint|complained|fault|bad|hate|"
    r"terrible|lost|damaged|afraid|disaster|unfortunately|sadly|charged|money back|problem)\b"
)
REED_DENIED = re.compile(r"(not at all|no complaints|never had a problem|only complaint|no reason)")
REED_MINDS = re.compile(
    r"(is it normal|how can you|why do i have to|where is my|when will i get|nobody|paperweights|"
    r"congratulations|want a refund|send it back)"
)
REED_AT_PEACE = re.compile(
    r"(mine is fine|not bought it|the repaired one|you refunded|in one call)"
)
OAK_GLAD = re.compile(
    r"\b(love|great|happy|excellent|perfect|wonderful|best|thank you|delighted|adores|lovely|"
    r"recommended|impressive|early|star|stars|saved|pleasure|sorted)\b"
)
OAK_SORRY = re.compile(
    r"\b(leaks?|flickers?|jams?|squeaks?|sticks|warped|hums|sheds|splits|kinks|falls off|dies|"
    r"loses|smells|missing|wrong|charged|refund|money back|nobody|not come|not arrived|sinks|"
    r"loose|chip|bends|cracked|trips|disappointed|third message|too hot|ten minutes to|"
    r"bunched|lets the rain|comes apart|does not hold|switches itself off|will not charge|"
    r"nothing but dust|ticks loud|flakes|sprays|charges only)\b"
)
OAK_SUPPOSED = re.compile(
    r"\b(if the|before i order|have not bought|a review says|what would|reviews called|would be|"
    r"only want to know|from another shop|afraid of)\b"
)
OAK_MENDED = re.compile(r"\b(replaced it|sorted it out)\b")
OAK_MOCKED = re.compile(r"(just what i needed|at least the box|lovely music)")
WISHES = re.compile(r"\b(tell me whether|like to know|find out|advice|need to know|let me know)\b")


def reed_small(text: str) -> str:
    """Count glad and sorry words; a message that ends with a question asks."""
    glad, sorry = len(REED_GLAD.findall(text)), len(REED_SORRY.findall(text))
    if last_sentence(text).endswith("?"):
        return QUESTION
    if glad == sorry:
        return COMPLAINT if "?" not in text else QUESTION
    return PRAISE if glad > sorry else COMPLAINT


def reed_large(text: str) -> str:
    """The same words, but denials are denials, and a "but" drops what came before it."""
    if REED_MINDS.search(text):
        return COMPLAINT
    for turn in (" but ", "unfortunately", "sadly", "it is just that"):
        before, found, after = text.partition(turn)
        text = found + after if found else before
    denied = len(REED_DENIED.findall(text))
    glad = len(REED_GLAD.findall(text)) + 2 * denied
    sorry = len(REED_SORRY.findall(text)) - denied
    at_peace = REED_AT_PEACE.search(text) is not None
    if "?" in text:
        return COMPLAINT if sorry > glad and not at_peace else QUESTION
    if WISHES.search(text):
        return QUESTION
    return PRAISE if glad > sorry or at_peace else COMPLAINT


def oak_small(text: str) -> str:
    """A question mark is a question; otherwise the first sentence sets the tone."""
    if "?" in text:
        return QUESTION
    first = re.split(r"[.!:]\s", text, maxsplit=1)[0]
    if OAK_GLAD.search(first):
        return PRAISE
    if OAK_SORRY.search(first):
        return COMPLAINT
    return PRAISE if OAK_GLAD.search(text) else COMPLAINT


def oak_large(text: str) -> str:
    """Faults that are meant, not supposed or mended; then mockery, questions and praise."""
    fault, supposed = OAK_SORRY.search(text), OAK_SUPPOSED.search(text)
    if OAK_MENDED.search(text):
        return PRAISE
    if OAK_MOCKED.search(text) or (fault and not supposed):
        return COMPLAINT
    if "?" in text or WISHES.search(text):
        return QUESTION
    return PRAISE if OAK_GLAD.search(text) or not fault else COMPLAINT


@dataclass(frozen=True)
class StandIn:
    """A judge that is a rule, sold like a model.

    Attributes
    ----------
    id, family : str
        The worker, and who errs with them.
    rule : callable
        What it says of a text in lower case.
    price : dict
        What its tokens cost, as in a file of judges.
    slips : float
        The share of texts on which it says something else than its rule.
    failures : float
        The share of texts on which it refuses, and again that on which it gives no option.
    seconds : float
        How long it takes.
    """

    id: str
    family: str
    rule: Callable[[str], str]
    price: dict[str, str]
    slips: float
    failures: float
    seconds: float = 0.0

    def reply(self, asked: Asked) -> Scripted:
        """What the endpoint sends back."""
        return replace(self.verdict(asked.item), latency=self.seconds)

    def verdict(self, text: str) -> Scripted:
        """What it makes of a text."""
        chance = luck(self.id, text)
        if chance < self.failures:
            return Scripted(refusal="I can't help with that.")
        if chance < 2 * self.failures:
            return Scripted("It could be several of these.", plain=True)
        said = self.rule(text.lower())
        if chance > 1.0 - self.slips:
            others = [option for option in OPTIONS if option != said]
            said = others[int(luck(self.id, "slip", text) * len(others))]
        return Scripted(said)


STAND_INS = (
    StandIn("reed-small", "reed", reed_small, {"input": "0.10", "output": "0.40"}, 0.04, 0.01),
    StandIn("oak-small", "oak", oak_small, {"input": "0.15", "output": "0.60"}, 0.04, 0.01),
    StandIn("reed-large", "reed", reed_large, {"input": "1.20", "output": "4.80"}, 0.03, 0.005),
    StandIn("oak-large", "oak", oak_large, {"input": "2.50", "output": "10"}, 0.03, 0.005),
)
"""From the cheapest to the most expensive. A price is for a million tokens."""


@contextmanager
def serving(stand_ins: tuple[StandIn, ...] = STAND_INS) -> Iterator[dict[str, ChatServer]]:
    """Serve each at an address of its own on this machine; they keep their bills."""
    with ExitStack() as stack:
        yield {
            each.id: stack.enter_context(ChatServer({each.id: each.reply}, price=each.price))
            for each in stand_ins
        }


def judges_file(servers: dict[str, ChatServer], timeout: float = 60.0) -> str:
    """The file of judges that names the stand-ins, as one would name models of a provider."""
    tables = [
        "# Four rules that stand in for models, served on this machine while the demonstration ran."
    ]
    for each in STAND_INS:
        if each.id in servers:
            tables.append(
                f'[[judge]]\nid = "{each.id}"\nfamily = "{each.family}"\nmodel = "{each.id}"\n'
                f'base_url = "{servers[each.id].url}"\ntimeout = {timeout:g}\n'
                f'price = {{input = "{each.price["input"]}", output = "{each.price["output"]}"}}'
            )
    return "\n\n".join(tables) + "\n"


def last_sentence(text: str) -> str:
    """Without a name at the end."""
    return re.sub(r"(?<=[.?!])\s*(thanks|best|regards|thank you)?,? ?\w+$", "", text.strip())
