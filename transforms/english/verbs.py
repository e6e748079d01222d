"""Know the verb forms of English prose: which words can be the verb of a clause.

Regular forms are made from the base forms by the spelling rules of English; the irregular ones are
listed. A past form in "-ed" is known by its look (`is_past`); the lists hold what looks tell not:
the base form for a question, and which words in "-s" are verbs rather than plural nouns.
"""

from typing import Final

from ufo.transforms.english.word_set import word_set

BE: Final = word_set("is are was were isn't aren't wasn't weren't")
HAVE: Final = word_set("has have had hasn't haven't hadn't")
DO: Final = word_set("do does did don't doesn't didn't")
_MODALS: Final = word_set(
    "can could will would may might must shall should cannot can't couldn't won't wouldn't"
)
AUXILIARIES: Final = BE | HAVE | DO | _MODALS
PLURAL: Final = word_set("are were have do aren't weren't haven't don't")

_REGULAR: Final = word_set(
    "abandon absorb accept accompany achieve acquire act adapt add address adopt advance affect"
    " aim air allow announce appear apply appoint argue arrange arrest arrive ask assign associate"
    " assume attack attempt attend attract author award base battle believe boil border call"
    " campaign capture carry cause cease celebrate certify challenge champion change characterize"
    " charge cite claim close co-found coach coin collaborate collect combine command commission"
    " commit compete compile complete compose comprise conclude conduct confirm connect consider"
    " consist construct consume contain contest continue contribute control convert cover crash"
    " create credit criticize cross crown date debut decide declare dedicate defeat define"
    " describe design designate destroy determine develop die direct discover discuss display"
    " distribute divide document dominate draft earn edit educate elect emerge employ encourage"
    " end enjoy enroll enter entitle establish estimate evolve execute exhibit exist expand"
    " experience explain explore express extend face fail feature file fill film finish fire flow"
    " focus follow force form found fund gain graduate grant handle head help hire honor host"
    " identify illustrate include increase induct influence initiate inspire install introduce"
    " invent invite involve issue join judge kill know label land last launch lie limit list live"
    " locate maintain manage manufacture mark marry measure melt mention merge move name nominate"
    " note number obtain occupy occur offer open operate oppose orbit organize originate own"
    " participate partner pass perform photograph pioneer place plan play portray practice praise"
    " premiere prepare present preserve prevent produce promote propose protect prove provide"
    " publish purchase qualify raise rank reach receive recognize record recruit reduce refer"
    " reflect refuse regard register reject relate release relocate remain remember remove rename"
    " repeat replace report represent reproduce require reside resign result retain retire return"
    " reunite reveal revive rule score select separate serve settle share shorten show sign solve"
    " specialize sponsor stage star start state struggle study succeed suggest support surpass"
    " survive talk title tour trade train transfer translate travel turn use value vary view visit"
    " voice vote want weigh work"
)
# base, past, participle
_IRREGULAR: Final = """
be was been|become became become|begin began begun|bear bore born|break broke broken|
bring brought brought|build built built|buy bought bought|catch caught caught|
choose chose chosen|come came come|do did done|draw drew drawn|drink drank drunk|
drive drove driven|eat ate eaten|fall fell fallen|feel felt felt|fight fought fought|
find found found|fly flew flown|forget forgot forgotten|get got gotten|give gave given|
go went gone|grow grew grown|have had had|hear heard heard|hold held held|keep kept kept|
know knew known|lay laid laid|lead led led|leave left left|lose lost lost|make made made|
mean meant meant|meet met met|pay paid paid|rise rose risen|run ran run|say said said|
see saw seen|seek sought sought|sell sold sold|send sent sent|show showed shown|sing sang sung|
sit sat sat|speak spoke spoken|spend spent spent|stand stood stood|steal stole stolen|
strike struck struck|take took taken|teach taught taught|tell told told|think thought thought|
throw threw thrown|undergo underwent undergone|understand understood understood|wear wore worn|
win won won|withdraw withdrew withdrawn|write wrote written|lie lay lain
"""
_DOUBLED: Final = word_set("enroll ban commit control occur prefer transfer star refer plan")
# Third persons that are seldom plural nouns.
THIRD: Final = word_set(
    "includes serves follows provides contains consists remains appears continues operates takes"
    " refers represents comprises produces begins makes comes becomes owns allows resides employs"
    " goes performs occurs describes creates connects enters discovers explores returns gives"
    " exists receives involves promotes manages portrays teaches organizes defines applies writes"
    " extends requires carries grows argues reflects contributes dies belongs brings publishes"
    " protects discusses relates originates occupies maintains varies encourages recognizes"
    " develops reaches directs establishes joins retains explains moves knows sits opens"
)
# They look like past forms.
_NO_PAST: Final = word_set("hundred breed speed united need indeed talented renowned sacred naked")


def _past(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ied"
    return base + (base[-1] if base in _DOUBLED and not base.endswith("ll") else "") + "ed"


def _third_person(base: str) -> str:
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")


_FORMS: Final = [tuple(forms.split()) for forms in _IRREGULAR.split("|")]
_AUXILIARY_BASES: Final = frozenset({"be", "have", "do"})
# "found" is mostly the past of "find" in running text, and so are others: the irregular one wins.
PAST_TO_BASE: Final[dict[str, str]] = {
    **{_past(base): base for base in _REGULAR},
    **{past: base for base, past, _ in _FORMS if base not in _AUXILIARY_BASES},
}
BASES: Final = (_REGULAR | {base for base, _, _ in _FORMS}) - _AUXILIARY_BASES
THIRD_TO_BASE: Final[dict[str, str]] = {_third_person(base): base for base in BASES}
PAST: Final = frozenset(PAST_TO_BASE)
PARTICIPLES: Final = frozenset(map(_past, _REGULAR)) | {participle for _, _, participle in _FORMS}
PARTICIPLE_ONLY: Final = PARTICIPLES - PAST
# Every form: for telling a sentence from a heading.
ANY_FORM: Final = (
    AUXILIARIES | PAST | PARTICIPLES | BASES | frozenset(THIRD_TO_BASE)
    | word_set("it's he's she's that's there's here's they're we're you're i'm")
)  # fmt: skip
# Verbs without an object: after "was born in Ulm and" they cannot be passive.
INTRANSITIVE: Final = word_set(
    "died moved lived worked served graduated appeared retired returned continued studied played"
    " remained resided emigrated starred debuted competed participated settled performed attended"
    " received earned joined married taught fought lectured"
)


def is_past(low: str) -> bool:
    """Return whether the lower-case word is the past form of a verb, or looks it by its "-ed"."""
    return low in PAST or _looks_past(low)


def is_participle(low: str) -> bool:
    """Return whether the lower-case word is a past participle, or looks it by its "-ed"."""
    return low in PARTICIPLES or _looks_past(low)


def _looks_past(low: str) -> bool:
    return len(low) > 4 and low.endswith("ed") and low.isalpha() and low not in _NO_PAST
