"""What the shop sells, and what people write about each thing."""

from typing import NamedTuple


class Goods(NamedTuple):
    """One thing that the shop sells, with words that fit it.

    ``faults`` and ``merits`` follow "it", ``queries`` follow "does it", ``fear`` follows "it would
    be"; ``boast`` is what the shop's page says of it.
    """

    name: str
    faults: tuple[str, ...]
    merits: tuple[str, ...]
    queries: tuple[str, ...]
    fear: str
    boast: str


GOODS = (
    Goods(
        "kettle",
        ("leaks from the base", "takes ten minutes to boil", "switches itself off at random"),
        ("wakes nobody up", "pours without a drip", "looks lovely on the counter"),
        ("switch off when it is empty", "come with a filter", "work on 110 volts"),
        "flimsy",
        "built to last",
    ),
    Goods(
        "desk lamp",
        ("flickers at every brightness", "gets too hot to touch", "does not hold its position"),
        ("gives a warm, even light", "switches on at a touch", "fits a tiny desk"),
        ("take an ordinary bulb", "have a clamp", "dim without an app"),
        "too dim",
        "steady light for years",
    ),
    Goods(
        "rucksack",
        ("comes apart at the shoulder strap", "lets the rain in", "smells of glue"),
        ("carries a week of shopping", "has a pocket for everything", "sits well on the back"),
        ("fit under an aircraft seat", "have a sleeve for a laptop", "go in the washing machine"),
        "uncomfortable",
        "ready for any weather",
    ),
    Goods(
        "coffee grinder",
        ("jams on every second bean", "grinds nothing but dust", "trips the fuse"),
        ("grinds in seconds", "is quieter than I dared to hope", "is easy to clean"),
        ("grind fine enough for espresso", "come apart for cleaning", "take 60 grams at once"),
        "loud",
        "whisper quiet",
    ),
    Goods(
        "office chair",
        ("sinks whenever I sit down", "squeaks at every move", "is missing two of its bolts"),
        ("saved my back", "went together in ten minutes", "is comfortable for a whole day"),
        ("go high enough for a tall person", "come assembled", "have soft castors"),
        "wobbly",
        "made for long days",
    ),
    Goods(
        "bread knife",
        ("bends when it meets a crust", "has a loose handle", "has a chip in the blade"),
        ("goes through crust like butter", "is a pleasure to look at", "slices without crumbs"),
        ("come with a sheath", "suit a left-handed person", "go in the dishwasher"),
        "blunt",
        "sharp for a lifetime",
    ),
    Goods(
        "radio",
        ("loses the station every few minutes", "hums all the time", "will not charge"),
        ("sounds far bigger than it is", "sits on any shelf", "is simple to tune"),
        ("receive DAB in Ireland", "play from a phone", "remember the stations"),
        "tinny",
        "crystal-clear sound",
    ),
    Goods(
        "duvet",
        ("sheds feathers everywhere", "has bunched up at one end", "smells musty after airing"),
        ("is warm and weighs nothing", "washed like new", "gave us the best sleep in months"),
        ("suit somebody with allergies", "come in a king size", "dry in a tumble dryer"),
        "scratchy",
        "cloud-like comfort",
    ),
    Goods(
        "bike light",
        (
            "falls off its bracket on any bump",
            "dies after half an hour",
            "charges only if I hold the cable",
        ),
        ("lights up the whole lane", "survived a winter of commuting", "clips on in a second"),
        ("fit a thick handlebar", "charge by USB-C", "have a flashing mode"),
        "too weak",
        "brighter than daylight",
    ),
    Goods(
        "frying pan",
        ("sticks although I follow the booklet", "has warped on the hob", "flakes into the food"),
        ("makes perfect pancakes", "heats evenly", "fits our small hob"),
        ("work on induction", "go in the oven", "have a matching lid"),
        "too heavy",
        "nothing ever sticks",
    ),
    Goods(
        "garden hose",
        ("splits at the connector", "kinks every metre", "sprays more at me than at the plants"),
        ("reaches every corner", "rolls up by itself", "is light to carry"),
        ("come with a nozzle", "fit a half-inch tap", "stay flexible in frost"),
        "stiff",
        "kink-free for good",
    ),
    Goods(
        "wall clock",
        ("loses ten minutes a day", "ticks loud enough to wake us", "has a cracked glass"),
        ("reads well from afar", "hangs level on one nail", "suits the kitchen perfectly"),
        ("run on one battery", "come in white", "set itself by radio"),
        "noisy",
        "precision you can trust",
    ),
)

NAMES = (
    *("Amara", "Ben", "Chiara", "Dilip", "Elif", "Femi", "Greta", "Hassan", "Ines", "Jonas"),
    *("Kirsty", "Leo", "Mina", "Noor", "Oskar", "Priya", "Rosa", "Sam", "Tomasz", "Yuki"),
)
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "the 3rd", "the 12th")
PLACES = ("kitchen", "office", "flat", "caravan", "studio", "workshop")
PEOPLE = ("my mother", "my neighbour", "my daughter", "a friend", "my partner", "a colleague")
SPANS = ("two days", "a week", "ten days", "three weeks", "a month")
