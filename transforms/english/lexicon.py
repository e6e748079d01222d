"""Small word lists for comparing a claim with a passage, written for this project.

Every list is lower case. Lists of word groups are written as strings, one group a line, because
that is how they are read and extended; they are turned into sets and dicts once, at import.
"""

from typing import Final

from ufo.transforms.english.word_set import word_set

# Words that carry no content of their own: they are never looked for in a passage.
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

# Reversals: they turn the statement around.
NEGATORS: Final = word_set(
    """
    not no never none nothing nobody neither nor cannot without n't can't don't doesn't didn't
    isn't aren't wasn't weren't won't wouldn't couldn't shouldn't hasn't haven't hadn't
    """
)
# Verbs that say that the next verb did not happen ("failed to win", "refused to sign").
NEGATIVE_VERBS: Final = word_set(
    """
    fail fails failed failing refuse refuses refused refusing deny denies denied denying
    lack lacks lacked lacking decline declines declined
    """
)

# Two words or groups (divided by "/") of which only one can be true of the same thing.
ANTONYMS = """
first / last final
largest biggest greatest / smallest tiniest
larger bigger greater / smaller
large big huge / small tiny little
longest / shortest
longer / shorter
long / short
highest tallest / lowest
higher taller / lower
high tall / low
oldest / youngest newest
older / younger newer
old ancient / young new modern
earliest / latest
earlier / later
early / late
before / after
best / worst
better / worse
good / bad
most / least fewest
more / less fewer
increase increases increased increasing / decrease decreases decreased decreasing
increase increases increased increasing / reduce reduces reduced reducing lower lowers lowered
raise raises raised raising / reduce reduces reduced reducing lower lowers lowered
increased rises rose grew grow grows / decline declines declined fell fall falls shrank
rise rises rose grew / decrease decreases decreased reduced
improve improves improved / worsen worsens worsened
cause causes caused / prevent prevents prevented
win wins won / lose loses lost
victory / defeat
success successful succeeded / failure unsuccessful
accept accepted accepts / reject rejected rejects
approve approved approves / disapprove disapproved rejected vetoed
agree agreed agrees / disagree disagreed disagrees
support supported supports / oppose opposed opposes
allow allowed allows permitted / forbid forbidden forbids prohibited prohibits banned
legal lawful / illegal unlawful banned
true correct accurate right / false incorrect inaccurate wrong
possible / impossible
likely / unlikely
safe / unsafe dangerous
alive living / dead extinct
north northern / south southern
east eastern / west western
northeast northeastern / southwest southwestern northwest northwestern southeast southeastern
northwest northwestern / southeast southeastern
hot warm warmer / cold cool cooler
wet humid / dry arid
rich wealthy / poor
male man men father son brother husband king / female woman women mother daughter sister wife queen
open opened opens / close closed closes
begin began begins start started starts / end ended ends finish finished stop stopped stops
arrive arrived arrives / depart departed leave left
enter entered enters joined join joins / exit exited quit
import imported imports / export exported exports
buy bought bought buys / sell sold sells
friend ally allied / enemy foe
guilty convicted / innocent acquitted
married / unmarried divorced
single / married
positive / negative
major / minor
majority / minority
maximum / minimum
upper / lower
internal inner / external outer
public / private
fiction fictional / nonfiction
domestic / foreign
natural / artificial synthetic
visible / invisible
solid / liquid gas
vertical / horizontal
strong stronger strongest / weak weaker weakest
fast faster fastest / slow slower slowest
heavy heavier heaviest / light lighter lightest
left / right
inside / outside
active / inactive dormant
day / night
temporary / permanent
expensive / cheap inexpensive
voluntary optional / mandatory compulsory
professional / amateur
odd / even
"""

# Words that say the same for our purpose; the first of a line stands for all.
SYNONYMS = """
birth born births birthplace
die died dies death deaths dead deceased
write wrote written writes writing author authored writer
locate located situated lies lying location
found founded founder founders founding establish established establishment
create created creation creator invent invented inventor invention devise devised
build built construct constructed construction
buy bought purchase purchased acquire acquired acquisition
sell sold sale sales
win won winner wins winning
lose lost loses losing
begin began begins beginning start started starts commence commenced
end ended ends finish finished conclude concluded
large largest larger big biggest bigger huge greatest
small smallest smaller tiny little
movie film movies films motion
song single songs singles track
car automobile cars automobiles
doctor physician doctors physicians
child children kid kids
wife husband spouse marry married marriage wed
teach taught teacher teaches
think thought thinks
lead led leads leader leadership head headed
speak spoke spoken speech speaks
sing sang sung singer
fight fought fights
choose chose chosen choice select selected
grow grew grown growth
fall fell fallen
rise rose risen
run ran running
say said says state stated
give gave given
go went gone
make made making
take took taken
come came
become became
get got
leave left
keep kept
hold held
meet met
send sent
spend spent
feel felt
bring brought
catch caught
know known knew
see saw seen
show showed shown
find finding finds
drive drove driven driver
eat ate eaten
fly flew flown flight
swim swam
break broke broken
draw drew drawn
mean meant means
tell told
mouse mice
foot feet
tooth teeth
man men
woman women female
person people persons
area region regions
city town
company firm corporation business
nation country countries nations
study research studied researcher
approximately roughly
famous renowned noted
type kind sort
help helps aid assist
important significant key crucial
employ job employed employment
illness disease diseases
annual yearly
quick fast rapid rapidly
attorney lawyer lawyers
"""

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

ABBREVIATIONS = {
    "us": "america",
    "usa": "america",
    "uk": "britain",
    "ussr": "soviet",
    "uae": "emirates",
    "nyc": "york",
    "bc": "bce",
    "ww2": "wwii",
    "tv": "television",
    "dept": "department",
    "univ": "university",
}
