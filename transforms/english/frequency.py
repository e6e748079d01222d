"""List the words that are frequent in all encyclopaedic and news prose.

A match of a rare word says more than one of a common word: the idea behind inverse document
frequency (Spärck Jones 1972), kept as two short lists so that no corpus is needed at run time.
Words are listed in one form each; their stems count.
"""

from typing import Final

from ufo.transforms.english.word_set import word_set

VERY_COMMON: Final = word_set(
    """
    academy accord act action active actor actress additional administration adventure age air
    album allow always america american animal annual appear april area army art artist
    associate august australia australian author average award back band base battle became
    become began begin believe best big black blue book born boy british brother build built
    busy california call came canada canadian career case center central century championship
    change character chart children china city civil close club co coach collect college come
    comedy command common community company compete competition complete compose conference
    consider consist contain continue contribute corporation council country county cover create
    critic culture cup current date day de death debut december defeat department describe
    design develop die different direct director distribute district division documentary drama
    due early east edit educate eight elect end engine england english entertainment episode
    establish event example executive fact family famous father feature february federal
    festival fiction field film final find finish first five focus follow football force form
    former found four french friend full game general german get give given go gone good got
    government grand great group hall head held help high historic history hit home host hot
    house import include independent indian industry initial institute international island
    issue italian january japanese join july june kind king kingdom know known land language
    large largest last late later law lead leader league led level life light like line list
    live local locate london long love low made magazine main major make man manage march mark
    mean media member men mid middle military million modern month move movie music musician
    name nation native near need network new next nine nominate non north northern notable novel
    november now number october office official often old open operate order organize origin
    park part party people percent perform period person picture place plan play player point
    politics pop popular population position power premier present president previous private
    process produce product professional program provide public publish race radio rank reach
    receive recent record red refer region relate release remain replace represent require
    research result return right river road rock role round run said say school science season
    seat second see seen select september series serve service set seven severe short show shown
    side similar singer single six small sold sometimes son song songwriter south southern
    special species sport stage star start state station story street studio style success
    support system take taken team television ten term thing think third three throughout time
    title today took top total tour town track tradition turn two type typical unit university
    use usual various version video voice want war water way week went west western white wide
    win woman women won word work world writer written wrote year york young
    """
)
