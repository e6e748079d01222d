"""Hold the small word lists by which a claim is compared with a passage.

Every list is lower case.
"""

from typing import Final

from ufo.transforms.english.word_set import word_set

STOP_WORDS: Final = word_set(
    """
    a an the this that these those such same some any each every either neither both all
    i me my mine myself you your yours yourself we us our ours he him his himself she her hers
    herself it its itself they them their theirs themselves one who whom whose which what when where
    why how there here then than so as if because while since until unless although though whether
    and or but nor yet also too very just even still only much many more most less least few lot
    lots quite rather really well almost about around approximately roughly nearly circa ca
    of in on at by for with from to into onto upon over under above below between among through
    during within without against toward towards across along per via after before up down out off
    be is am are was were been being isn aren wasn weren have has had having do does did done doing
    will would shall should can could may might must ought ll ve re d s t m don doesn didn
    not no never none nothing nobody cannot can't don't doesn't didn't isn't aren't wasn't weren't
    won't wouldn't couldn't shouldn't hasn't haven't hadn't n't it's that's he's she's there's
    i'm i've i'd i'll you're they're we're let's etc eg ie oh yes yeah okay ok hi hey hello
    another other others own able however therefore thus hence moreover furthermore
    mr mrs ms dr
    """
)

# They turn the statement around; so do verbs that say that the next one did not happen ("failed to
# win", "refused to sign").
NEGATORS: Final = word_set(
    """
    not no never none nothing nobody neither nor cannot without n't can't don't doesn't didn't
    isn't aren't wasn't weren't won't wouldn't couldn't shouldn't hasn't haven't hadn't
    fail fails failed failing refuse refuses refused refusing deny denies denied denying
    lack lacks lacked lacking decline declines declined
    """
)

_ONES: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
)
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS: Final = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth"
    " fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
)
_MONTHS: Final = (
    "january february march april may june july august september october november december"
)
# "one" is left out: it is nearly always a pronoun ("one of the …").
NUMBER_WORDS: Final = (
    {word: float(value) for value, word in enumerate(_ONES.split()) if word != "one"}
    | {word: 10.0 * tens for tens, word in enumerate(_TENS.split(), 2)}
    | {"dozen": 12.0}
)
ORDINALS: Final = {word: float(value) for value, word in enumerate(_ORDINALS.split(), 1)}
SCALES: Final = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
MONTHS: Final = {
    name: number for number, month in enumerate(_MONTHS.split(), 1) for name in (month, month[:3])
} | {"sept": 9}

# Who comes from where, so that "a German physicist" meets "a physicist from Germany".
DEMONYMS = """
afghanistan afghan | africa african | albania albanian | algeria algerian | america american
| argentina argentine argentinian | armenia armenian | asia asian | australia australian
| austria austrian | azerbaijan azerbaijani | bangladesh bangladeshi | belarus belarusian
| belgium belgian | bolivia bolivian | bosnia bosnian | brazil brazilian | britain british briton
| bulgaria bulgarian | cambodia cambodian | cameroon cameroonian | canada canadian | chile chilean
| china chinese | colombia colombian | croatia croatian | cuba cuban | cyprus cypriot
| czechia czech | denmark danish dane | ecuador ecuadorian | egypt egyptian | england english
| estonia estonian | ethiopia ethiopian | europe european | finland finnish finn
| france french frenchman | georgia georgian | germany german | ghana ghanaian | greece greek
| greenland greenlandic | guatemala guatemalan | haiti haitian | hungary hungarian
| iceland icelandic icelander | india indian | indonesia indonesian | iran iranian persian
| iraq iraqi | ireland irish irishman | israel israeli | italy italian | jamaica jamaican
| japan japanese | jordan jordanian | kazakhstan kazakh | kenya kenyan | korea korean
| kuwait kuwaiti | laos laotian | latvia latvian | lebanon lebanese | libya libyan
| lithuania lithuanian | malaysia malaysian | mexico mexican | mongolia mongolian
| morocco moroccan | mozambique mozambican | nepal nepalese nepali | netherlands dutch dutchman
| nigeria nigerian | norway norwegian | pakistan pakistani | palestine palestinian
| panama panamanian | peru peruvian | philippines filipino philippine | poland polish pole
| portugal portuguese | romania romanian | russia russian | rwanda rwandan | scotland scottish scot
| senegal senegalese | serbia serbian serb | singapore singaporean | slovakia slovak
| slovenia slovenian slovene | somalia somali | spain spanish spaniard | sudan sudanese
| sweden swedish swede | switzerland swiss | syria syrian | taiwan taiwanese | tanzania tanzanian
| thailand thai | tibet tibetan | tunisia tunisian | turkey turkish turk | uganda ugandan
| ukraine ukrainian | uruguay uruguayan | uzbekistan uzbek | venezuela venezuelan
| vietnam vietnamese | wales welsh welshman | yemen yemeni | zambia zambian | zimbabwe zimbabwean
"""
