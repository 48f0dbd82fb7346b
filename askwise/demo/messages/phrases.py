"""What people write, by what it is and how it is put.

A pattern names what it takes: ``{thing}`` is the name of the goods, ``{fault}``, ``{merit}``,
``{query}``, ``{fear}`` and ``{Boast}`` are of it, ``{day}``, ``{place}``, ``{who}`` and ``{span}``
are drawn. A slot that begins a sentence has a capital.
"""

from typing import NamedTuple


class Manner(NamedTuple):
    """A way to put something: what it is, what it may be taken for, how common it is."""

    truth: str
    mistaken_for: str
    weight: int
    patterns: tuple[str, ...]


MANNERS: dict[str, Manner] = {
    "plain complaint": Manner(
        "complaint",
        "question",
        28,
        (
            "The {thing} I bought on {day} {fault}. I want my money back.",
            "My {thing} {fault}. This is not good enough.",
            "Very disappointed: the {thing} {fault} after {span}.",
            "I was charged twice for the {thing}. Please put that right.",
            "The parcel with the {thing} has been out for delivery since {day}. Nobody answers.",
            "You sent a {thing} in the wrong colour, and now nobody picks it up.",
            "It {fault}. For this price I expected more of a {thing}.",
            "Third message about the same {thing}. It still {fault}.",
            "The {thing} {fault}, so I sent it back on {day}. The refund has not come.",
            "Half of the order is missing. There was no {thing} in the box.",
        ),
    ),
    "polite complaint": Manner(
        "complaint",
        "praise",
        6,
        (
            "Your team has always been lovely, so I am sure this is an oversight: the {thing} "
            "{fault}.",
            "I hate to bother such a friendly shop. It is just that the {thing} {fault}.",
            "Thank you for the quick delivery of the {thing}. Sadly it {fault}, and I would be "
            "grateful for another one.",
            "Many thanks for your kind help so far. The replacement {thing}, I am afraid, {fault} "
            "as well.",
            "I appreciate all that you do. Could somebody look at my {thing}, which {fault}?",
            "No rush at all, and thank you in advance. My {thing} has not arrived in {span}.",
        ),
    ),
    "sarcastic complaint": Manner(
        "complaint",
        "praise",
        7,
        (
            "Great, a {thing} that {fault}. Just what I needed.",
            "'{Boast}', your page says. Mine lasted a whole {span_word}. Bravo.",
            "What a wonderful {thing}. It {fault}, but at least the box was pretty.",
            "Love how the {thing} {fault}. Really adds some excitement to the {place}.",
            "Well done. {Span} to deliver a {thing} from one town away. A new record.",
            "Congratulations on your support line: {span} of music, and the {thing} still "
            "{fault}. Lovely music, though.",
            "Five stars for the {thing} if you collect paperweights. It {fault}.",
        ),
    ),
    "complaint put as a question": Manner(
        "complaint",
        "question",
        6,
        (
            "Is it normal that a new {thing} {fault}?",
            "Why do I have to wait {span} for an answer about a {thing} that {fault}?",
            "Does anybody at your end test things? My {thing} {fault}.",
            "How can you sell a {thing} that {fault}?",
            "When will I get the money for the {thing} that I sent back on {day}?",
            "Can you explain to me why the {thing} {fault} after {span}?",
            "Where is my {thing}? It was due on {day}.",
        ),
    ),
    "complaint after praise": Manner(
        "complaint",
        "praise",
        5,
        (
            "The {thing} {merit}, but it {fault}. I would like to send it back.",
            "I loved the first {thing} that I had from you. This one {fault}.",
            "Nice colour, good packaging, and it {merit}. Unfortunately it also {fault}.",
            "{Who} adores the {thing}. I would too, if it had not cost me {span} of phone calls "
            "to get it.",
            "It {merit}, I give you that. It also {fault}, and that is why I want a refund.",
        ),
    ),
    "plain question": Manner(
        "question",
        "complaint",
        28,
        (
            "Does the {thing} {query}?",
            "Before I order: does the {thing} {query}?",
            "How long does delivery of the {thing} to {land} take?",
            "Which {thing} would you take for a small {place}?",
            "Is the {thing} back in stock before {day}?",
            "Can I pay for the {thing} in three parts?",
            "What is the difference between the two sizes of the {thing}?",
            "Do you wrap the {thing} as a gift? It is for {who}.",
            "How do I look after the {thing}? The booklet is in a language that I can't read.",
            "Until when can I change the address for my {thing}?",
        ),
    ),
    "worried question": Manner(
        "question",
        "complaint",
        6,
        (
            "If the {thing} ever breaks, who pays for the repair? Mine is fine, I only want to "
            "know.",
            "A review says that the {thing} {fault}. Is that true of the present model?",
            "I have not bought it yet. What happens if the {thing} arrives damaged?",
            "My old one, from another shop, was a disaster. Does your {thing} {query}?",
            "I am afraid of ordering the wrong size. Does the {thing} {query}?",
            "What would I do if the {thing} had a fault after {span}? Does the warranty cover it?",
        ),
    ),
    "warm question": Manner(
        "question",
        "praise",
        6,
        (
            "I love the look of the {thing}! Does it {query}?",
            "{Who} is delighted with hers, so now I want one. Does the {thing} {query}?",
            "Your shop is great. Does the {thing} {query}?",
            "My {thing} {merit}. Is there a bigger one?",
            "Best {thing} I have ever had. Where can I get a second one as a gift?",
            "So happy with the {thing}. Quick one: does it {query}?",
        ),
    ),
    "question without a mark": Manner(
        "question",
        "complaint",
        5,
        (
            "Please tell me whether the {thing} can be collected in the shop.",
            "I would like to know if you also sell spare parts for the {thing}.",
            "I can't find out on your page what the {thing} weighs.",
            "Wondering about the {thing} for {who}. Some advice on sizes would help.",
            "I need to know by {day} if the {thing} can be delivered to {land}.",
            "Could somebody let me know how the {thing} is cleaned. Thanks.",
        ),
    ),
    "plain praise": Manner(
        "praise",
        "question",
        26,
        (
            "The {thing} {merit}. Very happy with it.",
            "Just to say that the {thing} is excellent. It {merit}.",
            "Fast delivery, and the {thing} {merit}. Thank you!",
            "Bought the {thing} for {who} on {day}: perfect gift.",
            "Had the {thing} for {span} now and I love it.",
            "I have recommended the {thing} to {who} already. It {merit}.",
            "Wonderful service. The {thing} came a day early.",
            "The {thing} does what it says: it {merit}.",
            "Best thing in my {place}: this {thing}. It {merit}.",
        ),
    ),
    "relieved praise": Manner(
        "praise",
        "complaint",
        6,
        (
            "I was afraid that the {thing} would be {fear}. It is not at all.",
            "No complaints whatsoever. The {thing} {merit}.",
            "After two bad ones from elsewhere, finally a {thing} that {merit}.",
            "Reviews called the {thing} {fear}. Nonsense: it {merit}.",
            "I wanted to hate the {thing} for its price. I can't. It {merit}.",
            "Never had a problem with the {thing} in {span} of hard use.",
        ),
    ),
    "praise for a repair": Manner(
        "praise",
        "complaint",
        5,
        (
            "My first {thing} was broken. You replaced it within two days, and the new one "
            "{merit}. That is how it should be.",
            "The {thing} got lost in the post, and your colleague sorted it out in one call. "
            "Impressive.",
            "I had complained on {day} that the {thing} {fault}. The repaired one {merit}. "
            "Thank you for taking it seriously.",
            "You refunded the {thing} before I had even posted it back. I will be back for more.",
        ),
    ),
    "praise in jest": Manner(
        "praise",
        "complaint",
        5,
        (
            "My only complaint about the {thing}: I did not buy two.",
            "Warning: {who} will steal your {thing}. It {merit}.",
            "Why did I wait {span} to buy this {thing}? It {merit}!",
            "Terrible news for the competition: the {thing} {merit}.",
            "The {thing} has one fault: there is no reason left to buy another one.",
            "Who needs an expensive brand? This {thing} {merit}.",
        ),
    ),
}

LANDS = ("Norway", "Portugal", "the islands", "Northern Ireland", "Malta", "Switzerland")

OPENINGS = ("Hi!", "Hello.", "Hi there!", "Good morning.", "Hello again.", "Dear team!")
CLOSINGS = ("Thanks, {name}", "Best, {name}", "Regards, {name}", "{name}", "Thank you, {name}")
REMARKS = (
    "Sorry for typos, I am on my phone.",
    "I have been a customer for years.",
    "{Who} told me about your shop.",
    "I also wrote to you on your page.",
    "This is my first message to you.",
)
