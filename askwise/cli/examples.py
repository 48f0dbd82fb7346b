"""An example or more for each command, shown at the end of its help and in the reference.

Those that need neither a service nor a person are run by a test, on files and campaigns of these
names; all of them are parsed.
"""

EXAMPLES: dict[str, tuple[str, ...]] = {
    "": (
        "askwise demo",
        'askwise new reviews.csv --question "Is it good?" --options yes,no --people ann,ben',
        "askwise doctor",
    ),
    "label": (
        'askwise label items.csv --question "Is it spam?" --options spam,ham --judges judges.toml '
        "--budget 5",
        "askwise label --resume --yes",
    ),
    "init": ("askwise init --dir job",),
    "plan": (
        "askwise plan workers.csv --tasks 20 --target-error 0.1 --policy random-pairs --runs 10",
        "askwise plan --crowds crowds.toml --options 2 --questions 100 --runs 200",
    ),
    "new": (
        "askwise new cats.toml --name more-cats",
        'askwise new reviews.csv --question "Is it good?" --options yes,no --people ann,ben '
        "--price 0.05 --budget 2",
    ),
    "list": ("askwise list", "askwise list --archived"),
    "add": (
        "askwise add cats --worker id=dan,price=0.02,limit=3 --task id=photo-9,context=day",
        "askwise add cats --file more.toml",
    ),
    "leave": ("askwise leave cats ben",),
    "bid": ("askwise bid auction dan 4.50",),
    "top-up": ("askwise top-up cats 0.50",),
    "close": ("askwise close cats photo-2",),
    "pause": ("askwise pause cats",),
    "resume": ("askwise resume mice",),
    "suspend": ('askwise suspend cats ben --why "answers at random"',),
    "reinstate": ("askwise reinstate mice ben",),
    "stop": ("askwise stop cats",),
    "retitle": ('askwise retitle cats "Cats and dogs"',),
    "remove": ("askwise remove cats photo-4",),
    "archive": ("askwise archive birds", "askwise archive birds --to archive"),
    "unarchive": ("askwise unarchive fish",),
    "delete": ("askwise delete dogs",),
    "forget": ("askwise forget cats ann --as w1",),
    "ask": ("askwise ask cats --limit 5", "askwise ask cats --worker eve --json"),
    "tell": (
        "askwise tell cats:2 cat --key cats:2",
        "askwise tell cats:2 cat --cost 0.03 --probability cat=0.9 --probability dog=0.1",
    ),
    "revise": ("askwise revise cats:3 dog --by ann",),
    "withdraw": ('askwise withdraw cats:3 "the picture was missing"',),
    "fail": ("askwise fail cats:2 refused --cost 0.01",),
    "truth": ("askwise truth cats photo-1 cat",),
    "set-label": ('askwise set-label cats photo-1 dog --why "seen from the front"',),
    "expire": ("askwise expire cats:2",),
    "renew": ("askwise renew cats:2",),
    "decline": ("askwise decline cats:2",),
    "flag": ('askwise flag cats:2 "no animal in it"',),
    "comment": ('askwise comment cats photo-1 "taken at night"',),
    "status": ("askwise status cats", "askwise status cats --json"),
    "results": ("askwise results cats",),
    "assignments": ("askwise assignments cats",),
    "answers": ("askwise answers cats", "askwise answers cats --json"),
    "agreement": ("askwise agreement cats",),
    "workers": ("askwise workers cats",),
    "worker": ("askwise worker cats ann",),
    "judges": ("askwise judges panel",),
    "certificate": ("askwise certificate mails",),
    "pilot": ("askwise pilot panel",),
    "log": ("askwise log cats --after 4", "askwise log cats --json"),
    "explain": ("askwise explain cats:3",),
    "export": ("askwise export cats --to cats-tables --format csv",),
    "payments": ("askwise payments cats",),
    "payouts": ("askwise payouts cats --due", "askwise payouts cats --out due.csv"),
    "pay": (
        'askwise pay cats ben --reference "SEPA 4711" --on 2026-11-18',
        "askwise pay cats --all",
    ),
    "bonus": ('askwise bonus cats ann 0.20 "careful work"',),
    "serve": (
        "askwise serve --store sqlite:///askwise.sqlite --port 8000",
        "askwise serve --demo",
        "askwise serve --dry-run",
    ),
    "mcp": ("askwise mcp --url http://127.0.0.1:8000 --budget 20",),
    "demo-live": ("askwise demo-live --speed 50",),
    "doctor": ("askwise doctor", "askwise doctor --store sqlite:////srv/askwise.sqlite --json"),
    "warm": ('askwise warm hem "b-kube"',),
    "backup": ("askwise backup campaigns.jsonl.gz",),
    "restore": ("askwise restore backup.jsonl.gz --store sqlite:///elsewhere.sqlite",),
    "scores": ("askwise scores promptfoo.json --from promptfoo --metric answers --out judged.csv",),
    "aggregate": (
        "askwise aggregate labels.csv --method dawid-skene --out answers.csv",
        "askwise aggregate labels.csv --method all --gold gold.csv",
    ),
    "check": ("askwise check verdicts.csv --human humans.csv",),
    "certify": (
        "askwise certify labelled.csv --draw 10 --error 0.3 --out draw.csv",
        "askwise certify labelled.csv --draw-file drawn.csv --audit audits.csv --next 10",
    ),
    "replay": (
        "askwise replay labels.csv --gold gold.csv --budget 20 --policy hem "
        "--against random-pairs --runs 2",
    ),
    "demo": ("askwise demo --out demo-out", "askwise demo market"),
    "policies": ("askwise policies", "askwise policies show hem"),
    "policies show": ("askwise policies show knowledge-gradient",),
    "rules": ("askwise rules", "askwise rules show e-process"),
    "rules show": ("askwise rules show e-process",),
    "aggregators": ("askwise aggregators", "askwise aggregators show dawid-skene"),
    "aggregators show": ("askwise aggregators show dawid-skene",),
    "mechanisms": ("askwise mechanisms", "askwise mechanisms show clarke"),
    "mechanisms show": ("askwise mechanisms show clarke",),
    "keys": ("askwise keys list",),
    "keys new": ('askwise keys new viewer "the wall screen" --days 90',),
    "keys list": ("askwise keys list",),
    "keys revoke": ("askwise keys revoke 6f1c09d2b7a45e83",),
    "label-studio": (
        "askwise label-studio cats studio.toml",
        "askwise label-studio cats studio.toml --judges judges.toml --stay",
    ),
    "prolific": ("askwise prolific run cats",),
    "prolific create": (
        'askwise prolific create cats --title "Cats in pictures" --description "Do you see a cat?" '
        "--reward 1.20 --minutes 6 --questions 20 --price 0.08 --address https://ask.example.org",
    ),
    "prolific run": ("askwise prolific run cats", "askwise prolific run cats --once"),
    "prolific stop": ("askwise prolific stop cats",),
    "prolific settle": ("askwise prolific settle cats --paid",),
    "prolific webhooks": (
        "askwise prolific webhooks 60d42f4ec1 --address https://ask.example.org",
    ),
    "lab": ("askwise lab list", "askwise lab show bounded-small-budgets"),
    "lab list": ("askwise lab list",),
    "lab show": ("askwise lab show bounded-small-budgets",),
    "lab run": (
        "askwise lab run bounded-small-budgets --reps 100 --seed 1 "
        "--set policies=uniform,knowledge-gradient",
    ),
}
"""By the words of the command."""
